"""The loops that keep queries apart. Nothing here checks its arguments; `by_query.py` does.

bins      uint8[n_features, n_rows]      bin of each feature in each row, 255 = a bin no training row has
codes     int32[n_rows]                  what a row is counted as: column of `counts`
shares    int64[n_rows]                  how much a row counts
sets      layout.FeatureSets             features of each set; where its cells begin; widths of the tables
counts    int64[n_cells, n_codes]        what the rows of a cell and code add up to
table     int64[n_cells, width]          what a cell adds to the sums of a document that falls into it
sums      int64[n_docs, width]           added to, never cleared
means     float64[n_queries]             mean grade of each query
base      float64[n_cells, 2]            weight * lift of all rows, and weight; 0 where a cell has too few rows

Everything that is added up is a whole number of small units (`units` of them make 1), so that no order of adding
changes a bit. A rule adds its confidence, in units, to the low bits of a number and 1 to the bits from `count_bit` on:
one addition, two sums. What a loop fills comes before the last two arguments, and they say which part of it.
"""

from __future__ import annotations

import numpy as np

from rulerank._util.loops import compiled, sort_places
from rulerank.dataset import Array
from rulerank.rules.layout import FeatureSets
from rulerank.rules.tables import prefix_cells, same_prefix, widest_of

BLOCK = 64  # documents whose cells are found at a time
GROUP = 64  # sets that go by at a time
GROUP_NUMBERS = 24_000  # of the table of a group
FEW = 32  # rows of a query


@compiled
def count_codes(
    bins: Array, codes: Array, shares: Array, sets: FeatureSets, counts: Array, first: int, last: int
) -> None:
    """Add up the shares of the rows of every code in every cell of the sets first..last-1."""
    features, offsets, n_bins = sets
    n_rows = bins.shape[1]
    size = features.shape[1]
    prefix = np.zeros(n_rows, dtype=np.int32)
    for s in range(first, last):
        if size > 1 and (s == first or not same_prefix(features, s, s - 1)):
            prefix_cells(bins, features[s], n_bins, 0, n_rows, prefix)
        feature = features[s, size - 1]
        width = n_bins[feature]
        table = counts[offsets[s] : offsets[s + 1]]
        row_bins = bins[feature]
        for i in range(n_rows):
            table[prefix[i] * width + row_bins[i], codes[i]] += shares[i]


@compiled
def packed(hits: int, per_hit: float, count_bit: int) -> int:
    """Return one rule: its confidence in units, and that it is one."""
    return int(hits * per_hit + 0.5) + (1 << count_bit)


@compiled
def grade_rules(min_hits: Array, units: float, count_bit: int, counts: Array, start: int, stop: int) -> None:
    """Turn the counts of cells start..stop-1 by query and grade into the rules of each query, in place."""
    n_queries = min_hits.size
    n_grades = counts.shape[1] // n_queries
    for cell in range(start, stop):
        for q in range(n_queries):
            own = counts[cell, q * n_grades : (q + 1) * n_grades]
            covered = 0
            for r in range(n_grades):
                covered += own[r]
            if covered == 0:
                continue
            per_hit = units / covered
            for r in range(n_grades):
                own[r] = packed(own[r], per_hit, count_bit) if own[r] >= min_hits[q] else 0


@compiled
def label_rules(
    covered: Array, share: int, min_share: int, units: float, count_bit: int, counts: Array, start: int, stop: int
) -> None:
    """Turn the shares of every label (`share` make a row) in cells start..stop-1 into rules, in place."""
    for cell in range(start, stop):
        if covered[cell, 0] == 0:
            continue
        per_share = units / (covered[cell, 0] * share)
        for label in range(counts.shape[1]):
            held = counts[cell, label]
            counts[cell, label] = packed(held, per_share, count_bit) if held >= min_share else 0


@compiled
def mean_confidence(sums: int, units: float, count_bit: int) -> float:
    """Unpack a sum of rules: their mean confidence, 0 when there is none."""
    n_rules = sums >> count_bit
    return (sums - (n_rules << count_bit)) / units / n_rules if n_rules > 0 else 0.0


@compiled
def mean_confidences(sums: Array, units: float, count_bit: int, means: Array, start: int, stop: int) -> None:
    """Unpack the sums of documents start..stop-1 into means float64[n_labels, n_docs]."""
    for i in range(start, stop):
        for label in range(means.shape[0]):
            means[label, i] = mean_confidence(sums[i, label], units, count_bit)


@compiled
def expected_grades(
    sums: Array, n_grades: int, units: float, count_bit: int, ranks: Array, start: int, stop: int
) -> None:
    """Unpack the sums of documents start..stop-1 into ranks float64[n_queries, n_docs], NaN without a rule."""
    for i in range(start, stop):
        for q in range(ranks.shape[0]):
            weighted = 0.0
            total = 0.0
            for r in range(n_grades):
                mean = mean_confidence(sums[i, q * n_grades + r], units, count_bit)
                weighted += r * mean
                total += mean
            ranks[q, i] = weighted / total if total > 0 else np.nan


@compiled
def add_rows(bins: Array, sets: FeatureSets, table: Array, sums: Array, start: int, stop: int) -> None:
    """Let every document start..stop-1 look its cells up and add their rows of the table.

    Sets go by in groups whose rows stay in the L2 cache, and in each group one document after the other: its sums
    stay in the L1 cache.
    """
    features, offsets, n_bins = sets
    n_sets = features.shape[0]
    size = features.shape[1]
    width = table.shape[1]
    prefix = np.zeros(BLOCK, dtype=np.int32)
    cells = np.empty((BLOCK, GROUP), dtype=np.int64)
    n_cells = np.empty(BLOCK, dtype=np.int64)
    first = 0
    while first < n_sets:
        last = first + 1
        while last < min(n_sets, first + GROUP) and (offsets[last + 1] - offsets[first]) * width <= GROUP_NUMBERS:
            last += 1
        for block in range(start, stop, BLOCK):
            n_docs = min(block + BLOCK, stop) - block
            n_cells[:] = 0
            for s in range(first, last):
                if size > 1 and (s == first or not same_prefix(features, s, s - 1)):
                    prefix_cells(bins, features[s], n_bins, block, block + n_docs, prefix)
                feature = features[s, size - 1]
                last_width = n_bins[feature]
                row_bins = bins[feature]
                for i in range(n_docs):
                    if prefix[i] >= 0 and row_bins[block + i] < last_width:
                        cells[i, n_cells[i]] = offsets[s] + prefix[i] * last_width + row_bins[block + i]
                        n_cells[i] += 1
            for i in range(n_docs):
                own = sums[block + i]
                n = n_cells[i] // 4 * 4
                for k in range(0, n, 4):  # four at a time: a quarter of the traffic to and from `own`
                    one = table[cells[i, k]]
                    two = table[cells[i, k + 1]]
                    three = table[cells[i, k + 2]]
                    four = table[cells[i, k + 3]]
                    for c in range(width):
                        own[c] += one[c] + two[c] + three[c] + four[c]
                for k in range(n, n_cells[i]):
                    said = table[cells[i, k]]
                    for c in range(width):
                        own[c] += said[c]
        first = last


@compiled
def shrunken_lift(counts: Array, mean: float, base: Array, shrink: float) -> float:
    """Mix a query's own lift in a cell with that of all rows.

    counts    int64[n_grades]    rows of the query in the cell
    base      float64[2]         weight * lift of all rows, and weight; 0 where a cell has too few rows
    """
    covered = 0
    total = 0
    for r in range(counts.size):
        covered += counts[r]
        total += r * counts[r]
    return (base[1] * (total - covered * mean) + shrink * base[0]) / (covered + shrink)


@compiled
def shrunken_lifts(
    counts: Array, means: Array, base: Array, shrink: float, units: float, table: Array, start: int, stop: int
) -> None:
    """Fill the rows start..stop-1 of the table with each query's shrunken lift, and the weight in the last column."""
    n_queries = means.size
    n_grades = counts.shape[1] // n_queries
    for cell in range(start, stop):
        for q in range(n_queries):
            own = counts[cell, q * n_grades : (q + 1) * n_grades]
            table[cell, q] = np.int64(np.rint(units * shrunken_lift(own, means[q], base[cell], shrink)))
        table[cell, n_queries] = np.int64(np.rint(units * base[cell, 1]))


@compiled
def divide_by_weight(sums: Array, lifts: Array, start: int, stop: int) -> None:
    """Divide the sums of documents start..stop-1 by their last column: lifts float64[n_queries, n_docs]."""
    n_queries = lifts.shape[0]
    for i in range(start, stop):
        weight = sums[i, n_queries]
        for q in range(n_queries):
            lifts[q, i] = sums[i, q] / weight if weight > 0 else np.nan


@compiled
def trusted_votes(
    bins: Array, codes: Array, shares: Array, sets: FeatureSets, means: Array, n_grades: int, shrink: float,
    votes: Array, first: int, last: int,
) -> None:  # fmt: skip
    """Replace weight * lift of all rows, in every cell of the sets first..last-1, by the mean over these queries.

    votes     float64[n_cells, 2]    weight * lift, and weight
    """
    offsets = sets.offsets
    counts = np.empty((widest_of(offsets, first, last), means.size * n_grades), dtype=np.int64)
    for s in range(first, last):
        n_cells = offsets[s + 1] - offsets[s]
        counts[:n_cells] = 0
        one_set = FeatureSets(sets.features[s : s + 1], np.array([0, n_cells]), sets.n_bins)
        count_codes(bins, codes, shares, one_set, counts, 0, 1)
        for cell in range(n_cells):
            vote = votes[offsets[s] + cell]
            total = 0.0
            for q in range(means.size):
                total += shrunken_lift(counts[cell, q * n_grades : (q + 1) * n_grades], means[q], vote, shrink)
            vote[0] = total / means.size


@compiled
def count_right_pairs(
    scores: Array, grades: Array, n_grades: int, starts: Array, first_query: int, right: Array, start: int, stop: int
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


@compiled
def count_codes_like(bins: Array, codes: Array, shares: Array, sets: Array, row_bins: Array, counts: Array) -> None:
    """Add up, for each set, the shares of the rows of every code that have one document's bins.

    sets      int32[n_sets, size]     features of each set, -1 where it has fewer
    row_bins  uint8[n_features]       the document's bins
    counts    int64[n_sets, n_codes]
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
