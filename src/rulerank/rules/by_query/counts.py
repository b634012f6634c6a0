"""Each query's own rules: training rows counted per cell and query, and what that says of documents.

With thousands of queries no table of all cells and queries would fit, so queries go by in blocks and cells in parts:
a block's tables take about TABLE_BYTES, its sums about SUM_BYTES or one number per document and grade, whatever the
number of queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.rules.by_query import kernels, trusted_kernels
from rulerank.rules.by_query.labels import SHARE, Labels, shares_needed
from rulerank.rules.layout import FeatureSets, Layout
from rulerank.rules.tables import Counter, Rows, rows_needed
from rulerank.rules.votes import LiftVotes, Training, vote_table

TABLE_BYTES = 1 << 25
SUM_BYTES = 1 << 27
BASE_BYTES = 1 << 28
MAX_QUERIES = 64  # of a block: wider rows of a table fall out of the cache
CELLS_PER_THREAD = 1000
LIFTS = LiftVotes()


class Counted(NamedTuple):
    """Rows to count: what each is counted as, and how much."""

    bins: Array  # uint8 (n_features, n_rows)
    codes: Array  # int32 (n_rows,)
    shares: Array  # int64 (n_rows,)


class ByQuery:
    """Training rows sorted by query, and what each query's own rules say of documents.

    >>> rows = Rows.of([[0, 1, 1, 0]], [0, 1, 0, 1], [0, 0, 1, 1])
    >>> by_query = ByQuery(rows, np.array([0, 0, 1, 1]), Layout.over(rows.n_bins(), max_size=1))
    >>> by_query.literal_ranks(np.array([[0, 1]], dtype=np.uint8), 0, 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    def __init__(self, rows: Rows, queries: Array, layout: Layout, n_jobs: int | None = None) -> None:
        if queries.shape != (rows.n_rows,) or queries.dtype.kind not in "iu":
            raise DataError(f"expected {rows.n_rows} query numbers: got {queries.dtype} {queries.shape}")
        self.rows = rows
        self.layout = layout
        self.n_jobs = n_jobs
        self.order = np.argsort(queries, kind="stable")  # place among the sorted rows -> row
        self.bins = np.ascontiguousarray(rows.bins[:, self.order])
        self.grades = rows.grades[self.order].astype(np.int64)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(queries))])  # first place of each query
        self.sizes = np.diff(self.starts)
        self.queries = np.repeat(np.arange(self.n_queries), self.sizes)
        self.means = np.bincount(self.queries, self.grades, self.n_queries) / np.maximum(self.sizes, 1)

    @property
    def n_queries(self) -> int:
        return int(self.starts.size - 1)

    def blocks(self, n_docs: int) -> Iterator[tuple[int, int]]:
        """Yield first and last + 1 query of blocks whose sums for so many documents fit in memory."""
        size = min(MAX_QUERIES, max(1, SUM_BYTES // (8 * self.rows.n_grades * max(1, n_docs))))
        for first in range(0, self.n_queries, size):
            yield first, min(first + size, self.n_queries)

    def literal_ranks(
        self, bins: Array, first: int, last: int, *, min_support: float = 0.0, without_own: bool = False
    ) -> Array:
        """Return rank(q, d) of the queries first..last-1, (n_queries, n_docs), NaN where one has no rule for d.

        without_own: bins are the sorted training rows, and each is left out of its own query's counts.
        """
        counted, own = self._graded(first, last)
        n_grades = self.rows.n_grades
        units, count_bit = packing(self.layout.n_sets)
        min_hits, min_hits_without = (rows_needed(min_support, self.sizes[first:last] - n) for n in (0, 1))

        def rules(part: FeatureSets, counts: Array, sums: Array) -> Array:
            def leave_out(start: int, stop: int) -> None:
                kernels.leave_out_of_rules(
                    counted.bins,
                    self.grades[own],
                    n_grades,
                    self.starts[first : last + 1] - own.start,
                    part.features,
                    self.layout.n_bins,
                    part.offsets,
                    min_hits,
                    min_hits_without,
                    units,
                    count_bit,
                    start,
                    stop,
                    sums[own],
                )

            def turn(start: int, stop: int) -> None:
                kernels.grade_rules(counts, min_hits, units, count_bit, start, stop)

            if without_own:
                in_blocks(leave_out, last - first, self.n_jobs)
            in_blocks(turn, len(counts), self.n_jobs, min_block=CELLS_PER_THREAD)
            return counts

        sums = self._add_up(bins, counted, n_grades * (last - first), rules)
        ranks = np.empty((last - first, len(sums)))

        def unpack(start: int, stop: int) -> None:
            kernels.expected_grades(sums, n_grades, units, count_bit, start, stop, ranks)

        in_blocks(unpack, len(sums), self.n_jobs, min_block=kernels.BLOCK)
        return ranks

    def label_strengths(self, bins: Array, labels: Labels, first: int, last: int, *, min_support: float = 0.0) -> Array:
        """Return the mean confidence of the rules X -> q of D* for the queries first..last-1, (n_queries, n_docs)."""
        units, count_bit = packing(self.layout.n_sets)
        own = slice(*np.searchsorted(labels.queries, [first, last]))
        counted = Counted(
            np.ascontiguousarray(self.rows.bins[:, labels.rows[own]]),
            (labels.queries[own] - first).astype(np.int32),
            labels.shares[own],
        )
        labelled = np.unique(labels.rows)
        every = Counted(
            np.ascontiguousarray(self.rows.bins[:, labelled]),
            np.zeros(labelled.size, dtype=np.int32),
            np.ones(labelled.size, dtype=np.int64),
        )
        min_share = shares_needed(min_support, labelled.size)

        def rules(part: FeatureSets, counts: Array, sums: Array) -> Array:
            covered = self._count(part, every, 1)

            def turn(start: int, stop: int) -> None:
                kernels.label_rules(counts, covered, SHARE, min_share, units, count_bit, start, stop)

            in_blocks(turn, len(counts), self.n_jobs, min_block=CELLS_PER_THREAD)
            return counts

        sums = self._add_up(bins, counted, last - first, rules)
        means = np.empty((last - first, len(sums)))

        def unpack(start: int, stop: int) -> None:
            kernels.mean_confidences(sums, units, count_bit, start, stop, means)

        in_blocks(unpack, len(sums), self.n_jobs, min_block=kernels.BLOCK)
        return means

    def lifts_of_all(self, training: Training) -> Array | None:
        """Return what all rows together say in every cell, weight * lift and weight; None: there are too many cells."""
        if 16 * self.layout.n_cells > BASE_BYTES:
            return None
        everything = Counter(self.rows, self.layout.n_bins, n_jobs=self.n_jobs)
        tables = [np.empty((0, 2))]
        for block in self.layout.sets:
            part = block.part(0, len(block.features))
            tables.append(vote_table(LIFTS, everything.count(part), part, training, self.n_jobs))
        return np.concatenate(tables)

    def shrunken_lifts(
        self,
        bins: Array,
        first: int,
        last: int,
        training: Training,
        shrink: float,
        *,
        without_own: bool = False,
        of_all: Array | None = None,
    ) -> Array:
        """Return how far above the mean grade the queries first..last-1 put each document, (n_queries, n_docs).

        Each lift of a query in a cell is mixed with `shrink` rows of the lift of all rows there. NaN: no cell is known.
        of_all: `lifts_of_all`, for callers who go through many queries; else all rows are counted here.
        """
        counted, own = self._graded(first, last)
        means = self.means[first:last]
        everything = Counter(self.rows, self.layout.n_bins, n_jobs=self.n_jobs)
        n_seen = 0  # cells of the parts that have gone by
        total_weight = sum(training.strength[block.features].mean(axis=1).sum() for block in self.layout.sets)
        units = 2.0**56 / max(float(total_weight), 1e-200)  # lifts are below 32: sums stay below 2**61

        def lifts(part: FeatureSets, counts: Array, sums: Array) -> Array:
            nonlocal n_seen
            base = (
                vote_table(LIFTS, everything.count(part), part, training, self.n_jobs)
                if of_all is None
                else of_all[n_seen : n_seen + len(counts)]
            )
            n_seen += len(counts)
            table = np.empty((len(counts), last - first + 1), dtype=np.int64)

            def fill(start: int, stop: int) -> None:
                trusted_kernels.shrunken_lifts(counts, means, base, shrink, units, start, stop, table)

            def leave_out(start: int, stop: int) -> None:
                trusted_kernels.leave_out_of_lifts(
                    counted.bins,
                    counted.codes,
                    part.features,
                    self.layout.n_bins,
                    part.offsets,
                    counts,
                    means,
                    base,
                    shrink,
                    units,
                    table,
                    start,
                    stop,
                    sums[own],
                )

            in_blocks(fill, len(counts), self.n_jobs, min_block=CELLS_PER_THREAD)
            if without_own:
                in_blocks(leave_out, len(counted.codes), self.n_jobs, min_block=CELLS_PER_THREAD)
            return table

        sums = self._add_up(bins, counted, self.rows.n_grades * (last - first), lifts, width=last - first + 1)
        lifted = np.empty((last - first, len(sums)))

        def divide(start: int, stop: int) -> None:
            trusted_kernels.divide_by_weight(sums, start, stop, lifted)

        in_blocks(divide, len(sums), self.n_jobs, min_block=kernels.BLOCK)
        return lifted

    def _graded(self, first: int, last: int) -> tuple[Counted, slice]:
        """Return the rows of the queries first..last-1, counted by query and grade, and their places."""
        own = slice(int(self.starts[first]), int(self.starts[last]))
        codes = (self.queries[own] - first) * self.rows.n_grades + self.grades[own]
        bins = np.ascontiguousarray(self.bins[:, own])
        return Counted(bins, codes.astype(np.int32), np.ones(codes.size, dtype=np.int64)), own

    def _count(self, part: FeatureSets, rows: Counted, n_codes: int) -> Array:
        counts = np.zeros((int(part.offsets[-1]), n_codes), dtype=np.int64)

        def work(first: int, last: int) -> None:
            kernels.count_codes(*rows, part.features, self.layout.n_bins, part.offsets, first, last, counts)

        in_blocks(work, len(part.features), self.n_jobs, min_block=4)
        return counts

    def _add_up(
        self,
        bins: Array,
        rows: Counted,
        n_codes: int,
        make_table: Callable[[FeatureSets, Array, Array], Array],
        width: int | None = None,
    ) -> Array:
        """Count the rows, make tables of the counts (as wide unless said), and add up what documents' cells say."""
        sums = np.zeros((bins.shape[1], n_codes if width is None else width), dtype=np.int64)
        for part in self.layout.parts(TABLE_BYTES // (8 * n_codes)):
            table = make_table(part, self._count(part, rows, n_codes), sums)

            def look_up(start: int, stop: int, part: FeatureSets = part, table: Array = table) -> None:
                kernels.add_rows(bins, part.features, self.layout.n_bins, part.offsets, table, start, stop, sums)

            in_blocks(look_up, bins.shape[1], self.n_jobs, min_block=kernels.BLOCK)
        return sums


def packing(n_sets: int) -> tuple[float, int]:
    """Return units and count_bit such that the confidences and the number of so many rules fit in 63 bits."""
    n_bits = max(1, n_sets.bit_length())
    unit_bits = min(32, 63 - 2 * n_bits)
    return 2.0**unit_bits, unit_bits + n_bits
