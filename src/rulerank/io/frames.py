"""Table files to and from data frames: csv, tsv and Parquet.

A tsv is not a csv with tabs: its cells are read and written as they are, and a quote is a character like any other.

A csv has no types. Where one is needed it is written behind the name of the column: `title:text` on a text that might
be taken for numbers, `brand:category(lg|sony)`, `added:date`. Parquet and data frames have types of their own.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import unquote

import polars as pl

from rulerank.errors import DataError, ReadError
from rulerank.io.columns import MISSING, is_date, is_frame, parsed, to_polars
from rulerank.io.files import Origin, Source, decoded, format_suffix, read_bytes, write_bytes

SEPARATORS = {"csv": ",", "tsv": "\t"}
QUOTE = {",": '"', "\t": None}  # what may be around a cell, by the separator
TABLE_FORMATS = (*SEPARATORS, "parquet")
QUEPID = ("query", "docid", "rating")  # the header of a csv of Quepid, whose queries are their ids
FIELD = ":field"
MARK = re.compile(r"(.+):(text|category|date)(?:\((.*)\))?", re.S)
ESCAPED = str.maketrans({"%": "%25", "|": "%7C", "\n": "%0A"})  # in a list of categories
FORMULA = r"""^('*"*[=+\-@\t\r])"""  # how a cell begins that a spreadsheet may run, guarded by apostrophes or not
GUARDED_CELL = r"""^'+"*[=+\-@\t\r]"""
QUOTE_INSIDE = 'a quote (") is opened and not closed, or inside a field: write it twice, and one more around the field'
DOCUMENTS = (
    "this is JSON, as files of documents are, and not a table of features: compute features from documents and queries "
    "with `rulerank features` (in Python rr.TextFeatures)"
)
NumberType = type[pl.Float32] | type[pl.Float64]


def read_frame(
    source: Any,
    *,
    text: Collection[str] | None = (),
    numeric: Collection[str] = (),
    number: NumberType = pl.Float32,
    format: str | None = None,
) -> tuple[pl.DataFrame, Origin]:
    """Return the columns of a file or frame as they are, and where its rows are.

    text: columns that are read as they are written; None for all. numeric: those that must hold numbers.
    """
    if is_frame(source):
        return to_polars(source), Origin()
    content, name = read_bytes(source)
    format = _check_format(format) if format else _table_format(name, content)
    if not content:
        raise ReadError(name, None, "the file is empty")
    if format in SEPARATORS:
        return _read_delimited(content, name, SEPARATORS[format], text, numeric, number)
    with parquet_errors(name):
        return pl.read_parquet(io.BytesIO(content)), Origin(name)


@contextmanager
def parquet_errors(name: str) -> Iterator[None]:
    """Turn whatever Polars raises on a missing or damaged Parquet file into one error that names it."""
    try:
        yield
    except FileNotFoundError:
        raise ReadError(name, None, "there is no such file") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or ["damaged"])[0]
        raise ReadError(name, None, f"expected a parquet file, got something else or a damaged one: {reason}") from None


def write_frame(frame: pl.DataFrame, target: Source, *, format: str | None = None) -> None:
    """Write any frame as csv, tsv or parquet; texts are guarded so that no spreadsheet runs them.

    >>> out = io.BytesIO()
    >>> write_frame(pl.DataFrame({"qid": ["q1"], "query": ["=1+1"], "year": ["1984"]}), out, format="csv")
    >>> out.getvalue()
    b"qid,query,year:text\\nq1,'=1+1,1984\\n"
    """
    if format is None:
        format = format_suffix(target).removeprefix(".") if isinstance(target, str | os.PathLike) else "a stream"
    out = io.BytesIO()
    if _check_format(format) == "parquet":
        frame.write_parquet(out)
        write_bytes(target, out.getvalue())
        return
    marked = frame.columns if frame.columns == [*QUEPID] else [_marked(column) for column in frame]
    names = pl.Series("the column names", marked)
    frame = frame.with_columns(pl.col(pl.Enum).cast(pl.String))
    texts = [names, *frame.select(pl.col(pl.String))]
    broken = [column.filter(column.str.contains("[\t\n\r]").fill_null(False)).head(1) for column in texts]
    if format == "tsv" and any(map(len, broken)):
        column = next(column for column in broken if len(column))
        raise DataError(
            f"a tsv cannot hold a tab or a line end in a cell: {column.name!r} has {column[0]!r:.60}; write csv or "
            "Parquet (.csv, .parquet)"
        )
    frame = frame.with_columns(_guarded(column) for column in texts[1:])
    frame.columns = _guarded(names).to_list()
    quotes = "necessary" if format == "csv" else "never"
    frame.write_csv(out, separator=SEPARATORS[format], quote_style=cast(Any, quotes))
    write_bytes(target, out.getvalue())


def either(parameter: str) -> str:
    """Return how a parameter is given in Python and on the command line.

    >>> either("qid")
    'qid=..., on the command line --qid ...'
    """
    return f"{parameter}=..., on the command line --{parameter} ..."


def _table_format(name: str, content: bytes) -> str:
    suffix = format_suffix(name).removeprefix(".")
    if suffix in TABLE_FORMATS:
        return suffix
    if content.startswith(b"PAR1"):
        return "parquet"
    if content.lstrip().startswith(b"{"):
        raise ReadError(name, None, DOCUMENTS)
    return "tsv" if b"\t" in content.partition(b"\n")[0] else "csv"


def _check_format(format: str) -> str:
    if format not in TABLE_FORMATS:
        raise DataError(f"expected a table's format, {', '.join(TABLE_FORMATS)}, got {format!r}; name it with format=")
    return format


def _read_delimited(
    content: bytes,
    name: str,
    separator: str,
    text: Collection[str] | None,
    numeric: Collection[str],
    number: NumberType,
) -> tuple[pl.DataFrame, Origin]:
    """Return the rows and where they are: columns of text as written, all others that hold numbers as numbers.

    Text in a column in `numeric`, or in one that is mostly numbers, is a mistake; any other column stays text.
    Lines are looked for when there is something to say about one.
    """
    whole = decoded(content, name)
    if not whole.strip():
        raise ReadError(name, None, "the file is empty: expected a line of column names")
    frame = _plain_cells(whole.strip("\r\n"), separator)
    if frame is None:
        rows = [cells for _, cells in records(whole, name, separator)]
        frame = pl.DataFrame([pl.Series(column, dtype=pl.String) for column in zip(*rows, strict=True)])
        frame = frame.with_columns(pl.when(pl.all() != "").then(pl.all()))  # an empty cell is null, as Polars has it
    header = _unguarded(pl.Series(frame.row(0))).fill_null("").to_list()
    columns = [MARK.sub(r"\1", column) if MARK.fullmatch(column) else column for column in header]
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise ReadError(name, None, f"column names must differ: {twice!r} appears twice")
    origin = Origin(name, lambda: [line for line, _ in records(whole, name, separator)][1:])
    cells = [column.slice(1).alias(named) for column, named in zip(frame, header, strict=True)]
    text = None if [*map(str.lower, columns)] == [*QUEPID] else text
    typed = [_typed(column, text, numeric, number, origin) for column in cells]
    return pl.DataFrame({column.name: column for column in typed}), origin  # a list would name a column without a name


def _plain_cells(body: str, separator: str) -> pl.DataFrame | None:
    """Let Polars read what every reader reads the same: no quotes, no blank lines, rows of equal length; else None."""
    quoted = separator == "," and '"' in body
    if quoted or "\n\n" in body or ("\r" in body and re.search(r"\r(?!\n)|\n\r\n", body)):
        return None
    frame = pl.read_csv(
        body.encode(), separator=separator, quote_char=None, has_header=False, infer_schema=False,
        truncate_ragged_lines=True,
    )  # fmt: skip
    is_whole = body.count(separator) == len(frame) * (frame.width - 1) and not frame.to_series(0).null_count()
    return frame if is_whole else None


def records(text: str, name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of every row that is not blank, as the csv module reads them; all are as long."""
    quoting: Any = csv.QUOTE_MINIMAL if QUOTE[separator] else csv.QUOTE_NONE
    limit = csv.field_size_limit(len(text))
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=separator, quoting=quoting, strict=True)
    line, n_columns = 1, 0
    try:
        for cells in reader:
            n_columns = n_columns or len(cells)
            if any(cells) and len(cells) != n_columns:
                raise ReadError(name, line, f"expected {n_columns} columns as in the first line, got {len(cells)}")
            if any(cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        if "new-line" in str(error):
            raise ReadError(name, reader.line_num, "a carriage return is inside a line; end lines with \\n") from None
        raise ReadError(name, line, QUOTE_INSIDE) from None
    finally:
        csv.field_size_limit(limit)


def _numbers(column: pl.Series, number: NumberType, origin: Origin, certain: bool) -> pl.Series:
    """Return the column as numbers or booleans when it holds them, as it is when it holds text."""
    numbers = column.cast(number, strict=False)
    if numbers.null_count() == column.null_count():
        return numbers
    cells = column.str.strip_chars()
    cells = cells.set(cells.is_in(MISSING), None)
    numbers = cells.cast(number, strict=False)
    wrong = cells.is_not_null() & numbers.is_null()
    if not wrong.any():
        return numbers
    lower = cells.str.to_lowercase()
    if lower.drop_nulls().is_in(["true", "false"]).all():
        return lower == "true"
    if not certain and numbers.count() < wrong.sum():  # prose with a number here and there
        return column
    row = int(wrong.arg_max() or 0)
    raise origin(
        row,
        f"expected a number in column {column.name!r}, got {cells[row]!r}; "
        f"if the column is not a feature, name those that are ({either('features')})",
    )


def _guarded(column: pl.Series) -> pl.Series:
    """Return texts with an apostrophe where they begin as a formula does, but for plain numbers."""
    return column.str.replace(FORMULA, "'${1}").str.replace(r"\A'([+-][0-9]+(\.[0-9]+)?)\z", "${1}")


def _unguarded(column: pl.Series) -> pl.Series:
    return column.str.replace(f"^'{FORMULA[1:]}", "${1}")


def _marked(column: pl.Series) -> str:
    """Return the column's name with a mark where a csv would lose what it is."""
    is_text = column.name in ("qid", "docid", "comment") or column.name.endswith(FIELD)  # whatever it holds
    if isinstance(column.dtype, pl.Enum):
        kinds = (kind.translate(ESCAPED) for kind in column.dtype.categories)
        return f"{column.name}:category({'|'.join(kinds)})"
    if is_date(column.dtype):
        return f"{column.name}:date"
    if column.dtype == pl.String and not is_text and column.cast(pl.Float64, strict=False).count():
        return f"{column.name}:text"
    return column.name


def _typed(
    column: pl.Series, text: Collection[str] | None, numeric: Collection[str], number: NumberType, origin: Origin
) -> pl.Series:
    """Return a column of a csv with its type: that of its mark, text, or numbers."""
    marked = MARK.fullmatch(column.name)
    if marked is None:
        if text is not None and column.name not in text and not column.name.endswith(FIELD):
            column = _numbers(column, number, origin, column.name in numeric)
        return _unguarded(column) if column.dtype == pl.String else column
    name, what, written = marked.groups()
    column = _unguarded(column).alias(name)
    if what == "category":
        column = column.set(column == "", None)
        kinds = [unquote(kind) for kind in written.split("|")] if written else []
        kinds += column.drop_nulls().unique().sort().to_list()
        return column.cast(pl.Enum([*dict.fromkeys(kinds)]))
    if what == "date":
        dates = parsed(column)
        if not is_date(dates.dtype) and (column.fill_null("") != "").any():
            raise origin(None, f"column {name!r} must hold dates such as 2026-11-18, or nothing where one is missing")
        return dates if is_date(dates.dtype) else pl.Series(name, [None] * len(column), dtype=pl.Date)
    return column
