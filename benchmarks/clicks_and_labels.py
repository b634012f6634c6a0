"""Clicks, labels, and labels that start from the clicks' model: NDCG@10 on true grades of test queries.

    RULERANK_DATA=FOLDER python benchmarks/clicks_and_labels.py [--baseline f25] [--clicks 10000] [--seeds 10] [--folds
    1]

MQ2008: the training queries of a fold are the pool. Production ranks by the feature of baseline, and simulated users
click (`rr.clicks.simulate_clicks`); the click model is what `rr.select` chooses. Labels are those of strata. "both,
with baseline" is `rulerank train CLICKS --labels`: from the click model, unless clicks or labels speak for the
baseline's.
"""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import rulerank as rr
from rulerank._util.parameters import Array

BUDGETS = (20, 100, 400)


def measured(folder: Path, baseline: str, n_clicks: int, seed: int) -> dict[str, list[float]]:
    """Return NDCG@10 of each way, at each number of labels."""
    pool, test = (rr.read_letor(folder / f"{part}.txt") for part in ("train", "test"))
    now = pool.feature_names.index(baseline)
    seen = rr.clicks.simulate_clicks(pool, pool.X[:, now], n_impressions=n_clicks, seed=seed)
    clicks = rr.select(seen).ranker

    def ndcg(scores: Array) -> float:
        return rr.evaluate(test.y, scores, test.qid, "NDCG@10").means["NDCG@10"]

    ways = ("baseline", "clicks", "labels from baseline", "labels from clicks", "both, with baseline")
    found: dict[str, list[float]] = {way: [] for way in ways}
    for budget in BUDGETS:
        rows = rr.StratifiedSampler(baseline=baseline, seed=seed).select(
            pool, ask=lambda row: pool.y[row], budget=budget
        )
        grades = np.full(len(pool), -1)
        grades[rows] = pool.y[rows]
        some = replace(pool, y=grades)
        found["baseline"].append(ndcg(test.X[:, now]))
        found["clicks"].append(ndcg(clicks.predict(test)))
        found["labels from baseline"].append(ndcg(rr.select(some, baseline=baseline).ranker.predict(test)))
        found["labels from clicks"].append(ndcg(rr.select(some, baseline=clicks).ranker.predict(test)))
        found["both, with baseline"].append(ndcg(rr.select(some, clicks=seen, baseline=baseline).ranker.predict(test)))
    return found


def main() -> None:
    """Print the means over seeds and folds, and how often both are below the better of the two alone by .01."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baseline", default="f25")
    parser.add_argument("--clicks", type=int, default=10_000, help="impressions")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--folds", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(os.environ["RULERANK_DATA"], "letor4-mq2008")
    runs = [
        measured(folder / f"Fold{fold}", given.baseline, given.clicks, seed)
        for fold in range(1, given.folds + 1)
        for seed in range(given.seeds)
    ]
    print(f"{'labels':20}", *(f"{budget:>6}" for budget in BUDGETS))
    values = {way: np.array([run[way] for run in runs]) for way in runs[0]}
    for way, own in values.items():
        print(f"{way:20}", *(f"{value:6.3f}" for value in own.mean(axis=0)))
    best = np.maximum(values["clicks"], values["labels from baseline"])
    for way in ("labels from clicks", "both, with baseline"):
        behind = (values[way] < best - 0.01).sum(axis=0)
        print(f"behind the better: {way}", *(f"{value:6}" for value in behind), f" of {len(runs)}")


if __name__ == "__main__":
    main()
