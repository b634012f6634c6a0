"""The loops of additive tables. Nothing here checks its arguments; `additive.py` does.

X                                   float[n_rows, n_features]    NaN = missing
cuts, cut_offsets                   of each feature, those of all its tables together
places, place_starts                from a feature's bin there to the index on one axis of a table, times its stride
votes, vote_starts, table_features  of each table, -1 where it has fewer than three features
used                                int64[n_used]                the features that some table has
values, features                    float64[n_rows, n_terms], int32[n_terms, size]: what terms add, and their features
out                                 float64[n_rows], float64[n_rows, n_terms], or float64[n_rows, n_features], added to
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
def find_table_votes(
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
    """Write the vote of each table for each row into the first columns of out."""
    bins = np.zeros(cut_offsets.size - 1, dtype=np.int64)
    for row in range(X.shape[0]):
        find_bins(X, row, cuts, cut_offsets, used, bins)
        for t in range(table_features.shape[0]):
            cell = vote_starts[t]
            for j in range(3):
                f = table_features[t, j]
                if f < 0:
                    break
                cell += places[place_starts[t, j] + bins[f]]
            out[row, t] = votes[cell]


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
def add_shares(values: Array, features: Array, out: Array) -> None:
    """Add what each term adds to each row to the features of the term, to each the same; features: -1 is none."""
    for row in range(values.shape[0]):
        for t in range(features.shape[0]):
            size = 0
            while size < features.shape[1] and features[t, size] >= 0:
                size += 1
            for j in range(size):
                out[row, features[t, j]] += values[row, t] / size
