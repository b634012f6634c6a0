"""Time SSAR per label asked on a pool of 50,000 x 64 in 10 bins: ours, and NumPy on the first 2,000 rows.

    python benchmarks/bench_ssar.py

The pool is made up: log-normal features that follow a hidden relevance more or less, every third of them zero for a
third of the documents, put into bins by TUBE. The 1.4 % most relevant documents have grade 1. The NumPy version keeps
the set of rules seen and tests each new one on all rows at once, as one would write it first.
Then a pool of 1,000,000 x 46 (bins of equal frequency).
With RULERANK_DATA, the labels asked until the stop on the first training file of OHSUMED and MQ2008.
"""

from __future__ import annotations

import os
import resource
import time
from itertools import combinations
from pathlib import Path

import numpy as np

import rulerank as rr
from rulerank.dataset import Array

N_ROWS, N_FEATURES, N_NUMPY = 50_000, 64, 2_000
LARGE = 1_000_000, 46


def made_up_pool(n_rows: int = N_ROWS, n_features: int = N_FEATURES, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    relevance = rng.normal(size=(n_rows, 1)).astype(np.float32)
    noise = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    X = np.exp(np.linspace(0.05, 1.0, n_features, dtype=np.float32) * relevance + noise)
    X[:, ::3][rng.random(X[:, ::3].shape) < 1 / 3] = 0.0
    return X.astype(np.float32), (relevance.ravel() > 2.2).astype(int)


def select_in_numpy(bins: Array, grades: Array, max_size: int, budget: int) -> list[int]:
    """Choose rows of bins (n_features, n_rows), testing each new rule on the whole pool."""
    n_features, n_rows = bins.shape
    n_rules, projection = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=np.int64)
    common = np.sum([np.bincount(feature)[feature] for feature in bins], axis=0)
    seen: set[tuple[object, ...]] = set()
    order: list[int] = []
    while len(order) < budget:
        row = int(np.lexsort([np.arange(n_rows), -common, projection, n_rules])[0])
        if row in order:
            break
        order.append(row)
        same = bins == bins[:, row, None]
        projection += same.sum(axis=0)
        for size in range(1, max_size + 1):
            for features in combinations(range(n_features), size):
                rule = (features, *bins[list(features), row], grades[row])
                if rule not in seen:
                    seen.add(rule)
                    n_rules += np.logical_and.reduce(same[list(features)])
    return order


def time_labels(bins: Array, grades: Array, max_size: int, budget: int) -> tuple[list[int], Array]:
    """Return the rows asked for, and the milliseconds to the next question: on the clock, and of all cores."""
    selection = rr.SSAR(max_size, discretizer=None).begin(bins.T)
    times = []
    while (row := selection.next()) is not None and len(times) < budget:
        start = time.perf_counter(), time.process_time()
        selection.add(row, grades[row])
        times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return selection.order.tolist(), 1e3 * np.array(times)


def compare(bins: Array, grades: Array, max_size: int, budget: int, n_numpy: int) -> None:
    time_labels(bins, grades, max_size, 2)  # compiles
    clock, cores = np.median(time_labels(bins, grades, max_size, budget)[1], axis=0)
    print(f"{N_ROWS:,} x {N_FEATURES}, size {max_size}: {clock:.2f} ms per label, {cores:.2f} ms of processor time")
    part = np.ascontiguousarray(bins[:, :N_NUMPY])
    order, times = time_labels(part, grades, max_size, n_numpy)
    start = time.perf_counter()
    same = select_in_numpy(part, grades, max_size, n_numpy) == order
    by_numpy = 1e3 * (time.perf_counter() - start) / n_numpy
    ours = times[:, 0].mean()
    print(
        f" {N_NUMPY:,} x {N_FEATURES}, size {max_size}: {ours:.2f} ms, NumPy {by_numpy:,.0f} ms, "
        f"ratio {by_numpy / ours:,.0f}, {'the same' if same else 'OTHER'} rows"
    )


def large_pool() -> None:
    X, grades = made_up_pool(*LARGE)
    bins = rr.discretize.EqualFrequency().fit(X).bins_of(X)
    del X
    clock, cores = np.median(time_labels(bins, grades, 2, 40)[1], axis=0)
    print(f"{LARGE[0]:,} x {LARGE[1]}, size 2: {clock:.1f} ms per label, {cores:.1f} ms of processor time")


def ask_to_the_end(name: str, method: str, ssar: rr.SSAR) -> None:
    train = rr.read_letor(Path(os.environ["RULERANK_DATA"], name, "Fold1", "train.txt"))
    start = time.perf_counter()
    n_labels = ssar.select(train, train.y.__getitem__).size
    took = time.perf_counter() - start
    print(
        f"{name}, {method}: {n_labels} labels, {n_labels / len(train):.1%} of {len(train):,}, {took:.2f} s with binning"
    )


def main() -> None:
    X, grades = made_up_pool()
    bins = rr.discretize.TUBE().fit(X).bins_of(X)
    compare(bins, grades, max_size=2, budget=150, n_numpy=15)
    large_pool()
    print(f"peak memory of all this: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")
    if not os.environ.get("RULERANK_DATA"):
        print("OHSUMED and MQ2008 skipped: RULERANK_DATA is not set")
        return
    for name in ("letor3-ohsumed", "letor4-mq2008"):
        ask_to_the_end(name, "SSAR, size 2", rr.SSAR())
        ask_to_the_end(name, "SSARP", rr.SSAR(partitions=5))
        ask_to_the_end(name, "per query", rr.SSAR(per_query=True))


if __name__ == "__main__":
    main()
