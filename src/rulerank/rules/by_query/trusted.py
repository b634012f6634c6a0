"""Trust the queries whose rules order other queries' documents rightly, and vote with their mean."""

from __future__ import annotations

import numpy as np

from rulerank.core.progress import progress
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.rules.by_query import trusted_kernels as kernels
from rulerank.rules.by_query.counts import ByQuery
from rulerank.rules.layout import FeatureSets
from rulerank.rules.tables import Counts
from rulerank.rules.votes import LiftVotes, Training


class TrustedVotes(LiftVotes):
    """Vote with the mean of some queries' shrunken lifts: what `ByQuery.shrunken_lifts` says, once per cell.

    A mean of sums is a sum of means, so a document needs one number per cell, however many queries are trusted.
    """

    def __init__(self, by_query: ByQuery, trusted: Array, shrink: float) -> None:
        super().__init__()
        rows = np.flatnonzero(np.isin(by_query.queries, trusted))
        number = np.searchsorted(trusted, by_query.queries[rows])
        self._bins = np.ascontiguousarray(by_query.bins[:, rows])
        self._codes = (number * by_query.rows.n_grades + by_query.grades[rows]).astype(np.int32)
        self._shares = np.ones(rows.size, dtype=np.int64)
        self._means = by_query.means[trusted]
        self._n_bins = by_query.layout.n_bins
        self._query_shrink = shrink

    def fill(self, counts: Counts, sets: FeatureSets, training: Training, first: int, last: int, votes: Array) -> None:
        super().fill(counts, sets, training, first, last, votes)
        kernels.trusted_votes(
            self._bins,
            self._codes,
            self._shares,
            sets.features,
            self._n_bins,
            sets.offsets,
            self._means,
            training.n_grades,
            self._query_shrink,
            first,
            last,
            votes,
        )


def share_of_right_pairs(by_query: ByQuery, training: Training, shrink: float, judged: Array | None = None) -> Array:
    """Return, for each query, the share of pairs of other queries' documents that it orders rightly.

    A pair is two documents of one query with different grades. Tied scores are half right; no pairs at all: a half.
    judged: the places among the sorted rows, ascending, of which pairs are made; all of them unless given.

    >>> from rulerank.rules.layout import Layout
    >>> from rulerank.rules.tables import Rows
    >>> queries = np.array([0, 0, 1, 1, 2, 2])
    >>> rows = Rows.of([[0, 1, 0, 1, 0, 1]], [0, 1, 0, 1, 1, 0], queries)
    >>> training = Training.of(rows, min_rows=1, strength=np.ones(1))
    >>> share_of_right_pairs(ByQuery(rows, queries, Layout.over(rows.n_bins(), max_size=1)), training, 1.0).tolist()
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
            scores = np.nan_to_num(lifts)

            def work(start: int, stop: int, first: int = first, last: int = last, scores: Array = scores) -> None:
                kernels.count_right_pairs(scores, grades, n_grades, starts, first, start, stop, right[first:last])

            in_blocks(work, last - first, by_query.n_jobs)
            bar.advance(last - first)
    by_grade = np.zeros((n_queries, n_grades), dtype=np.int64)
    np.add.at(by_grade, (queries, grades), 1)
    pairs_twice = sizes**2 - (by_grade**2).sum(axis=1)
    of_others = pairs_twice.sum() - pairs_twice
    return np.divide(right, of_others, out=np.full(n_queries, 0.5), where=of_others > 0)
