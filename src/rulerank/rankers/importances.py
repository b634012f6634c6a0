"""How much each feature matters: what it adds to scores, and by how much that differs within queries.

One definition for every ranker. A feature's *share* of a document's score is what `explain` says that it adds; of a
sum of trees, how far the mean leaf moves where a tree asks for the feature. A share that all documents of a query have
alike ranks nothing, so its mean over the query's documents is taken off. The importance of a feature is the mean size
of what is left, over all documents, as a part of the sum over all features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from rulerank.dataset import Array

if TYPE_CHECKING:
    from rulerank.rankers.base import Ranker
    from rulerank.rules.additive import AdditiveTables

MOST_ROWS = 1000  # of the training rows that a ranker remembers for this
MOST_CASES = 300  # taken apart one by one, where there is no faster way
COLUMNS = 256  # of a sparse matrix, looked at together


class Sample(NamedTuple):
    """Rows as a ranker scores them, with the numbers of their queries."""

    X: Any
    queries: Array


def sample_of(X: Any, queries: Array, most: int = MOST_ROWS) -> Sample:
    """Return all rows, or those of evenly spaced queries that are about as many as asked for; never parts of a query.

    A first query that is larger is cut down to evenly spaced rows.

    >>> sample_of(np.arange(8.0)[:, None], np.array([0, 0, 1, 1, 2, 2, 3, 3]), 4).queries.tolist()
    [0, 0, 2, 2]
    """
    if len(queries) <= most:
        return Sample(X.copy(), queries)  # the caller's rows may change
    sizes = np.bincount(queries)
    n_kept = max(1, most * len(sizes) // len(queries))
    chosen = np.linspace(0, len(sizes) - 1, n_kept, endpoint=False).round().astype(np.int64)
    chosen = chosen[: max(1, int(np.searchsorted(np.cumsum(sizes[chosen]), most, side="right")))]
    rows = np.flatnonzero(np.isin(queries, chosen))
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]
    return Sample(X[rows], queries[rows])


def importances_of(ranker: Ranker, rows: Sample) -> Array:
    """Return the importance of each feature; they add up to 1, or are all 0 where nothing tells documents apart."""
    n_features = len(ranker.feature_names_)
    sizes, tables = np.zeros(n_features), ranker.as_tables()
    if issparse(rows.X):
        for first in range(0, n_features, COLUMNS):
            own = slice(first, first + COLUMNS)
            sizes[own] = spread(_weighed(tables, rows.X[:, own], own), rows.queries)
    else:
        if tables is None:  # document by document
            rows = sample_of(rows.X, np.unique(rows.queries, return_inverse=True)[1], MOST_CASES)
        found = ranker.checked_contributions(rows.X, rows.queries)
        baseline = None if tables is None or tables.from_model else tables.baseline
        shares = found.by_feature(n_features + 1)
        if baseline is not None:  # a feature, as the others are
            shares[:, baseline] += shares[:, n_features]
        sizes = spread(shares[:, :n_features], rows.queries)
    total = sizes.sum()
    return sizes / total if total > 0 else sizes


def _weighed(tables: AdditiveTables | None, X: Any, own: slice) -> Array:
    """Return what some columns of sparse rows add, which only linear rankers take."""
    assert tables is not None
    assert tables.weights is not None
    values = X.toarray()
    values = values if tables.fill is None else np.where(np.isnan(values), tables.fill[own], values)
    added: Array = values * tables.weights[own]
    return added


def spread(shares: Array, queries: Array) -> Array:
    """Return the mean size of each column's deviation from its mean within the query.

    >>> spread(np.array([[1.0, 5.0], [3.0, 5.0], [0.0, 7.0]]), np.array([0, 0, 1])).round(3).tolist()
    [0.667, 0.0]
    """
    _, numbers = np.unique(queries, return_inverse=True)
    means = np.zeros((int(numbers.max(initial=-1)) + 1, shares.shape[1]))
    np.add.at(means, numbers, shares)
    means /= np.maximum(np.bincount(numbers), 1)[:, None]
    return np.abs(shares - means[numbers]).mean(axis=0) if len(shares) else np.zeros(shares.shape[1])
