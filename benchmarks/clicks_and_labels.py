"""Clicks, labels, and labels that start from the clicks' model: NDCG@10 on true grades of test queries.

    RULERANK_DATA=FOLDER python benchmarks/clicks_and_labels.py [--today f25] [--clicks 10000] [--seeds 10] [--folds 1]

MQ2008: the training queries of a fold are the pool. Production ranks by the feature of today, and simulated users
click (`rr.simulate_clicks`); the click model is what `rr.select` chooses. Labels are those of strata. "both,
with today" is `rulerank train CLICKS --labels`: from the click model, unless clicks or labels speak for today's.
"""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import rulerank as rr
from rulerank.core.parameters import Array

BUDGETS = (20, 100, 400)


def measured(folder: Path, today: str, n_clicks: int, seed: int) -> dict[str, list[float]]:
    """Return NDCG@10 of each way, at each number of labels."""
    pool, test = (rr.read_letor(folder / f"{part}.txt") for part in ("train", "test"))
    now = pool.feature_names.index(today)
    seen = rr.simulate_clicks(pool, pool.X[:, now], n_impressions=n_clicks, seed=seed)
    clicks = rr.select(seen).ranker

    def ndcg(scores: Array) -> float:
        return rr.evaluate(test.y, scores, test.qid, "NDCG@10").means["NDCG@10"]

    ways = ("today", "clicks", "labels from today", "labels from clicks", "both, with today")
    found: dict[str, list[float]] = {way: [] for way in ways}
    for budget in BUDGETS:
        rows = rr.Strata(today=today, seed=seed).select(pool, ask=lambda row: pool.y[row], budget=budget)
        grades = np.full(len(pool), -1)
        grades[rows] = pool.y[rows]
        some = replace(pool, y=grades)
        found["today"].append(ndcg(test.X[:, now]))
        found["clicks"].append(ndcg(clicks.predict(test)))
        found["labels from today"].append(ndcg(rr.select(some, today=today).ranker.predict(test)))
        found["labels from clicks"].append(ndcg(rr.select(some, today=clicks).ranker.predict(test)))
        found["both, with today"].append(ndcg(rr.select(some, clicks=seen, today=today).ranker.predict(test)))
    return found


def main() -> None:
    """Print the means over seeds and folds, and how often both are below the better of the two alone by .01."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--today", default="f25")
    parser.add_argument("--clicks", type=int, default=10_000, help="impressions")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--folds", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(os.environ["RULERANK_DATA"], "letor4-mq2008")
    runs = [
        measured(folder / f"Fold{fold}", given.today, given.clicks, seed)
        for fold in range(1, given.folds + 1)
        for seed in range(given.seeds)
    ]
    print(f"{'labels':20}", *(f"{budget:>6}" for budget in BUDGETS))
    values = {way: np.array([run[way] for run in runs]) for way in runs[0]}
    for way, own in values.items():
        print(f"{way:20}", *(f"{value:6.3f}" for value in own.mean(axis=0)))
    best = np.maximum(values["clicks"], values["labels from today"])
    for way in ("labels from clicks", "both, with today"):
        behind = (values[way] < best - 0.01).sum(axis=0)
        print(f"behind the better: {way}", *(f"{value:6}" for value in behind), f" of {len(runs)}")


if __name__ == "__main__":
    main()
