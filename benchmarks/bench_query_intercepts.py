"""Time QueryIntercepts against scikit-learn's LogisticRegression with one-hot columns for the intercepts.

    RULERANK_DATA=/path/to/letor python benchmarks/bench_query_intercepts.py

The five training folds of LETOR 2.0 OHSUMED (letor2-ohsumed under RULERANK_DATA), or a synthetic world when it is not
set. Both find the same optimum, unpenalised; the loss each ends at is printed. Ours starts from a Dataset. The peer
starts from its comparisons as a matrix, features put on one scale: making that is not counted. Its default solver,
lbfgs, gets the matrix sparse, which is faster for it; newton-cholesky, its fastest here, dense. Warm, in turn, median.

At the end: a million rows x 50 features in 20,000 queries, with the memory that fit adds to the data's.
"""

from __future__ import annotations

import os
import resource
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from rulerank.dataset import Dataset, query_index
from rulerank.io.folds import read_folds
from rulerank.rankers.query_intercepts import QueryIntercepts
from rulerank.worlds import make_folds, make_world

N_REPEATS = 5
NEEDED = 100  # times faster than the peer's default, at least


def main() -> None:
    warnings.simplefilter("ignore")
    trainings, name = training_folds()
    comparisons = [one_hot(data) for data in trainings]
    dense = [(X.toarray(), outcome) for X, outcome in comparisons]

    def ours() -> float:
        return sum(QueryIntercepts().fit(data).loss_ for data in trainings)

    sides: dict[str, tuple[Callable[[], float], int]] = {
        "rulerank": (ours, N_REPEATS * 4),
        "scikit-learn, lbfgs": (lambda: by_sklearn(comparisons, "lbfgs"), 1),
        "scikit-learn, newton-cholesky": (lambda: by_sklearn(dense, "newton-cholesky"), N_REPEATS),
    }
    ours(), by_sklearn(dense[:1], "newton-cholesky")  # warm
    print(f"{name}: {len(trainings)} folds, {sum(map(len, trainings)):,} rows, {trainings[0].X.shape[1]} features")
    medians = {}
    for label, (side, n_repeats) in sides.items():
        times = []
        for _ in range(n_repeats):
            start = time.perf_counter()
            loss = side()
            times.append(time.perf_counter() - start)
        medians[label] = statistics.median(times)
        ratio = medians[label] / medians["rulerank"]
        print(f"{label:30} {medians[label] * 1000:10.1f} ms  {ratio:7.1f} x rulerank  loss {loss:.6f}")
    ratio = medians["scikit-learn, lbfgs"] / medians["rulerank"]
    print(f"{ratio:.0f} times faster than the peer's default (needed: {NEEDED})\n")
    a_million_rows()


def training_folds() -> tuple[list[Dataset], str]:
    folder = os.environ.get("RULERANK_DATA")
    if folder:
        return [fold.train for fold in read_folds(Path(folder) / "letor2-ohsumed")], "LETOR 2.0 OHSUMED"
    print("RULERANK_DATA is not set: a synthetic world instead of LETOR 2.0 OHSUMED")
    data = make_world(n_queries=106, docs_per_query=(100, 200), n_features=25, seed=0)
    data = Dataset(np.nan_to_num(data.X), data.y, data.qid)
    return [fold.train for fold in make_folds(data)], "synthetic"


def one_hot(data: Dataset) -> tuple[sparse.csr_array, np.ndarray]:
    """Return one row per comparison, features beside a column for each informative (query, level), and its outcome."""
    queries, _ = query_index(data.qid)
    scaled = (data.X - data.X.mean(axis=0)) / np.maximum(data.X.std(axis=0), 1e-9)
    n_levels = int(data.y.max())
    parts = [(np.flatnonzero(data.y <= level), level) for level in range(1, n_levels + 1)]
    rows = np.concatenate([rows for rows, _ in parts])
    levels = np.concatenate([np.full(rows.size, level) for rows, level in parts])
    outcome = data.y[rows] == levels
    group = queries[rows] * n_levels + levels - 1
    share = np.bincount(group, weights=outcome) / np.maximum(1, np.bincount(group))
    kept = (share[group] > 0) & (share[group] < 1)
    rows, outcome = rows[kept], outcome[kept]
    group = np.unique(group[kept], return_inverse=True)[1]
    columns = sparse.csr_array((np.ones(rows.size), (np.arange(rows.size), group)))
    return sparse.csr_array(sparse.hstack([sparse.csr_array(scaled[rows].astype(np.float64)), columns])), outcome


def by_sklearn(comparisons: list[tuple[sparse.csr_array, np.ndarray]], solver: str) -> float:
    loss = 0.0
    for X, outcome in comparisons:
        model = LogisticRegression(C=np.inf, fit_intercept=False, solver=solver, tol=1e-6, max_iter=100_000)
        margin = model.fit(X, outcome).decision_function(X)
        loss += float(np.logaddexp(0, np.where(outcome, -margin, margin)).sum())
    return loss


def a_million_rows() -> None:
    n_rows, n_features, n_queries = 1_000_000, 50, 20_000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    qid = np.repeat(np.arange(n_queries), n_rows // n_queries)
    truth = X @ rng.standard_normal(n_features).astype(np.float32) + rng.standard_normal(n_queries)[qid]
    y = np.digitize(truth + 5 * rng.logistic(size=n_rows), [5.0, 12.0])
    del truth
    before = peak_memory()
    start = time.perf_counter()
    ranker = QueryIntercepts().fit(X, y, qid=qid)
    seconds = time.perf_counter() - start
    added = peak_memory() - before
    print(
        f"{n_rows:,} rows x {n_features} features, {n_queries:,} queries, {ranker.n_comparisons_:,} comparisons: "
        f"{seconds:.1f} s, {ranker.n_iter_} steps, gradient {ranker.gradient_norm_:.1e}\n"
        f"X takes {X.nbytes / 2**20:.0f} MiB, fit adds {added:.0f} MiB at its peak"
    )


def peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MiB on Linux


if __name__ == "__main__":
    main()
