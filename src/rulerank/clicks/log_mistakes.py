"""The first line of a text log that is wrong: looked for where reading failed, and named in the error."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from typing import Any

from rulerank.errors import ReadError
from rulerank.io.delimited import QUOTE


def find_bad_object(name: str, lines: Iterable[bytes]) -> None:
    """Raise an error that names the first line that is no JSON object."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            json_object(name, number, line)


def json_object(name: str, number: int, line: bytes) -> dict[str, Any]:
    """Return the object that a line of a file holds.

    >>> json_object("log.jsonl", 7, b'{"query": "tent"}')
    {'query': 'tent'}
    """
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ReadError(name, number, f"expected a JSON object a line: {error}") from None
    if not isinstance(found, dict):
        raise ReadError(name, number, f"expected a JSON object a line, got {line.decode().strip():.60}")
    return found


def find_bad_record(name: str, lines: Iterable[bytes], separator: str) -> None:
    """Raise an error that names the first line that is not UTF-8, has an odd quote or more columns than there are."""
    quote, n_quotes, n_columns = QUOTE[separator], 0, 0

    def decoded() -> Iterator[str]:
        nonlocal n_quotes
        for number, line in enumerate(lines, 1):
            n_quotes += line.count(b'"') if quote else 0
            yield _decoded(name, number, line)

    records = csv.reader(decoded(), delimiter=separator, quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE)
    while True:
        first = records.line_num + 1
        try:
            record = next(records, None)
        except csv.Error:  # a cell is longer than any should be
            n_quotes, record = 1, []
        if n_quotes % 2:
            what = 'a quote (") stands alone: write the cell in quotes and each quote within it twice'
            raise ReadError(name, first, what)
        if record is None:
            return
        n_columns = n_columns or len(record)
        if len(record) > n_columns:
            what = f"expected {n_columns} columns as in the first line, got {len(record)}"
            raise ReadError(name, records.line_num, what)


def _decoded(name: str, number: int, line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise ReadError(name, number, f"expected UTF-8 text, got the byte 0x{line[error.start]:02x}") from None
