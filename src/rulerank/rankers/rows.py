"""Rows that a ranker is given, looked at one by one: columns by name, codes of categories, queries, weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from rulerank.core.parameters import shown
from rulerank.core.words import counted
from rulerank.dataset import Array, Dataset, check_column, query_index
from rulerank.errors import DataError
from rulerank.io.columns import is_a_category
from rulerank.rankers.linear.kernels import dense_scores

NOTHING = "there is nothing to learn from, and all scores are 0"
MOST_REPEATED = 100  # times a row may count on average where weights are repeated rows


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


def query_of_each(X: Any, qid: Any, group: Any) -> Any:
    """Return the query of each row, where need be from LightGBM's group sizes.

    >>> query_of_each([[1.0], [2.0], [3.0]], None, [1, 2]).tolist()
    [0, 1, 1]
    """
    if group is None:
        return qid
    if qid is not None or isinstance(X, Dataset):
        which = "qid" if qid is not None else "a Dataset, which has its queries with it,"
        raise DataError(f"group and {which} both say which rows belong together: leave group out")
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    sizes = np.asarray(group)
    whole = sizes.ndim == 1 and sizes.dtype.kind in "iu" and sizes.size > 0 and sizes.min() >= 1
    if not whole or int(sizes.sum()) != n_rows:
        found = f"they add up to {int(sizes.sum()):,}" if whole else f"got {shown(group)}"
        raise DataError(
            f"group must hold how many rows each query has, whole numbers that add up to the {n_rows:,} rows: {found}; "
            "if it names the query of each row, write fit(X, y, qid=...)"
        )
    if sizes.size == n_rows > 1:
        raise DataError(
            "group says that every row is a query of its own, so there is nothing to rank; if it names the query of "
            "each row, write fit(X, y, qid=...)"
        )
    return np.repeat(np.arange(sizes.size), sizes)


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
