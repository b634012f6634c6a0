"""Click logs read with DuckDB: formats of files, roles of columns, and checks of cells.

A log is csv, tsv, jsonl or Parquet, one file or many, plain or compressed, a data frame or a stream. What DuckDB cannot
open by its path (a stream, a frame) goes through a temporary file. Columns become SQL expressions that are NULL
where a cell does not hold what it should.
"""

from __future__ import annotations

import codecs
import itertools
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from rulerank._util.words import joined, listed
from rulerank.errors import DataError, MissingExtraError, ReadError
from rulerank.io.columns import is_frame, to_polars
from rulerank.io.files import (
    GZIP,
    decoded,
    file_names,
    format_suffix,
    is_model,
    json_object,
    note_input,
    read_bytes,
    read_parts,
)
from rulerank.io.frames import GUARDED_CELL, QUOTE, SEPARATORS, records

ROLES = {  # what a column is, and the names that it is known by
    "query": ("query", "qid", "query_id", "query_text", "search_query", "keywords"),
    "doc": ("doc", "docid", "doc_id", "document", "document_id", "item", "item_id", "product_id", "url"),
    "position": ("position", "pos", "rank"),
    "clicked": ("clicked", "click", "is_click", "is_clicked"),
    "impressions": ("impressions", "impression_count", "n_impressions"),
    "clicks": ("clicks", "click_count", "n_clicks"),
    "session": ("session", "session_id", "impression_id", "request_id", "key"),
    "team": ("team", "source", "ranker"),
}
FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
FRAME = "a data frame"
KEY_LINES = 100  # of a jsonl file: their keys are its columns
EXACT = 2**53  # up to here a float64 holds every whole number
INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
FLOATS = {"FLOAT", "DOUBLE"}


@dataclass(frozen=True)
class LogFile:
    """One file of a log: its name in messages, its format, and the path that DuckDB opens."""

    name: str
    format: str
    path: str
    columns: Mapping[str, str]  # type of each column, as DuckDB calls it; those of text formats are VARCHAR
    scan: str  # SQL of the rows

    def fail(self, message: str) -> NoReturn:
        raise DataError(message) if self.name == FRAME else ReadError(self.name, None, message)


class Log:
    """The files of a log and the DuckDB connection that reads them; a context manager, which removes what it wrote."""

    def __init__(self, sources: Any, format: str | None = None) -> None:
        try:
            import duckdb
        except ImportError:
            raise MissingExtraError("clicks", "duckdb") from None
        if format is not None and format not in FORMATS.values():
            raise DataError(f"expected csv, tsv, jsonl or parquet as the format of a log, got {format!r}")
        one = isinstance(sources, str | os.PathLike) or hasattr(sources, "read") or is_frame(sources)
        if not one and not (isinstance(sources, Iterable) and (sources := list(sources))):
            raise DataError(f"expected a log: a file, a folder, a pattern, a data frame, or several: got {sources!r}")
        self._error = duckdb.Error
        self._folder = tempfile.TemporaryDirectory(prefix="rulerank-log-")
        self._connection = duckdb.connect(config={"temp_directory": self._folder.name})
        try:
            self.files = [file for source in ([sources] if one else sources) for file in self._opened(source, format)]
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: Any) -> None:
        self._connection.close()
        self._folder.cleanup()

    @property
    def name(self) -> str:
        """The files' names in messages."""
        first, last = self.files[0].name, self.files[-1].name
        return first if len(self.files) == 1 else f"{first} ... {last}"

    def fetch(self, query: str) -> pl.DataFrame:
        """Return the result of a query over the files, or name the file and line that cannot be read."""
        path = self._new_path(".parquet")
        try:
            self._connection.execute(f"COPY ({query}) TO {quoted(path)} (FORMAT parquet)")
        except self._error as error:
            for file in self.files:
                self._check(file)
            raise ReadError(self.name, None, f"cannot be read: {_first_line(error)}") from None
        found = pl.read_parquet(path, glob=False)
        os.unlink(path)
        return found

    def _check(self, file: LogFile) -> None:
        """Raise an error that names the file and line, if the file cannot be read."""
        try:
            self._connection.execute(f"SELECT count(COLUMNS(*)) FROM {file.scan}")
        except self._error as error:
            if file.format == "jsonl":
                for number, line in enumerate(_lines(file.path), 1):
                    json_object(line.decode(errors="replace"), file.name, number) if line.strip() else None
            place, what = _mistake(str(error))
            raise ReadError(file.name, place, f"cannot be read as {file.format}: {what}") from None

    def _opened(self, source: Any, format: str | None) -> Iterator[LogFile]:
        if is_frame(source):
            path = self._new_path(".parquet")
            try:
                to_polars(source).write_parquet(path)
            except pl.exceptions.PolarsError as error:
                raise DataError(f"a column of the data frame cannot be read: {_first_line(error)}") from None
            yield self._file(FRAME, "parquet", path, None)
            return
        if not isinstance(source, str | os.PathLike) or source == "-":
            yield self._copied(source, format)
            return
        nothing = f"the folder has no log: expected files that end in {', '.join(FORMATS)}"
        for path in file_names(source, lambda path: format_suffix(path) in FORMATS, nothing):
            yield self._opened_file(path, format)

    def _opened_file(self, path: str, format: str | None) -> LogFile:
        is_pipe = os.path.exists(path) and not os.path.isfile(path)  # can be read once
        if is_pipe or any(sign in path for sign in "*?["):  # DuckDB would take the name for a pattern
            return self._copied(path, format)
        head = next(read_parts(path), b"").lstrip()  # says what is wrong with the file
        with Path(path).open("rb") as file:
            note_input(file.fileno(), path)
            packing = "gzip" if file.read(len(GZIP)) == GZIP else None
        format = format or FORMATS.get(format_suffix(path)) or _sniffed(head)
        if is_model(head) or (packing and format == "parquet"):
            return self._copied(path, format)
        if not head:
            raise ReadError(path, None, "the file is empty")
        return self._file(path, format, path, packing)

    def _copied(self, source: Any, format: str | None) -> LogFile:
        """Copy a source that DuckDB cannot open by its path."""
        content, name = read_bytes(source)
        if not content.strip():
            raise ReadError(name, None, "the file is empty")
        path = self._new_path()
        Path(path).write_bytes(content)
        return self._file(name, format or FORMATS.get(format_suffix(name)) or _sniffed(content), path, None)

    def _file(self, name: str, format: str, path: str, packing: str | None) -> LogFile:
        if format == "parquet":
            scan = f"read_parquet({quoted(path)}, hive_partitioning = false)"
            try:
                rows = self._connection.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
            except self._error as error:
                what = f"expected parquet, got something else or a damaged file: {_first_line(error)}"
                raise ReadError(name, None, what) from None
            return LogFile(name, format, path, {row[0]: row[1] for row in rows}, scan)
        options = f"compression = {quoted(packing or 'none')}"
        if format == "jsonl":
            keys = _json_keys(name, path)
            options += f", format = 'newline_delimited', records = true, columns = {_as_text(keys)}"
            scan = f"read_json({quoted(path)}, {options})"
        else:
            keys, n_blank = _header(name, path, SEPARATORS[format])
            quote = quoted(QUOTE[SEPARATORS[format]] or "")
            options += f", delim = {quoted(SEPARATORS[format])}, quote = {quote}, escape = {quote}, skip = {n_blank}"
            options += f", auto_detect = false, header = true, columns = {_as_text(keys)}"
            scan = f"read_csv({quoted(path)}, {options})"
        return LogFile(name, format, path, dict.fromkeys(keys, "VARCHAR"), scan)

    def _new_path(self, suffix: str = "") -> str:
        descriptor, path = tempfile.mkstemp(suffix, dir=self._folder.name)
        os.close(descriptor)
        os.unlink(path)
        return path


def find_columns(
    file: LogFile, named: Mapping[str, str] | None, wanted: Sequence[str], needed: Sequence[str]
) -> dict[str, str]:
    """Return the column of each wanted role that is there: as it is named, or by the names it is known by."""
    named, there = named or {}, [*file.columns]
    columns: dict[str, str] = {}
    strange = [role for role in named if role not in wanted]
    if strange:
        raise DataError(f"columns names columns of {joined(wanted)}: got {strange[0]!r}")
    for role in wanted:
        if role in named and named[role] not in there:
            file.fail(f"there is no column {named[role]!r}; the columns are {listed(there)}")
        taken = set(named.values())
        found = [name for name in there if name.lower() in ROLES[role] and name not in taken]
        if role in named:
            found = [named[role]]
        if len(found) > 1:
            file.fail(f"{joined([repr(name) for name in found])} may be the {role}: name the one that is{naming(role)}")
        if not found and role in needed:
            file.fail(f"no column is recognised as the {role}: the columns are {listed(there)}; name it{naming(role)}")
        columns |= {role: found[0]} if found else {}
    return columns


def naming(role: str) -> str:
    """Return how a column is named in Python and on the command line.

    >>> naming("doc")
    ", columns={'doc': ...} (--columns doc=...)"
    """
    return f", columns={{{role!r}: ...}} (--columns {role}=...)"


def quoted(text: str) -> str:
    """Return a text as SQL writes it.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def text(column: str, file: LogFile) -> str:
    """SQL of ids or texts as text; NULL where there is none. Whole numbers are written in decimal."""
    kind, cell = file.columns[column], _identifier(column)
    if kind in FLOATS:  # pandas has no empty integers
        return f"CAST({whole(column, file)} AS VARCHAR)"
    if kind != "VARCHAR" and kind not in INTEGERS and not kind.startswith("ENUM"):
        file.fail(f"column {column!r} must hold text or whole numbers: it holds {kind}")
    if file.format in SEPARATORS:  # a cell that was guarded against spreadsheets reads as it was
        guarded = f"starts_with({cell}, '''') AND regexp_matches({cell}, {quoted(GUARDED_CELL)})"
        cell = f"CASE WHEN {guarded} THEN substr({cell}, 2) ELSE {cell} END"
    return f"nullif(CAST({cell} AS VARCHAR), '')"


def whole(column: str, file: LogFile) -> str:
    """SQL of whole numbers; NULL where there is something else. 3.0 is one, as pandas writes it."""
    kind, cell = file.columns[column], _identifier(column)
    if kind in INTEGERS:
        return f"TRY_CAST({cell} AS BIGINT)"
    if kind == "VARCHAR":
        cell = f"TRY_CAST(trim({cell}) AS DOUBLE)"
    elif kind not in FLOATS:
        file.fail(f"column {column!r} must hold whole numbers: it holds {kind}")
    return f"CASE WHEN {cell} = floor({cell}) AND abs({cell}) < {EXACT} THEN CAST({cell} AS BIGINT) END"


def zero_or_one(column: str, file: LogFile) -> str:
    """SQL of whether there was a click, as 0 or 1; NULL where there is something else."""
    kind, cell = file.columns[column], _identifier(column)
    if kind == "BOOLEAN":
        return f"CAST({cell} AS BIGINT)"
    if kind == "VARCHAR":
        word = f"lower(trim({cell}))"
        return f"CASE WHEN {word} IN ('1', 'true', '1.0') THEN 1 WHEN {word} IN ('0', 'false', '0.0') THEN 0 END"
    number = whole(column, file)
    return f"CASE WHEN {number} BETWEEN 0 AND 1 THEN {number} END"


def _as_text(columns: Iterable[str]) -> str:
    """Return the columns with their type, as readers of text take them."""
    return "{" + ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in columns) + "}"


def _identifier(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["damaged"])[0]


def _sniffed(content: bytes) -> str:
    if content.startswith(b"PAR1"):
        return "parquet"
    if content.removeprefix(codecs.BOM_UTF8).lstrip().startswith((b"{", b"[{", b"[\n")):
        return "jsonl"
    return "tsv" if b"\t" in content.partition(b"\n")[0] else "csv"


def _lines(path: str) -> Iterator[bytes]:
    """Yield the lines of a text, unpacked."""
    rest = b""
    for part in read_parts(path):
        *whole_lines, rest = (rest + part).split(b"\n")
        yield from (line + b"\n" for line in whole_lines)
    if rest:
        yield rest


def _json_keys(name: str, path: str) -> list[str]:
    keys: dict[str, None] = {}
    for number, line in enumerate(itertools.islice(_lines(path), KEY_LINES), 1):
        if line.strip():
            keys |= dict.fromkeys(json_object(line.decode(errors="replace"), name, number))
    return list(keys)


def _header(name: str, path: str, separator: str) -> tuple[list[str], int]:
    """Return the names of the columns, and how many blank lines come before them."""
    for n_blank, line in enumerate(_lines(path)):
        if not line.strip():
            continue
        _, cells = next(records(decoded(line, name), name, separator))
        lower = [cell.lower() for cell in cells]  # DuckDB does not look at capitals
        twice = next((cell for cell in cells if lower.count(cell.lower()) > 1), None)
        if twice is not None:
            raise ReadError(name, n_blank + 1, f"column names must differ: {twice!r} appears twice")
        return cells, n_blank
    raise ReadError(name, None, "the file is empty")


def _mistake(error: str) -> tuple[int | None, str]:
    """Return the line that DuckDB cannot read, and its message."""
    number = re.search(r"CSV Error on Line: (\d+)", error)
    said = [line for line in error.splitlines() if re.match("Expected|Value with|Invalid unicode", line)]
    return (int(number[1]), said[0]) if number and said else (None, error.splitlines()[0] if error else "damaged")
