"""Tables of documents: csv, tsv, parquet and data frames (Polars, pandas), one row per query-document pair.

Columns marked `position:log`, `impressions:log` and `clicks:log` say how often a row was shown and
clicked; the mark keeps them apart from features of the same names, such as a product's clicks of last month. The column
`judged:qrels` says of a row whether it is judged (yes, no, or extra: among the candidates only because it is),
`base:qrels` how many judged documents of each grade its query has in all, such as 0:12 1:3.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl

from rulerank.core.words import listed
from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io.columns import (
    ID_NAME,
    US_PER_DAY,
    column_numbers,
    grade_values,
    ids,
    is_feature,
    is_frame,
    is_number,
    looks_like_ids,
    parsed,
    shared_strings,
    to_polars,
)
from rulerank.io.delimited import FIELD, NumberType, either, no_header_hint, read_delimited, with_marks, write_delimited
from rulerank.io.doc_names import repeated_rows, require_docids, said_twice
from rulerank.io.outputs import write_bytes
from rulerank.io.streams import Origin, Source, format_suffix, read_bytes
from rulerank.recall_base import JUDGED, RecallBase, grade_counts
from rulerank.shown import Shown

SEPARATORS = {"csv": ",", "tsv": "\t"}
TABLE_FORMATS = (*SEPARATORS, "parquet")
ROLES = {
    "qid": "column of the query id",
    "docid": "column of the document id",
    "grade": "column of the grade",
    "features": "columns of the features",
    "judge": "column of who graded",
}
TEXT_COLUMNS = {  # what people read of a row, and the columns of text that are taken for it
    "query_text": ("query_text", "query"),
    "description": ("description", "narrative"),
    "title": ("title",),
    "text": ("text", "body", "abstract"),
    "url": ("url", "link"),
}
TEXT_NAMES = [name for names in TEXT_COLUMNS.values() for name in names]
COUNTS = ("position", "impressions", "clicks")
SHOWN_COLUMNS = tuple(f"{name}:log" for name in COUNTS)
BASE_COLUMNS = ("judged:qrels", "base:qrels")
MARKED_COLUMNS = (*SHOWN_COLUMNS, *BASE_COLUMNS)  # of a table, beside features and texts
QUEPID = ("query", "docid", "rating")


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
    judge: str | None = None,
    repeats: bool = False,
) -> Dataset:
    """Read a csv, tsv or parquet file, or a data frame.

    All columns of numbers, booleans, categories or dates are features unless `features` names them, but for those that
    look like ids. Columns of text named query_text, query, description, narrative, title, text, body, abstract, url or
    link are kept as texts to be read, and so are columns of fields that `rulerank features` writes, such as
    author:field; a warning names the columns that are left out. `wanted`: features that will be taken by name, which
    stay whatever they look like, and nothing is said about others. Ids are text ("007" stays "007"). No `docid` or
    `grade` column is needed; a grade that is empty, `?` or -1 is not labelled, but with `graded` the column must be
    there; an empty feature is missing (NaN). A column `comment` is kept beside the features, and so is the one of who
    graded each row, `judge`, as a text. The columns position:log, impressions:log and clicks:log, which `rulerank
    clicks` writes, are what was shown and clicked; judged:qrels and base:qrels, which `rulerank features` writes, are
    which rows are judged and how many judgements of each grade the query has. A document that is there twice in one
    query is an error, unless two judges graded it, it was shown at two positions, or `repeats` allows it.

    >>> read_table(io.BytesIO(b"qid,docid,grade,bm25\\n1,a,2,0.5\\n1,b,?,\\n"), format="csv")
    Dataset(2 rows, 1 query, 1 feature, grades not labelled: 1, 2: 1)
    """
    text = {qid, docid, grade, *MARKED_COLUMNS} | ({"comment"} - set(features or ())) | ({judge} if judge else set())
    frame, origin = read_frame(source, text=text, numeric=features or (), format=format)
    if graded:
        _check_columns(frame, origin, [("grade", grade)])
    return _to_dataset(frame, origin, qid, docid, grade, features, wanted, judge, repeats, names=is_frame(source))


def from_frame(
    frame: Any, *, qid: str = "qid", docid: str = "docid", grade: str = "grade", features: Sequence[str] | None = None
) -> Dataset:
    """Return the data set a Polars or pandas frame holds, by the rules of `read_table`, and with names as categories.

    A column of text is a category where its texts repeat, and a date where all of them are written as 2026-11-18; a
    file marks such columns (`brand:category`, `added:date`). Dates are days since 1970-01-01.

    >>> from_frame(pl.DataFrame({"query": [1, 1], "clicked": [True, False], "bm25": [0.5, None]}), qid="query",
    ...            grade="clicked").X.tolist()
    [[0.5], [nan]]
    """
    return _to_dataset(to_polars(frame), Origin(), qid, docid, grade, features, names=True)


def from_part(
    frame: Any, *, qid: str = "qid", docid: str = "docid", grade: str = "grade", features: Sequence[str] | None = None
) -> Dataset:
    """Return what one part of the data holds: text is no category there, for other parts may have other names."""
    return _to_dataset(to_polars(frame), Origin(), qid, docid, grade, features)


def to_frame(data: Dataset) -> pl.DataFrame:
    """Return a frame with the columns qid, docid, grade, features and texts; null where a value is missing.

    A feature of categories is a column of their names (an Enum of Polars).

    >>> data = Dataset([[0.5], [float("nan")]], y=[1, -1], qid=["q", "q"], feature_names=["bm25"])
    >>> to_frame(data).rows()
    [('q', 1, 0.5), ('q', None, None)]
    """
    columns = [_text_series("qid", data.qid)]
    if data.docid is not None:
        columns.append(_text_series("docid", data.docid))
    columns.append(pl.Series("grade", data.y).replace(UNLABELLED, None))
    columns += [_feature_series(data, name, data.X[:, i]) for i, name in enumerate(data.feature_names)]
    columns += [_text_series(n if n in TEXT_NAMES else f"{n}{FIELD}", values) for n, values in data.texts.items()]
    if data.comment is not None:
        columns.append(_text_series("comment", data.comment))
    if data.shown is not None:
        columns += [pl.Series(f"{name}:log", getattr(data.shown, name)) for name in COUNTS]
    if data.base is not None:
        kinds = np.where(data.base.extra, 2, data.base.judged.astype(int))
        columns.append(_text_series(BASE_COLUMNS[0], np.array(JUDGED, dtype=object)[kinds]))
        columns.append(_text_series(BASE_COLUMNS[1], data.base.grades))
    others = {"qid", "docid", "grade", "comment", *MARKED_COLUMNS, *{*TEXT_NAMES}.intersection(data.texts)}
    taken = others.intersection(data.feature_names)
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


def read_quepid(source: Source) -> Dataset:
    """Read Quepid's csv: the query's text is its id, there are no features, an empty rating is not labelled.

    >>> data = read_quepid(io.BytesIO(b'query,docid,rating\\n"milk, fresh",d1,3\\n"milk, fresh",d2,\\n'))
    >>> data.qid.tolist(), data.docid.tolist(), data.y.tolist()
    (['milk, fresh', 'milk, fresh'], ['d1', 'd2'], [3, -1])
    """
    content, name = read_bytes(source)
    frame, origin = read_delimited(content, name, is_text=lambda column: True)
    if not is_quepid(frame.columns):
        raise origin(None, f"expected the header '{','.join(QUEPID)}', got {','.join(frame.columns)!r:.80}")
    frame.columns = [*QUEPID]
    empty = frame["docid"].fill_null("") == ""
    if empty.any():
        raise origin(int(empty.arg_max() or 0), "expected a document id in column 'docid', got nothing")
    return _to_dataset(frame, origin, *QUEPID, features=())


def is_quepid(header: Sequence[str]) -> bool:
    """Whether a csv's first line makes it Quepid's."""
    return [cell.strip('"\r ').lower() for cell in header] == [*QUEPID]


def write_quepid(data: Dataset, target: Source) -> None:
    """Write the grades as Quepid's csv; a document without a grade has an empty rating.

    >>> out = io.BytesIO()
    >>> write_quepid(Dataset([[0.5]], y=[3], qid=['6" nails'], docid=["d1"]), out)
    >>> out.getvalue()
    b'query,docid,rating\\n"6"" nails",d1,3\\n'
    """
    columns = [_text_series(QUEPID[0], data.qid), _text_series(QUEPID[1], require_docids(data))]
    columns.append(pl.Series(QUEPID[2], data.y).replace(UNLABELLED, None))
    write_bytes(target, write_delimited(pl.DataFrame(columns), ","))


def read_frame(
    source: Any,
    *,
    text: Collection[str] | None = (),
    numeric: Collection[str] = (),
    number: NumberType = pl.Float32,
    format: str | None = None,
) -> tuple[pl.DataFrame, Origin]:
    """Return the columns of a file or frame as they are, and where its rows are.

    text: columns that are read as they are written; None for all.
    """
    if is_frame(source):
        return to_polars(source), Origin()
    content, name = read_bytes(source)
    format = _check_format(format) if format else _table_format(name, content)
    if not content:
        raise ReadError(name, None, "the file is empty")
    if format in SEPARATORS:
        return read_delimited(
            content,
            name,
            SEPARATORS[format],
            is_text=lambda column: text is None or column in text,
            numeric=numeric,
            number=number,
        )
    try:
        return pl.read_parquet(io.BytesIO(content)), Origin(name)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or ["damaged"])[0]
        raise ReadError(name, None, f"expected a parquet file, got something else or a damaged one: {reason}") from None


def write_frame(frame: pl.DataFrame, target: Source, *, format: str | None = None) -> None:
    """Write any frame as csv, tsv or parquet."""
    if format is None:
        format = format_suffix(target).removeprefix(".") if isinstance(target, str | os.PathLike) else "a stream"
    if _check_format(format) in SEPARATORS:
        write_bytes(target, write_delimited(with_marks(frame), SEPARATORS[format]))
        return
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    write_bytes(target, buffer.getvalue())


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


def _to_dataset(
    frame: pl.DataFrame,
    origin: Origin,
    qid: str,
    docid: str,
    grade: str,
    features: Sequence[str] | None,
    wanted: Collection[str] | None = None,
    judge: str | None = None,
    repeats: bool = False,
    *,
    names: bool = False,
) -> Dataset:
    named = [("qid", qid), *(("features", feature) for feature in features or ())]
    named += [("judge", judge)] if judge else []
    named += [(role, column) for role, column in (("docid", docid), ("grade", grade)) if column != role]
    _check_columns(frame, origin, named)
    reserved = {qid, docid, grade, *MARKED_COLUMNS} | ({judge} if judge else set())
    others = reserved | {"comment", *_texts_of(frame)}
    if features is None:
        if "" in frame.columns:  # what pandas calls its index in a csv
            raise origin(None, f"a column has no name; name it, take it away or choose others ({either('features')})")
        if names or wanted is not None:
            frame = _with_names(frame, others, wanted)
        features = feature_columns(frame.drop(others, strict=False), frame[qid], wanted)
    elif reserved.intersection(features):
        column = min(reserved.intersection(features))
        raise origin(
            None,
            f"column {column!r} cannot be a feature: it is the qid, docid{', judge' if judge else ''} or grade, "
            "or of a click log or of qrels",
        )
    qids = ids(frame[qid], origin)
    empty = np.flatnonzero(qids == "")
    if empty.size:
        raise origin(int(empty[0]), f"expected a query id in column {qid!r}, got nothing")
    docids = ids(frame[docid], origin) if docid in frame.columns else None
    texts = {name.removesuffix(FIELD): frame[name] for name in _texts_of(frame) if name not in {*reserved, *features}}
    kept = {name: shared_strings(column) for name, column in texts.items()}
    if judge:
        kept[judge] = ids(frame[judge], origin)
    shown = _shown_of(frame, origin)
    if docids is not None and shown is None and not repeats:
        raters = [""] * len(qids) if judge is None else kept[judge]
        found = repeated_rows(np.array([f"{q}\0{rater}" for q, rater in zip(qids, raters, strict=True)]), docids)
        if found is not None:
            raise origin(found[1], said_twice(qids[found[1]], docids[found[1]], origin.row(found[0])))
    has_comment = "comment" in frame.columns and "comment" not in features
    X, categories, dates = _feature_values(frame, features, origin)
    return Dataset(
        X,
        grade_values(frame[grade], origin) if grade in frame.columns else np.full(len(frame), UNLABELLED),
        qids,
        None if docids is None or not (docids != "").any() else docids,
        tuple(features),
        shared_strings(frame["comment"].cast(pl.String).fill_null("")) if has_comment else None,
        kept,
        categories,
        shown,
        _base_of(frame, origin),
        dates,
    )


def _check_columns(frame: pl.DataFrame, origin: Origin, named: Sequence[tuple[str, str]]) -> None:
    for role, column in named:
        if column not in frame.columns:
            there = f"there is no column {column!r}; the columns are {listed(frame.columns)}"
            hint = no_header_hint(frame.columns, origin.name) or f"; name the {ROLES[role]} ({either(role)})"
            raise origin(None, there + hint)


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
        text = next((column for column, dtype in others.schema.items() if dtype == pl.String), None)
        hint = "" if text is None else f"; to read one as a category, give it that type (in a csv: {text}:category)"
        warnings.warn(f"columns left out because they {else_hold}: {', '.join(no_numbers)}{hint}", stacklevel=4)
    if like_ids:
        warnings.warn(
            f"columns left out because they look like ids: {', '.join(map(repr, like_ids))}; "
            f"to keep one, name all features ({either('features')})",
            stacklevel=4,
        )
    return features


def _with_names(frame: pl.DataFrame, others: Collection[str], wanted: Collection[str] | None) -> pl.DataFrame:
    """Return a frame whose columns of text are categories or dates: those that are wanted, or that look like it."""
    texts = [column for column in frame if column.dtype == pl.String and column.name not in others]
    if wanted is not None:
        return frame.with_columns(parsed(column, certain=True) for column in texts if column.name in wanted)
    return frame.with_columns(parsed(column) for column in texts if not ID_NAME.search(column.name))


def _texts_of(frame: pl.DataFrame) -> list[str]:
    """Return the columns that hold texts for people to read: those that are called so, and marked fields."""
    marked = [name for name in frame.columns if name.endswith(FIELD)]
    return [name for name in (*TEXT_NAMES, *marked) if name in frame.columns and frame[name].dtype == pl.String]


def _feature_values(
    frame: pl.DataFrame, features: Sequence[str], origin: Origin
) -> tuple[Array, dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return features as numbers, a category as that of its name, a date as that of its day; the names; the dates."""
    X = np.empty((len(frame), len(features)), dtype=np.float32)
    categories, dates = {}, []
    for i, feature in enumerate(features):
        if not is_number(frame[feature].dtype):
            try:
                found = column_numbers(frame[feature])
            except DataError as error:
                raise origin(None, str(error)) from None
            X[:, i] = found.values
            dates += [feature] if found.is_date else []
            if found.names is not None:
                categories[feature] = found.names
            continue
        X[:, i] = frame[feature].cast(pl.Float32).to_numpy()
        infinite = np.flatnonzero(np.isinf(X[:, i]))
        if infinite.size:
            row = int(infinite[0])
            raise origin(
                row, f"expected finite numbers that fit in 32 bits in column {feature!r}, got {frame[feature][row]}"
            )
    return X, categories, tuple(dates)


def _feature_series(data: Dataset, name: str, values: Array) -> pl.Series:
    if name in data.dates:
        days = pl.Series(name, values, nan_to_null=True, dtype=pl.Float64)
        if (days.drop_nulls() % 1 == 0).all():
            return days.cast(pl.Int32).cast(pl.Date)
        return (days * US_PER_DAY).round().cast(pl.Int64).cast(pl.Datetime("us"))
    if name not in data.categories:
        return pl.Series(name, values, nan_to_null=True, dtype=pl.Float32)
    kinds = data.categories[name]
    return pl.Series(name, [None if value != value else kinds[int(value)] for value in values], dtype=pl.Enum(kinds))


def _text_series(name: str, values: Array) -> pl.Series:
    return pl.Series(name, [None if value is None else str(value) for value in values.tolist()], dtype=pl.String)


def _shown_of(frame: pl.DataFrame, origin: Origin) -> Shown | None:
    """Return how often rows were shown and clicked; None where no column says it."""
    there = [name for name in SHOWN_COLUMNS if name in frame.columns]
    if not there:
        return None
    lacking = [name for name in SHOWN_COLUMNS if name not in there]
    if lacking:
        raise origin(None, f"the columns of a click log go together: {listed(there)} without {listed(lacking)}")
    counts = {name: _whole_numbers(frame[f"{name}:log"], origin) for name in COUNTS}
    try:
        return Shown(**counts)
    except DataError as error:
        raise origin(None, str(error)) from None


def _whole_numbers(column: pl.Series, origin: Origin) -> Array:
    if column.dtype.is_float():  # pandas has no empty integers; 1.5 is refused where 1 is expected
        return column.fill_null(float("nan")).to_numpy()
    numbers = column.cast(pl.Int64, strict=False)
    if numbers.null_count():
        row = int(numbers.is_null().arg_max() or 0)
        raise origin(row, f"expected a whole number in column {column.name!r}, got {column[row]!r}")
    return numbers.to_numpy()


def _base_of(frame: pl.DataFrame, origin: Origin) -> RecallBase | None:
    """Return which rows are judged, and the judgements of each query; None where no column says it."""
    there = [name for name in BASE_COLUMNS if name in frame.columns]
    if not there:
        return None
    if len(there) < len(BASE_COLUMNS):
        raise origin(None, f"the columns {listed(BASE_COLUMNS)} go together: there is only {there[0]}")
    judged = ids(frame[BASE_COLUMNS[0]], origin)
    wrong = np.flatnonzero(~np.isin(judged, JUDGED))
    if wrong.size:
        row = int(wrong[0])
        raise origin(row, f"expected yes, no or extra in column {BASE_COLUMNS[0]!r}, got {judged[row]!r:.60}")
    grades = shared_strings(frame[BASE_COLUMNS[1]].cast(pl.String).fill_null(""))
    for text in dict.fromkeys(grades.tolist()):
        try:
            grade_counts(text)
        except DataError as error:
            raise origin(int(np.argmax(grades == text)), f"column {BASE_COLUMNS[1]!r}: {error}") from None
    return RecallBase(judged != "no", judged == "extra", grades)
