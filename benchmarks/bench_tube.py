"""Time TUBE on 50,000 x 64: ours, and a plain NumPy version that makes the same cuts.

    python benchmarks/bench_tube.py

The data is that of `bench_ssar.py`: log-normal features, every third of them zero for a third of the rows.
With RULERANK_DATA, ours is timed on OHSUMED's first training file as well.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import rulerank as rr
from bench_ssar import made_up_pool
from rulerank.dataset import Array
from rulerank.discretize.tube import cells_of
from timing import median_time

N_NUMPY = 8  # features that NumPy cuts


def tube_in_numpy(values: Array, n_bins: int = 10) -> list[float]:
    """Cut one feature, all places of an interval at once."""
    distinct, counts = np.unique(values, return_counts=True)
    cells = cells_of(distinct.astype(np.float64))
    totals = np.repeat(np.append(0, np.cumsum(counts)), 2)[1:-1]  # rows left of each place
    edges = cells.edges

    def term(n: Array, width: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(n > 0, n * np.log(n / width), 0.0)

    def best(first: int, last: int) -> tuple[float, int, int, int]:
        place = np.arange(first + 1, last)
        left, right = edges[place] - edges[first], edges[last] - edges[place]
        n_left, n_right = totals[place] - totals[first], totals[last] - totals[place]
        gain = term(n_left, left) + term(n_right, right) - term(n_left + n_right, left + right)
        gain[np.minimum(left, right) < cells.narrowest] = 0.0
        found = int(gain.argmax()) if gain.size else 0
        return (float(gain[found]) if gain.size else 0.0, first, first + 1 + found, last)

    waiting, cuts = [best(0, edges.size - 1)], []
    while len(cuts) < n_bins - 1 and max(waiting)[0] > 0:
        gain, first, cut, last = max(waiting)
        waiting.remove((gain, first, cut, last))
        waiting += [best(first, cut), best(cut, last)]
        cuts.append(float(cells.cuts[cut]))
    return sorted(cuts)


def main() -> None:
    X, _ = made_up_pool()
    part = np.ascontiguousarray(X[:, :N_NUMPY])
    whole = median_time(lambda: rr.discretize.TUBE().fit(X), 5)
    print(f"{X.shape[0]:,} x {X.shape[1]}, fit          {whole * 1e3:9.1f} ms")
    tube = rr.discretize.TUBE().fit(part)
    ours = median_time(lambda: rr.discretize.TUBE().fit(part), 5)
    one = median_time(lambda: rr.discretize.TUBE(n_jobs=1).fit(part), 5)
    by_numpy = median_time(lambda: [tube_in_numpy(part[:, f]) for f in range(N_NUMPY)], 3)
    n_same = sum(tube_in_numpy(part[:, f]) == tube.cuts_[f].tolist() for f in range(N_NUMPY))
    print(f"{N_NUMPY} features, fit              {ours * 1e3:9.1f} ms, on one core {one * 1e3:.1f} ms")
    ratio = by_numpy / ours
    print(f"{N_NUMPY} features, NumPy, one core  {by_numpy * 1e3:9.1f} ms   ratio {ratio:.1f}, {n_same} cut the same")
    if os.environ.get("RULERANK_DATA"):
        train = rr.read_letor(Path(os.environ["RULERANK_DATA"], "letor3-ohsumed", "Fold1", "train.txt"))
        fit = median_time(lambda: rr.discretize.TUBE().fit(train.X), 9)
        print(f"OHSUMED's {len(train):,} x {train.X.shape[1]}, fit     {fit * 1e3:9.1f} ms")
    else:
        print("OHSUMED skipped: RULERANK_DATA is not set")


if __name__ == "__main__":
    main()
