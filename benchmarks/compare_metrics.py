"""Test MAP of literal RE-GR with each of the seven metrics, and of the fusions over them: five folds, nothing to tune.

The weights of the linear combination, and the metric chosen, come from the validation part of each fold.
RULERANK_DATA must name the folder with the sets: PYTHONPATH=. python benchmarks/compare_metrics.py
"""

from __future__ import annotations

import os

import numpy as np

import rulerank as rr
from papers.plans import learned_weights
from rulerank.fusion.classic import METHODS
from rulerank.rules.metrics import METRICS

SETS = ("letor3-ohsumed", "letor4-mq2008")


def main() -> None:
    if not os.environ.get("RULERANK_DATA"):
        print("RULERANK_DATA is not set: there is nothing to compare on")
        return
    tables = {name: five_folds(name) for name in SETS}
    print(f"{'test MAP, mean of five folds':44}" + "".join(f"{name:>16}" for name in SETS))
    for label in tables[SETS[0]]:
        print(f"{label:44}" + "".join(f"{np.mean(tables[name][label]):16.4f}" for name in SETS))


def five_folds(name: str) -> dict[str, list[float]]:
    """Return the test MAP of each fold by ranking."""
    table: dict[str, list[float]] = {}
    for fold in rr.read_folds(f"{os.environ['RULERANK_DATA']}/{name}"):
        vali, test = (by_metric(fold.train, part) for part in (fold.vali, fold.test))
        rankings = dict(zip(METRICS, test, strict=True))
        on_vali = [mean_map(fold.vali, scores) for scores in vali]
        rankings["the metric best on validation"] = test[int(np.argmax(on_vali))]
        for method in METHODS:
            rankings[method] = rr.fuse(test, fold.test.qid, method)
        weights = learned_weights(vali, fold.vali.y, fold.vali.qid)
        rankings["linear, weights from validation"] = rr.fuse(test, fold.test.qid, "linear", weights)
        for label, scores in rankings.items():
            table.setdefault(label, []).append(mean_map(fold.test, scores))
        by_query = [rr.evaluate(fold.test.y, scores, fold.test.qid, "MAP").values[0] for scores in test]
        table.setdefault("(an oracle's metric for each query)", []).append(float(np.max(by_query, axis=0).mean()))
    return table


def by_metric(train: rr.Dataset, data: rr.Dataset) -> np.ndarray:
    """Return the scores by each metric, (n_metrics, n_rows)."""
    return np.array([rr.GlobalRules(votes="mean", metric=metric).fit(train).predict(data) for metric in METRICS])


def mean_map(data: rr.Dataset, scores: np.ndarray) -> float:
    return rr.evaluate(data.y, scores, data.qid, "MAP").means["MAP"]


if __name__ == "__main__":
    main()
