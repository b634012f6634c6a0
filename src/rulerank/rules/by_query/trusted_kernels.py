"""The loops behind shrunken lifts and trusted queries. Nothing here checks its arguments; `by_query.py` does.

Arrays are those of `kernels.py`, and

means     float64[n_queries]    mean grade of each query
base      float64[n_cells, 2]   weight * lift of all rows, and weight; 0 where a cell has too few rows
"""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.core.sorting import sort_places
from rulerank.dataset import Array
from rulerank.rules.by_query.kernels import BLOCK, cell_of, count_codes

FEW = 32  # rows of a query


@compiled
def shrunken_lift(counts: Array, without: int, mean: float, base: Array, shrink: float) -> float:
    """Mix a query's own lift in a cell with that of all rows.

    counts    int64[n_grades]    rows of the query in the cell
    without   grade of a row to leave out, -1 for none
    base      float64[2]         weight * lift of all rows, and weight; 0 where a cell has too few rows
    """
    covered = 0
    total = 0
    for r in range(counts.size):
        covered += counts[r]
        total += r * counts[r]
    if without >= 0:
        covered -= 1
        total -= without
    return (base[1] * (total - covered * mean) + shrink * base[0]) / (covered + shrink)


@compiled
def shrunken_lifts(
    counts: Array, means: Array, base: Array, shrink: float, units: float, start: int, stop: int, table: Array
) -> None:
    """Fill the rows start..stop-1 of the table with each query's shrunken lift, and the weight in the last column."""
    n_queries = means.size
    n_grades = counts.shape[1] // n_queries
    for cell in range(start, stop):
        for q in range(n_queries):
            own = counts[cell, q * n_grades : (q + 1) * n_grades]
            table[cell, q] = np.int64(np.rint(units * shrunken_lift(own, -1, means[q], base[cell], shrink)))
        table[cell, n_queries] = np.int64(np.rint(units * base[cell, 1]))


@compiled
def divide_by_weight(sums: Array, start: int, stop: int, lifts: Array) -> None:
    """Divide the sums of documents start..stop-1 by their last column: lifts float64[n_queries, n_docs]."""
    n_queries = lifts.shape[0]
    for i in range(start, stop):
        weight = sums[i, n_queries]
        for q in range(n_queries):
            lifts[q, i] = sums[i, q] / weight if weight > 0 else np.nan


@compiled
def leave_out_of_lifts(
    bins: Array,
    codes: Array,
    sets: Array,
    n_bins: Array,
    offsets: Array,
    counts: Array,
    means: Array,
    base: Array,
    shrink: float,
    units: float,
    table: Array,
    start: int,
    stop: int,
    sums: Array,
) -> None:
    """Replace, in the sums of counted rows, their own query's shrunken lifts by those without the row."""
    n_grades = counts.shape[1] // means.size
    for block in range(start, stop, BLOCK):
        for s in range(sets.shape[0]):
            for i in range(block, min(block + BLOCK, stop)):
                q = codes[i] // n_grades
                cell = offsets[s] + cell_of(bins, sets, s, n_bins, i)
                own = counts[cell, q * n_grades : (q + 1) * n_grades]
                lift = shrunken_lift(own, codes[i] - q * n_grades, means[q], base[cell], shrink)
                sums[i, q] += np.int64(np.rint(units * lift)) - table[cell, q]


@compiled
def trusted_votes(
    bins: Array,
    codes: Array,
    shares: Array,
    sets: Array,
    n_bins: Array,
    offsets: Array,
    means: Array,
    n_grades: int,
    shrink: float,
    first: int,
    last: int,
    votes: Array,
) -> None:
    """Replace weight * lift of all rows, in every cell of the sets first..last-1, by the mean over these queries.

    votes     float64[n_cells, 2]    weight * lift, and weight
    """
    widest = 0
    for s in range(first, last):
        widest = max(widest, offsets[s + 1] - offsets[s])
    counts = np.empty((widest, means.size * n_grades), dtype=np.int64)
    for s in range(first, last):
        n_cells = offsets[s + 1] - offsets[s]
        counts[:n_cells] = 0
        count_codes(bins, codes, shares, sets[s : s + 1], n_bins, np.array([0, n_cells]), 0, 1, counts)
        for cell in range(n_cells):
            vote = votes[offsets[s] + cell]
            total = 0.0
            for q in range(means.size):
                total += shrunken_lift(counts[cell, q * n_grades : (q + 1) * n_grades], -1, means[q], vote, shrink)
            vote[0] = total / means.size


@compiled
def count_right_pairs(
    scores: Array, grades: Array, n_grades: int, starts: Array, first_query: int, start: int, stop: int, right: Array
) -> None:
    """Count, twice, the pairs of other queries' rows that the functions start..stop-1 order rightly; tied ones half.

    scores    float64[n_functions, n_rows]    function q belongs to the query first_query + q
    starts    int64[n_queries + 1]            first row of each query
    right     int64[n_functions]              added to
    """
    lower = np.empty(n_grades, dtype=np.int64)  # rows of each grade that score lower
    level = np.empty(n_grades, dtype=np.int64)  # rows of each grade that score the same
    for q in range(start, stop):
        for p in range(starts.size - 1):
            if p == first_query + q:
                continue
            if starts[p + 1] - starts[p] <= FEW:  # sorting so few takes longer than comparing all
                for i in range(starts[p], starts[p + 1]):
                    for j in range(starts[p], i):
                        if grades[i] != grades[j]:
                            difference = (scores[q, i] - scores[q, j]) * (grades[i] - grades[j])
                            right[q] += 2 if difference > 0 else 1 if difference == 0 else 0
                continue
            scored = scores[q, starts[p] : starts[p + 1]]
            graded = grades[starts[p] : starts[p + 1]]
            order = np.empty(scored.size, dtype=np.int64)
            sort_places(scored, order)
            lower[:] = 0
            i = 0
            while i < order.size:
                level[:] = 0
                end = i
                while end < order.size and scored[order[end]] == scored[order[i]]:
                    level[graded[order[end]]] += 1
                    end += 1
                for high in range(n_grades):
                    for low in range(high):
                        right[q] += level[high] * (2 * lower[low] + level[low])
                lower += level
                i = end
