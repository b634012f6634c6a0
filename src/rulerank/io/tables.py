"""Tables of documents: csv, tsv, parquet and data frames (Polars, pandas), one row per query-document pair."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import polars as pl

from rulerank.core.words import listed
from rulerank.dataset import MAX_GRADE, UNLABELLED, Array, Dataset
from rulerank.errors import DataError, MissingExtraError, ReadError
from rulerank.io.delimited import MISSING, NumberType, either, guarded_frame, read_delimited
from rulerank.io.marked_columns import TextOrMarked, with_marks, without_marks
from rulerank.io.outputs import write_bytes
from rulerank.io.streams import Source, format_suffix, read_bytes

SEPARATORS = {"csv": ",", "tsv": "\t"}
ROLES = {
    "qid": "column of the query id",
    "docid": "column of the document id",
    "grade": "column of the grade",
    "features": "columns of the features",
}
TABLE_FORMATS = (*SEPARATORS, "parquet")
TEXT_COLUMNS = {  # what people read of a row, and the columns of text that are taken for it
    "query_text": ("query_text", "query"),
    "description": ("description", "narrative"),
    "title": ("title",),
    "text": ("text", "body", "abstract"),
    "url": ("url", "link"),
}
TEXT_NAMES = [name for names in TEXT_COLUMNS.values() for name in names]

# product_id, id, sku, docid, productId: what tells documents apart and says nothing about them
ID_NAME = re.compile(
    r"(?i:(?:^|[\s_.:-])(?:id|uid|uuid|guid|pid|sku|ean|gtin|upc|asin|isbn)$)"
    r"|(?i:^(?:doc|document|item|product|user|query|row|page|article|movie|film|book|post|url)id$)|[a-z]I[dD]$"
)
ROWS_THAT_TELL = 50  # fewer whole numbers, such as prices, may all differ by chance

Mistake = Callable[[int | None, str], Exception]  # (row or None, message) -> the error that says where


def read_table(
    source: Any,
    *,
    qid: str = "qid",
    docid: str = "docid",
    grade: str = "grade",
    features: Sequence[str] | None = None,
    format: str | None = None,
    graded: bool = False,
    wanted: Collection[str] | None = None,
) -> Dataset:
    """Read a csv, tsv or parquet file, or a data frame.

    All columns of numbers, booleans or categories are features unless `features` names them, but for those that look
    like ids. Columns of text named query_text, query, description, narrative, title, text, body, abstract, url or link
    are kept as texts to be read; a warning names the columns that are left out. `wanted`: features that will be taken
    by name, which stay whatever they look like, and nothing is said about others. Ids are text ("007" stays "007"). No
    `docid` or `grade` column is needed; a grade that is empty, `?` or -1 is not labelled, but with `graded` the column
    must be there; an empty feature is missing (NaN). A column `comment` is kept beside the features.

    >>> read_table(io.BytesIO(b"qid,docid,grade,bm25\\n1,a,2,0.5\\n1,b,?,\\n"), format="csv")
    Dataset(2 rows, 1 query, 1 feature, grades not labelled: 1, 2: 1)
    """
    text = {qid, docid, grade} | ({"comment"} - set(features or ()))
    frame, mistake = read_frame(source, text=text, numeric=features or (), format=format)
    if graded:
        _check_columns(frame, mistake, [("grade", grade)])
    return _to_dataset(frame, mistake, qid, docid, grade, features, wanted)


def from_frame(
    frame: Any, *, qid: str = "qid", docid: str = "docid", grade: str = "grade", features: Sequence[str] | None = None
) -> Dataset:
    """Return the data set a Polars or pandas frame holds, by the rules of `read_table`.

    >>> from_frame(pl.DataFrame({"query": [1, 1], "clicked": [True, False], "bm25": [0.5, None]}), qid="query",
    ...            grade="clicked").X.tolist()
    [[0.5], [nan]]
    """
    return _to_dataset(_to_polars(frame), _mistake_in_frame, qid, docid, grade, features)


def to_frame(data: Dataset) -> pl.DataFrame:
    """Return a frame with the columns qid, docid, grade, features and texts; null where a value is missing.

    A feature of categories is a column of their names (an Enum of Polars).

    >>> data = Dataset([[0.5], [float("nan")]], y=[1, -1], qid=["q", "q"], feature_names=["bm25"])
    >>> to_frame(data).rows()
    [('q', 1, 0.5), ('q', None, None)]
    """
    columns = [pl.Series("qid", [str(value) for value in data.qid], dtype=pl.String)]
    if data.docid is not None:
        columns.append(pl.Series("docid", [str(value) for value in data.docid], dtype=pl.String))
    columns.append(pl.Series("grade", data.y).replace(UNLABELLED, None))
    columns += [_feature_column(data, name, data.X[:, i]) for i, name in enumerate(data.feature_names)]
    columns += [_text_column(name, values) for name, values in data.texts.items()]
    if data.comment is not None:
        columns.append(pl.Series("comment", [str(value) for value in data.comment], dtype=pl.String))
    taken = {"qid", "docid", "grade", "comment"}.intersection((*data.feature_names, *data.texts))
    taken |= {*data.texts}.intersection(data.feature_names)
    if taken:
        raise DataError(
            f"a feature or text cannot be named {min(taken)!r}, which a table uses for another column; rename it"
        )
    return pl.DataFrame(columns)


def write_table(data: Dataset, target: Source, *, format: str | None = None) -> None:
    """Write csv, tsv or parquet, as the name ends or as `format` says.

    >>> out = io.BytesIO()
    >>> write_table(Dataset([[0.1]], y=[2], qid=["007"]), out, format="csv")
    >>> out.getvalue()
    b'qid,grade,f1\\n007,2,0.1\\n'
    """
    write_frame(to_frame(data), target, format=format)


def read_frame(
    source: Any,
    *,
    text: Collection[str] = (),
    numeric: Collection[str] = (),
    number: NumberType = pl.Float32,
    format: str | None = None,
) -> tuple[pl.DataFrame, Mistake]:
    """Return the columns of a file or frame as they are, and what makes an error that names the file and the line."""
    if is_frame(source):
        return _to_polars(source), _mistake_in_frame
    content, name = read_bytes(source)
    format = _check_format(format) if format else _table_format(name, content)
    if not content:
        raise ReadError(name, None, "the file is empty")
    if format == "parquet":

        def at_row(row: int | None, message: str) -> Exception:
            return ReadError(name, None, message if row is None else f"row {row}: {message}")

        return _read_parquet(content, name), at_row
    frame, lines = read_delimited(
        content, name, SEPARATORS[format], text=TextOrMarked(text), numeric=numeric, number=number
    )
    frame = without_marks(frame)

    def at_line(row: int | None, message: str) -> Exception:
        return ReadError(name, None if row is None else int(lines[row]), message)

    return frame, at_line


def write_frame(frame: pl.DataFrame, target: Source, *, format: str | None = None) -> None:
    """Write any frame as csv, tsv or parquet."""
    if format is None:
        format = format_suffix(target).removeprefix(".") if isinstance(target, str | os.PathLike) else "a stream"
    format = _check_format(format)
    buffer = io.BytesIO()
    if format == "parquet":
        frame.write_parquet(buffer)
    else:
        guarded_frame(with_marks(frame)).write_csv(buffer, separator=SEPARATORS[format])
    write_bytes(target, buffer.getvalue())


def ids(column: pl.Series, mistake: Mistake) -> Array:
    """Return ids as text, "" where there is none: whole numbers in decimal, equal ids as one string."""
    if column.dtype.is_float() and column.drop_nulls().is_finite().all() and (column.drop_nulls() % 1 == 0).all():
        column = column.cast(pl.Int64)  # pandas has no empty integers
    if not (column.dtype.is_integer() or column.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null)):
        raise mistake(None, f"column {column.name!r} must hold text or whole numbers: it holds {column.dtype}")
    return shared_strings(column.cast(pl.String).fill_null(""))


def is_frame(source: object) -> bool:
    """Whether this is a Polars or pandas data frame; pandas is not imported to find out."""
    pandas = sys.modules.get("pandas")
    return isinstance(source, pl.DataFrame | pl.LazyFrame) or (
        pandas is not None and isinstance(source, pandas.DataFrame)
    )


def shared_strings(column: pl.Series) -> Array:
    """Return an object array in which equal strings are one object."""
    one: dict[str, str] = {}
    strings = np.empty(len(column), dtype=object)
    strings[:] = [one.setdefault(value, value) for value in column.to_list()]
    return strings


def _to_dataset(
    frame: pl.DataFrame,
    mistake: Mistake,
    qid: str,
    docid: str,
    grade: str,
    features: Sequence[str] | None,
    wanted: Collection[str] | None = None,
) -> Dataset:
    named = [("qid", qid), *(("features", feature) for feature in features or ())]
    named += [(role, column) for role, column in (("docid", docid), ("grade", grade)) if column != role]
    _check_columns(frame, mistake, named)
    reserved = {qid, docid, grade}
    comment = "comment" if "comment" in frame.columns and "comment" not in (features or ()) else None
    if features is None:
        if "" in frame.columns:  # what pandas calls its index in a csv
            raise mistake(None, f"a column has no name; name it, take it away or choose others ({either('features')})")
        features = feature_columns(
            frame.drop(reserved | {"comment", *_texts_of(frame)}, strict=False), frame[qid], wanted
        )
    elif reserved.intersection(features):
        column = min(reserved.intersection(features))
        raise mistake(None, f"column {column!r} cannot be a feature: it is the qid, docid or grade")
    qids = ids(frame[qid], mistake)
    empty = np.flatnonzero(qids == "")
    if empty.size:
        raise mistake(int(empty[0]), f"expected a query id in column {qid!r}, got nothing")
    docids = ids(frame[docid], mistake) if docid in frame.columns else None
    return Dataset(
        _values(frame, features, mistake),
        _grades(frame[grade], mistake) if grade in frame.columns else np.full(len(frame), UNLABELLED),
        qids,
        None if docids is None or not (docids != "").any() else docids,
        tuple(features),
        shared_strings(frame[comment].cast(pl.String).fill_null("")) if comment else None,
        {name: shared_strings(frame[name]) for name in _texts_of(frame) if name not in reserved | {*features}},
        {name: category_names(frame[name]) for name in features if is_category(frame[name].dtype)},
    )


def _check_columns(frame: pl.DataFrame, mistake: Mistake, named: Sequence[tuple[str, str]]) -> None:
    for role, column in named:
        if column not in frame.columns:
            there = f"there is no column {column!r}; the columns are {listed(frame.columns)}"
            raise mistake(None, f"{there}; name the {ROLES[role]} ({either(role)})")


def _mistake_in_frame(row: int | None, message: str) -> Exception:
    return DataError(message if row is None else f"row {row}: {message}")


def feature_columns(
    others: pl.DataFrame,
    qid: pl.Series,
    wanted: Collection[str] | None = None,
    *,
    else_hold: str = "do not hold numbers",
) -> list[str]:
    """Return which columns are features: numbers and categories that do not look like ids. A warning names the others.

    wanted: columns of numbers that stay whatever they look like; with it nothing is said.
    """
    numbers = [column for column, dtype in others.schema.items() if is_feature(dtype)]
    like_ids = [column for column in numbers if column not in (wanted or ()) and looks_like_ids(others[column], qid)]
    features = [column for column in numbers if column not in like_ids]
    if wanted is not None:
        return features
    no_numbers = [f"{column!r} ({dtype})" for column, dtype in others.schema.items() if not is_feature(dtype)]
    if no_numbers:
        warnings.warn(f"columns left out because they {else_hold}: {', '.join(no_numbers)}", stacklevel=4)
    if like_ids:
        warnings.warn(
            f"columns left out because they look like ids: {', '.join(map(repr, like_ids))}; "
            f"to keep one, name all features ({either('features')})",
            stacklevel=4,
        )
    return features


def looks_like_ids(column: pl.Series, qid: pl.Series) -> bool:
    """Whether a column holds whole numbers that are named as ids are, or that are all different in several queries.

    >>> looks_like_ids(pl.Series("product_id", [7, 9]), pl.Series([1, 1]))
    True
    >>> looks_like_ids(pl.Series("clicks", [7, 9]), pl.Series([1, 1]))
    False
    """
    if column.dtype == pl.Boolean or not column.dtype.is_numeric() or not column.drop_nulls().len():
        return False
    values = column.drop_nulls().drop_nans() if column.dtype.is_float() else column.drop_nulls()
    if column.dtype.is_float() and not (values % 1 == 0).all():
        return False
    if ID_NAME.search(column.name):
        return True
    enough = len(column) >= ROWS_THAT_TELL and qid.n_unique() > 1
    return bool(enough and len(values) == len(column) and values.n_unique() == len(column))


def _is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)


def is_feature(dtype: pl.DataType) -> bool:
    """Whether a column of this type is taken for a feature: numbers, booleans, categories."""
    return _is_number(dtype) or is_category(dtype)


def is_category(dtype: pl.DataType) -> bool:
    """Whether a column of this type holds one of a few names."""
    return dtype in (pl.Enum, pl.Categorical)


def category_names(column: pl.Series) -> tuple[str, ...]:
    """Return what a column of categories may hold: in the order of an Enum, else in that of the alphabet."""
    if isinstance(column.dtype, pl.Enum):
        return tuple(column.dtype.categories)
    return tuple(sorted(column.cast(pl.String).drop_nulls().unique()))


def _texts_of(frame: pl.DataFrame) -> list[str]:
    return [name for name in TEXT_NAMES if name in frame.columns and frame[name].dtype == pl.String]


def _text_column(name: str, values: Array) -> pl.Series:
    return pl.Series(name, [None if value is None else str(value) for value in values.tolist()], dtype=pl.String)


def _feature_column(data: Dataset, name: str, values: Array) -> pl.Series:
    if name not in data.categories:
        return pl.Series(name, values, nan_to_null=True, dtype=pl.Float32)
    kinds = data.categories[name]
    return pl.Series(name, [None if value != value else kinds[int(value)] for value in values], dtype=pl.Enum(kinds))


def _values(frame: pl.DataFrame, features: Sequence[str], mistake: Mistake) -> Array:
    for feature in features:
        if not is_feature(frame[feature].dtype):
            raise mistake(None, f"column {feature!r} must hold numbers: it holds {frame[feature].dtype}")
    X = np.empty((len(frame), len(features)), dtype=np.float32)
    for i, feature in enumerate(features):
        if is_category(frame[feature].dtype):
            codes = frame[feature].cast(pl.String).cast(pl.Enum(category_names(frame[feature]))).to_physical()
            X[:, i] = codes.cast(pl.Float32).to_numpy()
            continue
        X[:, i] = frame[feature].cast(pl.Float32).to_numpy()
        infinite = np.flatnonzero(np.isinf(X[:, i]))
        if infinite.size:
            row = int(infinite[0])
            raise mistake(
                row, f"expected finite numbers that fit in 32 bits in column {feature!r}, got {frame[feature][row]}"
            )
    return X


def _grades(column: pl.Series, mistake: Mistake) -> Array:
    if column.dtype == pl.String:
        cells = column.str.strip_chars()
        cells = cells.set(cells.is_in([*MISSING, "?"]), None)
    elif _is_number(column.dtype):
        cells = column.cast(pl.Float64).fill_nan(None)
    else:
        raise mistake(None, f"column {column.name!r} must hold grades: it holds {column.dtype}")
    grades = cells.cast(pl.Float64, strict=False)
    allowed = (grades % 1 == 0) & grades.is_between(UNLABELLED, MAX_GRADE)
    wrong = np.flatnonzero((cells.is_not_null() & ~allowed.fill_null(False)).to_numpy())
    if wrong.size:
        row = int(wrong[0])
        raise mistake(
            row,
            f"expected a whole number from 0 to {MAX_GRADE} as the grade, or nothing or ? for not labelled, "
            f"got {column[row]!r} in column {column.name!r}",
        )
    return grades.fill_null(UNLABELLED).cast(pl.Int16).to_numpy()


def _to_polars(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame
    if not is_frame(frame):
        raise DataError(f"expected a Polars or pandas data frame, got {type(frame).__name__}")
    names = [str(column) for column in frame.columns]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"column names must differ: {twice[0]!r} is there twice")
    try:
        made = pl.from_pandas(frame.set_axis(names, axis=1))
        kinds = {
            name: [str(kind) for kind in dtype.categories]
            for name, dtype in zip(names, frame.dtypes, strict=True)
            if str(dtype) == "category"
        }
        return made.with_columns(made[name].cast(pl.String).cast(pl.Enum(one)) for name, one in kinds.items())
    except ModuleNotFoundError:
        raise MissingExtraError("pandas", "pyarrow") from None
    except (TypeError, ValueError) as error:  # pyarrow's errors are both
        raise DataError(f"a column of the pandas frame mixes types: {error}") from None


def _read_parquet(content: bytes, name: str) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or ["damaged"])[0]
        raise ReadError(name, None, f"expected a parquet file, got something else or a damaged one: {reason}") from None


def _table_format(name: str, content: bytes) -> str:
    suffix = format_suffix(name).removeprefix(".")
    if suffix in TABLE_FORMATS:
        return suffix
    if content.startswith(b"PAR1"):
        return "parquet"
    return "tsv" if b"\t" in content.partition(b"\n")[0] else "csv"


def _check_format(format: str) -> str:
    if format not in TABLE_FORMATS:
        raise DataError(f"expected a table's format, {', '.join(TABLE_FORMATS)}, got {format!r}; name it with format=")
    return format
