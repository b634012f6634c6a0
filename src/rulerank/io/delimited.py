"""Csv and tsv text as a frame of text and number columns, with the line each row begins on.

A tsv is not a csv with tabs: its cells are read and written as they are, a quote is a character like any other.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from rulerank.dataset import Array
from rulerank.errors import DataError, ReadError
from rulerank.io.other_tools import no_header_hint

MISSING = ("", "NULL", "null", "NA", "NaN", "nan")  # what LETOR, SQL, R and pandas write for no value
QUOTE = {",": '"', "\t": None}  # what may be around a cell, by the separator
SEPARATOR_NAMES = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}
FORMULA = re.compile("'*\"*[=+\\-@\t\r]")  # how a cell begins that a spreadsheet may run, guarded or not
GUARDED = re.compile("'+\"*[=+\\-@\t\r]")
GUARDED_CELL = f"^{GUARDED.pattern}"
PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")  # which a spreadsheet takes for what it is
PLAIN_NUMBER_CELL = rf"\A{PLAIN_NUMBER.pattern}\z"
NumberType = type[pl.Float32] | type[pl.Float64]


def read_delimited(
    content: bytes,
    name: str,
    separator: str = ",",
    *,
    text: Collection[str] = (),
    numeric: Collection[str] = (),
    number: NumberType = pl.Float32,
) -> tuple[pl.DataFrame, Array]:
    """Return the rows and the line of each: columns in `text` as written, all others that hold numbers as numbers.

    Text in a column in `numeric`, or in one that is mostly numbers, is a mistake; any other column stays text.

    >>> frame, lines = read_delimited(b"qid,title,bm25\\n007,Dr No,1.5\\n\\n007,Live,\\n", "films.csv", text=["qid"])
    >>> frame.rows(), lines.tolist()
    ([('007', 'Dr No', 1.5), ('007', 'Live', None)], [2, 4])
    """
    check_utf8(content, name)
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        raise ReadError(name, None, "the file is empty: expected a line of column names")
    header, body, lines, n_fields = _records(content, name, separator)
    columns = _column_names(header.decode(), separator, name, int(lines[0]))
    if len(columns) == 1 and columns[0] not in text:
        _check_separator(columns[0], separator, name, int(lines[0]))
    ragged = np.flatnonzero(n_fields != len(columns))
    if ragged.size:
        row = ragged[0]
        quotes = QUOTE[separator] is None and b'"' in content
        hint = "; a quote means nothing in a tsv: save a file with quoted cells as csv" if quotes else ""
        raise ReadError(
            name, int(lines[row]), f"expected {len(columns)} columns as in the first line, got {n_fields[row]}{hint}"
        )
    others = [column for column in columns if column not in text]
    try:
        frame = _parse(body, columns, separator, dict.fromkeys(others, number))
    except pl.exceptions.ComputeError:  # somewhere text: look at every cell
        frame = _parse(body, columns, separator, {})
        frame = frame.with_columns(
            _numbers(frame[column], number, lines[1:], name, column in numeric) for column in others
        )
    return _unguarded_columns(frame), lines[1:]


def guarded(text: str) -> str:
    """Return text so that no spreadsheet runs it: with an apostrophe where it begins as a formula does.

    >>> guarded("=1+1"), guarded("'=1"), guarded("a=1"), guarded("-7.5"), unguarded(guarded("'=1"))
    ("'=1+1", "''=1", 'a=1', '-7.5', "'=1")
    """
    return f"'{text}" if FORMULA.match(text) and not PLAIN_NUMBER.fullmatch(text) else text


def unguarded(text: str) -> str:
    """Return the text that `guarded` made safe."""
    return text[1:] if GUARDED.match(text) else text


def guarded_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose names and texts are guarded; numbers stay numbers."""
    texts = [column for column in frame.iter_columns() if column.dtype == pl.String]
    begins = f"^{FORMULA.pattern}"
    cells = [
        pl.when(pl.col(column.name).str.contains(begins) & ~pl.col(column.name).str.contains(PLAIN_NUMBER_CELL))
        .then("'" + pl.col(column.name))
        .otherwise(pl.col(column.name))
        .alias(column.name)
        for column in texts
        if column.str.contains(begins).any()
    ]
    return frame.with_columns(cells).rename({name: guarded(name) for name in frame.columns if guarded(name) != name})


def _unguarded_columns(frame: pl.DataFrame) -> pl.DataFrame:
    texts = [column for column in frame.iter_columns() if column.dtype == pl.String]
    return frame.with_columns(
        unguarded_cells(column.name) for column in texts if column.str.contains(GUARDED_CELL).any()
    )


def unguarded_cells(column: str) -> pl.Expr:
    """Return a column of text without the apostrophe of `guarded`."""
    cell = pl.col(column)
    return pl.when(cell.str.contains(GUARDED_CELL)).then(cell.str.slice(1)).otherwise(cell).alias(column)


def either(parameter: str) -> str:
    """Return how a parameter is given in Python and on the command line.

    >>> either("qid")
    'qid=..., on the command line --qid ...'
    """
    return f"{parameter}=..., on the command line --{parameter} ..."


def delimited_bytes(frame: pl.DataFrame, separator: str) -> bytes:
    """Return a frame as csv or tsv, its texts guarded; a tab or line end in a tsv's cell is a mistake.

    >>> delimited_bytes(pl.DataFrame({"qid": ["q1"], "query": ['"big" data']}), "\\t")
    b'qid\\tquery\\nq1\\t"big" data\\n'
    """
    if QUOTE[separator] is None:
        for column in (pl.Series("the column names", frame.columns), *frame.select(pl.col(pl.String))):
            broken = column.str.contains("[\t\n\r]").fill_null(False)
            if broken.any():
                cell = column.filter(broken)[0]
                raise DataError(
                    f"a tsv cannot hold a tab or a line end in a cell: {column.name!r} has {cell!r:.60}; "
                    "write csv or Parquet (.csv, .parquet)"
                )
    out = io.BytesIO()
    guarded_frame(frame).write_csv(out, separator=separator, quote_style="necessary" if QUOTE[separator] else "never")
    return out.getvalue()


def check_utf8(content: bytes, name: str) -> None:
    """Raise a ReadError that names the line when content is not UTF-8 text."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ReadError(name, line, f"expected UTF-8 text, got the byte 0x{content[error.start]:02x}") from None


def _records(content: bytes, name: str, separator: str) -> tuple[bytes, bytes, Array, Array]:
    """Return the first record, the others without blank lines, the line each begins on and how many fields it has."""
    if not content.endswith(b"\n"):
        content += b"\n"
    byte = np.frombuffer(content, dtype=np.uint8)
    newlines = np.flatnonzero(byte == ord("\n"))
    separators, returns = byte == ord(separator), byte == ord("\r")
    ends = newlines
    if QUOTE[separator] and b'"' in content:
        quoted = _quoted(byte, separator, name)
        separators &= ~quoted
        returns &= ~quoted
        ends = newlines[~quoted[newlines]]
    lone = np.flatnonzero(returns[:-1] & (byte[1:] != ord("\n")))
    if lone.size:
        line = _line(byte, lone[0])
        or_quote = ", or quote the field" if QUOTE[separator] else ""
        raise ReadError(name, line, f"a carriage return is inside a line; end lines with \\n{or_quote}")
    n_before = np.searchsorted(np.flatnonzero(separators), ends)
    n_fields = np.diff(n_before, prepend=0) + 1
    starts = np.concatenate(([0], ends[:-1] + 1))
    lines = np.searchsorted(newlines, starts) + 1
    sizes = ends - starts
    blank = (sizes == 0) | ((sizes == 1) & (byte[starts] == ord("\r")))
    if blank.any():
        content = byte[~np.repeat(blank, sizes + 1)].tobytes()
    header_size = int(sizes[~blank][0]) + 1
    return content[:header_size], content[header_size:], lines[~blank], n_fields[~blank]


def _quoted(byte: Array, separator: str, name: str) -> Array:
    """Return which bytes are inside quotes, after checking that a field has them around it or not at all."""
    quotes = byte == ord('"')
    quoted = np.logical_xor.accumulate(quotes)
    edges = [ord(edge) for edge in (separator, "\r", "\n", '"')]  # a quote beside a quote is a doubled one
    around = np.pad(np.isin(byte, edges), 1, constant_values=True)
    opens, closes = quotes & quoted, quotes & ~quoted
    misplaced = np.flatnonzero((opens & ~around[:-2]) | (closes & ~around[2:]))
    if misplaced.size:
        line = _line(byte, misplaced[0])
        raise ReadError(
            name, line, 'a quote (") is inside a field; write it twice, and one more around the whole field'
        )
    if quoted[-1]:
        line = _line(byte, np.flatnonzero(opens)[-1])
        raise ReadError(name, line, 'a quote (") is opened and never closed; inside a quoted field write it twice')
    return quoted


def _line(byte: Array, place: int) -> int:
    return int((byte[:place] == ord("\n")).sum()) + 1


def _column_names(header: str, separator: str, name: str, line: int) -> list[str]:
    cells = header.rstrip("\r\n").split(separator)
    if QUOTE[separator]:
        try:
            (cells,) = csv.reader(io.StringIO(header, newline=""), delimiter=separator)
        except csv.Error as error:
            raise ReadError(name, line, f"expected a line of column names: {error}") from None
    columns = [unguarded(cell) for cell in cells]
    for column in columns:
        if columns.count(column) > 1:
            hint = no_header_hint(columns, name)
            raise ReadError(name, line, f"column names must differ: {column!r} is there twice{hint}")
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
    if not body:
        return pl.DataFrame(schema=schema)
    # the names come from the csv module: Polars keeps doubled quotes in them and renames those that repeat
    return pl.read_csv(body, separator=separator, quote_char=QUOTE[separator], has_header=False, schema=schema)


def _numbers(column: pl.Series, number: NumberType, lines: Array, name: str, certain: bool) -> pl.Series:
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
    row = int(np.flatnonzero(wrong.to_numpy())[0])
    raise ReadError(
        name,
        int(lines[row]),
        f"expected a number in column {column.name!r}, got {cells[row]!r}; "
        f"if the column is not a feature, name those that are ({either('features')})",
    )
