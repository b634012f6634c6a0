"""Which training rows judge the queries' functions: all of them, or a sample that only their content decides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rulerank.dataset import Array
from rulerank.rules.by_query.counts import ByQuery
from rulerank.rules.kept_rows import query_keys

PER_QUERY = 20  # rows of a query that are worth more than rows of yet another query
STEP = np.uint64(0x9E3779B97F4A7C15)
MIXES = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # splitmix64


def judged_rows(by_query: ByQuery, query_ids: Array, most: int) -> Array | None:
    """Return the places among the sorted rows, ascending, of at most `most` rows; None stands for all, if they fit.

    As many rows of each query as fit, and at least PER_QUERY of those queries that are taken. Which queries and which
    of their rows follows from hashes of names and contents: no order and no partition of the rows changes it.

    >>> from rulerank.rules.layout import Layout
    >>> from rulerank.rules.tables import Rows
    >>> rows = Rows.of([[0, 1, 2, 3, 4, 5]], [0, 1, 0, 1, 1, 0], [0, 0, 0, 0, 1, 1])
    >>> by_query = ByQuery(rows, np.array([0, 0, 0, 0, 1, 1]), Layout.over(rows.n_bins(), max_size=1))
    >>> judged_rows(by_query, np.array(["a", "b"]), 6), judged_rows(by_query, np.array(["a", "b"]), 2).tolist()
    (None, [0, 3])
    """
    sizes = by_query.sizes
    if by_query.rows.n_rows <= most:
        return None
    cap = max(PER_QUERY, _largest_cap(sizes, most))
    keys = query_keys(query_ids)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    n_taken = np.searchsorted(np.cumsum(np.minimum(sizes, cap)[order]), most, side="right")
    taken = np.zeros(sizes.size, dtype=np.bool_)
    taken[order[: max(1, n_taken)]] = True
    places = np.flatnonzero(taken[by_query.queries])
    queries = by_query.queries[places]
    content = row_hashes([*by_query.bins[:, places], by_query.grades[places], *keys[queries].T])
    # rows that are alike draw lots of their own: many documents have the same bins
    order = np.lexsort((content, queries))
    differs = (np.diff(content[order]) != 0) | (np.diff(queries[order]) != 0)
    alike = np.concatenate([[0], np.flatnonzero(differs) + 1])
    nth = np.arange(order.size) - np.repeat(alike, np.diff(alike, append=order.size))
    lots = row_hashes([content[order], nth])
    order = order[np.lexsort((lots, queries[order]))]
    place = np.arange(order.size) - np.searchsorted(queries, queries)  # rows stay sorted by query
    return np.sort(places[order[place < min(cap, most)]])


def row_hashes(columns: Sequence[Array]) -> Array:
    """Return a number for the content of each row, uint64 (n_rows,), given columns of whole numbers from 0.

    >>> one, other, same = row_hashes([np.array([1, 1, 1]), np.array([2, 3, 2])])
    >>> bool(one == same), bool(one == other)
    (True, False)
    """
    found = np.ones(columns[0].size, dtype=np.uint64)
    for column in columns:
        found = (found ^ column.astype(np.uint64)) * STEP
        found ^= found >> np.uint64(29)
    for shift, factor in MIXES:
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    mixed: Array = found ^ (found >> np.uint64(31))
    return mixed


def _largest_cap(sizes: Array, most: int) -> int:
    """Return the most rows that every query may give so that all together give at most `most`."""
    low, high = 0, int(sizes.max())
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(sizes, middle).sum() <= most else (low, middle - 1)
    return low
