"""Files of click logs as lazy frames: csv, tsv, jsonl and Parquet, one file or many, plain or compressed.

Plain files are streamed and need not fit in memory; compressed text and stdin are unpacked first.
"""

from __future__ import annotations

import csv
import glob
import io
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from rulerank.errors import DataError, ReadError
from rulerank.io.delimited import unguarded_cells
from rulerank.io.inputs import note_input
from rulerank.io.streams import COMPRESSIONS, Source, format_suffix, read_bytes
from rulerank.io.tables import SEPARATORS, is_frame

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
PORTION = 1 << 23  # rows added up together: Polars holds more the more there are, whatever they add up to
LINE = 40  # bytes of a line of text, about
LINES_THAT_TELL = 100  # of a jsonl file: their keys are its columns
FRAME = "a data frame"
AGAIN = "_duplicated_"  # what Polars puts behind a name that was there before, and a number


@dataclass(frozen=True)
class LogFile:
    """One file of a log: its name in messages, its format, and what to scan."""

    name: str
    format: str
    content: Any  # a path, bytes, or a frame
    rows: tuple[int, int] | None = None  # of a Parquet file: the first, and how many

    def columns(self) -> dict[str, pl.DataType]:
        """Return the columns and their types; those of text formats are text."""
        with readable(self):
            if self.format == "jsonl":
                return dict.fromkeys(_json_keys(self), pl.String())
            there = dict(self._scan(()).collect_schema())
        if self.format in SEPARATORS:
            twice = next((name for name in there if f"{name}{AGAIN}0" in there), None)
            if twice is not None:
                self.fail(f"column names must differ: {twice!r} is there twice")
        return there

    def scan(self, columns: Sequence[str]) -> pl.LazyFrame:
        """Return some columns."""
        scan = self._scan(columns).select(columns)
        return scan.with_columns(map(unguarded_cells, columns)) if self.format in SEPARATORS else scan

    def n_rows(self) -> int:
        """Return how many rows there are; of text, about how many."""
        if self.format in (FRAME, "parquet"):
            with readable(self):
                return int(self._scan(()).select(pl.len()).collect().item())
        size = len(self.content) if isinstance(self.content, bytes) else os.path.getsize(self.content)
        return size // LINE + 1

    def fail(self, message: str) -> NoReturn:
        raise DataError(message) if self.format == FRAME else ReadError(self.name, None, message)

    def _scan(self, columns: Sequence[str]) -> pl.LazyFrame:
        if self.format == FRAME:
            return self.content.lazy()
        if self.format == "parquet":
            scan = pl.scan_parquet(self.content, glob=False, hive_partitioning=False)
            return scan if self.rows is None else scan.slice(*self.rows)
        if self.format == "jsonl":  # with a schema, numbers are read as they are written
            return pl.scan_ndjson(self.content, schema=dict.fromkeys(columns, pl.String))
        return pl.scan_csv(self.content, separator=SEPARATORS[self.format], infer_schema=False, glob=False)


def open_logs(sources: Any, format: str | None = None) -> list[LogFile]:
    """Return the files that are named: paths, folders, patterns, open files, frames, or several of them.

    >>> import io
    >>> open_logs(io.BytesIO(b"query,doc,position,clicked"))[0].format
    'csv'
    """
    if format is not None and format not in FORMATS.values():
        raise DataError(f"expected a log's format, csv, tsv, jsonl or parquet, got {format!r}")
    one = isinstance(sources, str | os.PathLike | pl.LazyFrame) or hasattr(sources, "read") or is_frame(sources)
    if not one and not (isinstance(sources, Iterable) and (sources := list(sources))):
        raise DataError(f"expected a log: a file, a folder, a pattern, a data frame, or several: got {sources!r}")
    given = [sources] if one else sources
    return [file for source in given for file in _opened(source, format)]


def portions(files: list[LogFile]) -> Iterator[list[LogFile]]:
    """Yield files so that each time about as many rows are read; a large Parquet file comes in slices."""
    held: list[LogFile] = []
    n_held = 0
    for file in files:
        n_rows = file.n_rows()
        if n_held and n_held + n_rows > PORTION:
            yield held
            held, n_held = [], 0
        if file.format != "parquet" or n_rows <= PORTION:
            held, n_held = [*held, file], n_held + n_rows
            continue
        for start in range(0, n_rows, PORTION):
            yield [replace(file, rows=(start, min(PORTION, n_rows - start)))]
    if held:
        yield held


@contextmanager
def readable(file: LogFile) -> Iterator[None]:
    """Turn what Polars says of a damaged file into an error that names it, and the line where that can be found."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        _find_mistake(file)
        reason = (str(error).splitlines() or ["damaged"])[0]
        raise ReadError(
            file.name, None, f"expected {file.format}, got something else or a damaged file: {reason}"
        ) from None


def collected(files: list[LogFile], query: pl.LazyFrame) -> pl.DataFrame:
    """Return what a query over files gives, or name the file that cannot be read."""
    try:
        return query.collect(engine="streaming")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        for file in files:  # which of them?
            with readable(file):
                names = [*file.columns()]
                file.scan(names).select(pl.len(), pl.col(names).null_count().name.suffix(" missing")).collect(
                    engine="streaming"
                )
        raise ReadError(names_of(files), None, f"cannot be read: {(str(error).splitlines() or [''])[0]}") from None


def names_of(files: list[LogFile]) -> str:
    """Return the files' names as a message has them."""
    return files[0].name if len(files) == 1 else f"{files[0].name} ... {files[-1].name}"


def _opened(source: Any, format: str | None) -> Iterator[LogFile]:
    if is_frame(source):
        frame = source if isinstance(source, pl.DataFrame | pl.LazyFrame) else pl.from_pandas(source)
        yield LogFile(FRAME, FRAME, frame)
        return
    if not isinstance(source, str | os.PathLike) or source == "-":
        yield _in_memory(source, format)
        return
    name = os.fspath(source)
    if os.path.isdir(name):
        names = sorted(str(path) for path in Path(name).rglob("*") if format_suffix(path) in FORMATS)
        if not names:
            raise ReadError(name, None, f"the folder holds no log: expected files that end in {', '.join(FORMATS)}")
    elif any(sign in name for sign in "*?[") and not os.path.exists(name):
        names = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
        if not names:
            raise ReadError(name, None, "no file has such a name")
    else:
        names = [name]
    for path in names:
        yield _opened_file(path, format)


def _opened_file(path: str, format: str | None) -> LogFile:
    format = format or FORMATS.get(format_suffix(path))
    if format is None or Path(path).suffix.lower() in COMPRESSIONS:
        return _in_memory(path, format)
    try:
        with Path(path).open("rb") as file:
            note_input(file.fileno(), path)
            head = file.read(8)
    except OSError:
        read_bytes(path)  # says what is wrong with it
        raise
    if any(head.startswith(kind.magic) for kind in COMPRESSIONS.values()):
        return _in_memory(path, format)
    if not head:
        raise ReadError(path, None, "the file is empty")
    return LogFile(path, format, path)


def _in_memory(source: Source, format: str | None) -> LogFile:
    content, name = read_bytes(source)
    if not content.strip():
        raise ReadError(name, None, "the file is empty")
    return LogFile(name, format or FORMATS.get(format_suffix(name)) or _sniff(content, name), content)


def _sniff(content: bytes, name: str) -> str:
    if content.startswith(b"PAR1"):
        return "parquet"
    if content.lstrip().startswith(b"{"):
        return "jsonl"
    if content.lstrip().startswith((b"[{", b"[\n")):
        raise ReadError(name, None, "expected JSON lines, an object a line: got an array; write its objects one a line")
    return "tsv" if b"\t" in content.partition(b"\n")[0] else "csv"


def _lines(file: LogFile) -> Iterator[bytes]:
    if isinstance(file.content, bytes):
        yield from io.BytesIO(file.content)
        return
    with open(file.content, "rb") as lines:
        yield from lines


def _json_keys(file: LogFile) -> list[str]:
    keys: dict[str, None] = {}
    for number, line in enumerate(itertools.islice(_lines(file), LINES_THAT_TELL), 1):
        if line.strip():
            keys |= dict.fromkeys(_json_object(file, number, line))
    return list(keys)


def _json_object(file: LogFile, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ReadError(file.name, number, f"expected a JSON object a line: {error}") from None
    if not isinstance(found, dict):
        raise ReadError(file.name, number, f"expected a JSON object a line, got {line.decode().strip():.60}")
    return found


def _find_mistake(file: LogFile) -> None:
    """Read a text file line by line for the first line that is wrong, and raise an error that names it."""
    if file.format == "jsonl":
        for number, line in enumerate(_lines(file), 1):
            if line.strip():
                _json_object(file, number, line)
    elif file.format in SEPARATORS:
        decoded = (_decoded(file, number, line) for number, line in enumerate(_lines(file), 1))
        records = csv.reader(decoded, delimiter=SEPARATORS[file.format])
        n_columns = 0
        for record in records:
            n_columns = n_columns or len(record)
            if len(record) > n_columns:
                raise ReadError(
                    file.name,
                    records.line_num,
                    f"expected {n_columns} columns as in the first line, got {len(record)}",
                )


def _decoded(file: LogFile, number: int, line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise ReadError(file.name, number, f"expected UTF-8 text, got the byte 0x{line[error.start]:02x}") from None
