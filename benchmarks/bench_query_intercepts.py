"""Time QueryIntercepts against scikit-learn's LogisticRegression with one-hot columns for the intercepts.

    RULERANK_DATA=/path/to/letor python benchmarks/bench_query_intercepts.py

The first training fold of LETOR 2.0 OHSUMED (letor2-ohsumed under RULERANK_DATA), or a synthetic synthetic when it is
not set. All look for the same unpenalised optimum; gap says how far from it, relative to the loss, each one stops.
Ours starts from a Dataset. The peer starts from its comparisons as a sparse matrix, whose making is not counted:
- as they are: the features we get, lbfgs (its default solver). Once, because it takes long.
- prepared: the features put on one scale, and those that depend on others left out, which we do inside fit.
All have one BLAS thread: on a busy machine more of them make the peer several times slower, which would flatter us.
The ratio depends far more on this and on the solver than on anything else: quote the row you mean.

At the end: a million rows x 50 features in 20,000 queries, and the memory that fit adds to the data's.
"""

from __future__ import annotations

import os
import re
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.linalg import qr
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from rulerank.dataset import Dataset, query_index
from rulerank.datasets.ranking import make_ranking
from rulerank.io.letor import read_letor
from rulerank.rankers.linear.query_intercepts import QueryIntercepts

MAX_ITER = 2_000  # of the peer; as they are, 13,000 steps still leave a gap of 2e-05


def main() -> None:
    warnings.simplefilter("ignore")
    data, name = training_data()
    queries, _ = query_index(data.qid)
    raw = one_hot(data, data.X.astype(np.float64), queries)
    prepared = one_hot(data, independent(data.X.astype(np.float64), queries), queries)
    sides: dict[str, tuple[Callable[[], float], int]] = {
        "rulerank": (lambda: QueryIntercepts().fit(data).loss_, 20),
        "scikit-learn lbfgs, as they are": (lambda: by_sklearn(*raw, "lbfgs"), 1),
        "scikit-learn lbfgs, prepared": (lambda: by_sklearn(*prepared, "lbfgs"), 3),
        "scikit-learn newton-cholesky, prepared": (lambda: by_sklearn(*prepared, "newton-cholesky"), 5),
    }
    print(f"{name}: {len(data):,} rows, {data.X.shape[1]} features, {raw[1].size:,} comparisons")
    print(f"{'':40}{'median ms':>12}{'x rulerank':>12}{'cpu ms':>12}{'x rulerank':>12}{'gap':>10}")
    best, ours = 0.0, (0.0, 0.0)
    for label, (side, n_repeats) in sides.items():
        if n_repeats > 1:
            side()  # warm
        walls, cpus = [], []
        for _ in range(n_repeats):
            wall, cpu = time.perf_counter(), time.process_time()
            with threadpool_limits(1):
                loss = side()
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
        wall, cpu = statistics.median(walls), statistics.median(cpus)
        if label == "rulerank":
            best, ours = loss, (wall, cpu)
        print(
            f"{label:40}{wall * 1000:12.1f}{wall / ours[0]:12.1f}{cpu * 1000:12.1f}{cpu / ours[1]:12.1f}"
            f"{loss / best - 1:10.0e}",
            flush=True,
        )
    print()
    a_million_rows()


def training_data() -> tuple[Dataset, str]:
    folder = os.environ.get("RULERANK_DATA")
    if folder:
        return read_letor(Path(folder) / "letor2-ohsumed" / "Fold1" / "train.txt"), "LETOR 2.0 OHSUMED, Fold1"
    print("RULERANK_DATA is not set: a synthetic synthetic instead of LETOR 2.0 OHSUMED")
    data = make_ranking(n_queries=63, docs_per_query=(100, 200), n_features=25, seed=0)
    return Dataset(np.nan_to_num(data.X), data.y, data.qid), "synthetic"


def one_hot(data: Dataset, features: np.ndarray, queries: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """Return one row per comparison, features beside a column for each informative (query, level), and its outcome."""
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
    return sparse.csr_array(sparse.hstack([sparse.csr_array(features[rows]), columns])), outcome


def independent(X: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Return the features on one scale, without those that intercepts and other features make up."""
    means = np.stack([np.bincount(queries, weights=column) for column in X.T], axis=1) / np.bincount(queries)[:, None]
    within = X - means[queries]
    spread = within.std(axis=0)
    varying = spread > 1e-9
    _, triangle, order = qr(within[:, varying] / spread[varying], mode="economic", pivoting=True)
    size = np.abs(np.diagonal(triangle))
    kept = np.flatnonzero(varying)[np.sort(order[size > 1e-6 * size[0]])]
    return (X[:, kept] - X[:, kept].mean(axis=0)) / X[:, kept].std(axis=0)


def by_sklearn(X: sparse.csr_array, outcome: np.ndarray, solver: str) -> float:
    model = LogisticRegression(C=np.inf, fit_intercept=False, solver=solver, tol=1e-6, max_iter=MAX_ITER)
    margin = model.fit(X, outcome).decision_function(X)
    return float(np.logaddexp(0, np.where(outcome, -margin, margin)).sum())


def a_million_rows() -> None:
    n_rows, n_features, n_queries = 1_000_000, 50, 20_000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    qid = np.repeat(np.arange(n_queries), n_rows // n_queries)
    truth = X @ rng.standard_normal(n_features).astype(np.float32) + rng.standard_normal(n_queries)[qid]
    y = np.digitize(truth + 5 * rng.logistic(size=n_rows), [5.0, 12.0])
    del truth
    if not Path("/proc/self/clear_refs").exists():
        print("skipped a million rows: the peak of the memory can be reset on Linux only")
        return
    # what came before has raised the peak; without a reset fit would seem to add nothing
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    start = time.perf_counter()
    ranker = QueryIntercepts().fit(X, y, qid=qid)
    seconds = time.perf_counter() - start
    added = memory("VmHWM") - before
    print(
        f"{n_rows:,} rows x {n_features} features, {n_queries:,} queries, {ranker.n_comparisons_:,} comparisons: "
        f"{seconds:.1f} s, {ranker.n_iter_} steps, gradient {ranker.gradient_norm_:.1e}\n"
        f"X takes {X.nbytes / 2**20:.0f} MiB, fit adds {added:.0f} MiB at its peak"
    )


def memory(which: str) -> float:
    """Return VmRSS (now) or VmHWM (the most since the last reset) of this process in MiB."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{which}:\s+(\d+) kB", status)[1]) / 1024


if __name__ == "__main__":
    main()
