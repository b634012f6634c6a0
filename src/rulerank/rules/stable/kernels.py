"""The loop that looks at each query by itself. Nothing here checks its arguments; `stability.py` does.

bins      uint8[n_features, n_rows]   as in `kernels.py`, rows of one query side by side
grades    uint8[n_rows]
starts    int64[n_queries + 1]        first row of each query
excess    int64[n_rows]               grade times the query's rows, less the sum of the query's grades: its surplus
expected  int64[n_rows]               as in `kernels.py`; the same for all rows of a query
sums      int64[n_cells]              as in `kernels.py`
tallies   int64[n_cells, 6 or more]   what queries say of the cell, in the columns named below
"""

from __future__ import annotations

import math

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array
from rulerank.rules.kernels import prefix_cells, same_prefix

N_QUERIES = 0  # that hold the cell
N_UP, N_DOWN = 1, 2  # where its rows have a higher (lower) mean grade than all rows of the query
ROWS_UP, ROWS_DOWN = 3, 4  # of the cell, in such queries
LIFTS = 5  # sum over queries of that difference of means
THETAS = 6  # from here on, what the confidences in single queries come to, none or one of:
SUMS = 1  # columns per grade: the sum over queries of the confidence
EXTREMES = 2  # per grade, the largest confidence in a query; then, per grade, the largest of 1 less the confidence


@compiled
def tally_queries(
    bins: Array,
    grades: Array,
    starts: Array,
    excess: Array,
    expected: Array,
    n_grades: int,
    units: float,
    theta_units: float,
    sets: Array,
    n_bins: Array,
    offsets: Array,
    first: int,
    last: int,
    sums: Array,
    tallies: Array,
) -> None:
    """Go through the queries of every set first..last-1: fill a small table, then add its cells to the tallies."""
    size = sets.shape[1]
    thetas = (tallies.shape[1] - THETAS) // n_grades  # columns per grade
    widest = 0
    for s in range(first, last):
        widest = max(widest, offsets[s + 1] - offsets[s])
    prefix = np.zeros(bins.shape[1], dtype=np.int32)
    rows = np.zeros(widest, dtype=np.int64)  # of one query, like the next three
    surplus = np.zeros(widest, dtype=np.int64)
    hits = np.zeros((widest if thetas > 0 else 0, n_grades), dtype=np.int64)
    touched = np.zeros(widest, dtype=np.int64)
    for s in range(first, last):
        if size > 1 and (s == first or not same_prefix(sets, s, s - 1)):
            prefix_cells(bins, sets[s], n_bins, 0, bins.shape[1], prefix)
        row_bins = bins[sets[s, size - 1]]
        width = n_bins[sets[s, size - 1]]
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
