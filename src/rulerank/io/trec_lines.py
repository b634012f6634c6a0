"""The lines of TREC files: words apart by white space, one of them a number."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from rulerank.dataset import Array
from rulerank.errors import DataError, ReadError
from rulerank.io.delimited import check_utf8
from rulerank.io.other_tools import fraction_hint
from rulerank.io.outputs import write_bytes
from rulerank.io.streams import Source, read_bytes
from rulerank.io.table_columns import shared_strings


def _finite(word: bytes) -> float:
    value = float(word)
    if b"_" in word or not math.isfinite(value):  # Python reads 1_0 as 10
        raise ValueError
    return value


def _int32(word: bytes) -> int:
    value = int(word)
    if b"_" in word or abs(value) > np.iinfo(np.int32).max:
        raise ValueError
    return value


@dataclass(frozen=True)
class LineFormat:
    """What the columns are, which of them are kept, and which of those is a number."""

    columns: str
    kept: tuple[int, ...]
    number: int
    dtype: pl.DataType
    parse: Callable[[bytes], float]
    expected: str

    @property
    def n_columns(self) -> int:
        return len(self.columns.split())


RUN = LineFormat("qid Q0 docid rank score tag", (0, 2, 4, 5), 4, pl.Float64(), _finite, "a finite number as the score")
QRELS = LineFormat("qid 0 docid grade", (0, 2, 3), 3, pl.Int32(), _int32, "an integer as the grade")


def read_columns(source: Source, format: LineFormat) -> tuple[list[Array], Sequence[int], str]:
    """Return the columns kept, the line of each row and the file's name.

    >>> columns, lines, name = read_columns(io.BytesIO(b"q1 0 doc-7  2\\n\\nq1 0 doc-8 0\\n"), QRELS)
    >>> [column.tolist() for column in columns], lines
    ([['q1', 'q1'], ['doc-7', 'doc-8'], [2, 0]], [1, 3])
    """
    content, name = read_bytes(source)
    check_utf8(content, name)
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        raise ReadError(name, None, f"the file is empty: expected lines '{format.columns}'")
    columns = _columns_at_once(content, format)
    if columns is not None:
        return columns, range(1, columns[0].size + 1), name
    columns, lines = _columns_line_by_line(content, name, format)
    return columns, lines, name


def _columns_at_once(content: bytes, format: LineFormat) -> list[Array] | None:
    """Return the columns kept, or None unless the file is flawless and one space or tab is between any two words."""
    separator, other = ("\t", b" ") if b"\t" in content else (" ", b"\t")
    if any(space in content for space in (b"\r", b"\v", b"\f", other)):
        return None
    try:
        frame = pl.read_csv(
            content,
            has_header=False,
            separator=separator,
            quote_char=None,
            schema={str(i): pl.String for i in range(format.n_columns)},
        )
    except pl.exceptions.PolarsError:
        return None
    n_lines = content.count(b"\n") + (not content.endswith(b"\n"))
    if len(frame) != n_lines or any(column.null_count() for column in frame):
        return None
    numbers = frame[:, format.number].cast(format.dtype, strict=False)
    if numbers.null_count() or not numbers.is_finite().all():
        return None
    return [numbers.to_numpy() if i == format.number else shared_strings(frame[:, i]) for i in format.kept]


def _columns_line_by_line(content: bytes, name: str, format: LineFormat) -> tuple[list[Array], list[int]]:
    """Return the same for any white space, or name the first mistake: slow, obviously right."""
    rows: list[list[str | float]] = []
    lines: list[int] = []
    for line, text in enumerate(content.split(b"\n"), start=1):
        words = text.split()
        if not words:
            continue
        if len(words) != format.n_columns:
            shown = text.decode().strip()[:80]
            raise ReadError(name, line, f"expected '{format.columns}', got {len(words)} columns: {shown!r}")
        try:
            number = format.parse(words[format.number])
        except ValueError:
            came = words[format.number].decode()
            hint = fraction_hint(came, "awk '{$4 = int(2 * $4 + 0.5)} 1' FILE > NEW")
            raise ReadError(name, line, f"expected {format.expected}, got {came!r}{hint}") from None
        rows.append([number if i == format.number else words[i].decode() for i in format.kept])
        lines.append(line)
    columns = [
        pl.Series(values, dtype=format.dtype).to_numpy() if i == format.number else shared_strings(pl.Series(values))
        for i, values in zip(format.kept, zip(*rows, strict=True), strict=True)
    ]
    return columns, lines


def words(name: str, values: Array) -> pl.Series:
    """Return a column of words, after checking that none would fall apart in a TREC file."""
    column = pl.Series(name, values.tolist(), dtype=pl.String)
    broken = column.str.contains(r"[ \t\n\r\x0b\x0c]") | (column == "")
    if broken.any():
        row = int(np.flatnonzero(broken.to_numpy())[0])
        raise DataError(
            f"in a TREC file {name} must be a word without white space: got {column[row]!r}; "
            "csv and parquet can hold it"
        )
    return column


def write_lines(columns: Sequence[pl.Series], target: Source) -> None:
    """Write one line per row, with a space between any two columns."""
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_csv(buffer, include_header=False, separator=" ", quote_style="never")
    write_bytes(target, buffer.getvalue())
