"""Time RankSVM against scikit-learn's LinearSVC on the differences of all pairs: the same optimum.

    RULERANK_DATA=/path/to/letor python benchmarks/bench_rank_svm.py

The first training folds of MQ2008 and OHSUMED (letor4-mq2008 and letor3-ohsumed under RULERANK_DATA), or a synthetic
world when it is not set. Making the differences is not counted for the peer. Both search to their default precision;
gap says how far the objective is above the lower bound that ours proves. All have one BLAS thread.

At the end: one query that grows, whose pairs nobody could list.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from rulerank.baselines.rank_svm import RankSVM
from rulerank.dataset import Dataset, query_index
from rulerank.io.letor import read_letor
from rulerank.worlds import make_world
from timing import median_time


def main() -> None:
    warnings.simplefilter("ignore")
    for data, name in training_data():
        one_data_set(data, name)
    one_long_query()


def one_data_set(data: Dataset, name: str) -> None:
    pairs = differences(data)
    signs = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)  # the peer wants two classes
    signed = pairs * signs[:, None]
    queries, ids = query_index(data.qid)
    n_queries = sum(np.unique(data.y[queries == query]).size > 1 for query in range(ids.size))
    print(f"{name}: {len(data):,} rows, {data.X.shape[1]} features, {len(pairs):,} pairs")
    print(f"{'C':>8}{'':4}{'':24}{'median ms':>12}{'x rulerank':>12}{'gap':>10}")
    for C in (0.01, 1.0, 100.0):
        ours = RankSVM(C=C, eps=1e-8).fit(data)
        least = ours.objective_ * (1 - ours.gap_)

        def gap(w: np.ndarray, C: float = C, least: float = least) -> float:
            hinges = np.maximum(0, 1 - pairs @ w)
            return (0.5 * float(w @ w) + C / n_queries * float(hinges.sum())) / least - 1

        peer = LinearSVC(C=C / n_queries, loss="hinge", fit_intercept=False, random_state=0)
        ranker = RankSVM(C=C)
        with threadpool_limits(1):
            our_time = median_time(lambda ranker=ranker: ranker.fit(data))
            peer_time = median_time(lambda peer=peer: peer.fit(signed, signs), rounds=3)
        for label, seconds, w in (("rulerank", our_time, ranker.coef_), ("LinearSVC", peer_time, peer.coef_[0])):
            print(f"{C:8}{'':4}{label:24}{seconds * 1000:12.1f}{seconds / our_time:12.1f}{gap(w):10.0e}", flush=True)
    print()


def training_data() -> Iterator[tuple[Dataset, str]]:
    folder = os.environ.get("RULERANK_DATA")
    if folder:
        yield read_letor(Path(folder) / "letor4-mq2008" / "Fold1" / "train.txt"), "MQ2008, Fold1"
        yield read_letor(Path(folder) / "letor3-ohsumed" / "Fold1" / "train.txt"), "LETOR 3.0 OHSUMED, Fold1"
        return
    print("RULERANK_DATA is not set: a synthetic world instead of MQ2008")
    data = make_world(n_queries=470, docs_per_query=(10, 30), n_features=46, seed=0)
    yield Dataset(np.nan_to_num(data.X), data.y, data.qid), "synthetic"


def differences(data: Dataset) -> np.ndarray:
    """Return the better minus the worse document of every pair."""
    queries, ids = query_index(data.qid)
    parts = []
    for query in range(ids.size):
        rows = np.flatnonzero(queries == query)
        better, worse = np.nonzero(data.y[rows][:, None] > data.y[rows])
        parts.append(data.X[rows[better]].astype(np.float64) - data.X[rows[worse]])
    return np.concatenate(parts)


def one_long_query() -> None:
    rng = np.random.default_rng(0)
    print(f"{'one query of':>14}{'pairs':>16}{'seconds':>10}{'rounds':>8}")
    for n_docs in (1_000, 10_000, 100_000):
        X = rng.standard_normal((n_docs, 10))
        y = np.digitize(X @ np.arange(10) / 10 + rng.standard_normal(n_docs), [1.0, 3.0])
        n_pairs = (n_docs**2 - int(np.square(np.bincount(y)).sum())) // 2
        start = time.perf_counter()
        ranker = RankSVM(C=100 / n_pairs).fit(X, y, qid=np.zeros(n_docs))
        seconds = time.perf_counter() - start
        print(f"{n_docs:>14,}{n_pairs:>16,}{seconds:10.2f}{ranker.n_iter_:8}", flush=True)


if __name__ == "__main__":
    main()
