"""One explanation, why one document is above another, contributions; SHAP's TreeExplainer on LambdaMART beside it.

OHSUMED's fold 1 (45 features) when RULERANK_DATA is set, else a synthetic synthetic of 45 features.
"""

from __future__ import annotations

import os

import numpy as np

import rulerank as rr
from rulerank.dataset import query_index
from timing import median_time

SHAP = "SHAP's TreeExplainer on LambdaMART"


def time_of_shap(data: rr.Dataset, document: np.ndarray) -> float:
    """Return the seconds of one explanation of a boosted ranker."""
    import lightgbm
    import shap

    sizes = np.unique(query_index(data.qid)[0], return_counts=True)[1]
    peer = lightgbm.LGBMRanker(verbose=-1).fit(data.X, data.y, group=sizes)
    explainer = shap.TreeExplainer(peer)
    return median_time(lambda: explainer.shap_values(document[None, :]), 51)


def main() -> None:
    if os.environ.get("RULERANK_DATA"):
        data = rr.read_letor(f"{os.environ['RULERANK_DATA']}/letor3-ohsumed/Fold1/train.txt")
    else:
        print("RULERANK_DATA is not set: a synthetic synthetic instead of OHSUMED")
        data = rr.datasets.make_ranking(n_queries=100, n_features=45, seed=0)
    print(f"{data!r}; every feature is used\n")
    a, b = data.X[0], data.X[7]
    seconds = {SHAP: time_of_shap(data, a)}
    for label, ranker, rounds in [
        ("GlobalRules, size 2 (goal: 5)", rr.GlobalRules(drop_weakest=0), 101),
        ("GlobalRules, votes='mean', size 2 (goal: 5)", rr.GlobalRules(votes="mean"), 101),
        ("StableRules, size 2", rr.StableRules(drop_weakest=0), 51),
        ("QueryRules, size 2", rr.QueryRules(drop_weakest=0), 21),
        ("QueryIntercepts", rr.QueryIntercepts(l2=1.0, missing="mean"), 101),
        ("GlobalRules, size 3 (goal: 100)", rr.GlobalRules(max_size=3, drop_weakest=0), 21),
        ("GlobalRules, votes='mean', size 3 (goal: 100)", rr.GlobalRules(max_size=3, votes="mean"), 21),
    ]:
        ranker.fit(data)
        seconds[label] = median_time(lambda ranker=ranker: ranker.explain(a), rounds)
        if label.startswith("GlobalRules, size"):
            name = f"  the same, a versus b ({ranker.explain(a).n_rules:,} rules vote)"
            seconds[name] = median_time(lambda ranker=ranker: ranker.explain(a, versus=b), 11)
        if ranker.as_tables() is not None:
            name = "  contributions of 100 documents (goal: 1)"
            seconds[f"{name}, {label}"] = median_time(lambda ranker=ranker: ranker.contributions(data.X[:100]), 51)
    ranker = rr.FittedRules().fit(data)
    ranker.contributions(data.X[:1])
    name = "  contributions of 100 documents (goal: 1), FittedRules"
    seconds[name] = median_time(lambda: ranker.contributions(data.X[:100]), 51)
    usual = seconds[SHAP]
    for label, taken in seconds.items():
        print(f"{label:76}{taken * 1e3:8.2f} ms  {taken / usual:6.2f} times SHAP")


if __name__ == "__main__":
    main()
