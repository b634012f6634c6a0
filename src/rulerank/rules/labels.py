"""D*: which query's function, or which member, is the most competent for each training row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError, TooLargeError

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


def most_competent(
    blocks: Iterable[tuple[int, Array]],
    n_rows: int,
    ties: str,
    max_labels: float = np.inf,
    own: Array | None = None,
) -> Labels:
    """Label each row with the query whose Delta is the smallest; a row for which all abstain has no label.

    blocks: the first query of each block, and Delta (n_queries of the block, n_rows) with NaN where one abstains.
    ties: "first" takes the first query, "share" gives each an equal share, of at most max_labels in all, "other" takes
        the first that is not the row's own.
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
    if ties not in (*TIES, OTHER):
        raise DataError(f"unknown ties {ties!r}; choose from {', '.join((*TIES, OTHER))}")
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
        if ties == "share" and rows.size > max_labels:
            raise TooLargeError(
                f"{rows.size:,} labels are shared by {n_rows:,} documents so far, more than memory_budget holds; "
                'raise memory_budget, or take the first of tied queries, ties="first"'
            )
    return Labels.of(rows, queries)
