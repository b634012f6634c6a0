"""The loops of the engine. Nothing here checks its arguments; `tables.py` does.

bins      uint8[n_features, n_rows]   bin of each feature in each row, 255 = a bin no training row has
coded     uint16[n_features, n_rows]  bin * n_grades + grade
expected  int64[n_rows]               mean grade of the row's query, in units of 2**-28
spread    int64[n_rows]               variance of the grades of the row's query, in the same units
sets      int16[n_sets, size]         features of each set, lexicographic
n_bins    int32[n_features]           table width of each feature
offsets   int64[n_sets + 1]           first cell of each set
counts    int32[n_cells, n_grades]    training rows per cell and grade
moments   int64[n_cells, 2]           sums of expected and spread per cell
votes     float64[n_cells, width]     what a cell adds to the sums of a document that falls into it
sums      float64[n_rows, width]      added to, never cleared
"""

from __future__ import annotations

import numpy as np
from numba import njit

from rulerank.dataset import Array

BLOCK = 512  # rows whose sums and bins stay in the L1 cache while the sets go by


@njit(cache=True, nogil=True)
def same_prefix(sets: Array, one: int, other: int) -> bool:
    for j in range(sets.shape[1] - 1):
        if sets[one, j] != sets[other, j]:
            return False
    return True


@njit(cache=True, nogil=True)
def prefix_cells(bins: Array, members: Array, n_bins: Array, start: int, stop: int, cells: Array) -> None:
    """Number the cell of all members but the last; -1 where one of their bins is unseen."""
    for i in range(stop - start):
        cells[i] = 0
    for j in range(members.size - 1):
        feature = members[j]
        width = n_bins[feature]
        row_bins = bins[feature]
        for i in range(stop - start):
            if row_bins[start + i] >= width or cells[i] < 0:
                cells[i] = -1
            else:
                cells[i] = cells[i] * width + row_bins[start + i]


@njit(cache=True, nogil=True)
def count_grades(
    bins: Array, coded: Array, sets: Array, n_bins: Array, offsets: Array, first: int, last: int, counts: Array
) -> None:
    """Count the rows of every grade in every cell of the sets first..last-1."""
    n_rows = bins.shape[1]
    n_grades = counts.shape[1]
    size = sets.shape[1]
    flat = counts.reshape(-1)
    prefix = np.zeros(n_rows, dtype=np.int32)
    for s in range(first, last):
        if size > 1 and (s == first or not same_prefix(sets, s, s - 1)):
            prefix_cells(bins, sets[s], n_bins, 0, n_rows, prefix)
        feature = sets[s, size - 1]
        step = n_bins[feature] * n_grades
        table = flat[offsets[s] * n_grades : offsets[s + 1] * n_grades]
        codes = coded[feature]
        for i in range(n_rows):
            table[prefix[i] * step + codes[i]] += 1


@njit(cache=True, nogil=True)
def sum_moments(
    bins: Array,
    expected: Array,
    spread: Array,
    sets: Array,
    n_bins: Array,
    offsets: Array,
    first: int,
    last: int,
    moments: Array,
) -> None:
    """Add up, in every cell, what the rows' queries lead one to expect."""
    n_rows = bins.shape[1]
    size = sets.shape[1]
    prefix = np.zeros(n_rows, dtype=np.int32)
    for s in range(first, last):
        if size > 1 and (s == first or not same_prefix(sets, s, s - 1)):
            prefix_cells(bins, sets[s], n_bins, 0, n_rows, prefix)
        feature = sets[s, size - 1]
        width = n_bins[feature]
        table = moments[offsets[s] : offsets[s + 1]]
        row_bins = bins[feature]
        for i in range(n_rows):
            cell = prefix[i] * width + row_bins[i]
            table[cell, 0] += expected[i]
            table[cell, 1] += spread[i]


@njit(cache=True, nogil=True)
def count_like(
    bins: Array,
    grades: Array,
    expected: Array,
    spread: Array,
    sets: Array,
    row_bins: Array,
    first: int,
    last: int,
    counts: Array,
    moments: Array,
) -> None:
    """Count, for each set, the training rows that share one document's bins: cell s is set s."""
    n_rows = bins.shape[1]
    size = sets.shape[1]
    for s in range(first, last):
        for i in range(n_rows):
            same = True
            for j in range(size):
                if bins[sets[s, j], i] != row_bins[sets[s, j]]:
                    same = False
                    break
            if same:
                counts[s, grades[i]] += 1
                moments[s, 0] += expected[i]
                moments[s, 1] += spread[i]


@njit(cache=True, nogil=True)
def find_cells(bins: Array, sets: Array, n_bins: Array, offsets: Array, cells: Array) -> None:
    """Find the cell of one document (its bins) in every set; -1 where it has a bin no training row has."""
    for s in range(sets.shape[0]):
        cell = 0
        for j in range(sets.shape[1]):
            feature = sets[s, j]
            if bins[feature] >= n_bins[feature]:
                cell = -1
                break
            cell = cell * n_bins[feature] + bins[feature]
        cells[s] = offsets[s] + cell if cell >= 0 else -1


@njit(cache=True, nogil=True)
def add_votes(
    bins: Array, sets: Array, n_bins: Array, offsets: Array, votes: Array, start: int, stop: int, sums: Array
) -> None:
    """Let every row start..stop-1 look its cells up and add their votes, set after set."""
    size = sets.shape[1]
    width = votes.shape[1]
    prefix = np.zeros(BLOCK, dtype=np.int32)
    for block in range(start, stop, BLOCK):
        end = min(block + BLOCK, stop)
        for s in range(sets.shape[0]):
            if size > 1 and (s == 0 or not same_prefix(sets, s, s - 1)):
                prefix_cells(bins, sets[s], n_bins, block, end, prefix)
            feature = sets[s, size - 1]
            last_width = n_bins[feature]
            table = votes[offsets[s] : offsets[s + 1]]
            row_bins = bins[feature]
            for i in range(end - block):
                if prefix[i] < 0 or row_bins[block + i] >= last_width:
                    continue
                cell = prefix[i] * last_width + row_bins[block + i]
                for c in range(width):
                    sums[block + i, c] += table[cell, c]


@njit(cache=True, nogil=True)
def mean_votes(counts: Array, min_hits: int, offsets: Array, first: int, last: int, votes: Array) -> None:
    """Vote with the confidence of each rule, and count the rules, per grade."""
    n_grades = counts.shape[1]
    for cell in range(offsets[first], offsets[last]):
        covered = 0
        for r in range(n_grades):
            covered += counts[cell, r]
        for r in range(n_grades):
            exists = counts[cell, r] >= min_hits
            votes[cell, r] = counts[cell, r] / covered if exists else 0.0
            votes[cell, n_grades + r] = 1.0 if exists else 0.0


@njit(cache=True, nogil=True)
def lift_votes(
    counts: Array,
    moments: Array,
    unit: float,
    shrink: float,
    min_covered: int,
    set_weights: Array,
    offsets: Array,
    first: int,
    last: int,
    votes: Array,
) -> None:
    """Vote with the shrunken difference to what the cells' queries expect, weighed by set, and add up the weights."""
    for s in range(first, last):
        for cell in range(offsets[s], offsets[s + 1]):
            covered = 0
            total = 0
            for r in range(counts.shape[1]):
                covered += counts[cell, r]
                total += r * counts[cell, r]
            if covered < min_covered:
                votes[cell, 0] = 0.0
                votes[cell, 1] = 0.0
                continue
            votes[cell, 0] = set_weights[s] * ((total - moments[cell, 0] * unit) / (covered + shrink))
            votes[cell, 1] = set_weights[s]
