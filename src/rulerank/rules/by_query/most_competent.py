"""D*: which query's function is the most competent for each training row."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError, TooLargeError
from rulerank.rules.by_query.labels import Labels

TIES = ("first", "share")
OTHER = "other"  # where rows have a query of their own, too
STEP = 2.0**-20  # Deltas this close are tied: beyond it lies the rounding of sums


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
