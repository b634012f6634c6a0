"""The value that travels through the library: documents of queries, with features and grades."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rulerank._util.parameters import Array as Array
from rulerank._util.parameters import refuse_mask, unmasked
from rulerank._util.words import counted
from rulerank.errors import DataError
from rulerank.recall_base import CountedRows, RecallBase, RowColumns, counted_rows

UNLABELLED = -1  # the grade of a document nobody has judged
ONE_SIDED = 0.8  # share of labels with one grade, from which on a warning is given
FEWEST_TO_WARN = 10  # labels
KEY = 16  # bytes of the hash of a query's id
MAX_GRADE = 31  # grades are small integers; more than 32 of them is almost surely a mistake in the file
LOWEST = int(np.iinfo(np.int32).max)  # position
MOST = 10**12  # impressions of a row: eight million rows of them fit into an int64
MOST_IN_ALL = 2**53  # impressions of a log: up to here every whole number is a float64, too


@dataclass(frozen=True, eq=False)
class Impressions(RowColumns):
    """One entry per row: the position it was shown at, how often, and how many of these times it was clicked.

    >>> impressions = Impressions(position=[1, 2], count=[100, 80], clicks=[30, 4])
    >>> impressions
    Impressions(2 rows, 180 impressions, 34 clicks)
    >>> impressions[[1]].clicks.tolist()
    [4]
    """

    position: Array  # int32 (n_rows,) from 1, the top
    count: Array  # int64 (n_rows,) from 1
    clicks: Array  # int64 (n_rows,) from 0 to the count

    def __post_init__(self) -> None:
        position = _whole("position", self.position, "a whole number from 1, the top of the list", 1, LOWEST)
        count = _whole("impressions", self.count, "a whole number from 1", 1, MOST)
        clicks = _whole("clicks", self.clicks, "a whole number from 0", 0, MOST)
        check_total(float(count.sum(dtype=np.float64)))
        self.set_columns(position=position.astype(np.int32), count=count, clicks=clicks)
        above = np.flatnonzero(clicks > count)
        if above.size:
            row = int(above[0])
            raise DataError(
                f"clicks must not be above impressions: got {counted(int(clicks[row]), 'click')} of "
                f"{counted(int(count[row]), 'impression')} at row {row}"
            )

    def __repr__(self) -> str:
        return f"Impressions({counted(len(self), 'row')}{self.totals()})"

    def totals(self) -> str:
        """Return how many impressions and clicks there are, as a data set shows them."""
        n_impressions, n_clicks = int(self.count.sum()), int(self.clicks.sum())
        return f", {counted(n_impressions, 'impression')}, {counted(n_clicks, 'click')}"


def check_total(impressions: float) -> None:
    """Refuse more impressions than can be added up exactly.

    >>> check_total(1e9)
    """
    if impressions > MOST_IN_ALL:
        raise DataError(f"expected at most {MOST_IN_ALL:,} impressions, got {impressions:,.0f}: are these counts?")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Documents of queries: one row per query-document pair, in input order.

    >>> data = Dataset([[0.5, 2.0], [0.1, float("nan")]], y=[1, 0], qid=["q1", "q1"])
    >>> data
    Dataset(2 rows, 1 query, 2 features, grades 0: 1, 1: 1)
    >>> data.feature_names
    ('f1', 'f2')
    >>> data[data.y == 1].X.tolist()
    [[0.5, 2.0]]
    """

    X: Array  # float32 (n_rows, n_features), NaN = missing, and so is what a masked array masks
    y: Array  # int16 (n_rows,) grades from 0, -1 = not labelled
    qid: Array  # (n_rows,) query ids, strings when they come from a file
    docid: Array | None = None  # (n_rows,) document ids
    feature_names: tuple[str, ...] = ()  # f1, f2, ... unless given
    comment: Array | None = None  # (n_rows,) what else a LETOR line's comment says
    texts: Mapping[str, Array] = field(
        default_factory=dict
    )  # name: (n_rows,) what people read of a row, None = nothing
    categories: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # feature: what its values 0, 1, ... stand for
    impressions: Impressions | None = None  # of each row: its position in a list, how often it was shown there, clicked
    base: RecallBase | None = None  # of each row: whether it is judged, and all judgements of its query
    dates: tuple[str, ...] = ()  # features whose values are days since 1970-01-01

    def __post_init__(self) -> None:
        with np.errstate(over="ignore"):
            X = np.asarray(unmasked(self.X), dtype=np.float32)
        if X.ndim != 2:
            raise DataError(f"X must have two dimensions, rows and features: got {X.ndim}")
        if np.isinf(X).any():
            row, column = (int(i[0]) for i in np.nonzero(np.isinf(X)))
            raise DataError(
                f"X must be finite, or NaN for missing, and fit float32: row {row}, column {column} does not"
            )
        n_rows, n_features = X.shape
        names = tuple(self.feature_names) or tuple(f"f{i + 1}" for i in range(n_features))
        if len(names) != n_features:
            raise DataError(f"expected {n_features} feature names, one per column of X: got {len(names)}")
        if len(set(names)) != n_features:
            twice = next(name for name in names if names.count(name) > 1)
            raise DataError(f"feature names must differ: {twice!r} appears twice")
        for feature, kinds in self.categories.items():
            if feature not in names:
                raise DataError(f"categories must be those of features: there is no feature {feature!r}")
            _check_codes(feature, X[:, names.index(feature)], len(kinds))
        values: dict[str, object] = {
            "X": X,
            "y": check_grades(self.y, n_rows),
            "qid": check_column("qid", self.qid, n_rows),
            "docid": None if self.docid is None else check_column("docid", self.docid, n_rows),
            "comment": None if self.comment is None else check_column("comment", self.comment, n_rows),
            "feature_names": names,
            "texts": {name: check_column(f"texts[{name!r}]", column, n_rows) for name, column in self.texts.items()},
            "categories": {name: tuple(kinds) for name, kinds in self.categories.items()},
            "dates": tuple(name for name in self.dates if name in names),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        for name in ("impressions", "base"):
            part = getattr(self, name)
            if part is not None and len(part) != n_rows:
                raise DataError(f"{name} must have one entry per row: expected {n_rows}, got {len(part)}")

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        n_queries = len(query_index(self.qid)[1])
        found, counts = np.unique(self.y, return_counts=True)
        grades = ", ".join(
            f"{'not labelled' if g == UNLABELLED else g}: {c}" for g, c in zip(found, counts, strict=True)
        )
        return (
            f"Dataset({counted(len(self), 'row')}, {counted(n_queries, 'query', 'queries')}, "
            f"{counted(self.X.shape[1], 'feature')}, grades {grades or 'none'}"
            f"{'' if self.impressions is None else self.impressions.totals()})"
        )

    def __getitem__(self, rows: Any) -> Dataset:
        """Pick rows by a mask, row numbers or a slice."""
        if isinstance(rows, int | np.integer):
            raise DataError(f"pick rows by a mask, a list of row numbers or a slice: got the integer {rows}")
        picked = {name: getattr(self, name) for name in ("X", "y", "qid", "docid", "comment", "impressions", "base")}
        return replace(
            self,
            texts={name: column[rows] for name, column in self.texts.items()},
            **{name: value[rows] for name, value in picked.items() if value is not None},
        )

    def labelled(self, unjudged: int | str | None = None, judged_extra: bool | None = None) -> Dataset:
        """Return the rows that have a grade, by the rule of `recall_base.counted_rows`.

        unjudged: 0 counts documents without a grade as not relevant, "skip" leaves them out; by default 0 where
        hardly any grade is 0. Queries without any grade are left out.
        judged_extra: whether documents stay that are candidates only because they are judged.

        >>> data = Dataset([[0.5], [0.1], [0.2]], [1, -1, -1], ["a", "a", "b"])
        >>> data.labelled("skip").y.tolist(), data.labelled(0).y.tolist()
        ([1], [1, 0])
        """
        return self.counted(self.counted_rows(unjudged, judged_extra))

    def counted_rows(self, unjudged: int | str | None = None, judged_extra: bool | None = None) -> CountedRows:
        """Return which rows `labelled` keeps, their grades, and how many others there are."""
        nothing_to_ask = self.base is None and bool((self.y != UNLABELLED).all())
        queries = np.empty(0, dtype=np.int64) if nothing_to_ask else query_index(self.qid)[0]
        return counted_rows(self.y, queries, self.base, unjudged, judged_extra)

    def counted(self, found: CountedRows) -> Dataset:
        """Return the rows that count."""
        if found.rows.size == len(self) and (found.y == self.y).all():
            return self
        return replace(self[found.rows], y=found.y)

    @staticmethod
    def concat(parts: Sequence[Dataset]) -> Dataset:
        """Put data sets with the same features one after the other.

        >>> one = Dataset([[1.0]], [0], ["a"])
        >>> Dataset.concat([one, one])
        Dataset(2 rows, 1 query, 1 feature, grades 0: 2)
        """
        if not parts:
            raise DataError("expected at least one data set to concatenate: got none")
        names = parts[0].feature_names
        for part in parts[1:]:
            if part.feature_names != names:
                raise DataError(f"data sets differ in their features: {names} and {part.feature_names}")
            if part.categories != parts[0].categories:
                raise DataError("data sets differ in the names of their categories")

        shown = [part.impressions for part in parts if part.impressions is not None]
        if 0 < len(shown) < len(parts):
            raise DataError("data sets differ: some have impressions and clicks, others have none")

        bases = [RecallBase.of_pool(part.y) if part.base is None else part.base for part in parts]

        def joined(name: str) -> Any:
            columns = [getattr(part, name) for part in parts]
            return None if any(column is None for column in columns) else np.concatenate(columns)

        texts = [name for name in parts[0].texts if all(name in part.texts for part in parts)]
        return replace(
            parts[0],
            **{name: joined(name) for name in ("X", "y", "qid", "docid", "comment")},
            texts={name: np.concatenate([part.texts[name] for part in parts]) for name in texts},
            impressions=Impressions.concat(shown) if shown else None,
            base=None if all(part.base is None for part in parts) else RecallBase.concat(bases),
        )


@dataclass(frozen=True)
class Fold:
    """One fold of a cross-validation in LETOR's layout."""

    name: str
    train: Dataset
    vali: Dataset
    test: Dataset


def make_folds(data: Dataset, n_folds: int = 5, seed: int = 0) -> list[Fold]:
    """Split by query for cross-validation as LETOR does: each query is tested once and validated on once.

    >>> folds = make_folds(Dataset(np.zeros((10, 1)), [0, 1] * 5, range(10)))
    >>> fold = folds[0]
    >>> fold.name, *(len(set(part.qid)) for part in (fold.train, fold.vali, fold.test))
    ('Fold1', 6, 2, 2)
    """
    query, ids = query_index(data.qid)
    for name, value, least in (("n_folds", n_folds, 3), ("seed", seed, 0)):
        if value < least:
            raise DataError(f"{name} must be at least {least}: got {value}")
    if ids.size < n_folds:
        raise DataError(f"n_folds must be at most the number of queries, {ids.size}: got {n_folds}")
    part = (np.random.default_rng(seed).permutation(ids.size) % n_folds)[query]
    folds = []
    for test in range(n_folds):
        vali = (test - 1) % n_folds
        train = (part != test) & (part != vali)
        folds.append(Fold(f"Fold{test + 1}", data[train], data[part == vali], data[part == test]))
    return folds


def check_grades(y: ArrayLike, n_rows: int) -> Array:
    """Return grades as int16 after looking at every value.

    >>> check_grades([0, 2.0, -1], 3).tolist()
    [0, 2, -1]
    """
    values = check_column("y", y, n_rows)
    return _whole("grades", values, "whole numbers from 0, or -1 for not labelled", UNLABELLED, MAX_GRADE).astype(
        np.int16
    )


def check_column(name: str, values: ArrayLike, n_rows: int) -> Array:
    """Return a one-dimensional array with one entry per row."""
    refuse_mask(name, values)
    column = values if isinstance(values, np.ndarray) else _as_column(values)
    if column.ndim != 1:
        raise DataError(f"{name} must have one dimension: got {column.ndim}")
    if column.size != n_rows:
        raise DataError(f"{name} must have one entry per row: expected {n_rows}, got {column.size}")
    return column


def starts_of(groups: Array) -> Array:
    """Return where each group of sorted numbers begins, and where the last ends.

    >>> starts_of(np.array([3, 3, 5])).tolist()
    [0, 2, 3]
    """
    return np.append(np.flatnonzero(np.diff(groups, prepend=-1)), groups.size).astype(np.int64)


def doc_name(data: Dataset, row: int) -> str:
    """Return what people call a document: its id, or without one its row, counted from 1.

    >>> doc_name(Dataset([[0.5], [0.1]], [0, 1], ["q", "q"]), 1)
    'row 2'
    >>> doc_name(Dataset([[0.5], [0.1]], [0, 1], ["q", "q"], docid=["a", "b"]), 1)
    'b'
    """
    return f"row {row + 1}" if data.docid is None else str(data.docid[row])


def query_index(qid: Array) -> tuple[Array, Array]:
    """Number the queries in order of appearance: (number of each row's query, the query ids).

    >>> numbers, ids = query_index(np.array(["b", "a", "b"], dtype=object))
    >>> numbers.tolist(), ids.tolist()
    ([0, 1, 0], ['b', 'a'])
    """
    if qid.dtype == object:  # any hashable ids, which need not be sortable
        number: dict[object, int] = {}
        try:
            numbers = np.fromiter((number.setdefault(q, len(number)) for q in qid), dtype=np.int64, count=qid.size)
        except TypeError:
            raise DataError(f"query ids must be hashable, such as text or numbers: got {qid[0]!r} ...") from None
        for one, found in number.items():
            if one is None or (str(one) in ("nan", "NaT", "<NA>") and not isinstance(one, str)):
                raise _no_query(int(np.argmax(numbers == found)), one)
        ids = np.empty(len(number), dtype=object)
        ids[:] = list(number)
        return numbers, ids
    if (qid != qid).any():
        raise _no_query(int(np.argmax(qid != qid)), "NaN")
    ids, first, inverse = np.unique(qid, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place[inverse.reshape(-1)], ids[order]


def query_keys(ids: Sequence[Any] | Array) -> Array:
    """Return a key of 128 bits for the name of each query, uint64 (n_queries, 2): 7, 7.0 and "7" are one name.

    >>> keys = query_keys([7, "7", 7.0, "seven"])
    >>> (keys[:3] == keys[0]).all(), (keys[3] == keys[0]).any()
    (np.True_, np.False_)
    """
    names = np.asarray(ids).tolist() if isinstance(ids, np.ndarray) else list(ids)
    whole = (int(one) if isinstance(one, float) and one.is_integer() else one for one in names)
    digests = b"".join(hashlib.blake2b(str(one).encode(), digest_size=KEY).digest() for one in whole)
    return np.frombuffer(digests, dtype=">u8").reshape(-1, 2).astype(np.uint64)


def has_contrast(grades: Array, queries: Array) -> bool:
    """Tell whether any query, by number, has documents of two grades: without, no ranking is better than another.

    >>> has_contrast(np.array([1, 1, 0, 0]), np.array([0, 0, 1, 1]))
    False
    """
    if not len(grades):
        return False
    one = np.zeros(int(queries.max()) + 1, dtype=grades.dtype)
    one[queries] = grades
    return bool((grades != one[queries]).any())


def check_contrast(grades: Array, queries: Array, purpose: str = "learn from") -> None:
    """Refuse grades of which nothing can be learned, or by which nothing can be compared.

    purpose: what they would be there to do.
    """
    if has_contrast(grades, queries):
        return
    kinds = np.unique(grades).tolist()
    what = f"all {len(grades):,} have grade {kinds[0]}" if len(kinds) == 1 else "each query has one grade only"
    raise no_contrast(what if len(grades) != 1 else "there is 1 sample", purpose)


def no_contrast(what: str, purpose: str) -> DataError:
    """Return the error that says so, and what to do."""
    return DataError(
        f"no query has documents of two grades ({what}), so there is nothing to {purpose}: grade more documents of "
        "each query; if the judgements list only relevant documents, count the others as not relevant "
        "(--unjudged 0, in Python unjudged=0)"
    )


def one_sided(grades: Iterable[int]) -> str | None:
    """Return a warning where over 80 % of at least ten labels have the same grade; None where they do not.

    >>> one_sided([1] * 9 + [0] * 2)
    '9 of 11 labels have grade 1: a model learns from different grades within a query; label documents of other grades'
    """
    found = Counter(map(int, grades))
    n_labels = found.total()
    if n_labels < FEWEST_TO_WARN:
        return None
    grade, n = found.most_common(1)[0]
    if n <= ONE_SIDED * n_labels:
        return None
    return (
        f"{n:,} of {n_labels:,} labels have grade {grade}: a model learns from different grades within a query; "
        "label documents of other grades"
    )


def warn_if_one_sided(grades: Iterable[int]) -> None:
    """Warn where `one_sided` has something to say."""
    said = one_sided(grades)
    if said is not None:
        warnings.warn(said, stacklevel=3)


def _whole(name: str, values: Any, what: str, low: int, high: int) -> Array:
    """Return whole numbers as int64 after looking at every value: a cast would turn 1.5 into 1."""
    refuse_mask(name, values)
    column = np.asarray(values)
    try:
        floats = column.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be {what}: got {column.ravel()[:3].tolist()!r} ...") from None
    bad = np.flatnonzero(~(np.isfinite(floats) & (floats == np.floor(floats)) & (floats >= low)))
    if bad.size:
        raise DataError(f"{name} must be {what}: got {column[bad[0]]} at row {bad[0]}")
    if column.size and floats.max() > high:
        raise DataError(f"{name} must be at most {high}: got {column[floats.argmax()]} at row {floats.argmax()}")
    return column.astype(np.int64)


def _no_query(row: int, found: object) -> DataError:
    return DataError(f"query ids must not be missing: row {row} has none ({found})")


def _check_codes(feature: str, codes: Array, n_kinds: int) -> None:
    known = codes[~np.isnan(codes)]
    bad = known[(known != np.floor(known)) | (known < 0) | (known >= n_kinds)]
    if bad.size:
        raise DataError(
            f"{feature!r} has {n_kinds} categories, so its values must be whole numbers from 0 to {n_kinds - 1}, "
            f"or NaN: got {bad[0]:g}"
        )


def _as_column(values: ArrayLike) -> Array:
    """Keep strings as Python strings: one long id must not widen every row."""
    if isinstance(values, Sequence) and any(isinstance(value, str) or not np.isscalar(value) for value in values):
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
    return np.asarray(values)
