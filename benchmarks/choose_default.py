"""What `rulerank train` should choose from: inner cross-validation on the training part of every kind of data.

    RULERANK_DATA=... RULERANK_MOVIES=... python benchmarks/choose_default.py [synthetic-100 ohsumed ...]

For each training set every candidate ranks the queries that it was not trained on (five parts by query), as
`rr.select` does it. No test part is looked at: LETOR's train parts of all folds, synthetic_sets, draws of the movies'
training queries (those that `compare_fitted.py` tests on are left out), and a set made after LightGBM's ranking example
(200 queries, 300 sparse features, five grades). RULERANK_CRANFIELD may name a table of Cranfield features.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import rulerank as rr
from compare_fitted import LETOR, movies

RANKERS = {
    "QI z": rr.QueryIntercepts(l2=100.0, normalize="zscore", missing="mean", n_jobs=1),
    "QI": rr.QueryIntercepts(l2=100.0, missing="mean", n_jobs=1),
    "FR": rr.FittedRules(n_jobs=1),
    "FR z": rr.FittedRules(normalize="zscore", n_jobs=1),
    "FR auto": rr.FittedRules(normalize="auto", n_jobs=1),
    "RE-GR": rr.GlobalRules(n_jobs=1),
    "RE-GR literal": rr.GlobalRules(votes="mean", drop_weakest=0.0, n_jobs=1),
}


def main() -> None:
    warnings.simplefilter("ignore")
    print("| NDCG@10 on held-out training queries | " + " | ".join(RANKERS) + " |")
    print("| --- " * (1 + len(RANKERS)) + "|")
    for name, data in training_sets():
        if sys.argv[1:] and not any(f"{name}-".startswith(f"{asked}-") for asked in sys.argv[1:]):
            continue
        found = {trial.about: trial for trial in rr.select(data, RANKERS, measure="NDCG@10").table}
        best = max(trial.mean for trial in found.values())
        cells = [f"**{t.mean:.4f}**" if t.mean == best else f"{t.mean:.4f}" for t in (found[name] for name in RANKERS)]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def training_sets() -> Iterator[tuple[str, rr.Dataset]]:
    for n_queries in (25, 100, 400):
        yield f"synthetic-{n_queries}", rr.datasets.make_ranking(n_queries=n_queries, seed=77)
    yield "sparse", like_lightgbms_example()
    if os.environ.get("RULERANK_DATA"):
        for name, folder in LETOR.items():
            for fold in rr.read_folds(Path(os.environ["RULERANK_DATA"], folder)):
                yield f"{name}-{fold.name}", fold.train
    if os.environ.get("RULERANK_MOVIES"):
        for n_queries in (30, 100, 300, 1000):
            yield f"movies-{n_queries}", next(iter(movies(f"movies-{n_queries}")))[0]
    if os.environ.get("RULERANK_CRANFIELD"):
        yield "cranfield", rr.read_table(os.environ["RULERANK_CRANFIELD"]).labelled()


def like_lightgbms_example(n_queries: int = 200, n_features: int = 300, seed: int = 0) -> rr.Dataset:
    """Many features of which most values are 0, a few of which matter, and grades from 0 to 4."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(5, 26, size=n_queries))
    X = np.where(rng.random((qid.size, n_features)) < 0.25, rng.gamma(2.0, size=(qid.size, n_features)), 0.0)
    weights = np.where(np.arange(n_features) < 20, rng.normal(size=n_features), 0.0)
    truth = np.sqrt(X) @ weights + 1.5 * (X[:, 0] > 0) * (X[:, 1] > 0) + 2.0 * rng.normal(size=qid.size)
    return rr.Dataset(X, np.digitize(truth, np.quantile(truth, [0.5, 0.75, 0.9, 0.97])), qid)


if __name__ == "__main__":
    main()
