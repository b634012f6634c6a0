"""Files of click logs as lazy frames: csv, tsv, jsonl and Parquet, one file or many, plain or compressed.

Files come in portions and need not fit in memory: Parquet in slices of rows, text in blocks of whole records, unpacked
on the way. What is no file on disk, such as stdin, is held as it came, and so is Parquet in another compression.
"""

from __future__ import annotations

import codecs
import glob
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from rulerank.clicks.log_mistakes import find_bad_object, find_bad_record, json_object
from rulerank.clicks.log_text import LONGEST, LongRecordError, blocks, lines, with_header
from rulerank.errors import DataError, ReadError
from rulerank.io.delimited import QUOTE, unguarded_cells
from rulerank.io.inputs import note_input
from rulerank.io.streams import COMPRESSIONS, MAGIC, PART, Source, format_suffix, is_model, read_bytes, read_parts
from rulerank.io.tables import SEPARATORS, is_frame

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
PORTION = 1 << 20  # rows added up together
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
    packed: bool = False  # text at a path is compressed
    rows: tuple[int, int] | None = None  # of a Parquet file: the first, and how many
    whole: LogFile | None = None  # the file that this is a block of

    def columns(self) -> dict[str, pl.DataType]:
        """Return the columns and their types; those of text formats are text."""
        return (self.whole or self)._columns

    def scan(self, columns: Sequence[str]) -> pl.LazyFrame:
        """Return some columns."""
        content = self._text()
        scan = self._scan(content, columns).select(columns)
        guarded = self.format in SEPARATORS and not (isinstance(content, bytes) and b"'" not in content)
        return scan.with_columns(map(unguarded_cells, columns)) if guarded else scan

    def n_rows(self) -> int:
        """Return how many rows there are."""
        with readable(self):
            first = [*self.columns()][:1]
            return int(self.scan(first).select(pl.len()).collect(engine="streaming").item())

    def parts(self) -> Iterator[LogFile]:
        """Yield the file in blocks or slices, to be read one after the other; itself where it is small."""
        if self.format == FRAME or (self.about <= PORTION and not self.packed):
            yield self
        elif self.format == "parquet":
            for start in range(0, self.about, PORTION):
                yield replace(self, rows=(start, min(PORTION, self.about - start)), whole=self)
        else:
            for block in self._blocks(PORTION * LINE):
                yield replace(self, content=block, packed=False, whole=self)

    @cached_property
    def about(self) -> int:
        """How many rows there are; of text, about how many."""
        if self.format == "parquet":
            return self.n_rows()
        size = len(self.content) if isinstance(self.content, bytes) else os.path.getsize(self.content)
        return size // LINE + 1

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of a text."""
        return lines(self._bytes())

    def find_mistake(self) -> None:
        """Raise an error that names the first line that is wrong; where none is, or this is no text, do nothing."""
        if self.format == "jsonl":
            find_bad_object(self.name, self.lines())
        elif self.format in SEPARATORS:
            find_bad_record(self.name, self.lines(), SEPARATORS[self.format])

    def fail(self, message: str) -> NoReturn:
        raise DataError(message) if self.format == FRAME else ReadError(self.name, None, message)

    @cached_property
    def _columns(self) -> dict[str, pl.DataType]:
        with readable(self):
            if self.format == "jsonl":
                return dict.fromkeys(_json_keys(self), pl.String())
            head = next(self._blocks(1), b"") if self.packed else self.content
            there = dict(self._scan(head, ()).collect_schema())
        if self.format in SEPARATORS:
            twice = next((name for name in there if f"{name}{AGAIN}0" in there), None)
            if twice is not None:
                self.fail(f"column names must differ: {twice!r} is there twice")
        return there

    def _text(self) -> Any:
        return read_bytes(self.content)[0] if self.packed else self.content

    def _bytes(self) -> Iterator[bytes]:
        """Yield the bytes of a text, unpacked, part by part."""
        if isinstance(self.content, bytes):
            return (self.content[start : start + PART] for start in range(0, len(self.content), PART))
        return read_parts(self.content)

    def _blocks(self, size: int) -> Iterator[bytes]:
        quoted = self.format == "csv"
        found = blocks(self._bytes(), size, quoted=quoted)
        try:
            yield from with_header(found, quoted=quoted) if self.format in SEPARATORS else found
        except LongRecordError:
            self.find_mistake()
            self.fail(f"expected rows of at most {LONGEST:,} bytes, got a longer one")

    def _scan(self, content: Any, columns: Sequence[str]) -> pl.LazyFrame:
        if self.format == FRAME:
            return self.content.lazy()
        if self.format == "parquet":
            scan = pl.scan_parquet(content, glob=False, hive_partitioning=False)
            return scan if self.rows is None else scan.slice(*self.rows)
        if self.format == "jsonl":  # with a schema, numbers are read as they are written
            return pl.scan_ndjson(content, schema=dict.fromkeys(columns, pl.String))
        separator = SEPARATORS[self.format]
        return pl.scan_csv(content, separator=separator, quote_char=QUOTE[separator], infer_schema=False, glob=False)


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
    """Yield files so that each time about as many rows are read; a large file, or packed text, comes in parts."""
    held: list[LogFile] = []
    n_held = 0
    for part in itertools.chain.from_iterable(file.parts() for file in files):
        if part.whole is not None or part.format == FRAME:
            yield [part]
            continue
        if n_held and n_held + part.about > PORTION:
            yield held
            held, n_held = [], 0
        held, n_held = [*held, part], n_held + part.about
    if held:
        yield held


@contextmanager
def readable(file: LogFile) -> Iterator[None]:
    """Turn what Polars says of a damaged file into an error that names it, and the line where that can be found."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        (file.whole or file).find_mistake()
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
    if os.path.exists(path) and not os.path.isfile(path):
        return _in_memory(path, format)  # such as a pipe, which can be read once
    try:
        with Path(path).open("rb") as file:
            note_input(file.fileno(), path)
            head = file.read(MAGIC)
    except (OSError, ValueError):
        read_bytes(path)  # says what is wrong with it
        raise
    format = format or FORMATS.get(format_suffix(path))
    packed = Path(path).suffix.lower() in COMPRESSIONS or any(
        head.startswith(one.magic) for one in COMPRESSIONS.values()
    )
    if packed or format is None:
        head = next(read_parts(path), b"").lstrip()
        if is_model(head) or (packed and (format or _sniff(head, path)) == "parquet"):
            return _in_memory(path, format)
    if not head:
        raise ReadError(path, None, "the file is empty")
    return LogFile(path, format or _sniff(head, path), path, packed)


def _in_memory(source: Source, format: str | None) -> LogFile:
    content, name = read_bytes(source)
    if not content.strip():
        raise ReadError(name, None, "the file is empty")
    return LogFile(name, format or FORMATS.get(format_suffix(name)) or _sniff(content, name), content)


def _sniff(content: bytes, name: str) -> str:
    if content.startswith(b"PAR1"):
        return "parquet"
    if content.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{"):
        return "jsonl"
    if content.lstrip().startswith((b"[{", b"[\n")):
        raise ReadError(name, None, "expected JSON lines, an object a line: got an array; write its objects one a line")
    return "tsv" if b"\t" in content.partition(b"\n")[0] else "csv"


def _json_keys(file: LogFile) -> list[str]:
    keys: dict[str, None] = {}
    for number, line in enumerate(itertools.islice(file.lines(), LINES_THAT_TELL), 1):
        if number == 1 and line.startswith(codecs.BOM_UTF8):
            file.fail("expected JSON lines, got a byte order mark before the first: save the file as UTF-8 without one")
        if line.strip():
            keys |= dict.fromkeys(json_object(file.name, number, line))
    return list(keys)
