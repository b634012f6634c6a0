"""Fit and predict of DC3A over the seven metrics against RE-GR's, on one fold: python benchmarks/bench_competence.py

RULERANK_DATA may name the folder with letor3-ohsumed; without it a synthetic synthetic of the same size is used.
"""

from __future__ import annotations

import os

import rulerank as rr
from timing import median_time


def main() -> None:
    folder = os.environ.get("RULERANK_DATA")
    if folder:
        fold = rr.read_folds(f"{folder}/letor3-ohsumed")[0]
        train, test = fold.train, fold.test
    else:
        print("RULERANK_DATA is not set: a synthetic synthetic instead of OHSUMED")
        train = rr.datasets.make_ranking(n_queries=63, docs_per_query=150, n_features=45, seed=0)
        test = rr.datasets.make_ranking(n_queries=22, docs_per_query=150, n_features=45, seed=1)
    rankers = {
        "RE-GR": rr.GlobalRules(votes="mean"),
        "DC3A": rr.Competence(literal=True),
        "QC3A": rr.Competence(literal=True, centric="query"),
        "calibrated mix of the seven": rr.Competence(),
    }
    base = None
    for name, ranker in rankers.items():
        seconds = median_time(lambda ranker=ranker: ranker.fit(train).predict(test))
        base = base or seconds
        print(f"{name:30}{1000 * seconds:8.0f} ms{seconds / base:8.1f} x RE-GR")


if __name__ == "__main__":
    main()
