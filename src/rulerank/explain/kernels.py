"""The loops behind removals and counts by code. Nothing here checks its arguments; `ballot.py`, `query_cases.py` do.

sets      int32[n_sets, size]         features of each cell, -1 where it has fewer
votes     float64[n_sets, width]
sums      float64[n, width]           added to, never cleared
removed   bool[n, n_features]         features that are taken away together
bins      uint8[n_features, n_rows]   bins of training rows
codes     int64[n_rows]               what each row counts for, such as its query
shares    int64[n_rows]               what each row counts
row_bins  uint8[n_features]           one document's bins
counts    int64[n_sets, n_codes]      added to, never cleared
"""

from __future__ import annotations

from rulerank.core.compiled import compiled
from rulerank.dataset import Array


@compiled
def add_without_each(sets: Array, votes: Array, sums: Array) -> None:
    """Add up, for every feature f in row f of sums, the votes of the cells that do not hold f.

    Sums of what is left, not differences: they are those of a model that never had the feature, to the last bit.
    """
    for s in range(sets.shape[0]):
        for f in range(sums.shape[0]):
            held = False
            for j in range(sets.shape[1]):
                if sets[s, j] == f:
                    held = True
            if not held:
                for c in range(votes.shape[1]):
                    sums[f, c] += votes[s, c]


@compiled
def add_without(sets: Array, votes: Array, removed: Array, start: int, stop: int, sums: Array) -> None:
    """Add up, for every row start..stop-1 of removed, the votes of the cells that hold none of its features."""
    for i in range(start, stop):
        for s in range(sets.shape[0]):
            held = False
            for j in range(sets.shape[1]):
                if sets[s, j] >= 0 and removed[i, sets[s, j]]:
                    held = True
                    break
            if not held:
                for c in range(votes.shape[1]):
                    sums[i, c] += votes[s, c]


@compiled
def count_codes_like(bins: Array, codes: Array, shares: Array, sets: Array, row_bins: Array, counts: Array) -> None:
    """Add up, for each set, the shares of the rows of every code that have one document's bins.

    Cell s is set s.
    """
    for s in range(sets.shape[0]):
        for i in range(bins.shape[1]):
            same = True
            for j in range(sets.shape[1]):
                if sets[s, j] >= 0 and bins[sets[s, j], i] != row_bins[sets[s, j]]:
                    same = False
                    break
            if same:
                counts[s, codes[i]] += shares[i]
