"""What is counted, and the one place where its arguments are checked.

Counts are sums of integers: those of two shards that hold whole queries add up to those of both, and a withdrawn
query is a subtraction, to the last bit. Expected grades are kept in fixed point for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import MAX_GRADE, Array
from rulerank.errors import DataError
from rulerank.rules import kernels
from rulerank.rules.layout import MAX_BINS, UNSEEN, FeatureSets, Layout

UNIT = 2.0**-28  # of expected grades and variances, whose sums over 100 million rows stay inside int64


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
        expected, spread = _query_moments(grade.astype(np.float64), query.astype(np.int64))
        return Rows(
            np.ascontiguousarray(cells, dtype=np.uint8),
            grade.astype(np.uint8),
            int(grade.max()) + 1 if n_grades is None else n_grades,
            expected,
            spread,
        )

    @property
    def n_rows(self) -> int:
        return int(self.grades.size)

    def n_bins(self) -> Array:
        """Return each feature's table width, 0 for a feature whose rows all fall in one bin: it carries nothing."""
        widths = self.bins.max(axis=1).astype(np.int32) + 1
        return np.where(self.bins.min(axis=1) == widths - 1, 0, widths).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Counts:
    """Training rows per cell and grade, with what the cells' queries lead one to expect."""

    grades: Array  # int32 (n_cells, n_grades)
    expected: Array  # int64 (n_cells,) sum of the rows' expected grades, in UNITs; empty when not asked for

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.grades + other.grades, self.expected + other.expected)

    def __iadd__(self, other: Counts) -> Self:
        """Take the counts of another shard in, without a third table."""
        self.grades.__iadd__(other.grades)
        self.expected.__iadd__(other.expected)
        return self

    def __sub__(self, other: Counts) -> Counts:
        return Counts(self.grades - other.grades, self.expected - other.expected)


class Counter:
    """Counts training rows into the cells of feature sets, with all cores."""

    def __init__(self, rows: Rows, n_bins: Array, *, expected: bool = True, n_jobs: int | None = None) -> None:
        self.rows = rows
        self.n_bins = n_bins
        self.expected = expected
        self.n_jobs = n_jobs

    @cached_property
    def _coded(self) -> Array:
        """One addition per row instead of a multiplication and an addition."""
        return self.rows.bins.astype(np.uint16) * np.uint16(self.rows.n_grades) + self.rows.grades

    def count(self, sets: FeatureSets, done: Callable[[int], None] | None = None) -> Counts:
        """Count all sets; `done` is told after each stretch how many sets are ready."""
        rows, n_sets = self.rows, len(sets.features)
        n_cells = int(sets.offsets[-1] - sets.offsets[0])
        offsets = sets.offsets - sets.offsets[0]
        counts = np.zeros((n_cells, rows.n_grades), dtype=np.int32)
        sums = np.zeros(n_cells if self.expected else 0, dtype=np.int64)
        # bits of one row's expectation, and of how many rows are added up at once: with their count less than 63
        row_bits = int(rows.expected.max()).bit_length()
        chunk_bits = (62 - row_bits) // 2
        packed = rows.expected + (1 << row_bits + chunk_bits) if self.expected else rows.expected[:0]
        coded = self._coded
        stretch = n_sets if done is None else max(64, 10**8 // rows.n_rows)
        for start in range(0, n_sets, stretch):
            stop = min(start + stretch, n_sets)

            def work(first: int, last: int, start: int = start) -> None:
                first, last = start + first, start + last
                if self.expected:
                    kernels.count_and_expect(
                        rows.bins, coded, packed, row_bits + chunk_bits, 1 << chunk_bits,
                        sets.features, self.n_bins, offsets, first, last, counts, sums,
                    )  # fmt: skip
                else:
                    kernels.count_grades(rows.bins, coded, sets.features, self.n_bins, offsets, first, last, counts)

            in_blocks(work, stop - start, self.n_jobs, min_block=4)
            if done is not None:
                done(stop - start)
        return Counts(counts, sums)

    def count_like(self, sets: FeatureSets, row_bins: Array) -> Counts:
        """Count, for each set, the training rows that fall into the same cell as one document."""
        rows, n_sets = self.rows, len(sets.features)
        counts = np.zeros((n_sets, rows.n_grades), dtype=np.int32)
        sums = np.zeros(n_sets, dtype=np.int64)

        def work(first: int, last: int) -> None:
            kernels.count_like(
                rows.bins, rows.grades, rows.expected, sets.features, row_bins, first, last, counts, sums
            )

        in_blocks(work, n_sets, self.n_jobs, min_block=4)
        return Counts(counts, sums)


def count_all(rows: Rows, layout: Layout, n_jobs: int | None = None) -> Counts:
    """Count every set of a layout at once.

    >>> rows = Rows.of([[0, 1, 1], [0, 0, 1]], [0, 1, 1], [0, 0, 0])
    >>> count_all(rows, Layout.over(rows.n_bins(), max_size=2)).grades.tolist()
    [[1, 0], [0, 2], [1, 1], [0, 1], [1, 0], [0, 0], [0, 1], [0, 1]]
    """
    counter = Counter(rows, layout.n_bins, n_jobs=n_jobs)
    return join_counts([counter.count(block) for block in layout.sets], rows.n_grades)


def join_counts(parts: list[Counts], n_grades: int) -> Counts:
    """Put the counts of parts of a layout one after the other."""
    if not parts:
        return Counts(np.zeros((0, n_grades), dtype=np.int32), np.zeros(0, dtype=np.int64))
    return Counts(np.concatenate([p.grades for p in parts]), np.concatenate([p.expected for p in parts]))


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
