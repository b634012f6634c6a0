"""Tables of documents: csv, tsv, parquet and data frames (Polars, pandas), one row per query-document pair."""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl

from rulerank.core.words import listed
from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io.base_columns import MARKED_COLUMNS, base_of, columns_of_base
from rulerank.io.delimited import NumberType, delimited_bytes, either, read_delimited
from rulerank.io.doc_names import repeated_rows, said_twice
from rulerank.io.frame_columns import is_frame as is_frame
from rulerank.io.frame_columns import to_polars
from rulerank.io.marked_columns import FIELD, TextOrMarked, with_marks, without_marks
from rulerank.io.other_tools import no_header_hint
from rulerank.io.outputs import write_bytes
from rulerank.io.shown_columns import columns_of_shown, shown_of
from rulerank.io.streams import Source, format_suffix, read_bytes
from rulerank.io.table_columns import (
    TEXT_NAMES,
    Mistake,
    feature_column,
    feature_columns,
    feature_values,
    grade_values,
    ids,
    shared_strings,
    text_column,
    texts_of,
    with_names,
)

SEPARATORS = {"csv": ",", "tsv": "\t"}
ROLES = {
    "qid": "column of the query id",
    "docid": "column of the document id",
    "grade": "column of the grade",
    "features": "columns of the features",
    "judge": "column of who graded",
}
TABLE_FORMATS = (*SEPARATORS, "parquet")


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
    frame, mistake = read_frame(source, text=text, numeric=features or (), format=format)
    if graded:
        _check_columns(frame, mistake, [("grade", grade)])
    return _to_dataset(frame, mistake, qid, docid, grade, features, wanted, judge, repeats, names=is_frame(source))


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
    return _to_dataset(to_polars(frame), _mistake_in_frame, qid, docid, grade, features, names=True)


def from_part(
    frame: Any, *, qid: str = "qid", docid: str = "docid", grade: str = "grade", features: Sequence[str] | None = None
) -> Dataset:
    """Return what one part of the data holds: text is no category there, for other parts may have other names."""
    return _to_dataset(to_polars(frame), _mistake_in_frame, qid, docid, grade, features)


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
    columns += [feature_column(data, name, data.X[:, i]) for i, name in enumerate(data.feature_names)]
    columns += [text_column(name, values) for name, values in data.texts.items()]
    if data.comment is not None:
        columns.append(pl.Series("comment", [str(value) for value in data.comment], dtype=pl.String))
    if data.shown is not None:
        columns += columns_of_shown(data.shown)
    if data.base is not None:
        columns += columns_of_base(data.base)
    texts = {*TEXT_NAMES}.intersection(data.texts)  # the others are marked
    taken = {"qid", "docid", "grade", "comment", *MARKED_COLUMNS}.intersection(data.feature_names)
    taken |= texts.intersection(data.feature_names)
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
        return to_polars(source), _mistake_in_frame
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
    if format == "parquet":
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        content = buffer.getvalue()
    else:
        content = delimited_bytes(with_marks(frame), SEPARATORS[format])
    write_bytes(target, content)


def _to_dataset(
    frame: pl.DataFrame,
    mistake: Mistake,
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
    _check_columns(frame, mistake, named)
    reserved = {qid, docid, grade, *MARKED_COLUMNS} | ({judge} if judge else set())
    comment = "comment" if "comment" in frame.columns and "comment" not in (features or ()) else None
    if features is None:
        if "" in frame.columns:  # what pandas calls its index in a csv
            raise mistake(None, f"a column has no name; name it, take it away or choose others ({either('features')})")
        if names or wanted is not None:
            frame = with_names(frame, reserved | {"comment", *texts_of(frame)}, wanted)
        features = feature_columns(
            frame.drop(reserved | {"comment", *texts_of(frame)}, strict=False), frame[qid], wanted
        )
    elif reserved.intersection(features):
        column = min(reserved.intersection(features))
        raise mistake(
            None,
            f"column {column!r} cannot be a feature: it is the qid, docid{', judge' if judge else ''} or grade, "
            "or of a click log or of qrels",
        )
    qids = ids(frame[qid], mistake)
    empty = np.flatnonzero(qids == "")
    if empty.size:
        raise mistake(int(empty[0]), f"expected a query id in column {qid!r}, got nothing")
    docids = ids(frame[docid], mistake) if docid in frame.columns else None
    judges = ids(frame[judge], mistake) if judge else None
    shown = shown_of(frame, mistake)
    if docids is not None and shown is None and not repeats:
        _check_repeats(qids, docids, judges, mistake)
    found = feature_values(frame, features, mistake)
    return Dataset(
        found.X,
        grade_values(frame[grade], mistake) if grade in frame.columns else np.full(len(frame), UNLABELLED),
        qids,
        None if docids is None or not (docids != "").any() else docids,
        tuple(features),
        shared_strings(frame[comment].cast(pl.String).fill_null("")) if comment else None,
        {
            name.removesuffix(FIELD): shared_strings(frame[name])
            for name in texts_of(frame)
            if name not in reserved | {*features}
        }
        | ({judge: judges} if judge and judges is not None else {}),
        found.categories,
        shown,
        base_of(frame, mistake),
        found.dates,
    )


def _check_repeats(qids: Array, docids: Array, judges: Array | None, mistake: Mistake) -> None:
    graded = qids if judges is None else np.array([f"{q}\0{judge}" for q, judge in zip(qids, judges, strict=True)])
    found = repeated_rows(graded, docids)
    if found is not None:
        before, row = found
        line = getattr(mistake(before, ""), "line", None)
        raise mistake(row, said_twice(qids[row], docids[row], f"row {before}" if line is None else f"line {line}"))


def _check_columns(frame: pl.DataFrame, mistake: Mistake, named: Sequence[tuple[str, str]]) -> None:
    for role, column in named:
        if column not in frame.columns:
            there = f"there is no column {column!r}; the columns are {listed(frame.columns)}"
            name = getattr(mistake(None, ""), "source", None)  # a frame has none
            hint = no_header_hint(frame.columns, name) if name else ""
            raise mistake(None, there + (hint or f"; name the {ROLES[role]} ({either(role)})"))


def _mistake_in_frame(row: int | None, message: str) -> Exception:
    return DataError(message if row is None else f"row {row}: {message}")


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
