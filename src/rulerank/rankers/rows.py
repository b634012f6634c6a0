"""Rows that a ranker is given: columns by name, codes of categories, queries, weights; and how much features matter.

A feature's *share* of a document's score is what `contributions` say that it adds. A share that all documents of a
query have alike ranks nothing, so its mean over the query's documents is taken off. The importance of a feature is the
mean size of what is left, over all documents, as a part of the sum over all features: one definition for every ranker.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulerank._util.estimator import validate
from rulerank._util.loops import compiled
from rulerank._util.parameters import shown, unmasked
from rulerank._util.words import counted, listed
from rulerank.dataset import UNLABELLED, Array, Dataset, check_column, check_grades, query_index, query_keys
from rulerank.errors import DataError
from rulerank.io.columns import collected, is_a_category, is_frame, numeric_frame
from rulerank.io.formats import columns_of, places_of

if TYPE_CHECKING:
    from rulerank.rankers.base import Ranker

NOTHING = "there is nothing to learn from, and all scores are 0"
NO_QID = "{verb} was given no qid, so all rows count as one query; give the query of each row, {verb}(X, y, qid=qid)"
MOST_ROWS = 1000  # of the training rows that a ranker remembers for its importances
MOST_CASES = 300  # taken apart one by one, where there is no faster way


EVALUATION = ("eval_set", "eval_group", "eval_qid", "eval_metric", "eval_names", "eval_sample_weight")
HINTS = {  # arguments of other libraries, and what to do instead
    (*EVALUATION, "early_stopping_rounds"): (
        "leave it out: FittedRules holds out queries itself (n_folds) and stops early; "
        "rr.select compares rankers and settings"
    ),
    ("n_estimators", "num_iterations", "num_boost_round", "n_iter", "iterations", "learning_rate", "eta"): (
        "leave it out: FittedRules finds the number of rounds by queries that it holds out"
    ),
    ("max_depth", "num_leaves", "max_leaves", "max_bin", "min_child_samples", "min_child_weight"): (
        "leave it out: the size of trees follows from the number of rows; max_pairs limits pairs of features"
    ),
    ("groups", "group_id", "query_id", "query", "queries"): (
        "give the query of each row as qid, or the number of rows of each query as group"
    ),
    ("random_state",): "the argument is called seed",
    ("verbose", "callbacks"): "leave it out: rankers print nothing",
}


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


def training_rows(ranker: Ranker, X: Any, y: Any, qid: Any, sample_weight: Any) -> Labelled:
    """Return checked training data, normalised if the ranker does that, and note names and categories in the ranker."""
    names = dates = tuple[str, ...]()
    categories: Mapping[str, tuple[str, ...]] = {}
    if is_frame(X):
        X, categories, dates = numeric_frame(X)
    if isinstance(X, Dataset):
        names, categories, dates = X.feature_names, X.categories, X.dates
        if y is None and X.impressions is not None and (X.y == UNLABELLED).all():
            raise DataError(
                f"{type(ranker).__name__} learns from grades, and these rows hold clicks: use QueryIntercepts, "
                "which learns from clicks"
            )
        y, qid = columns_with(X, y, qid)
        X = X.X
    if y is None:
        raise DataError(
            "requires y to be passed, but the target y is None: give one grade per row, fit(X, y, qid=qid), "
            "or a Dataset, which rr.from_frame makes of a data frame"
        )
    X = check_matrix(ranker, X, reset=True)
    grades = labelled_grades(y, X.shape[0])
    ranker.feature_names_ = names or tuple(
        map(str, getattr(ranker, "feature_names_in_", [f"f{i + 1}" for i in range(X.shape[1])]))
    )
    ranker.has_names_ = bool(names) or hasattr(ranker, "feature_names_in_")
    ranker.categories_, ranker.dates_ = dict(categories), dates
    if categories and not ranker._knows_categories:
        warnings.warn(ranker._words_for_categories(listed([*categories])), stacklevel=4)
    if qid is None and ranker._uses_queries():
        warnings.warn(NO_QID.format(verb="fit"), stacklevel=4)
    queries, ids = query_numbers(qid, X.shape[0])
    ranker._trained_queries = None if qid is None else (ids, np.bincount(queries))
    weights = None
    if sample_weight is not None:
        weights = check_weights(sample_weight, X.shape[0])
        rows = np.flatnonzero(weights > 0)
        if not ranker._weighs_rows:
            rows = np.repeat(np.arange(weights.size), whole_weights(weights, type(ranker).__name__))
        queries, kept = query_index(queries[rows])
        X, grades, ids = X[rows], grades[rows], ids[kept]
        weights = weights[rows] if ranker._weighs_rows else None
    if ranker.normalize is not None:
        X = ranker.on_one_scale(X, queries, ranker.normalize)
    return Labelled(X, grades, queries, ids, weights, categories)


def columns_with(X: Any, y: Any, qid: Any) -> tuple[Any, Any]:
    """Return grades and queries as they are given, or those of a Dataset."""
    if not isinstance(X, Dataset):
        return y, qid
    return X.y if y is None else y, X.qid if qid is None else qid


def matched_rows(ranker: Ranker, X: Any) -> Any:
    """Return checked rows with the columns in the ranker's order."""
    X = collected(X)
    if isinstance(X, Dataset):
        check_categories(ranker, X)
        rows = recoded(columns_of(X, ranker.feature_names_), X, ranker.feature_names_, ranker.categories_)
    elif ranker.has_names_ and has_columns(X):
        rows = np.asarray(frame_rows(ranker, X))
    else:
        return check_matrix(ranker, numeric_frame(X, {})[0] if is_frame(X) else X, reset=False)
    check_finite(rows)
    return rows


def check_names(ranker: Ranker, X: Any) -> None:
    """Refuse an array where the model knows names: nobody but the model knows its codes."""
    if ranker.categories_ and not isinstance(X, Dataset) and not is_frame(X) and not has_columns(X):
        name, names = next(iter(ranker.categories_.items()))
        raise DataError(f"{is_a_category(name, names)}, in a data frame or a Dataset: got an array")


def check_categories(ranker: Ranker, data: Dataset) -> None:
    """Refuse names where the model has learned numbers."""
    known = () if not ranker.has_names_ or ranker._leaves_categories_out else ranker.feature_names_
    name = next((name for name in data.categories if name in known and name not in ranker.categories_), None)
    if name is not None:
        raise DataError(
            f"the model expects numbers in {name!r}: the data has names there, such as {data.categories[name][:1]}"
        )


def frame_rows(ranker: Ranker, frame: Any) -> Any:
    """Return the columns of a data frame that the ranker knows, by name and in its order."""
    columns = [str(column) for column in frame.columns]
    twice = next((name for name in ranker.feature_names_ if columns.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"column names must differ: {twice!r} appears twice")
    places = places_of(ranker.feature_names_, tuple(columns))
    chosen = frame[[frame.columns[place] for place in places]]
    if is_frame(chosen):
        chosen = numeric_frame(chosen, ranker.categories_, ranker.dates_)[0]
    from sklearn.utils.validation import check_array  # it knows all kinds of frames

    return check_array(chosen, dtype=[np.float32, np.float64], ensure_all_finite=False, ensure_min_samples=0)


def check_matrix(ranker: Ranker, X: Any, *, reset: bool) -> Any:
    if hasattr(X, "toarray"):
        raise DataError(f"{type(ranker).__name__} does not accept sparse X: give a dense array, X.toarray()")
    X = validate(ranker, unmasked(X), reset=reset, least=1 if reset else 0)
    check_finite(X)
    return X


def has_columns(X: Any) -> bool:
    """Whether this is a data frame, of pandas or Polars, without loading either."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def recoded(X: Array, data: Dataset, names: tuple[str, ...], known: Mapping[str, tuple[str, ...]]) -> Array:
    """Return rows with the codes of training: kinds are matched by name, new ones have the code after the last."""
    out = X
    for name, kinds in known.items():
        own, column = data.categories.get(name), names.index(name)
        there = ~np.isnan(X[:, column])
        if own is None and there.any():
            raise DataError(
                f"{is_a_category(name, kinds)}: the data has numbers there; a file names a category by its type, "
                f"in a csv by the column's name, {name}:category"
            )
        if own is None or own == kinds:
            continue
        number = {kind: code for code, kind in enumerate(kinds)}
        codes = np.array([number.get(kind, len(kinds)) for kind in own], dtype=X.dtype)
        out = X.copy() if out is X else out
        out[there, column] = codes[X[there, column].astype(np.int64)]
    return out


def query_numbers(qid: Any, n_rows: int) -> tuple[Array, Array]:
    if qid is None:
        return np.zeros(n_rows, dtype=np.int64), np.array([0])
    return query_index(check_column("qid", qid, n_rows))


def query_of_each(X: Any, qid: Any, group: Any) -> Any:
    """Return the query of each row, given as it is or by the number of rows of each query.

    >>> query_of_each([[1.0], [2.0], [3.0]], None, [1, 2]).tolist()
    [0, 1, 1]
    """
    if group is None:
        return qid
    if qid is not None or isinstance(X, Dataset):
        which = "qid" if qid is not None else "a Dataset, which includes its queries,"
        raise DataError(f"group and {which} both define the queries: leave out group")
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    sizes = np.asarray(group)
    whole = sizes.ndim == 1 and sizes.dtype.kind in "iu" and sizes.size > 0 and sizes.min() >= 1
    if not whole or int(sizes.sum()) != n_rows:
        got = f"they add up to {int(sizes.sum()):,}" if whole else f"got {shown(group)}"
        raise DataError(
            f"group must hold the number of rows of each query, whole numbers that add up to {n_rows:,}: {got}; "
            "if it names the query of each row, write qid=..."
        )
    return np.repeat(np.arange(sizes.size), sizes)


def warn_of_torn_queries(ranker: Any, ids: Array, queries: Array) -> None:
    """Warn if the ranker was trained on other documents of the same queries, as with cv=5: scores are too good then.

    ids: of the queries that are scored; queries: the number of the query of each row.
    """
    ranker = ranker.steps[-1][1] if hasattr(ranker, "steps") else ranker
    trained = getattr(ranker, "_trained_queries", None)
    if trained is None:
        return
    n_trained = dict(zip(*map(np.ndarray.tolist, trained), strict=True))
    n_scored = zip(ids.tolist(), np.bincount(queries).tolist(), strict=True)
    torn = [query for query, n_rows in n_scored if n_trained.get(query, n_rows) != n_rows]
    if torn:
        warnings.warn(
            f"the ranker was trained on other documents of {counted(len(torn), 'query', 'queries')} that it is "
            f"scored on, such as {torn[0]!r}, so the score is too optimistic: split by query, cv=QueryKFold() instead "
            "of cv=5 or KFold()",
            stacklevel=3,
        )


def unknown_argument(place: str, name: str, known: Iterable[str]) -> TypeError:
    """Return the error for an argument that a function does not have, with what to use instead.

    >>> print(unknown_argument("FittedRules", "max_pair", ["max_pairs", "seed"]))
    FittedRules has no argument 'max_pair'; did you mean 'max_pairs'?
    """
    known = [*known]
    hint = next((hint for names, hint in HINTS.items() if name in names), "")
    near = get_close_matches(name, known, 1)
    hint = hint or (f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}")
    return TypeError(f"{place} has no argument {name!r}; {hint}")


def labelled_grades(y: Any, n_rows: int) -> Array:
    """Return one grade for each row, int16, none of which is missing."""
    grades = check_grades(y, n_rows)
    n_missing = int((grades == UNLABELLED).sum())
    if n_missing:
        advice = "leave them out, for example with data.labelled()"
        raise DataError(f"{n_missing} of {n_rows} rows are not labelled (grade -1); {advice}")
    return grades


def check_weights(sample_weight: Any, n_rows: int) -> Array:
    """Return what each row counts, float64, after looking at every value.

    >>> check_weights([1, 0.5], 2).tolist()
    [1.0, 0.5]
    """
    weights = check_numbers("sample_weight", sample_weight, n_rows, "numbers of at least 0")
    if not weights.any():
        raise DataError("Sample weights must contain at least one non-zero number: all of sample_weight are 0")
    return weights


def check_numbers(name: str, values: Any, n_rows: int, what: str, low: float = 0.0, whole: bool = False) -> Array:
    """Return a column of finite numbers of at least `low`, float64; what: what they must be, for the message."""
    column = check_column(name, values, n_rows)
    try:
        found = column.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be {what}: got {shown(values)}") from None
    good = np.isfinite(found) & (found >= low)
    bad = np.flatnonzero(~(good & (found == np.floor(found))) if whole else ~good)
    if bad.size:
        raise DataError(f"{name} must be {what}: got {column[bad[0]]} at row {bad[0]}")
    return found


def whole_weights(weights: Array, name: str) -> Array:
    """Return weights as whole numbers, for a ranker that counts rows."""
    bad = np.flatnonzero(weights != np.floor(weights))
    if bad.size:
        raise DataError(
            f"{name} counts rows, so sample_weight must be integers: got {weights[bad[0]]} at row {bad[0]}; "
            "FittedRules and QueryIntercepts accept any weights"
        )
    return weights.astype(np.int64)


def check_finite(X: Any) -> None:
    infinite = np.isinf(X)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise DataError(f"X must be finite or NaN (missing): row {row}, column {column} is infinity")


@compiled
def dense_scores(X: Array, coef: Array, out: Array) -> None:
    """Write weighted sums of rows."""
    for i in range(out.size):
        score = 0.0
        for f in range(coef.size):
            score += X[i, f] * coef[f]  # in order: a row alone scores as among others, to the last bit
        out[i] = score


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
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


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


def by_hash(queries: Array, ids: Array) -> Array:
    """Return numbers of queries in the order of their ids' hashes, whatever the order in which they came."""
    return np.argsort(np.lexsort(query_keys(ids).T))[queries]


def first_queries(queries: Array) -> Array:
    """Return the rows of the first queries, by their numbers, that have at most MOST_ROWS together, or of the first."""
    n_kept = max(1, int(np.searchsorted(np.cumsum(np.bincount(queries)), MOST_ROWS, side="right")))
    return np.flatnonzero(queries < n_kept)


def training_sample(data: Labelled) -> Sample:
    """Return a sample of training rows that does not depend on the order in which queries and their rows came.

    >>> ids, grades = np.array(["a", "b"]), np.zeros(3, dtype=np.int16)
    >>> one = Labelled(np.array([[1.0], [2.0], [3.0]]), grades, np.array([0, 0, 1]), ids)
    >>> other = Labelled(np.array([[3.0], [2.0], [1.0]]), grades, np.array([0, 1, 1]), ids[::-1])
    >>> np.array_equal(training_sample(one).X, training_sample(other).X)
    True
    """
    queries = by_hash(data.queries, data.query_ids)
    rows = first_queries(queries)
    X: Any = data.X[rows]
    queries = queries[rows]
    order = np.lexsort((content_keys(X), queries))
    if len(order) > MOST_ROWS:
        order = order[np.linspace(0, len(order) - 1, MOST_ROWS).astype(np.int64)]
    return Sample(X[order], queries[order])


def importances_of(ranker: Ranker, rows: Sample) -> Array:
    """Return the importance of each feature; they add up to 1, or are all 0 where no feature separates documents."""
    n_features = len(ranker.feature_names_)
    tables = ranker.as_tables()
    if tables is None:  # document by document
        rows = sample_of(rows.X, np.unique(rows.queries, return_inverse=True)[1], MOST_CASES)
    found = ranker.checked_contributions(rows.X, rows.queries)
    shares = found.by_feature(n_features + 1)
    if tables is not None and not tables.from_model:  # the baseline ranking is made of features
        parts = [term for term, own in enumerate(found.features) if own == (n_features,)]
        for column, term in zip(tables.baseline, parts, strict=False):
            shares[:, column] += found.values[:, term]
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
