"""What is counted, and the one place where its arguments are checked.

Counts are sums of integers (or largest values, for the extremes of confidences in single queries): those of two shards
that hold whole queries add up to those of both, to the last bit. Expected grades are kept in fixed point for the same
reason.

The arrays of the loops, which check nothing:

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Self

import numpy as np

from rulerank._util.loops import compiled, in_blocks, progress
from rulerank.dataset import MAX_GRADE, Array, starts_of
from rulerank.errors import DataError
from rulerank.rules.layout import MAX_BINS, UNSEEN, FeatureSets, Layout

UNIT = 2.0**-28  # of expected grades and variances, whose sums over 100 million rows stay inside int64
THETA_UNIT = 2.0**-40  # of a confidence within one query
BLOCK = 512  # rows whose sums and bins stay in the L1 cache while the sets go by

N_QUERIES = 0  # columns of tallies: queries that hold the cell
N_UP, N_DOWN = 1, 2  # where its rows have a higher (lower) mean grade than all rows of the query
ROWS_UP, ROWS_DOWN = 3, 4  # of the cell, in such queries
LIFTS = 5  # sum over queries of that difference of means
THETAS = 6  # from here on, if wanted: per grade the largest confidence in a query, then the largest of 1 - confidence


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked training rows, as the kernels want them.

    >>> rows = Rows.of([[0, 1, 1]], [0, 2, 1], [0, 0, 1])
    >>> rows.bins.shape, (rows.expected * UNIT).tolist(), (rows.spread * UNIT).tolist()
    ((1, 3), [1.0, 1.0, 1.0], [1.0, 1.0, 0.0])
    """

    bins: Array  # uint8 (n_features, n_rows)
    grades: Array  # uint8 (n_rows,)
    n_grades: int
    expected: Array  # int64 (n_rows,) mean grade of the row's query, in UNITs
    spread: Array  # int64 (n_rows,) variance of the grades of the row's query, in UNITs
    starts: Array | None = None  # int64 (n_queries + 1,) where each query begins, of rows that are sorted by query

    @staticmethod
    def of(bins: object, grades: object, queries: object, n_grades: int | None = None) -> Rows:
        """Check bins (n_features, n_rows), grades and query numbers, and look at every value before a cast."""
        cells, grade, query = np.asarray(bins), np.asarray(grades), np.asarray(queries)
        if cells.ndim != 2:
            raise DataError(f"bins must have two dimensions, features and rows: got {cells.ndim}")
        n_rows = cells.shape[1]
        if n_rows == 0:
            raise DataError("expected at least one training row: got none")
        if grade.shape != (n_rows,) or query.shape != (n_rows,):
            raise DataError(
                f"grades and queries must have one entry per row: expected {n_rows}, got {grade.size} and {query.size}"
            )
        _check_range("bins", cells, 0, MAX_BINS - 1)
        _check_range("grades", grade, 0, MAX_GRADE if n_grades is None else n_grades - 1)
        _check_range("queries", query, 0, n_rows - 1)
        moments = _query_moments(grade.astype(np.float64), query.astype(np.int64))
        n_grades = int(grade.max()) + 1 if n_grades is None else n_grades
        return Rows(np.ascontiguousarray(cells, dtype=np.uint8), grade.astype(np.uint8), n_grades, *moments)

    def by_query(self, queries: Array) -> Rows:
        """Return the rows with those of a query, given by number, side by side, and where each query begins."""
        order = np.argsort(queries, kind="stable")
        bins = np.ascontiguousarray(self.bins[:, order])
        columns = self.grades[order], self.n_grades, self.expected[order], self.spread[order]
        return Rows(bins, *columns, starts_of(queries[order]))

    @property
    def n_rows(self) -> int:
        return int(self.grades.size)


@dataclass(frozen=True, eq=False)
class Counts:
    """Training rows per cell and grade, with what the cells' queries lead one to expect.

    A query's lift of a cell: by how much the mean grade of its rows there is above the mean grade of all its rows.
    """

    grades: Array  # int32 (n_cells, n_grades)
    expected: Array  # int64 (n_cells,) sum of the rows' expected grades, in UNITs; empty when not asked for
    # int64 (n_cells, n_tallies) columns as in the kernels, none when not asked for; lifts in UNITs, thetas in their own
    tallies: Array = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))

    def __add__(self, other: Counts) -> Counts:
        """Join two shards that hold whole queries."""
        return Counts(*(array.copy() for array in vars(self).values())).__iadd__(other)

    def __iadd__(self, other: Counts) -> Self:
        """Take another shard in, without a third table."""
        self.grades.__iadd__(other.grades)
        self.expected.__iadd__(other.expected)
        self.tallies[:, :THETAS] += other.tallies[:, :THETAS]
        np.maximum(self.tallies[:, THETAS:], other.tallies[:, THETAS:], out=self.tallies[:, THETAS:])
        return self

    def at(self, cells: slice | Array) -> Counts:
        """Return the counts of some cells, zeros for the cell -1; what is not counted stays empty.

        >>> Counts(np.array([[1, 2], [3, 4]]), np.zeros(0)).at(np.array([1, -1])).grades.tolist()
        [[3, 4], [0, 0]]
        """
        arrays = [array[cells] if len(array) else array for array in vars(self).values()]
        if not isinstance(cells, slice):
            for array in arrays:
                if len(array):
                    array[cells < 0] = 0
        return Counts(*arrays)

    @staticmethod
    def joined(parts: Sequence[Counts]) -> Counts:
        """Put the counts of parts of a layout one after the other."""
        return Counts(*map(np.concatenate, zip(*(vars(part).values() for part in parts), strict=True)))


class Counter:
    """Counts training rows into the cells of feature sets, with all cores.

    expected: whether to add up what the rows' queries lead one to expect.
    thetas: whether the tallies of single queries include their confidences; None: no tallies.

    >>> rows = Rows.of([[0, 1, 1], [0, 0, 1]], [0, 1, 1], [0, 0, 0])
    >>> Counter(rows).over(Layout.over([2, 2], max_size=2)).grades.tolist()
    [[1, 0], [0, 2], [1, 1], [0, 1], [1, 0], [0, 0], [0, 1], [0, 1]]
    """

    def __init__(
        self, rows: Rows, *, expected: bool = True, thetas: bool | None = None, n_jobs: int | None = None
    ) -> None:
        self.rows = rows
        self.expected = expected
        self.n_tallies = n_tallies(thetas, rows.n_grades)
        self.n_jobs = n_jobs

    @cached_property
    def _coded(self) -> Array:
        """One addition per row instead of a multiplication and an addition."""
        return self.rows.bins.astype(np.uint16) * np.uint16(self.rows.n_grades) + self.rows.grades

    def over(self, layout: Layout) -> Counts:
        """Count all sets of a layout."""
        with progress(layout.n_sets, "counting feature sets") as bar:
            return Counts.joined([self.count(block, bar.advance) for block in layout.sets])

    def count(self, sets: FeatureSets, done: Callable[[int], None] | None = None) -> Counts:
        """Count some sets; `done` is called after each stretch with the number of sets that are ready."""
        n_sets, n_cells = len(sets.features), sets.n_cells
        counts = Counts(
            np.zeros((n_cells, self.rows.n_grades), dtype=np.int32),
            np.zeros(n_cells if self.expected else 0, dtype=np.int64),
            np.zeros((n_cells, self.n_tallies), dtype=np.int64),
        )
        loops = self._loops(sets.part(0, n_sets), counts)
        stretch = max(64, 10**8 // self.rows.n_rows)
        for start in range(0, n_sets, stretch):
            n = min(stretch, n_sets - start)

            def work(first: int, last: int, start: int = start) -> None:
                for loop in loops:
                    loop(start + first, start + last)

            in_blocks(work, n, self.n_jobs, min_block=4)
            if done is not None:
                done(n)
        return counts

    def _loops(self, sets: FeatureSets, out: Counts) -> list[Callable[[int, int], None]]:
        """Return the loops that fill the counts of the sets first .. last - 1."""
        rows = self.rows
        if self.expected and not self.n_tallies:
            # bits of one row's expectation, and of how many rows are added up at once: with their count less than 63
            row_bits = int(rows.expected.max()).bit_length()
            chunk_bits = (62 - row_bits) // 2
            shift = row_bits + chunk_bits
            packed, chunk = rows.expected + (1 << shift), 1 << chunk_bits
            both = (out.grades, out.expected)
            return [partial(count_and_expect, rows.bins, self._coded, packed, shift, chunk, sets, *both)]
        count = partial(count_grades, rows.bins, self._coded, sets, out.grades)
        if not self.n_tallies:
            return [count]
        assert rows.starts is not None
        n = np.diff(rows.starts)
        total = np.add.reduceat(rows.grades.astype(np.int64), rows.starts[:-1])
        excess = rows.grades * np.repeat(n, n) - np.repeat(total, n)
        by_query = rows.bins, rows.grades, rows.starts, excess, rows.expected, rows.n_grades
        tally = partial(tally_queries, *by_query, 1 / UNIT, 1 / THETA_UNIT, sets, out.expected, out.tallies)
        return [count, tally]


def n_tallies(thetas: bool | None, n_grades: int) -> int:
    """Return the number of columns of tallies: with two per grade for confidences, without, or none at all (None)."""
    return 0 if thetas is None else THETAS + 2 * n_grades * thetas


@dataclass(frozen=True, eq=False)
class Training:
    """What a scheme must know of the training rows as a whole."""

    n_grades: int
    mean_grade: float  # also the score of a document that no rule covers
    min_rows: int  # training rows a rule (votes="mean") or a cell (else) must have
    strength: Array  # float64 (n_features,) how well each feature tells relevant documents apart within queries
    n_by_grade: Array  # int64 (n_grades,) rows of each grade


@dataclass(frozen=True, eq=False)
class BinCounts:
    """What is counted of each feature by itself: all that is to be known before feature sets are chosen.

    Integers throughout: those of two shards that hold whole queries add up to those of both.

    >>> counts = BinCounts.of(Rows.of([[0, 0, 1, 1], [0, 1, 0, 1], [2, 2, 2, 2]], [0, 0, 1, 1], [0, 0, 0, 0]))
    >>> counts.n_bins.tolist(), counts.strength().round(6).tolist(), counts.training(1).mean_grade
    ([2, 2, 0], [2.0, 0.0, 0.0], 0.5)
    """

    widths: Array  # int32 (n_features,) bins that a feature may have
    grades: Array  # int64 (n_cells, n_grades) rows of each bin, feature after feature
    expected: Array  # int64 (n_cells,) sum of the rows' expected grades, in UNITs
    spread: Array  # int64 (n_cells,) sum of the variances of the rows' queries, in UNITs

    @staticmethod
    def of(rows: Rows, widths: Array | None = None, n_jobs: int | None = None) -> BinCounts:
        """Count rows whose bins lie below the widths, the rows' own unless given."""
        widths = rows.bins.max(axis=1).astype(np.int32) + 1 if widths is None else widths
        sets = Layout.over(widths, max_size=1, used=np.arange(widths.size)).sets[0]
        counts = Counter(rows, n_jobs=n_jobs).count(sets)
        spread = np.zeros(sets.n_cells, dtype=np.int64)
        in_blocks(partial(sum_by_bin, rows.bins, rows.spread, sets, spread), widths.size, n_jobs, min_block=8)
        return BinCounts(sets.n_bins, counts.grades.astype(np.int64), counts.expected, spread)

    def __add__(self, other: BinCounts) -> BinCounts:
        sums = (vars(self)[name] + vars(other)[name] for name in ("grades", "expected", "spread"))
        return BinCounts(self.widths, *sums)

    @property
    def n_by_grade(self) -> Array:
        """Rows of each grade, int64 (n_grades,)."""
        return self.grades[: self.widths[0]].sum(axis=0)

    @cached_property
    def n_bins(self) -> Array:
        """Each feature's table width, 0 for a feature whose rows all fall in one bin: it carries nothing."""
        found = np.zeros(self.widths.size, dtype=np.int32)
        for feature, own in enumerate(np.split(self.grades.any(axis=1), self._offsets[1:-1])):
            seen = np.flatnonzero(own)
            found[feature] = seen[-1] + 1 if seen.size > 1 else 0
        return found

    def strength(self) -> Array:
        """Return each feature's mean squared surprise over the rows; 0 for a feature that has one bin.

        A bin's squared surprise is the squared difference between its rows' grades and what their queries lead one to
        expect, over the variance of that difference: about 1 for noise, more for a feature that says something.
        """
        n_bins = self.n_bins
        strength = np.zeros(n_bins.size)
        features = np.flatnonzero(n_bins > 1)
        if not features.size:
            return strength
        cells = np.concatenate([np.arange(n_bins[f]) + self._offsets[f] for f in features.tolist()])
        offsets = np.concatenate([[0], np.cumsum(n_bins[features])])
        grades, expected, spread = self.grades[cells], self.expected[cells], self.spread[cells]
        n = grades.sum(axis=1)
        surprise = grades @ np.arange(grades.shape[1]) - expected * UNIT
        surprise[np.abs(surprise) <= n * UNIT] = 0.0  # no more than the rounding of the expected grades
        squares = surprise**2 / (spread * UNIT + 1e-9)
        strength[features] = np.add.reduceat(n * squares, offsets[:-1]) / self.n_by_grade.sum()
        return strength

    def training(self, min_rows: int, strength: Array | None = None) -> Training:
        """Sum up the rows."""
        n_by_grade = self.n_by_grade
        mean_grade = float(n_by_grade @ np.arange(n_by_grade.size)) / float(n_by_grade.sum())
        strength = self.strength() if strength is None else strength
        return Training(n_by_grade.size, mean_grade, min_rows, strength, n_by_grade)

    @property
    def _offsets(self) -> Array:
        return np.concatenate([[0], np.cumsum(self.widths, dtype=np.int64)])


def without_weakest(strength: Array, n_bins: Array, share: float) -> Array:
    """Return the features that carry something, in order, without the weakest share of them.

    >>> without_weakest(np.array([3.0, 1.0, 0.0, 2.0]), np.array([2, 2, 0, 2]), 0.34).tolist()
    [0, 3]
    """
    features = np.flatnonzero(n_bins > 1)
    weakest_first = np.argsort(strength[features], kind="stable")
    n_dropped = min(int(share * features.size), max(0, features.size - 1))  # one feature always stays
    return np.sort(features[weakest_first[n_dropped:]])


def rows_needed(min_support: float, n_rows: int | Array) -> Array:
    """Return how many of n_rows a share of at least min_support is: never less than one.

    >>> int(rows_needed(0.1, 30)), int(rows_needed(0.0, 30))
    (3, 1)
    """
    # rounded first: 0.1 * 30 is a little more than 3 in floating point
    return np.maximum(1, np.ceil(np.round(min_support * np.asarray(n_rows), 9))).astype(np.int64)


def hide_unseen(bins: Array, n_bins: Array) -> Array:
    """Turn the bins that lie outside the training tables into 255, which matches no rule.

    >>> hide_unseen(np.array([[0, 7]]), np.array([3])).tolist()
    [[0, 255]]
    """
    limit = np.maximum(n_bins, 1)[:, None]
    return np.ascontiguousarray(np.where((bins < 0) | (bins >= limit), UNSEEN, bins), dtype=np.uint8)


def _query_moments(grades: Array, queries: Array) -> tuple[Array, Array]:
    """Return mean and variance of the grades of each row's query, in fixed point."""
    n = np.maximum(np.bincount(queries), 1)
    total = np.bincount(queries, weights=grades)
    squares = np.bincount(queries, weights=grades * grades)
    mean = np.rint(total / n / UNIT).astype(np.int64)
    variance = np.rint((n * squares - total * total) / (n * n) / UNIT).astype(np.int64)
    return mean[queries], variance[queries]


def _check_range(name: str, values: Array, low: int, high: int) -> None:
    if values.dtype.kind not in "iub":
        raise DataError(f"{name} must be whole numbers: got {values.dtype}")
    if values.size and not low <= values.min() <= values.max() <= high:
        raise DataError(f"{name} must be between {low} and {high}: got {values.min()} to {values.max()}")


@compiled
def same_prefix(features: Array, one: int, other: int) -> bool:
    same = True
    for j in range(features.shape[1] - 1):
        same = same and features[one, j] == features[other, j]
    return same


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
    thetas = tallies.shape[1] > THETAS
    widest = widest_of(offsets, first, last)
    prefix = np.zeros(bins.shape[1], dtype=np.int32)
    rows = np.zeros(widest, dtype=np.int64)  # of one query, like the next three
    surplus = np.zeros(widest, dtype=np.int64)
    hits = np.zeros((widest if thetas else 0, n_grades), dtype=np.int64)
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
                if thetas:
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
                if thetas:
                    units_per_hit = theta_units / n
                    for r in range(n_grades):
                        theta = int(hits[own, r] * units_per_hit + 0.5)
                        high, low = THETAS + r, THETAS + n_grades + r
                        tallies[cell, high] = max(tallies[cell, high], theta)
                        tallies[cell, low] = max(tallies[cell, low], int(theta_units) - theta)
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
