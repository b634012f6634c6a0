"""The loops of the engine: counting rows, adding votes. Nothing here checks its arguments; `tables.py` does.

bins      uint8[n_features, n_rows]   bin of each feature in each row, 255 = a bin no training row has
coded     uint16[n_features, n_rows]  bin * n_grades + grade
expected  int64[n_rows]               mean grade of the row's query, in units of 2**-28
packed    int64[n_rows]               2**shift + expected: counts the row and adds its expectation in one addition
sets      layout.FeatureSets          features of each set, lexicographic; where its cells begin; widths of the tables
counts    int32[n_cells, n_grades]    training rows per cell and grade
sums      int64[n_cells]              sum of expected per cell
tallies   int64[n_cells, 6 or more]   what queries, each by itself, say of the cell, in the columns named below
votes     float64[n_cells, width]     what a cell adds to the sums of a document that falls into it
totals    float64[n_rows, width]      votes of each document, added to, never cleared

What a loop fills comes before the last two arguments, and they say which sets (first, last) or rows (start, stop).
"""

from __future__ import annotations

import math

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array
from rulerank.rules.layout import FeatureSets

BLOCK = 512  # rows whose sums and bins stay in the L1 cache while the sets go by

N_QUERIES = 0  # columns of tallies: queries that hold the cell
N_UP, N_DOWN = 1, 2  # where its rows have a higher (lower) mean grade than all rows of the query
ROWS_UP, ROWS_DOWN = 3, 4  # of the cell, in such queries
LIFTS = 5  # sum over queries of that difference of means
THETAS = 6  # from here on, what the confidences in single queries come to, none or one of:
SUMS = 1  # columns per grade: the sum over queries of the confidence
EXTREMES = 2  # per grade, the largest confidence in a query; then, per grade, the largest of 1 less the confidence


@compiled
def same_prefix(features: Array, one: int, other: int) -> bool:
    for j in range(features.shape[1] - 1):
        if features[one, j] != features[other, j]:
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
def widest_of(offsets: Array, first: int, last: int) -> int:
    """Return how many cells the largest of some sets has."""
    widest = 0
    for s in range(first, last):
        widest = max(widest, offsets[s + 1] - offsets[s])
    return widest


@compiled
def count_grades(bins: Array, coded: Array, sets: FeatureSets, counts: Array, first: int, last: int) -> None:
    """Count the rows of every grade in every cell of the sets first..last-1."""
    features, offsets, n_bins = sets
    n_rows = bins.shape[1]
    n_grades = counts.shape[1]
    size = features.shape[1]
    flat = counts.reshape(-1)
    prefix = np.zeros(n_rows, dtype=np.int32)
    for s in range(first, last):
        if size > 1 and (s == first or not same_prefix(features, s, s - 1)):
            prefix_cells(bins, features[s], n_bins, 0, n_rows, prefix)
        feature = features[s, size - 1]
        step = n_bins[feature] * n_grades
        table = flat[offsets[s] * n_grades : offsets[s + 1] * n_grades]
        codes = coded[feature]
        for i in range(n_rows):
            table[prefix[i] * step + codes[i]] += 1


@compiled
def count_and_expect(
    bins: Array, coded: Array, packed: Array, shift: int, chunk: int, sets: FeatureSets,
    counts: Array, sums: Array, first: int, last: int,
) -> None:  # fmt: skip
    """Count as `count_grades` does, and add up what the rows' queries lead one to expect.

    Both in one addition per row: the count in the high bits, the expectation in the low ones. `chunk` rows cannot
    overflow; after each the two are taken apart.
    """
    features, offsets, n_bins = sets
    n_rows = bins.shape[1]
    n_grades = counts.shape[1]
    size = features.shape[1]
    both = np.zeros(widest_of(offsets, first, last) * n_grades, dtype=np.int64)
    low = (1 << shift) - 1
    prefix = np.zeros(n_rows, dtype=np.int32)
    for s in range(first, last):
        if size > 1 and (s == first or not same_prefix(features, s, s - 1)):
            prefix_cells(bins, features[s], n_bins, 0, n_rows, prefix)
        feature = features[s, size - 1]
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
def tally_queries(
    bins: Array, grades: Array, starts: Array, excess: Array, expected: Array, n_grades: int, units: float,
    theta_units: float, sets: FeatureSets, sums: Array, tallies: Array, first: int, last: int,
) -> None:  # fmt: skip
    """Go through the queries of every set first..last-1: fill a small table, then add its cells to the tallies.

    bins, grades, expected  of rows sorted by query
    starts  int64[n_queries + 1]  first row of each query
    excess  int64[n_rows]         grade times the query's rows, less the sum of the query's grades: its surplus
    """
    features, offsets, n_bins = sets
    size = features.shape[1]
    thetas = (tallies.shape[1] - THETAS) // n_grades  # columns per grade
    widest = widest_of(offsets, first, last)
    prefix = np.zeros(bins.shape[1], dtype=np.int32)
    rows = np.zeros(widest, dtype=np.int64)  # of one query, like the next three
    surplus = np.zeros(widest, dtype=np.int64)
    hits = np.zeros((widest if thetas > 0 else 0, n_grades), dtype=np.int64)
    touched = np.zeros(widest, dtype=np.int64)
    for s in range(first, last):
        if size > 1 and (s == first or not same_prefix(features, s, s - 1)):
            prefix_cells(bins, features[s], n_bins, 0, bins.shape[1], prefix)
        row_bins = bins[features[s, size - 1]]
        width = n_bins[features[s, size - 1]]
        for q in range(starts.size - 1):
            n_touched = 0
            for i in range(starts[q], starts[q + 1]):
                own = prefix[i] * width + row_bins[i]
                if rows[own] == 0:
                    touched[n_touched] = own
                    n_touched += 1
                rows[own] += 1
                surplus[own] += excess[i]
                if thetas > 0:
                    hits[own, grades[i]] += 1
            n_rows = starts[q + 1] - starts[q]
            for t in range(n_touched):
                own = touched[t]
                cell = offsets[s] + own
                n = rows[own]
                sums[cell] += n * expected[starts[q]]
                above = surplus[own] / n_rows
                tallies[cell, N_QUERIES] += 1
                tallies[cell, LIFTS] += math.floor(above / n * units + 0.5)
                if surplus[own] > 0:
                    tallies[cell, N_UP] += 1
                    tallies[cell, ROWS_UP] += n
                elif surplus[own] < 0:
                    tallies[cell, N_DOWN] += 1
                    tallies[cell, ROWS_DOWN] += n
                if thetas > 0:
                    units_per_hit = theta_units / n
                    for r in range(n_grades):
                        theta = int(hits[own, r] * units_per_hit + 0.5)
                        column = THETAS + r
                        if thetas == SUMS:
                            tallies[cell, column] += theta
                        else:
                            tallies[cell, column] = max(tallies[cell, column], theta)
                            rest = int(theta_units) - theta
                            column += n_grades
                            tallies[cell, column] = max(tallies[cell, column], rest)
                        hits[own, r] = 0
                rows[own] = 0
                surplus[own] = 0


@compiled
def sum_by_bin(bins: Array, values: Array, sets: FeatureSets, out: Array, first: int, last: int) -> None:
    """Add up a number of each row by the bin of single features."""
    for s in range(first, last):
        row_bins = bins[sets.features[s, 0]]
        table = out[sets.offsets[s] : sets.offsets[s + 1]]
        for i in range(values.size):
            table[row_bins[i]] += values[i]


@compiled
def find_cells(bins: Array, sets: FeatureSets, cells: Array) -> None:
    """Find the cell of one document (its bins) in every set; -1 where it has a bin no training row has."""
    features, offsets, n_bins = sets
    for s in range(features.shape[0]):
        cell = 0
        for j in range(features.shape[1]):
            feature = features[s, j]
            if bins[feature] >= n_bins[feature]:
                cell = -1
                break
            cell = cell * n_bins[feature] + bins[feature]
        cells[s] = offsets[s] + cell if cell >= 0 else -1


@compiled
def add_votes(bins: Array, sets: FeatureSets, votes: Array, totals: Array, start: int, stop: int) -> None:
    """Let every row start..stop-1 look its cells up and add their votes, set after set."""
    features, offsets, n_bins = sets
    size = features.shape[1]
    width = votes.shape[1]
    prefix = np.zeros(BLOCK, dtype=np.int32)
    for block in range(start, stop, BLOCK):
        end = min(block + BLOCK, stop)
        for s in range(features.shape[0]):
            if size > 1 and (s == 0 or not same_prefix(features, s, s - 1)):
                prefix_cells(bins, features[s], n_bins, block, end, prefix)
            feature = features[s, size - 1]
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
