"""The loops of the engine: counting rows, adding votes. Nothing here checks its arguments; `tables.py` does.

bins      uint8[n_features, n_rows]   bin of each feature in each row, 255 = a bin no training row has
coded     uint16[n_features, n_rows]  bin * n_grades + grade
expected  int64[n_rows]               mean grade of the row's query, in units of 2**-28
packed    int64[n_rows]               2**shift + expected: counts the row and adds its expectation in one addition
sets      int32[n_sets, size]         features of each set, lexicographic
n_bins    int32[n_features]           table width of each feature
offsets   int64[n_sets + 1]           first cell of each set
counts    int32[n_cells, n_grades]    training rows per cell and grade
sums      int64[n_cells]              sum of expected per cell
votes     float64[n_cells, width]     what a cell adds to the sums of a document that falls into it
totals    float64[n_rows, width]      votes of each document, added to, never cleared
"""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array

BLOCK = 512  # rows whose sums and bins stay in the L1 cache while the sets go by


@compiled
def same_prefix(sets: Array, one: int, other: int) -> bool:
    for j in range(sets.shape[1] - 1):
        if sets[one, j] != sets[other, j]:
            return False
    return True


@compiled
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


@compiled
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


@compiled
def count_and_expect(
    bins: Array,
    coded: Array,
    packed: Array,
    shift: int,
    chunk: int,
    sets: Array,
    n_bins: Array,
    offsets: Array,
    first: int,
    last: int,
    counts: Array,
    sums: Array,
) -> None:
    """Count as `count_grades` does, and add up what the rows' queries lead one to expect.

    Both in one addition per row: the count in the high bits, the expectation in the low ones. `chunk` rows cannot
    overflow; after each the two are taken apart.
    """
    n_rows = bins.shape[1]
    n_grades = counts.shape[1]
    size = sets.shape[1]
    widest = 0
    for s in range(first, last):
        widest = max(widest, offsets[s + 1] - offsets[s])
    both = np.zeros(widest * n_grades, dtype=np.int64)
    low = (1 << shift) - 1
    prefix = np.zeros(n_rows, dtype=np.int32)
    for s in range(first, last):
        if size > 1 and (s == first or not same_prefix(sets, s, s - 1)):
            prefix_cells(bins, sets[s], n_bins, 0, n_rows, prefix)
        feature = sets[s, size - 1]
        step = n_bins[feature] * n_grades
        codes = coded[feature]
        for start in range(0, n_rows, chunk):
            for i in range(start, min(start + chunk, n_rows)):
                both[prefix[i] * step + codes[i]] += packed[i]
            for cell in range(offsets[s + 1] - offsets[s]):
                for r in range(n_grades):
                    value = both[cell * n_grades + r]
                    counts[offsets[s] + cell, r] += value >> shift
                    sums[offsets[s] + cell] += value & low
                    both[cell * n_grades + r] = 0


@compiled
def sum_by_bin(bins: Array, values: Array, features: Array, offsets: Array, first: int, last: int, out: Array) -> None:
    """Add up a number of each row by the bin of single features."""
    for s in range(first, last):
        row_bins = bins[features[s]]
        table = out[offsets[s] : offsets[s + 1]]
        for i in range(values.size):
            table[row_bins[i]] += values[i]


@compiled
def count_like(
    bins: Array,
    grades: Array,
    expected: Array,
    sets: Array,
    row_bins: Array,
    first: int,
    last: int,
    counts: Array,
    sums: Array,
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
                sums[s] += expected[i]


@compiled
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


@compiled
def add_votes(
    bins: Array, sets: Array, n_bins: Array, offsets: Array, votes: Array, start: int, stop: int, totals: Array
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
            if width == 2:  # the common case: twice as fast without the loop over two
                for i in range(end - block):
                    if prefix[i] >= 0 and row_bins[block + i] < last_width:
                        cell = prefix[i] * last_width + row_bins[block + i]
                        totals[block + i, 0] += table[cell, 0]
                        totals[block + i, 1] += table[cell, 1]
                continue
            for i in range(end - block):
                if prefix[i] >= 0 and row_bins[block + i] < last_width:
                    cell = prefix[i] * last_width + row_bins[block + i]
                    for c in range(width):
                        totals[block + i, c] += table[cell, c]
