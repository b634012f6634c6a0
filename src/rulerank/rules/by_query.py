"""Each query's own rules: training rows counted per cell and query, what that says of documents, and whom to trust.

With thousands of queries no table of all cells and queries would fit, so queries go by in blocks and cells in parts:
a block's tables take about TABLE_BYTES, its sums about SUM_BYTES or one number per document and grade, whatever the
number of queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from rulerank._util.loops import in_blocks, progress
from rulerank.dataset import Array, query_keys
from rulerank.rules import by_query_kernels as kernels
from rulerank.rules.layout import FeatureSets, Layout
from rulerank.rules.tables import Counter, Counts, Rows, Training, rows_needed
from rulerank.rules.votes import LiftVotes, vote_table

MakeTable = Callable[[FeatureSets, Array, Array], Array]  # of some sets, their counts, and the sums so far
TABLE_BYTES = 1 << 25
SUM_BYTES = 1 << 27
MAX_QUERIES = 64  # of a block: wider rows of a table fall out of the cache
CELLS_PER_THREAD = 1000
LIFTS = LiftVotes()
TIES = ("first", "share")
OTHER = "other"  # where rows have a query of their own, too
SHARE = 1 << 28  # units that make a whole row, where a row's label is shared by several queries
STEP = 2.0**-20  # Deltas this close are tied: beyond it lies the rounding of sums


@dataclass(frozen=True, eq=False)
class Labels:
    """D*: training rows with their most competent query; a row with several has a share of each.

    >>> labels = Labels.of([4, 2, 2], [0, 1, 0])
    >>> labels.rows.tolist(), labels.queries.tolist(), (labels.shares / SHARE).tolist()
    ([4, 2, 2], [0, 0, 1], [1.0, 0.5, 0.5])
    """

    rows: Array  # int64 (n_labels,)
    queries: Array  # int64 (n_labels,) in order
    shares: Array  # int64 (n_labels,) in units of 1 / SHARE

    @staticmethod
    def of(rows: object, queries: object) -> Labels:
        """Give every row an equal share of each query that is named with it."""
        row, query = np.asarray(rows, dtype=np.int64), np.asarray(queries, dtype=np.int64)
        order = np.argsort(query, kind="stable")
        row, query = row[order], query[order]
        n_sharing = np.bincount(row)[row] if row.size else row
        return Labels(row, query, np.rint(SHARE / np.maximum(n_sharing, 1)).astype(np.int64))


def shares_needed(min_support: float, n_labelled: int) -> int:
    """Return the units of rows that a rule X -> query must hold in.

    A share of a row is enough when no support is asked for; shares are rounded, by less than a unit each.

    >>> shares_needed(0.0, 10), shares_needed(0.1, 10) == SHARE - 10
    (1, True)
    """
    return max(1, int(round(min_support * n_labelled, 9) * SHARE) - n_labelled)


def most_competent(blocks: Iterable[tuple[int, Array]], n_rows: int, ties: str, own: Array | None = None) -> Labels:
    """Label each row with the query whose Delta is the smallest; a row for which all abstain has no label.

    blocks: the first query of each block, and Delta (n_queries of the block, n_rows) with NaN where one abstains.
    ties: "first" takes the first query, "share" gives each an equal share, "other" takes the first that is not the
        row's own.
    own: the query of each row, for "other".

    >>> deltas = np.array([[0.5, 0.25, np.nan], [0.5, 0.75, np.nan]])
    >>> most_competent([(0, deltas)], 3, "first").queries.tolist()
    [0, 0]
    >>> labels = most_competent([(0, deltas)], 3, "share")
    >>> labels.rows.tolist(), labels.queries.tolist()
    ([0, 1, 0], [0, 0, 1])
    >>> most_competent([(0, deltas)], 3, "other", own=np.array([0, 0, 1])).queries.tolist()
    [0, 1]
    """
    best = np.full(n_rows, np.inf)  # smallest Delta so far, in steps
    rows, queries = np.zeros((2, 0), dtype=np.int64)  # labels so far, in the order of queries
    for first, deltas in blocks:
        steps = np.rint(deltas / STEP)
        if ties == OTHER:
            assert own is not None
            here = np.flatnonzero((own >= first) & (own < first + len(steps)))
            steps[own[here] - first, here] += 0.5  # behind all that are as close
        found = np.fmin(best, np.fmin.reduce(steps, axis=0))
        beaten = found < best
        best = found
        query, row = np.nonzero(steps == best)
        if ties != "share":
            row, place = np.unique(row, return_index=True)  # a row's first query comes first
            fresh = beaten[row]
            row, query = row[fresh], query[place[fresh]]
        kept = ~beaten[rows]
        rows = np.concatenate([rows[kept], row])
        queries = np.concatenate([queries[kept], query + first])
    return Labels.of(rows, queries)


class CodedRows(NamedTuple):
    """Rows to count: what each is counted as, and how much."""

    bins: Array  # uint8 (n_features, n_rows)
    codes: Array  # int32 (n_rows,)
    shares: Array  # int64 (n_rows,)

    @staticmethod
    def of(bins: Array, rows: Array | slice, codes: Array, shares: Array | None = None) -> CodedRows:
        """Take some rows; each counts once unless shares say otherwise."""
        shares = np.ones(codes.size, dtype=np.int64) if shares is None else shares
        return CodedRows(np.ascontiguousarray(bins[:, rows]), codes.astype(np.int32), shares)


class ByQuery:
    """Training rows sorted by query, and what each query's own rules say of documents.

    >>> rows = Rows.of([[0, 1, 1, 0]], [0, 1, 0, 1], [0, 0, 1, 1])
    >>> by_query = ByQuery(rows, np.array([0, 0, 1, 1]), Layout.over([2], max_size=1))
    >>> by_query.literal_ranks(np.array([[0, 1]], dtype=np.uint8), 0, 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    def __init__(self, rows: Rows, queries: Array, layout: Layout, n_jobs: int | None = None) -> None:
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

    def to_state(self) -> dict[str, Array]:
        """Return the rows in the order they came, for a model file."""
        queries = np.empty(self.rows.n_rows, dtype=np.int64)
        queries[self.order] = self.queries
        return {"bins": self.rows.bins, "grades": self.rows.grades, "queries": queries}

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
        counted, n_grades = self._graded(first, last), self.rows.n_grades
        units = packing(self.layout.n_sets)
        min_hits, min_hits_without = (rows_needed(min_support, self.sizes[first:last] - n) for n in (0, 1))

        def rules(part: FeatureSets, counts: Array, sums: Array) -> Array:
            if without_own:
                for q in range(first, last):
                    rows = slice(int(self.starts[q]), int(self.starts[q + 1]))
                    codes = slice((q - first) * n_grades, (q - first + 1) * n_grades)
                    hits = counts[cells_of(self.bins[:, rows], part), codes]  # (n_sets, n_rows, n_grades)
                    left = hits - np.eye(n_grades, dtype=np.int64)[self.grades[rows]]
                    said = packed(hits, min_hits[q - first], *units)
                    sums[rows, codes] += packed(left, min_hits_without[q - first], *units) - said
            turn = partial(kernels.grade_rules, min_hits, *units, counts)
            in_blocks(turn, len(counts), self.n_jobs, min_block=CELLS_PER_THREAD)
            return counts

        sums = self._add_up(bins, counted, n_grades * (last - first), rules)
        ranks = np.empty((last - first, len(sums)))
        self._unpack(partial(kernels.expected_grades, sums, n_grades, *units, ranks), len(sums))
        return ranks

    def literal_adds(self, row_bins: Array, weights: Array, above: Array, min_support: float) -> Array:
        """Return what each feature set adds to the weighted mean of the queries' ranks of a document, (n_sets,).

        weights: of each query, of those with a rank; above: what each grade is worth above the mean grade.
        """
        n_sets, n_grades = self.layout.n_sets, self.rows.n_grades
        units, adds = packing(n_sets)[0], np.zeros(n_sets)
        for first, last in self.blocks(n_sets):
            hits = np.zeros((n_sets, last - first, n_grades), dtype=np.int64)
            kernels.count_codes_like(
                *self._graded(first, last), self.layout.members, row_bins, hits.reshape(n_sets, -1)
            )
            exists = hits >= np.maximum(rows_needed(min_support, self.sizes[first:last]), 1)[:, None]
            theta = np.floor(hits * (units / np.maximum(hits.sum(axis=2, keepdims=True), 1)) + 0.5) / units * exists
            n_rules = np.maximum(exists.sum(axis=0), 1)
            totals = (theta.sum(axis=0) / n_rules).sum(axis=1)
            shares = weights[first:last] / np.where(totals > 0, totals, 1.0)
            adds += np.einsum("cqr,qr->cr", theta, shares[:, None] / n_rules) @ above
        return adds

    def label_strengths(self, bins: Array, labels: Labels, first: int, last: int, *, min_support: float = 0.0) -> Array:
        """Return the mean confidence of the rules X -> q of D* for the queries first..last-1, (n_queries, n_docs)."""
        units = packing(self.layout.n_sets)
        own = slice(*np.searchsorted(labels.queries, [first, last]))
        counted = CodedRows.of(self.rows.bins, labels.rows[own], labels.queries[own] - first, labels.shares[own])
        labelled = np.unique(labels.rows)
        every = CodedRows.of(self.rows.bins, labelled, np.zeros(labelled.size))
        min_share = shares_needed(min_support, labelled.size)

        def rules(part: FeatureSets, counts: Array, sums: Array) -> Array:
            turn = partial(kernels.label_rules, self._count(part, every, 1), SHARE, min_share, *units, counts)
            in_blocks(turn, len(counts), self.n_jobs, min_block=CELLS_PER_THREAD)
            return counts

        sums = self._add_up(bins, counted, last - first, rules)
        means = np.empty((last - first, len(sums)))
        self._unpack(partial(kernels.mean_confidences, sums, *units, means), len(sums))
        return means

    def lifts_of_all(self, training: Training) -> Array:
        """Return weight * lift and weight of all rows together in every cell, (n_cells, 2)."""
        counter, parts = Counter(self.rows, n_jobs=self.n_jobs), self.layout.parts(self.layout.n_cells)
        return np.concatenate([vote_table(LIFTS, counter.count(one), one, training, self.n_jobs) for one in parts])

    def shrunken_lifts(
        self, bins: Array, first: int, last: int, training: Training, shrink: float, of_all: Array | None = None
    ) -> Array:
        """Return how far above the mean grade the queries first..last-1 put each document, (n_queries, n_docs).

        Each lift of a query in a cell is mixed with `shrink` rows of the lift of all rows there. NaN: no cell is known.
        of_all: `lifts_of_all`, for callers that go through many blocks of queries; else all rows are counted here.
        """
        of_all = self.lifts_of_all(training) if of_all is None else of_all
        counted = self._graded(first, last)
        means = self.means[first:last]
        n_seen = 0  # cells of the parts that have gone by
        total_weight = sum(training.strength[block.features].mean(axis=1).sum() for block in self.layout.sets)
        units = 2.0**56 / max(float(total_weight), 1e-200)  # lifts are below 32: sums stay below 2**61

        def lifts(part: FeatureSets, counts: Array, sums: Array) -> Array:
            nonlocal n_seen
            seen = slice(n_seen, n_seen + len(counts))
            n_seen = seen.stop
            table = np.empty((len(counts), last - first + 1), dtype=np.int64)
            mix = partial(kernels.shrunken_lifts, counts, means, of_all[seen], shrink, units, table)
            in_blocks(mix, len(counts), self.n_jobs, min_block=CELLS_PER_THREAD)
            return table

        sums = self._add_up(bins, counted, self.rows.n_grades * (last - first), lifts, width=last - first + 1)
        lifted = np.empty((last - first, len(sums)))
        self._unpack(partial(kernels.divide_by_weight, sums, lifted), len(sums))
        return lifted

    def _graded(self, first: int, last: int) -> CodedRows:
        """Return the rows of the queries first..last-1, counted by query and grade."""
        own = slice(int(self.starts[first]), int(self.starts[last]))
        return CodedRows.of(self.bins, own, (self.queries[own] - first) * self.rows.n_grades + self.grades[own])

    def _count(self, part: FeatureSets, rows: CodedRows, n_codes: int) -> Array:
        counts = np.zeros((part.n_cells, n_codes), dtype=np.int64)
        in_blocks(partial(kernels.count_codes, *rows, part, counts), len(part.features), self.n_jobs, min_block=4)
        return counts

    def _unpack(self, loop: Callable[[int, int], None], n_docs: int) -> None:
        in_blocks(loop, n_docs, self.n_jobs, min_block=kernels.BLOCK)

    def _add_up(
        self, bins: Array, rows: CodedRows, n_codes: int, make_table: MakeTable, width: int | None = None
    ) -> Array:
        """Count the rows, make tables of the counts (as wide unless said), and add up what documents' cells say."""
        sums = np.zeros((bins.shape[1], n_codes if width is None else width), dtype=np.int64)
        for part in self.layout.parts(TABLE_BYTES // (8 * n_codes)):
            table = make_table(part, self._count(part, rows, n_codes), sums)
            self._unpack(partial(kernels.add_rows, bins, part, table, sums), bins.shape[1])
        return sums


def packing(n_sets: int) -> tuple[float, int]:
    """Return units and count_bit such that the confidences and the number of so many rules fit in 63 bits."""
    n_bits = max(1, n_sets.bit_length())
    unit_bits = min(32, 63 - 2 * n_bits)
    return 2.0**unit_bits, unit_bits + n_bits


def cells_of(bins: Array, sets: FeatureSets) -> Array:
    """Return the cell of each training row in each set, int64 (n_sets, n_rows).

    >>> cells_of(np.array([[0, 1], [2, 0]]), Layout.over([2, 3], max_size=2).sets[1].part(0, 1)).tolist()
    [[2, 3]]
    """
    cells = np.zeros((len(sets.features), bins.shape[1]), dtype=np.int64)
    for members in sets.features.T:
        cells = cells * sets.n_bins[members][:, None] + bins[members]
    return cells + sets.offsets[:-1, None]


def packed(hits: Array, least: int, units: float, count_bit: int) -> Array:
    """Return the rules of cells by grade (the last axis), as `kernels.packed` has one; 0 where hits are too few."""
    per_hit = units / np.maximum(hits.sum(axis=-1, keepdims=True), 1)
    rules: Array = np.where(hits >= least, (hits * per_hit + 0.5).astype(np.int64) + (1 << count_bit), 0)
    return rules.sum(axis=0)


class TrustedVotes(LiftVotes):
    """Vote with the mean of some queries' shrunken lifts: what `ByQuery.shrunken_lifts` says, once per cell.

    A mean of sums is a sum of means, so a document needs one number per cell, however many queries are trusted.
    """

    def __init__(self, by_query: ByQuery, trusted: Array, shrink: float) -> None:
        super().__init__()
        rows = np.flatnonzero(np.isin(by_query.queries, trusted))
        number = np.searchsorted(trusted, by_query.queries[rows])
        self._rows = CodedRows.of(by_query.bins, rows, number * by_query.rows.n_grades + by_query.grades[rows])
        self._means = by_query.means[trusted]
        self._query_shrink = shrink

    def fill(self, counts: Counts, sets: FeatureSets, training: Training, votes: Array, first: int, last: int) -> None:
        super().fill(counts, sets, training, votes, first, last)
        kernels.trusted_votes(*self._rows, sets, self._means, training.n_grades, self._query_shrink, votes, first, last)


def share_of_right_pairs(by_query: ByQuery, training: Training, shrink: float, judged: Array | None = None) -> Array:
    """Return, for each query, the share of pairs of other queries' documents that it orders rightly.

    A pair is two documents of one query with different grades. Tied scores are half right; no pairs at all: a half.
    judged: the places among the sorted rows, ascending, of which pairs are made; all of them unless given.

    >>> from rulerank.rules.tables import BinCounts
    >>> queries = np.array([0, 0, 1, 1, 2, 2])
    >>> rows = Rows.of([[0, 1, 0, 1, 0, 1]], [0, 1, 0, 1, 1, 0], queries)
    >>> training = BinCounts.of(rows).training(1, np.ones(1))
    >>> share_of_right_pairs(ByQuery(rows, queries, Layout.over([2], max_size=1)), training, 1.0).tolist()
    [0.5, 0.5, 0.0]
    """
    n_grades, n_queries = by_query.rows.n_grades, by_query.n_queries
    bins, grades, queries = by_query.bins, by_query.grades, by_query.queries
    if judged is not None:
        bins, grades, queries = np.ascontiguousarray(bins[:, judged]), grades[judged], queries[judged]
    sizes = np.bincount(queries, minlength=n_queries)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    of_all = by_query.lifts_of_all(training)
    right = np.zeros(n_queries, dtype=np.int64)
    with progress(n_queries, "judging queries") as bar:
        for first, last in by_query.blocks(grades.size):
            lifts = by_query.shrunken_lifts(bins, first, last, training, shrink, of_all=of_all)
            pairs = np.nan_to_num(lifts), grades, n_grades, starts, first, right[first:last]
            in_blocks(partial(kernels.count_right_pairs, *pairs), last - first, by_query.n_jobs)
            bar.advance(last - first)
    by_grade = np.zeros((n_queries, n_grades), dtype=np.int64)
    np.add.at(by_grade, (queries, grades), 1)
    pairs_twice = sizes**2 - (by_grade**2).sum(axis=1)
    of_others = pairs_twice.sum() - pairs_twice
    return np.divide(right, of_others, out=np.full(n_queries, 0.5), where=of_others > 0)


def judged_rows(by_query: ByQuery, query_ids: Array, most: int) -> Array | None:
    """Return the places among the sorted rows, ascending, of queries with at most `most` rows; None: of all of them.

    Which queries follows from hashes of their names: no order and no partition of the rows changes it. One is always
    taken.

    >>> rows = Rows.of([[0, 1, 2, 3, 4, 5]], [0, 1, 0, 1, 1, 0], [0, 0, 0, 0, 1, 1])
    >>> by_query = ByQuery(rows, np.array([0, 0, 0, 0, 1, 1]), Layout.over([6], max_size=1))
    >>> judged_rows(by_query, np.array(["a", "b"]), 6), judged_rows(by_query, np.array(["a", "b"]), 5).tolist()
    (None, [0, 1, 2, 3])
    """
    if by_query.rows.n_rows <= most:
        return None
    order = np.lexsort(query_keys(query_ids).T[::-1])
    n_taken = int(np.searchsorted(np.cumsum(by_query.sizes[order]), most, side="right"))
    return np.flatnonzero(np.isin(by_query.queries, order[: max(1, n_taken)]))
