"""The counting loop against a bare one-table histogram on the same machine, and size 3 at scale with its memory.

Synthetic bins, uniform: 60,000 training rows and 20,000 documents, 64 features of 10 bins, 3 grades.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
from numba import njit

from rulerank.rules.engine import Engine, Tables, table_mib
from rulerank.rules.layout import Layout
from rulerank.rules.tables import BinCounts, Counter, Rows
from rulerank.rules.votes import VOTES
from timing import median_time

N_TRAIN, N_TEST, N_FEATURES, N_BINS = 60_000, 20_000, 64, 10


@njit(cache=True)
def bare_histogram(cells, out):  # type: ignore[no-untyped-def]  # the plainest loop there is
    for i in range(cells.size):
        out[cells[i]] += 1


def main() -> None:
    rng = np.random.default_rng(0)
    bins = rng.integers(0, N_BINS, (N_FEATURES, N_TRAIN)).astype(np.uint8)
    rows = Rows.of(bins, rng.integers(0, 3, N_TRAIN), rng.integers(0, 300, N_TRAIN))
    documents = rng.integers(0, N_BINS, (N_FEATURES, N_TEST)).astype(np.uint8)

    counts = BinCounts.of(rows)
    pairs = Layout.over(counts.n_bins, max_size=2).sets[1]
    counter = Counter(rows, expected=False, n_jobs=1)
    ours = median_time(lambda: counter.count(pairs)) / (len(pairs.features) * N_TRAIN)
    cells = (bins[0].astype(np.int32) * N_BINS + bins[1]) * 3 + rows.grades
    out = np.zeros(3 * N_BINS**2, dtype=np.int32)
    bare = median_time(lambda: [bare_histogram(cells, out) for _ in range(200)]) / (200 * N_TRAIN)
    print("one thread, pairs of 64 features, 10 bins, 3 grades")
    print(f"counting loop    {ours * 1e9:6.2f} ns per row and set")
    print(f"bare histogram   {bare * 1e9:6.2f} ns per row")
    both = Counter(rows, n_jobs=1)
    expecting = median_time(lambda: both.count(pairs)) / (len(pairs.features) * N_TRAIN)
    print(f"with expectation {expecting * 1e9:6.2f} ns per row and set (what the default votes need)")
    print(f"the counting loop reaches {bare / ours:.2f} of the bare loop's rate (goal: 0.5)")

    for max_size in (2, 3):
        layout = Layout.over(counts.n_bins, max_size)
        training = counts.training(1)
        need = table_mib(layout, VOTES["mean"], training) / 1024
        start = time.perf_counter()
        engine = Engine.learn(rows, layout, VOTES["mean"], training)
        engine.score(documents)
        seconds = time.perf_counter() - start
        steps = layout.n_sets * (N_TRAIN + N_TEST)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform != "darwin" else 2**30)
        print(
            f"size {max_size}: {layout.n_sets:,} sets, {N_TRAIN:,} + {N_TEST:,} rows in {seconds:.2f} s, "
            f"{steps / seconds:.2e} rows x sets per second; tables take {need:.2f} GiB "
            f"({'built' if isinstance(engine.kept, Tables) else 'one pass instead'}); peak memory {peak:.2f} GiB"
        )


if __name__ == "__main__":
    main()
