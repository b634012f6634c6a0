"""Csv and tsv text as frames: Polars reads the cells, the csv module tells where rows begin when there are quotes.

A tsv is not a csv with tabs: its cells are read and written as they are, a quote is a character like any other.

What csv cannot say of a column is written behind its name: `title:text`, `brand:category(lg|sony)`, `added:date`.
Parquet and data frames say it by their types. A mark is written only where it is needed: on every category and date,
and on a text that might be taken for numbers. `author:field`, in all tables, is a field of documents for people to
read: its values are texts and no feature.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from shlex import quote

import numpy as np
import polars as pl

from rulerank.dataset import Array
from rulerank.errors import DataError, ReadError
from rulerank.io.columns import MISSING, is_date, parsed
from rulerank.io.streams import Origin, decoded

QUOTE = {",": '"', "\t": None}  # what may be around a cell, by the separator
SEPARATOR_NAMES = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}
FORMULA = re.compile("'*\"*[=+\\-@\t\r]")  # how a cell begins that a spreadsheet may run, guarded or not
GUARDED = re.compile("'+\"*[=+\\-@\t\r]")
GUARDED_CELL = f"^{GUARDED.pattern}"
PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")  # which a spreadsheet takes for what it is
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
MARK = re.compile(r"(.+):(text|category|date)(?:\((.*)\))?", re.S)
FIELD = ":field"
QUOTE_INSIDE = 'a quote (") is inside a field; write it twice, and one more around the whole field'
LONG_NAME = 60  # characters: a longer first cell is a text, not the name of a column
NumberType = type[pl.Float32] | type[pl.Float64]


def read_delimited(
    content: bytes,
    name: str,
    separator: str = ",",
    *,
    is_text: Callable[[str], bool] = lambda column: False,
    numeric: Collection[str] = (),
    number: NumberType = pl.Float32,
) -> tuple[pl.DataFrame, Origin]:
    """Return the rows and where they are: columns of text as written, all others that hold numbers as numbers.

    Text in a column in `numeric`, or in one that is mostly numbers, is a mistake; any other column stays text.

    >>> content = b"qid,title,bm25\\n007,Dr No,1.5\\n\\n007,Live,\\n"
    >>> frame, origin = read_delimited(content, "films.csv", is_text=lambda column: column == "qid")
    >>> frame.rows(), origin.row(1)
    ([('007', 'Dr No', 1.5), ('007', 'Live', None)], 'line 4')
    """
    text = decoded(content, name).rstrip("\r\n")
    if not text.strip():
        raise ReadError(name, None, "the file is empty: expected a line of column names")
    header, n_fields, lines = _records(text, name, separator)
    first, *rows = np.flatnonzero(n_fields).tolist()
    columns = _column_names(header, name, int(lines[first]))
    texts = {column for column in columns if MARK.fullmatch(column) or column.endswith(FIELD) or is_text(column)}
    if len(columns) == 1 and columns[0] not in texts:
        _check_separator(columns[0], separator, name, int(lines[first]))
    ragged = np.flatnonzero((n_fields > 0) & (n_fields != len(columns)))
    if ragged.size:
        quotes = QUOTE[separator] is None and '"' in text
        hint = "; a quote means nothing in a tsv: save a file with quoted cells as csv" if quotes else ""
        message = f"expected {len(columns)} columns as in the first line, got {n_fields[ragged[0]]}{hint}"
        raise ReadError(name, int(lines[ragged[0]]), message)
    others = [column for column in columns if column not in texts]
    origin = Origin(name, lines[rows])
    frame = pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    if rows:
        body = b"\xef\xbb\xbf" + text.split("\n", lines[rows[0]] - 1)[-1].encode()  # Polars takes one such mark off
        try:
            frame = _parse(body, columns, separator, dict.fromkeys(others, number))
        except pl.exceptions.ComputeError:  # somewhere text: look at every cell
            try:
                frame = _parse(body, columns, separator, {})
            except pl.exceptions.PolarsError:
                raise _misplaced_quote(text, lines, name) from None
        frame = frame.filter(n_fields[rows[0] :] > 0)  # Polars makes rows of blank lines
    if others and frame.schema[others[0]] == pl.String:
        frame = frame.with_columns(_numbers(frame[column], number, origin, column in numeric) for column in others)
    cell = pl.col(pl.String)
    guards = cell.str.contains(GUARDED_CELL)
    return without_marks(frame.with_columns(pl.when(guards).then(cell.str.slice(1)).otherwise(cell))), origin


def write_delimited(frame: pl.DataFrame, separator: str) -> bytes:
    """Return a frame as csv or tsv, its texts guarded; a tab or line end in a tsv's cell is a mistake.

    >>> write_delimited(pl.DataFrame({"qid": ["q1"], "query": ['"big" data']}), "\\t")
    b'qid\\tquery\\nq1\\t"big" data\\n'
    """
    if QUOTE[separator] is None:
        for column in (pl.Series("the column names", frame.columns), *frame.select(pl.col(pl.String))):
            broken = column.str.contains("[\t\n\r]").fill_null(False)
            if broken.any():
                raise DataError(
                    f"a tsv cannot hold a tab or a line end in a cell: {column.name!r} has "
                    f"{column.filter(broken)[0]!r:.60}; write csv or Parquet (.csv, .parquet)"
                )
    cell = pl.col(pl.String)
    runs = cell.str.contains(f"^{FORMULA.pattern}") & ~cell.str.contains(rf"\A{PLAIN_NUMBER.pattern}\z")
    frame = frame.with_columns(pl.when(runs).then(cell.str.replace("^", "'")).otherwise(cell))
    out = io.BytesIO()
    frame.rename({name: guarded(name) for name in frame.columns}).write_csv(
        out, separator=separator, quote_style="necessary" if QUOTE[separator] else "never"
    )
    return out.getvalue()


def guarded(text: str) -> str:
    """Return text so that no spreadsheet runs it: with an apostrophe where it begins as a formula does.

    >>> guarded("=1+1"), guarded("'=1"), guarded("a=1"), guarded("-7.5"), unguarded(guarded("'=1"))
    ("'=1+1", "''=1", 'a=1', '-7.5', "'=1")
    """
    return f"'{text}" if FORMULA.match(text) and not PLAIN_NUMBER.fullmatch(text) else text


def unguarded(text: str) -> str:
    """Return the text that `guarded` made safe."""
    return text[1:] if GUARDED.match(text) else text


def either(parameter: str) -> str:
    """Return how a parameter is given in Python and on the command line.

    >>> either("qid")
    'qid=..., on the command line --qid ...'
    """
    return f"{parameter}=..., on the command line --{parameter} ..."


def no_header_hint(columns: Sequence[str], name: str | None) -> str:
    """Return what to type where the first line of a file seems to hold values, not names of columns; else nothing.

    >>> print(no_header_hint(["q1", "d7", "0.5"], "judged.csv"))
    ; the first line seems to hold values: write names above it, such as (echo qid,docid,f1; cat judged.csv) > named.csv
    """
    numbers = [column for column in columns if NUMBER.fullmatch(column.strip())]
    texts = [column for column in columns if "://" in column or len(column) > LONG_NAME]
    if name is None:  # a data frame
        return ""
    if not texts and len(numbers) < len(columns) and not any("." in number for number in numbers):
        return ""
    known = ["id", "url", "title", "text"] if texts else ["qid", "docid"]
    names = [*known, *(f"f{number}" for number in range(1, 7)), "..."][: len(columns)]
    tabs, ending = (" | tr , '\\t'", "tsv") if name.removesuffix(".gz").endswith(".tsv") else ("", "csv")
    command = f"(echo {','.join(names)}{tabs}; cat {quote(name)}) > named.{ending}"
    return f"; the first line seems to hold values: write names above it, such as {command}"


def with_marks(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with marks where a csv would lose what a column is.

    >>> with_marks(pl.DataFrame({"title": ["1984"], "x": [1.0]})).columns
    ['title:text', 'x']
    """
    names = {}
    for column in frame:
        is_text = column.name in ("qid", "docid", "comment") or column.name.endswith(FIELD)  # whatever it holds
        if column.dtype == pl.Enum:
            kinds = "|".join(map(_escaped, column.dtype.categories))  # type: ignore[attr-defined]
            names[column.name] = f"{column.name}:category({kinds})"
        elif column.dtype == pl.String and not is_text and column.cast(pl.Float64, strict=False).count():
            names[column.name] = f"{column.name}:text"
        elif is_date(column.dtype):
            names[column.name] = f"{column.name}:date"
    return frame.with_columns(pl.col(pl.Enum).cast(pl.String)).rename(names)


def without_marks(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with the types that its marks name.

    >>> without_marks(pl.DataFrame({"brand:category(lg|sony)": ["sony", None]})).schema["brand"]
    Enum(categories=['lg', 'sony'])
    """
    names = [MARK.sub(r"\1", name) if MARK.fullmatch(name) else name for name in frame.columns]
    if names == frame.columns:
        return frame
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"column names must differ: {twice!r} is there twice, once with a mark such as :text")
    return pl.DataFrame([_typed(column) for column in frame])


def _typed(column: pl.Series) -> pl.Series:
    marked = MARK.fullmatch(column.name)
    if marked is None or column.dtype != pl.String:
        return column
    name, what, kinds = marked.groups()
    column = column.rename(name)
    if what == "category":
        column = column.set(column == "", None)
        there = column.drop_nulls().unique().sort().to_list()
        known = there if kinds is None else _kinds(kinds)
        return column.cast(pl.Enum([*known, *(kind for kind in there if kind not in known)]))
    if what == "date":
        dates = parsed(column)
        if is_date(dates.dtype):
            return dates
        if (column.fill_null("") != "").any():
            raise DataError(f"column {name!r} must hold dates such as 2026-11-18, or nothing where one is missing")
        return pl.Series(name, [None] * len(column), dtype=pl.Date)
    return column


def _escaped(kind: str) -> str:
    return kind.replace("%", "%25").replace("|", "%7C").replace("\n", "%0A")


def _kinds(written: str) -> list[str]:
    parts = written.split("|") if written else []
    return [part.replace("%0A", "\n").replace("%7C", "|").replace("%25", "%") for part in parts]


def _records(text: str, name: str, separator: str) -> tuple[list[str], Array, Array]:
    """Return the cells of the first record, how many each record has, 0 for a blank line, and the line it begins on."""
    or_quote = ", or quote the field" if QUOTE[separator] else ""
    lone_return = f"a carriage return is inside a line; end lines with \\n{or_quote}"
    if QUOTE[separator] is None or '"' not in text:
        if (found := re.search("\r(?!\n)", text)) is not None:
            raise ReadError(name, text.count("\n", 0, found.start()) + 1, lone_return)
        header = text.lstrip("\r\n").partition("\n")[0].rstrip("\r").split(separator)
        n_fields = [0 if line in ("", "\r") else line.count(separator) + 1 for line in text.split("\n")]
        return header, np.array(n_fields), np.arange(len(n_fields)) + 1
    header, n_fields, lines, line = [], [], [], 1
    reader, limit = csv.reader(io.StringIO(text, newline="\n"), strict=True), csv.field_size_limit(len(text))
    try:
        for cells in reader:
            header = header or cells
            n_fields.append(len(cells))
            lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        if "new-line" in str(error):
            raise ReadError(name, reader.line_num, lone_return) from None
        if "end of data" in str(error):
            message = 'a quote (") is opened and never closed; inside a quoted field write it twice'
            raise ReadError(name, line, message) from None
        raise ReadError(name, reader.line_num, QUOTE_INSIDE) from None
    finally:
        csv.field_size_limit(limit)
    return header, np.array(n_fields), np.array(lines)


def _misplaced_quote(text: str, lines: Array, name: str) -> ReadError:
    """Return the error of a record with a quote that opens no cell, which the csv module takes and Polars does not."""
    rows = text.split("\n")
    for start, stop in pairwise([*lines.tolist(), len(rows) + 1]):
        if sum(row.count('"') for row in rows[start - 1 : stop - 1]) % 2:
            return ReadError(name, start, QUOTE_INSIDE)
    return ReadError(name, None, QUOTE_INSIDE)


def _column_names(header: list[str], name: str, line: int) -> list[str]:
    columns = [unguarded(cell) for cell in header]
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        hint = no_header_hint(columns, name)
        raise ReadError(name, line, f"column names must differ: {twice!r} is there twice{hint}")
    return columns


def _check_separator(column: str, separator: str, name: str, line: int) -> None:
    """Say so when the only column name looks like several names with another separator between them."""
    found = next((other for other in SEPARATOR_NAMES if other != separator and other in column), None)
    if found:
        raise ReadError(
            name,
            line,
            f"expected column names with {SEPARATOR_NAMES[separator]} between them, got {column[:80]!r}: the separator "
            f"seems to be {SEPARATOR_NAMES[found]}, but csv has commas and tsv has tabs",
        )


def _parse(body: bytes, columns: Sequence[str], separator: str, numbers: dict[str, NumberType]) -> pl.DataFrame:
    schema = {column: numbers.get(column, pl.String) for column in columns}
    # the names come from the csv module: Polars keeps doubled quotes in them and renames those that repeat
    return pl.read_csv(body, separator=separator, quote_char=QUOTE[separator], has_header=False, schema=schema)


def _numbers(column: pl.Series, number: NumberType, origin: Origin, certain: bool) -> pl.Series:
    """Return the column as numbers or booleans when it holds them, as it is when it holds text."""
    cells = column.str.strip_chars()
    cells = cells.set(cells.is_in(MISSING), None)
    numbers = cells.cast(number, strict=False)
    wrong = cells.is_not_null() & numbers.is_null()
    if not wrong.any():
        return numbers
    lower = cells.str.to_lowercase()
    if lower.drop_nulls().is_in(["true", "false"]).all():
        return lower == "true"
    if not certain and numbers.count() < wrong.sum():  # prose, where a number may stand here and there
        return column
    row = int(wrong.arg_max() or 0)
    raise origin(
        row,
        f"expected a number in column {column.name!r}, got {cells[row]!r}; "
        f"if the column is not a feature, name those that are ({either('features')})",
    )
