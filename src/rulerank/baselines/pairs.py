"""Pairs of documents of one query with different grades, without ever listing them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rulerank.baselines.row_order import canonical_order
from rulerank.dataset import Array
from rulerank.rankers.base import Labelled


@dataclass(frozen=True, slots=True)
class PairedRows:
    """The rows that belong to pairs, query by query, the highest grade first.

    The document at place i is better than those at the places from below[i] to the end of its query.
    """

    rows: Array  # int64[n] row numbers
    bounds: Array  # int64[n_queries + 1] where each query begins
    below: Array  # int64[n]

    @property
    def pairs_by_query(self) -> Array:
        """How many pairs each query has."""
        n_worse = np.repeat(self.bounds[1:], np.diff(self.bounds)) - self.below
        return np.add.reduceat(n_worse, self.bounds[:-1]) if n_worse.size else n_worse

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return int(self.pairs_by_query.sum())


def paired_rows(data: Labelled) -> PairedRows:
    """Return the rows of the queries that have different grades.

    >>> grades, queries = np.array([0, 2, 1, 1, 1]), np.array([0, 0, 0, 1, 0])
    >>> pairs = paired_rows(Labelled(np.arange(5.0)[:, None], grades, queries, np.array(["a", "b"])))
    >>> grades[pairs.rows].tolist(), pairs.below.tolist(), pairs.bounds.tolist(), pairs.n_pairs
    ([2, 1, 1, 0], [1, 3, 3, 4], [0, 4], 5)
    """
    rows, queries = canonical_order(data)
    falling = np.lexsort((-data.grades[rows].astype(np.int64), queries))
    rows, queries = rows[falling], queries[falling]
    grades = data.grades[rows]
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    ends = np.append(starts[1:], rows.size)
    differs = grades[starts] > grades[ends - 1]
    kept = np.repeat(differs, ends - starts)
    rows, grades = rows[kept], grades[kept]
    bounds = np.concatenate([[0], np.cumsum((ends - starts)[differs])]).astype(np.int64)
    first_of_query = np.zeros(rows.size + 1, dtype=bool)
    first_of_query[bounds] = True
    new_level = first_of_query.copy()
    new_level[1:-1] |= grades[1:] != grades[:-1]
    levels = np.flatnonzero(new_level)
    below = np.repeat(levels[1:], np.diff(levels))
    return PairedRows(rows, bounds, below)
