"""The table of docs/benchmarks/rule-rankers.md: rankers, fusions and competence-conscious mixing, five folds, test MAP.

RULERANK_DATA must name the folder with the LETOR sets: python benchmarks/compare_competence.py
All learn from the training part of a fold; the best member is chosen on its validation part; ties are neutral.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge

import rulerank as rr
from rulerank.dataset import query_index
from rulerank.fusion.classic import fuse
from rulerank.fusion.competence import cross_fitted_scores
from rulerank.normalize import normalize_by_query
from rulerank.rules.metrics import METRICS

SETS = ("letor3-ohsumed", "letor2-ohsumed", "letor4-mq2008")
Scores = dict[str, np.ndarray]


def rankers() -> dict[str, Any]:
    return {
        "RE-GR, MDLP": rr.GlobalRules(),
        "RE-GR, equal frequency": rr.GlobalRules(discretizer="equal_frequency"),
        "RE-GR, equal width": rr.GlobalRules(discretizer="equal_width"),
        "RE-SR": rr.StableRules(),
        "query intercepts": rr.QueryIntercepts(normalize="zscore", l2=100),
        "LambdaMART": LGBMRanker(
            n_estimators=100, learning_rate=0.05, num_leaves=7, min_child_samples=50, n_jobs=1, verbose=-1
        ),
    }


def over_metrics(fold: rr.datasets.Fold) -> Scores:
    literal = rr.Competence(literal=True).fit(fold.train)
    by_metric = literal.member_scores(fold.test)
    query = query_index(fold.test.qid)[0]
    return {
        **{name: by_metric[:, place] for place, name in enumerate(METRICS)},
        "z-sum of the seven": normalize_by_query(by_metric, query, "zscore").sum(axis=1),
        "RRF of the seven": fuse(by_metric.T, fold.test.qid, method="rrf"),
        "best metric on validation": by_metric[:, best_on(fold.vali, literal.member_scores(fold.vali))],
        "DC3A, literal": literal.predict(fold.test),
        "QC3A, literal": rr.Competence(literal=True, centric="query").fit(fold.train).predict(fold.test),
        "mix of the seven": rr.Competence().fit(fold.train).predict(fold.test),
    }


def over_rankers(fold: rr.datasets.Fold) -> Scores:
    train, test = fold.train, fold.test
    mixed = rr.Competence(rankers()).fit(train)
    members = mixed.member_scores(test)
    z = normalize_by_query(members, query_index(test.qid)[0], "zscore")
    queries = query_index(train.qid)[0]
    cross_fitted = cross_fitted_scores(list(rankers().values()), train.X, train.y, queries, 5, 0)
    stack = Ridge().fit(normalize_by_query(cross_fitted, queries, "zscore"), train.y)
    return {
        **{name: members[:, place] for place, name in enumerate(mixed.names_)},
        "best ranker on validation": members[:, best_on(fold.vali, mixed.member_scores(fold.vali))],
        "z-sum": z.sum(axis=1),
        "RRF": fuse(members.T, test.qid, method="rrf"),
        "ridge stack": stack.predict(z),
        "mix": mixed.predict(test),
    }


def best_on(data: rr.Dataset, scores: np.ndarray) -> int:
    return int(np.argmax([mean_map(data, column) for column in scores.T]))


def mean_map(data: rr.Dataset, scores: np.ndarray) -> float:
    return float(rr.evaluate(data.y, scores, data.qid, "MAP").means["MAP"])


def main() -> None:
    folder = os.environ.get("RULERANK_DATA")
    if not folder:
        print("RULERANK_DATA is not set: there is nothing to compare on")
        return
    warnings.filterwarnings("ignore", message="X does not have valid feature names")  # LightGBM on plain arrays
    table: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name in SETS:
        for fold in rr.read_folds(f"{folder}/{name}"):
            for label, scores in (over_metrics(fold) | over_rankers(fold)).items():
                table[label][name].append(mean_map(fold.test, scores))
            print(f"{name} {fold.name}", file=sys.stderr)
    print(f"{'mean test MAP, ties neutral':34}" + "".join(f"{name:>16}" for name in SETS))
    for label, by_set in table.items():
        print(f"{label:34}" + "".join(f"{np.mean(by_set[name]):16.4f}" for name in SETS))


if __name__ == "__main__":
    main()
