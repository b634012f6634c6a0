"""Columns as numbers, ids and grades, and the names of documents: what all readers share.

Tables, `fit` and `predict` read dates and categories by one rule. The type of a column decides: categories are names,
dates are days since 1970-01-01, numbers and booleans are numbers; null, NaN and an empty text are missing. Text is a
category or a date only where a model knows the column as one. Days are rounded to float32, as in a Dataset, so that a
time of day has the same value wherever it is read.

A document is named by its id. Without ids, people see its row, counted from 1: `row 12`. Labels last longer than the
order of a file, so files and stores of labels hold a key instead, made of the document's features: the key is found
wherever the row moves, and is lost, rather than given to another document, when the features change.
"""

from __future__ import annotations

import datetime
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rulerank.dataset import MAX_GRADE, UNLABELLED, Array, Dataset
from rulerank.errors import DataError, MissingExtraError
from rulerank.io.files import Origin

DATE = r"\A\d{4}-\d\d-\d\d(?:[T ].*)?\z"
US_PER_DAY = 86_400_000_000
MISSING = ("", "NULL", "null", "NA", "NaN", "nan")  # what LETOR, SQL, R and pandas write for no value

# product_id, id, sku, docid, productId: identifiers, not features
ID_NAME = re.compile(
    r"(?i:(?:^|[\s_.:-])(?:id|uid|uuid|guid|pid|sku|ean|gtin|upc|asin|isbn)$)"
    r"|(?i:^(?:doc|document|item|product|user|query|row|page|article|movie|film|book|post|url)id$)|[a-z]I[dD]$"
)


class ColumnNumbers(NamedTuple):
    """A column as numbers."""

    values: Array  # float64 (n_rows,), NaN where missing
    names: tuple[str, ...] | None = None  # of a category: what the values 0, 1, ... stand for
    is_date: bool = False  # the values are days since 1970-01-01


def is_frame(source: object) -> bool:
    """Whether this is a Polars or pandas data frame; pandas is not imported to find out."""
    pandas = sys.modules.get("pandas")
    return isinstance(source, pl.DataFrame | pl.LazyFrame) or (
        pandas is not None and isinstance(source, pandas.DataFrame)
    )


def collected(frame: Any) -> Any:
    """Return a lazy frame of Polars with its rows, anything else as it is."""
    return frame.collect() if isinstance(frame, pl.LazyFrame) else frame


def to_polars(frame: Any) -> pl.DataFrame:
    """Return a Polars or pandas frame as one of Polars; a pandas category becomes an Enum of its names."""
    frame = collected(frame)
    if isinstance(frame, pl.DataFrame):
        return frame
    if not is_frame(frame):
        raise DataError(f"expected a Polars or pandas data frame, got {type(frame).__name__}")
    names = [str(column) for column in frame.columns]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"column names must differ: {twice[0]!r} appears twice")
    return pl.DataFrame([_of_pandas(frame.iloc[:, place], name) for place, name in enumerate(names)])


def _of_pandas(column: Any, name: str) -> pl.Series:
    try:
        if str(column.dtype) != "category":
            return pl.Series(name, pl.from_pandas(column))
        names = [str(kind) for kind in column.cat.categories]
        own = np.array([*names, None], dtype=object)[column.cat.codes.to_numpy()]  # the code of a missing one is -1
        return pl.Series(name, own.tolist(), dtype=pl.Enum(names))
    except ModuleNotFoundError:
        raise MissingExtraError("pandas", "pyarrow") from None
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:  # pyarrow's errors are TypeError and ValueError
        reason = (str(error).splitlines() or [""])[0]
        raise DataError(f"column {name!r} of the pandas frame has no type that can be read: {reason}") from None


def is_category(dtype: pl.DataType) -> bool:
    """Whether a column of this type holds one of a few names."""
    return dtype in (pl.Enum, pl.Categorical)


def is_date(dtype: pl.DataType) -> bool:
    """Whether a column of this type holds dates."""
    return dtype in (pl.Date, pl.Datetime)


def is_number(dtype: pl.DataType) -> bool:
    """Whether a column of this type holds numbers or booleans, or nothing at all."""
    return dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)


def category_names(column: pl.Series) -> tuple[str, ...]:
    """Return what a column of categories may hold: in the order of an Enum, else in that of the alphabet."""
    if isinstance(column.dtype, pl.Enum):
        return tuple(name for name in column.dtype.categories if name)
    return tuple(sorted(name for name in column.cast(pl.String).drop_nulls().unique() if name))


def days(column: pl.Series) -> pl.Series:
    """Return dates and times as days since 1970-01-01, in UTC where they have a zone.

    >>> days(pl.Series(["2026-11-18T12:00"]).str.to_datetime()).to_list()
    [20775.5]
    """
    found = column.cast(pl.Datetime("us")).to_physical().cast(pl.Float64) / US_PER_DAY
    return found.cast(pl.Float32).cast(pl.Float64)


def day_number(date: str | datetime.date) -> float:
    """Return a date, or a text of one, as days since 1970-01-01, NaN where there is none.

    >>> day_number("2026-11-18"), day_number("2026-11-18T12:00"), day_number("")
    (20775.0, 20775.5, nan)
    """
    return float(column_numbers(pl.Series([date]), fitted=True, date=True).values[0])


def parsed(column: pl.Series) -> pl.Series:
    """Return a column of text as dates if all texts are dates, else as a category.

    >>> parsed(pl.Series(["lg", "sony", "lg", None])).dtype, parsed(pl.Series(["2026-11-18"])).dtype
    (Enum(categories=['lg', 'sony']), Datetime(time_unit='us', time_zone=None))
    """
    dates = _dates(column)
    if dates is not None:
        return dates
    column = column.set(column == "", None)
    return column.cast(pl.Enum(column.drop_nulls().unique().sort()))


def column_numbers(
    column: pl.Series, known: Sequence[str] | None = None, *, fitted: bool = False, date: bool = False
) -> ColumnNumbers:
    """Return a column as numbers, or raise a DataError that names it and says what to do.

    fitted: a model reads it; known are then the names of its category, None where it reads numbers, or dates.

    >>> column_numbers(pl.Series("brand", ["sony", None, "new"]), ["lg", "sony"], fitted=True).values.tolist()
    [1.0, nan, 2.0]
    """
    dtype, name = column.dtype, column.name
    if fitted and not len(_filled(column)):
        return ColumnNumbers(np.full(len(column), np.nan), None if known is None else tuple(known), date)
    if fitted and known is not None:
        if not (is_category(dtype) or dtype == pl.String):
            raise DataError(f"{is_a_category(name, known)}: the column holds {dtype}")
        return ColumnNumbers(codes_of(column.cast(pl.String).to_list(), known), tuple(known))
    if fitted and date:
        return ColumnNumbers(days(_wanted_dates(column)).fill_null(float("nan")).to_numpy(), is_date=True)
    if is_number(dtype):
        return ColumnNumbers(column.cast(pl.Float64).fill_null(float("nan")).to_numpy())
    if fitted:
        shown = str(_filled(column)[0])[:60]
        raise DataError(f"the model expects numbers in {name!r}: the column holds {dtype}, such as {shown!r}")
    if is_date(dtype):
        return ColumnNumbers(days(column).fill_null(float("nan")).to_numpy(), is_date=True)
    if is_category(dtype):
        names = category_names(column)
        return ColumnNumbers(codes_of(column.cast(pl.String).to_list(), names), names)
    raise DataError(
        f"column {name!r} holds {dtype}, which cannot be a feature: leave it out, or convert it to numbers, dates or a "
        f"category (Polars: Categorical or Enum, pandas: category, csv: {name}:category)"
    )


def numeric_frame(
    frame: Any, known: Mapping[str, Sequence[str]] | None = None, known_dates: Sequence[str] = ()
) -> tuple[Any, dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return a frame whose columns are all numbers, what the codes in it stand for, and which columns are dates.

    known, known_dates: the categories and dates of the model that will read the frame; None where one learns from it.

    >>> columns = {"x": [1], "brand": pl.Series(["lg"], dtype=pl.Categorical), "day": [datetime.date(2026, 11, 18)]}
    >>> frame, categories, dates = numeric_frame(pl.DataFrame(columns))
    >>> frame.rows(), categories, dates
    ([(1, 0.0, 20775.0)], {'brand': ('lg',)}, ('day',))
    """
    frame = collected(frame)
    fitted, known = known is not None, known or {}
    categories, dates = {}, []
    changed = False
    for place, (column, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        name = str(column)
        if _is_plain(dtype) and name not in known and name not in known_dates:
            continue
        own = frame[column] if isinstance(frame, pl.DataFrame) else _of_pandas(frame.iloc[:, place], name)
        found = column_numbers(own, known.get(name), fitted=fitted, date=name in known_dates)
        if found.names is not None:
            categories[name] = found.names
        dates += [name] if found.is_date else []
        if isinstance(frame, pl.DataFrame):
            frame = frame.with_columns(pl.Series(name, found.values))
        else:
            frame = frame if changed else frame.copy(deep=False)
            frame.isetitem(place, found.values)
        changed = True
    return frame, categories, tuple(dates)


def codes_of(texts: Sequence[str | None], names: Sequence[str]) -> Array:
    """Return the places of texts among names: NaN where there is none, one after the last for any other.

    >>> codes_of(["sony", None, "", "new"], ["lg", "sony"]).tolist()
    [1.0, nan, nan, 2.0]
    """
    code: dict[str | None, float] = {None: np.nan, "": np.nan, **{name: float(i) for i, name in enumerate(names)}}
    return np.array([code.get(text, float(len(names))) for text in texts], dtype=np.float64)


def is_a_category(feature: str, names: Sequence[str]) -> str:
    """Return the message that a model needs names for a feature."""
    shown = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
    return f"the model knows {feature!r} as a category ({shown}): give names, not numbers"


def looks_like_ids(column: pl.Series) -> bool:
    """Whether a column holds whole numbers and has the name of an id.

    >>> looks_like_ids(pl.Series("product_id", [7, 9])), looks_like_ids(pl.Series("clicks", [7, 9]))
    (True, False)
    """
    if not column.dtype.is_numeric() or not ID_NAME.search(column.name):
        return False
    values = _filled(column)
    return bool(len(values)) and (values.dtype.is_integer() or bool((values % 1 == 0).all()))


def is_feature(dtype: pl.DataType) -> bool:
    """Whether a column of this type is taken for a feature: numbers, booleans, categories, dates."""
    return is_number(dtype) or is_category(dtype) or is_date(dtype)


def grade_values(column: pl.Series, origin: Origin) -> Array:
    """Return grades as whole numbers, UNLABELLED where there is none."""
    if column.dtype == pl.String:
        cells = column.str.strip_chars()
        cells = cells.set(cells.is_in([*MISSING, "?"]), None)
    elif is_number(column.dtype):
        cells = column.cast(pl.Float64).fill_nan(None)
    else:
        raise origin(None, f"column {column.name!r} must hold grades: it holds {column.dtype}")
    grades = cells.cast(pl.Float64, strict=False)
    allowed = (grades % 1 == 0) & grades.is_between(UNLABELLED, MAX_GRADE)
    wrong = np.flatnonzero((cells.is_not_null() & ~allowed.fill_null(False)).to_numpy())
    if wrong.size:
        row = int(wrong[0])
        raise origin(
            row,
            f"expected an integer from 0 to {MAX_GRADE} as the grade, or nothing or ? for not labelled, "
            f"got {column[row]!r} in column {column.name!r}",
        )
    return grades.fill_null(UNLABELLED).cast(pl.Int16).to_numpy()


def ids(column: pl.Series, origin: Origin) -> Array:
    """Return ids as text, "" where there is none: whole numbers in decimal, equal ids as one string."""
    if column.dtype.is_float() and column.drop_nulls().is_finite().all() and (column.drop_nulls() % 1 == 0).all():
        column = column.cast(pl.Int64)  # pandas has no empty integers
    if not (column.dtype.is_integer() or column.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null)):
        raise origin(None, f"column {column.name!r} must hold text or whole numbers: it holds {column.dtype}")
    texts = column.cast(pl.String).fill_null("")
    if texts.str.contains("\0", literal=True).any():
        row = int(texts.str.contains("\0", literal=True).arg_max() or 0)
        raise origin(row, f"an id must not hold the character NUL: got {texts[row]!r:.60} in column {column.name!r}")
    return shared_strings(texts)


def shared_strings(column: pl.Series) -> Array:
    """Return an object array in which equal strings are one object."""
    one: dict[str, str] = {}
    return np.array([one.setdefault(value, value) for value in column.to_list()], dtype=object)


def _is_plain(dtype: Any) -> bool:
    """Whether a column goes to the ranker as it is: numbers, of Polars or pandas."""
    if isinstance(dtype, pl.DataType):
        return dtype.is_numeric()
    return bool(getattr(dtype, "kind", "O") in "iuf") and str(dtype) != "category"


def _filled(column: pl.Series) -> pl.Series:
    values = column.drop_nulls()
    if values.dtype == pl.String:
        return values.filter(values != "")
    return values.drop_nans() if values.dtype.is_float() else values


def _dates(column: pl.Series) -> pl.Series | None:
    """Return dates where all texts are some."""
    texts = _filled(column)
    if not len(texts) or not texts.str.contains(DATE).all():
        return None
    found = column.str.slice(0, 10).str.to_date(strict=False).cast(pl.Datetime("us"))
    if texts.str.len_chars().max() != 10:  # with the time of day
        found = column.str.to_datetime(strict=False, time_unit="us", time_zone="UTC").dt.replace_time_zone(None)
    return found if found.null_count() == len(column) - len(texts) else None


def _wanted_dates(column: pl.Series) -> pl.Series:
    """Return a column that a model reads as dates as some, or raise a DataError with the first cell that is not one."""
    if is_date(column.dtype):
        return column
    dates = _dates(column) if column.dtype == pl.String else None
    if dates is not None:
        return dates
    is_text = column.dtype == pl.String
    cells = [cell for cell in _filled(column) if not is_text or _dates(pl.Series([cell])) is None]
    raise DataError(
        f"the model expects dates in {column.name!r}: give a column of dates, or of texts such as 2026-11-18, null if "
        f"missing; the column holds {column.dtype}, such as {str(cells[0])[:60]!r}"
    )


STEP = 1 << 16  # rows looked at together, so that a large file is not held twice
ROW_NAME = re.compile(r"row ?([1-9][0-9]{0,15})")  # the first version wrote row12 into files of labels


def check_repeats(qid: Array, docid: Array, origin: Origin, keys: Array | None = None) -> None:
    """Refuse a document that appears twice in one query; documents without an id ("") are all different.

    keys: what a document may not appear twice under, such as the query and the rater; by default, or empty, the query.

    >>> check_repeats(np.array(["a", "b", "b", "b"]), np.array(["d", "d", "e", "d"]), Origin())
    Traceback (most recent call last):
    rulerank.errors.DataError: row 3: document 'd' of query 'b' appears twice, first in row 1: ...
    """
    rows = np.flatnonzero(docid != "")
    twice = first_repeat(
        list(zip((keys if keys is not None and keys.size else qid)[rows].tolist(), docid[rows].tolist(), strict=True))
    )
    if twice is not None:
        first, again = rows[[*twice]].tolist()
        what = f"document {str(docid[again])!r:.60} of query {str(qid[again])!r:.60} appears twice"
        what += f", first in {origin.row(first)}: keep one of them, or give them different ids"
        raise origin(again, what)


def first_repeat(keys: Sequence[Hashable]) -> tuple[int, int] | None:
    """Return the places of the first key that is there again, the first time and the second; None: all differ.

    >>> first_repeat(["a", "b", "c", "b", "a"])
    (1, 3)
    """
    if np.unique(np.fromiter(map(hash, keys), dtype=np.int64, count=len(keys))).size == len(keys):
        return None  # keys that are equal have equal hashes: nearly always this is enough
    first: dict[Hashable, int] = {}
    for row, key in enumerate(keys):
        before = first.setdefault(key, row)
        if before != row:
            return before, row
    return None


def named_row(name: str) -> int | None:
    """Return the row, counted from 0, that `doc_name` calls so in data without ids; None: this names no row.

    >>> named_row("row 2"), named_row("row2"), named_row("b")
    (1, 1, None)
    """
    found = ROW_NAME.fullmatch(name)
    return None if found is None else int(found[1]) - 1


def doc_keys(data: Dataset) -> Array:
    """Return the key of each document in labels and runs: its id, or a digest of its features.

    The features must be all that the file has: those that some model takes from it give other digests.

    >>> doc_keys(Dataset([[0.5], [0.1]], [0, 1], ["q", "q"], docid=[7, 8])).tolist()
    ['7', '8']
    >>> doc_keys(Dataset([[0.5], [0.5], [0.5]], [0, 1, 1], ["q", "q", "p"])).tolist()
    ['d99e58435243', 'd99e58435243-2', 'd99e58435243']
    """
    if data.docid is None:
        return _digests(data.X, [str(query) for query in data.qid])
    return np.array([str(docid) for docid in data.docid], dtype=object)


def with_keys(data: Dataset) -> Dataset:
    """Return the same documents, each with its key as its id."""
    return replace(data, docid=doc_keys(data))


def _digests(X: Array, queries: Sequence[str]) -> Array:
    """Name documents by a digest of their features; those with the same ones in one query are numbered."""
    seen: Counter[tuple[str, str]] = Counter()
    names = np.empty(len(X), dtype=object)
    for start in range(0, len(X), STEP):
        part = X[start : start + STEP]
        part = np.where(np.isnan(part), np.float32(np.nan), part + np.float32(0))  # one NaN, one zero
        for row, values in enumerate(np.ascontiguousarray(part, dtype="<f4"), start):
            digest = hashlib.sha256(values.tobytes()).hexdigest()[:12]
            seen[queries[row], digest] += 1
            n_seen = seen[queries[row], digest]
            names[row] = digest if n_seen == 1 else f"{digest}-{n_seen}"
    return names


def first_rows(data: Dataset) -> list[int]:
    """Return the first row of each document; rows with the same ids and other features are not the same document."""
    keys = zip(data.qid.tolist(), doc_keys(data).tolist(), map(bytes, data.X), strict=True)
    first: dict[tuple[object, str, bytes], int] = {}
    for row, key in enumerate(keys):
        first.setdefault(key, row)
    return [*first.values()]


def require_docids(data: Dataset) -> Array:
    """Return the document ids, or raise an error where there are none."""
    if data.docid is None:
        raise DataError("expected an id for every document: the data has none; TREC and Quepid files need ids")
    empty = np.flatnonzero(data.docid == "")
    if empty.size:
        raise DataError(f"expected an id for every document: row {empty[0]} has none; TREC and Quepid files need ids")
    return data.docid
