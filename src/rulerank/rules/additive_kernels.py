"""The loops of additive tables. Nothing here checks its arguments; `additive.py` does.

X                                   float[n_rows, n_features]    NaN = missing
cuts, cut_offsets                   of each feature, those of all its tables together
places, place_starts                from a feature's bin there to the index on one axis of a table, times its stride
votes, vote_starts, table_features  of each table, -1 where it has fewer than three features
used                                int64[n_used]                the features that some table has
out                                 float64[n_rows], or float64[n_rows, n_features] of shares, added to
"""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array


@compiled
def find_bins(X: Array, row: int, cuts: Array, cut_offsets: Array, used: Array, bins: Array) -> None:
    """Write the bin of each used feature of one row."""
    for j in range(used.size):
        f = used[j]
        value = X[row, f]
        low, high = cut_offsets[f], cut_offsets[f + 1]
        if value != value:
            bins[f] = high - low + 1
            continue
        start = low
        while low < high:
            middle = (low + high) // 2
            if cuts[middle] <= value:
                low = middle + 1
            else:
                high = middle
        bins[f] = low - start


@compiled
def add_table_votes(
    X: Array,
    cuts: Array,
    cut_offsets: Array,
    places: Array,
    place_starts: Array,
    votes: Array,
    vote_starts: Array,
    table_features: Array,
    used: Array,
    base: float,
    first: int,
    last: int,
    out: Array,
) -> None:
    """Write the scores of the rows first..last-1; the arrays are those of `AdditiveTables._plan`."""
    bins = np.zeros(cut_offsets.size - 1, dtype=np.int64)
    for row in range(first, last):
        find_bins(X, row, cuts, cut_offsets, used, bins)
        score = base
        for t in range(table_features.shape[0]):
            cell = vote_starts[t]
            for j in range(3):
                f = table_features[t, j]
                if f < 0:
                    break
                cell += places[place_starts[t, j] + bins[f]]
            score += votes[cell]
        out[row] = score


@compiled
def add_weighted(X: Array, weights: Array, fill: Array, filled: bool, first: int, last: int, out: Array) -> None:
    """Add weight times value to the scores of the rows first..last-1, features in order; fill stands for NaN."""
    for row in range(first, last):
        total = 0.0
        for f in range(weights.size):
            value = X[row, f]
            if filled and value != value:
                value = fill[f]
            total += value * weights[f]
        out[row] += total


@compiled
def add_table_shares(
    X: Array,
    cuts: Array,
    cut_offsets: Array,
    places: Array,
    place_starts: Array,
    votes: Array,
    vote_starts: Array,
    table_features: Array,
    used: Array,
    out: Array,
) -> None:
    """Add what each table votes for each row to the row's features of that table, to each the same."""
    bins = np.zeros(cut_offsets.size - 1, dtype=np.int64)
    for row in range(X.shape[0]):
        find_bins(X, row, cuts, cut_offsets, used, bins)
        for t in range(table_features.shape[0]):
            cell = vote_starts[t]
            size = 0
            for j in range(3):
                f = table_features[t, j]
                if f < 0:
                    break
                size += 1
                cell += places[place_starts[t, j] + bins[f]]
            for j in range(size):
                out[row, table_features[t, j]] += votes[cell] / size
