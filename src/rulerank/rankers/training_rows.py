"""Training rows by what they hold: an order that the file's never changes."""

from __future__ import annotations

import numpy as np

from rulerank.dataset import Array
from rulerank.rankers.linear.kernels import dense_scores

NOTHING = "there is nothing to learn from, and all scores are 0"


def content_keys(X: Array) -> Array:
    """Return a number for each row that tells it from others: rows that differ have different sums with weights nobody
    would have chosen."""
    probe = np.random.default_rng(0).random((X.shape[1],))
    keys = np.empty(len(X))
    dense_scores(np.nan_to_num(X, nan=0.123456789), probe, keys)
    return keys


def order_by_content(keys: Array, grades: Array, queries: Array) -> tuple[Array, Array]:
    """Return the rows, query by query, in an order of their content, and the query number of each, from 0 up.

    keys: what tells rows from each other, as `content_keys` gives it.
    """
    order = np.lexsort((keys, grades, queries))
    starts = np.flatnonzero(np.diff(queries[order], prepend=-1))
    hashes = np.add.reduceat(scrambled(keys, grades)[order], starts)
    places = np.empty(starts.size, dtype=np.int64)
    places[np.argsort(hashes, kind="stable")] = np.arange(starts.size)
    numbers = np.repeat(places, np.diff(starts, append=order.size))
    by_query = np.argsort(numbers, kind="stable")
    return order[by_query], numbers[by_query]


def scrambled(keys: Array, grades: Array) -> Array:
    """Return whole numbers whose sum, which wraps around, tells the rows of one query from those of another."""
    mixed = keys.view(np.uint64) + (grades.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    found: Array = mixed ^ (mixed >> np.uint64(31))
    return found
