"""Time MDLP on 60,000 x 46: ours, a plain NumPy version and FImdlp, in the same run.

    python benchmarks/bench_mdlp.py

The data is made up to look like LETOR: 600 queries of 100 documents, a hidden relevance, features that follow it more
or less (the last six not at all), skewed, a third of them zero for a third of the documents, scaled to 0 .. 1 within
each query and written with six digits. Grades 0, 1, 2 go to 70, 20 and 10 % of the documents.

FImdlp takes minutes for all 46 features, so it and ours are also timed on two of them, all rows.
With RULERANK_DATA, ours is timed on OHSUMED's first training file as well.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rulerank.dataset import Array
from rulerank.discretize import MDLP
from rulerank.io.letor import read_letor

N_QUERIES, N_DOCS, N_FEATURES = 600, 100, 46


def letor_like(seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    relevance = rng.normal(size=(N_QUERIES, N_DOCS, 1))
    follows = np.append(np.linspace(0.05, 1.0, N_FEATURES - 6), np.zeros(6))
    X = np.exp(follows * relevance + rng.normal(size=(N_QUERIES, N_DOCS, N_FEATURES)))
    X[..., ::3][rng.random(X[..., ::3].shape) < 1 / 3] = 0.0
    low, high = X.min(axis=1, keepdims=True), X.max(axis=1, keepdims=True)
    X = ((X - low) / (high - low)).round(6).reshape(-1, N_FEATURES).astype(np.float32)
    wanted = relevance.ravel() + 0.5 * rng.normal(size=len(X))
    return X, np.searchsorted(np.quantile(wanted, [0.7, 0.9]), wanted)


def mdlp_in_numpy(values: Array, grades: Array) -> list[float]:
    """Cut one feature with cumulative counts, as one would write it first."""
    distinct, number = np.unique(values, return_inverse=True)
    counts = np.zeros((distinct.size, grades.max() + 1))
    np.add.at(counts, (number, grades), 1)

    def entropy(counts: Array) -> Array:
        share = counts / counts.sum(axis=-1, keepdims=True)
        return -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=-1)

    def divide(first: int, last: int) -> list[float]:
        if last - first < 2:
            return []
        left = counts[first:last].cumsum(axis=0)
        whole, left = left[-1], left[:-1]
        right = whole - left
        n_rows = whole.sum()
        after = (left.sum(axis=1) * entropy(left) + right.sum(axis=1) * entropy(right)) / n_rows
        best = int(after.argmin())
        k, k_left, k_right = ((c > 0).sum() for c in (whole, left[best], right[best]))
        delta = np.log2(3.0**k - 2) - (
            k * entropy(whole) - k_left * entropy(left[best]) - k_right * entropy(right[best])
        )
        if entropy(whole) - after[best] <= (np.log2(n_rows - 1) + delta) / n_rows:
            return []
        cut = first + best + 1
        middle = (float(distinct[cut - 1]) + float(distinct[cut])) / 2
        return [*divide(first, cut), middle, *divide(cut, last)]

    return divide(0, distinct.size)


def seconds(work: Callable[[], object], n_runs: int) -> float:
    times = []
    for _ in range(n_runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    X, grades = letor_like()
    mdlp = MDLP().fit(X, grades)  # compiles
    n_same = sum(mdlp_in_numpy(X[:, f], grades) == mdlp.cuts_[f].tolist() for f in range(N_FEATURES))
    ours = seconds(lambda: MDLP().fit(X, grades), 9)
    by_numpy = seconds(lambda: [mdlp_in_numpy(X[:, f], grades) for f in range(N_FEATURES)], 3)
    n_cuts, n_noise = sum(map(len, mdlp.cuts_)), sum(map(len, mdlp.cuts_[-6:]))
    print(f"{len(X):,} x {N_FEATURES}: {n_cuts} cuts, {n_noise} of them on the six features of pure noise")
    print(f"ours, fit          {ours * 1e3:9.1f} ms")
    print(f"NumPy, one core    {by_numpy * 1e3:9.1f} ms   ratio {by_numpy / ours:.1f}, {n_same} features cut the same")

    try:
        from fimdlp.mdlp import FImdlp
    except ImportError as error:
        print(f"FImdlp             skipped: {error}; install it with: pip install 'rulerank[bench]'")
    else:
        two, peer = np.ascontiguousarray(X[:, [10, 30]]), FImdlp()
        ours = seconds(lambda: MDLP().fit(two, grades), 9)
        by_fimdlp = seconds(lambda: peer.fit(two, grades), 1)
        print(f"ours, 2 features   {ours * 1e3:9.1f} ms   cuts {[len(mdlp.cuts_[f]) for f in (10, 30)]}")
        n_cuts = [len(cuts) for cuts in peer.get_cut_points()]
        print(f"FImdlp, 2 features {by_fimdlp * 1e3:9.1f} ms   ratio {by_fimdlp / ours:.1f}, cuts {n_cuts}")

    print(f"ours, transform    {seconds(lambda: mdlp.transform(X), 9) * 1e3:9.1f} ms")
    print(f"  of 100 rows      {seconds(lambda: mdlp.transform(X[:100]), 99) * 1e3:9.3f} ms")
    print(f"  bins_of 100 rows {seconds(lambda: mdlp.bins_of(X[:100]), 99) * 1e3:9.3f} ms")

    if os.environ.get("RULERANK_DATA"):
        train = read_letor(Path(os.environ["RULERANK_DATA"], "letor3-ohsumed", "Fold1", "train.txt"))
        fit = seconds(lambda: MDLP().fit(train.X, train.y), 31)
        print(f"ours, fit on OHSUMED's {len(train):,} x {train.X.shape[1]}: {fit * 1e3:.1f} ms")
    else:
        print("OHSUMED skipped: RULERANK_DATA is not set")


if __name__ == "__main__":
    main()
