"""Rows that a ranker is given: columns by name, codes of categories, queries, weights; and how much features matter.

A feature's *share* of a document's score is what `contributions` say that it adds. A share that all documents of a
query have alike ranks nothing, so its mean over the query's documents is taken off. The importance of a feature is the
mean size of what is left, over all documents, as a part of the sum over all features: one definition for every ranker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from rulerank.core.parameters import shown
from rulerank.core.words import counted
from rulerank.dataset import UNLABELLED, Array, Dataset, check_column, check_grades, query_index
from rulerank.errors import DataError
from rulerank.io.columns import is_a_category
from rulerank.rankers.linear.kernels import dense_scores

if TYPE_CHECKING:
    from rulerank.rankers.base import Ranker

NOTHING = "there is nothing to learn from, and all scores are 0"
MOST_REPEATED = 100  # times a row may count on average where weights are repeated rows
MOST_ROWS = 1000  # of the training rows that a ranker remembers for its importances
MOST_CASES = 300  # taken apart one by one, where there is no faster way
COLUMNS = 256  # of a sparse matrix, looked at together


class Labelled(NamedTuple):
    """Checked training data."""

    X: Array  # float (n_rows, n_features), normalised if the ranker does that
    grades: Array  # int16 (n_rows,)
    queries: Array  # int64 (n_rows,) query numbers in order of appearance
    query_ids: Array
    weights: Array | None = None  # float64 (n_rows,) what each row counts; None: one
    categories: Mapping[str, tuple[str, ...]] = {}  # feature: what its values 0, 1, ... stand for

    def rows(self, rows: Any) -> Labelled:
        """Return some rows, or all in another order; the numbers of queries stay."""
        weights = None if self.weights is None else self.weights[rows]
        return self._replace(X=self.X[rows], grades=self.grades[rows], queries=self.queries[rows], weights=weights)

    def by_query(self) -> Labelled:
        """Put the rows of each query side by side."""
        if (np.diff(self.queries) >= 0).all():
            return self
        return self.rows(np.argsort(self.queries, kind="stable"))


def columns_of(data: Dataset, names: tuple[str, ...]) -> Array:
    return data.X if data.feature_names == names else data.X[:, places_of(names, data.feature_names)]


def places_of(names: tuple[str, ...], found: tuple[str, ...]) -> list[int]:
    place = {name: i for i, name in enumerate(found)}
    missing = [name for name in names if name not in place]
    if missing:
        shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise DataError(
            f"the data lacks {len(missing)} of the {len(names)} features the model was trained on: {shown}; "
            f"it has {counted(len(place), 'feature')}"
        )
    return [place[name] for name in names]


def has_columns(X: Any) -> bool:
    """Whether this is a data frame, of pandas or Polars, without loading either."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def recoded(X: Array, data: Dataset, names: tuple[str, ...], known: Mapping[str, tuple[str, ...]]) -> Array:
    """Return rows with the codes of training: kinds are matched by name, new ones have the code after the last."""
    changed = False
    for name, kinds in known.items():
        found = data.categories.get(name)
        if found is None and not np.isnan(X[:, names.index(name)]).all():
            raise DataError(
                f"{is_a_category(name, kinds)}: the data has numbers there; a file names a category by its type, "
                f"in a csv by the column's name, {name}:category"
            )
        if found is None or found == kinds:
            continue
        number = {kind: code for code, kind in enumerate(kinds)}
        codes = np.array([number.get(kind, len(kinds)) for kind in found], dtype=X.dtype)
        column = names.index(name)
        X = X if changed else X.copy()
        changed = True
        there = ~np.isnan(X[:, column])
        X[there, column] = codes[X[there, column].astype(np.int64)]
    return X


def query_numbers(qid: Any, n_rows: int) -> tuple[Array, Array]:
    if qid is None:
        return np.zeros(n_rows, dtype=np.int64), np.array([0])
    return query_index(check_column("qid", qid, n_rows))


def labelled_grades(y: Any, n_rows: int) -> Array:
    """Return one grade for each row, int16, none of which is missing."""
    grades = check_grades(y, n_rows)
    n_missing = int((grades == UNLABELLED).sum())
    if n_missing:
        raise DataError(
            f"{n_missing} of {n_rows} rows are not labelled (grade -1); "
            "leave them out, for example with data.labelled()"
        )
    return grades


def check_weights(sample_weight: Any, n_rows: int) -> Array:
    """Return what each row counts, float64, after looking at every value.

    >>> check_weights([1, 0.5], 2).tolist()
    [1.0, 0.5]
    """
    column = check_column("sample_weight", sample_weight, n_rows)
    try:
        weights = column.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"sample_weight must be numbers from 0: got {shown(sample_weight)}") from None
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise DataError(f"sample_weight must be numbers from 0: got {weights[bad[0]]} at row {bad[0]}")
    if not weights.any():
        raise DataError("Sample weights must contain at least one non-zero number: all of sample_weight are 0")
    return weights


def whole_weights(weights: Array, name: str) -> Array:
    """Return weights as whole numbers, for a ranker that counts rows."""
    bad = np.flatnonzero(weights != np.floor(weights))
    if bad.size:
        raise DataError(
            f"{name} counts rows, so sample_weight must be whole numbers: got {weights[bad[0]]} at row {bad[0]}; "
            "FittedRules and QueryIntercepts take any weights"
        )
    if weights.sum() > MOST_REPEATED * max(1, weights.size):
        raise DataError(
            f"{name} counts rows as often as sample_weight says, which is {weights.sum():.3g} times in all, more than "
            f"{MOST_REPEATED} times a row: divide the weights, or use FittedRules or QueryIntercepts"
        )
    return weights.astype(np.int64)


def renumbered(queries: Array, ids: Array) -> tuple[Array, Array]:
    """Number queries anew, in order of appearance, after rows were left out."""
    numbers, kept = query_index(queries)
    return numbers, ids[kept]


def check_finite(X: Any) -> None:
    infinite = np.isinf(X.data if issparse(X) else X)
    if infinite.any():
        places = [place[infinite] for place in X.tocoo().coords] if issparse(X) else np.nonzero(infinite)
        row, column = (int(i[0]) for i in places)
        raise DataError(f"X must be finite or NaN (missing): row {row}, column {column} is infinity")


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
    if issparse(rows.X):  # which only weighted sums take
        assert tables is not None
        assert tables.weights is not None
        for first in range(0, n_features, COLUMNS):
            own = slice(first, first + COLUMNS)
            values = rows.X[:, own].toarray()
            values = values if tables.fill is None else np.where(np.isnan(values), tables.fill[own], values)
            sizes[own] = spread(values * tables.weights[own], rows.queries)
    else:
        if tables is None:  # document by document
            rows = sample_of(rows.X, np.unique(rows.queries, return_inverse=True)[1], MOST_CASES)
        shares = ranker.checked_contributions(rows.X, rows.queries).by_feature(n_features + 1)
        if tables is not None and tables.baseline is not None and not tables.from_model:  # a feature, as the others are
            shares[:, tables.baseline] += shares[:, n_features]
        sizes = spread(shares[:, :n_features], rows.queries)
    return sizes / (sizes.sum() or 1.0)


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
