"""D*: which training query is the most competent for which training row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rulerank.dataset import Array

SHARE = 1 << 28  # units that make a whole row, where a row's label is shared by several queries


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

    @property
    def n_rows(self) -> int:
        return int(np.unique(self.rows).size)


def shares_needed(min_support: float, n_labelled: int) -> int:
    """Return the units of rows that a rule X -> query must hold in.

    A share of a row is enough when no support is asked for; shares are rounded, by less than a unit each.

    >>> shares_needed(0.0, 10), shares_needed(0.1, 10) == SHARE - 10
    (1, True)
    """
    return max(1, int(round(min_support * n_labelled, 9) * SHARE) - n_labelled)
