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
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.rankers.base import Ranker

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
    sizes = np.zeros(len(ranker.feature_names_))
    if issparse(rows.X):
        form = ranker.linear_form()
        assert form is not None  # only linear rankers take sparse rows
        filled = form.fill(rows.X)
        for first in range(0, len(sizes), COLUMNS):
            own = slice(first, first + COLUMNS)
            sizes[own] = spread(filled[:, own].toarray() * form.coef[own], rows.queries)
    else:
        shares, queries = shares_of(ranker, rows)
        sizes = spread(shares, queries)
    total = sizes.sum()
    return sizes / total if total > 0 else sizes


def shares_of(ranker: Ranker, rows: Sample) -> tuple[Array, Array]:
    """Return what each feature adds to the score of each row, and the rows' queries: all rows, or whole queries."""
    shares = ranker.fast_shares(rows.X)
    if shares is not None:
        return shares, rows.queries
    X, queries = sample_of(rows.X, np.unique(rows.queries, return_inverse=True)[1], MOST_CASES)
    out = np.empty(X.shape)
    for query in np.unique(queries):
        own = np.flatnonzero(queries == query)
        for place, row in enumerate(own.tolist()):
            out[row] = ranker.case(X[own], place).ballot.shares[: X.shape[1]]
    return out, queries


def additive_shares(ranker: Ranker, X: Array) -> Array | None:
    """Return what each feature adds to the score of each row, where the score is a plain sum; else None."""
    form = ranker.linear_form()
    if form is not None:
        products: Array = np.asarray(form.fill(X), dtype=np.float64) * form.coef
        return products
    try:
        tables = ranker.additive()
    except DataError:
        return None
    shares = tables.shares(X)
    if tables.weights is not None:
        values = X if tables.fill is None else np.where(np.isnan(X), tables.fill, X)
        shares = shares + np.where(tables.weights != 0, values, 0.0) * tables.weights
    return shares


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
