"""Documents with named fields: jsonl, csv, tsv, Parquet or a data frame, one document a line or row."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from rulerank.core.words import counted, listed
from rulerank.dataset import Array, check_column
from rulerank.errors import DataError, ReadError
from rulerank.io.delimited import MISSING, check_utf8, either
from rulerank.io.other_tools import no_header_hint
from rulerank.io.streams import format_suffix, read_bytes
from rulerank.io.tables import TABLE_FORMATS, is_frame, read_frame

ID_NAMES = ("id", "docid", "doc_id", "_id", "docno", "document_id")
TEXT_FORMATS = ("jsonl", *TABLE_FORMATS)

Value = str | float | list[Any] | None  # of a field of one document; of a list's items, all text or all numbers
Where = Callable[[int | None, str], Exception]  # (row or None, message) -> the error that says where


class Everything(Collection[str]):
    """A collection that holds any name: all columns are read as they are written."""

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@dataclass(frozen=True, eq=False)
class Texts:
    """Documents with ids and named fields; None where a document lacks a field.

    >>> Texts(["a", "b"], {"title": ["Fresh milk", None], "price": [1.5, 2.0]})
    Texts(2 documents, fields: title, price)
    """

    ids: Array  # (n_docs,) document ids, text, no two alike
    fields: Mapping[str, Sequence[Value]]  # name: one value per document

    def __post_init__(self) -> None:
        ids = _strings(self.ids)
        twice = _first_repeated(ids)
        if twice:
            raise DataError(f"document ids must differ: {ids[twice[1]]!r} is there twice, at {twice[0]} and {twice[1]}")
        if (ids == "").any():
            raise DataError(f"every document needs an id: number {int(np.argmax(ids == ''))} has none")
        for name, values in self.fields.items():
            if len(values) != len(ids):
                raise DataError(
                    f"field {name!r} must have one value per document: expected {len(ids)}, got {len(values)}"
                )
        object.__setattr__(self, "ids", ids)

    def __len__(self) -> int:
        return self.ids.size

    def __repr__(self) -> str:
        return f"Texts({counted(len(self), 'document')}, fields: {listed([*self.fields]) or 'none'})"


def read_texts(source: Any, *, id: str | None = None, format: str | None = None) -> Texts:
    """Read documents: jsonl, csv, tsv, Parquet (.gz, .xz and .zst too) or a data frame.

    Ids are text; their column is `id`, or the first of id, docid, doc_id, _id, docno, document_id. Every other field
    is kept as it is: text, numbers, lists. An empty text, list or null means that the document lacks the field. A tsv
    without a header holds `id<tab>text`.

    >>> import io
    >>> read_texts(io.BytesIO(b'{"id": 7, "title": "Fresh milk", "price": 1.5}'))
    Texts(1 document, fields: title, price)
    """
    if not is_frame(source):
        from rulerank.io.convert import NamedBytes

        content, name = read_bytes(source)
        source = NamedBytes(content, name)
        no_header = format is None and id is None and has_no_header(content, name, ID_NAMES, (".tsv",))
    else:
        no_header = False
    columns, where = read_two_columns(content, name, "id\ttext") if no_header else read_columns_of(source, format)
    id = find_column(columns, id, ID_NAMES, "id", "the document id", where)
    ids = id_strings(columns.pop(id), id, "a document id", where)
    twice = _first_repeated(ids)
    if twice:
        first, again = twice
        before = "" if (said := where_said(where, first)) is None else f", first in {said}"
        raise where(again, f"document ids must differ: {ids[again]!r} is there twice{before}")
    nested = [
        name
        for name, values in columns.items()
        if any(isinstance(value, dict) for value in values) and all(isinstance(value, dict | None) for value in values)
    ]
    lost = [name for name in nested if any(columns[name])]
    if lost:
        warnings.warn(f"fields that hold objects left out: {listed(lost)}", stacklevel=2)
    return Texts(ids, {n: _cleaned(n, values, where) for n, values in columns.items() if n not in nested})


def texts_from_dicts(docs: Sequence[Mapping[str, Any]], fields: Collection[str]) -> dict[str, list[Value]]:
    """Return the fields of documents given as dicts, as `read_texts` would; other fields are left out.

    >>> texts_from_dicts([{"title": "Milk", "price": 2}, {"title": ""}], ["title", "price"])
    {'title': ['Milk', None], 'price': [2, None]}
    """
    for number, doc in enumerate(docs):
        if not isinstance(doc, Mapping):
            raise DataError(f"a document must be a dict of fields: number {number} is a {type(doc).__name__}")

    def where(row: int | None, message: str) -> Exception:
        return DataError(f"document {row}: {message}")

    return {name: _cleaned(name, [doc.get(name) for doc in docs], where) for name in fields}


def read_columns_of(source: Any, format: str | None) -> tuple[dict[str, list[Any]], Where]:
    """Return the columns of a file or frame as lists, and what makes an error that names its file and line."""
    if format is not None and format not in TEXT_FORMATS:
        raise DataError(f"expected a format of texts, {', '.join(TEXT_FORMATS)}, got {format!r}; name it with format=")
    if is_frame(source):
        frame, where = read_frame(source)
        return {name: frame[name].to_list() for name in frame.columns}, where
    content, name = read_bytes(source)
    if not content.strip():
        raise ReadError(name, None, "the file is empty")
    format = format or _format_of(name, content)
    if format == "jsonl":
        return _read_jsonl(content, name)
    from rulerank.io.convert import NamedBytes

    frame, where = read_frame(NamedBytes(content, name), text=Everything(), format=format)
    columns = {column: frame[column].to_list() for column in frame.columns}
    if format != "parquet":  # csv has no null: what stands for it
        columns = {column: [None if v in MISSING else v for v in values] for column, values in columns.items()}
    return columns, where


def has_no_header(content: bytes, name: str, known: Collection[str], endings: Collection[str]) -> bool:
    """Tell whether this is a tsv of two columns whose first line has none of the known names of columns."""
    if format_suffix(name) not in endings:
        return False
    check_utf8(content, name)
    cells = content.decode("utf-8-sig").partition("\n")[0].rstrip("\r").split("\t")
    return len(cells) == 2 and not ({cell.lower() for cell in cells} & {*known})


def read_two_columns(content: bytes, name: str, header: str) -> tuple[dict[str, list[Any]], Where]:
    """Return the columns of a tsv without a header, as `read_columns_of` would with this one."""
    from rulerank.io.convert import NamedBytes

    headed = header.encode() + b"\n" + content.removeprefix(b"\xef\xbb\xbf")
    columns, after_header = read_columns_of(NamedBytes(headed, name), "tsv")

    def where(row: int | None, message: str) -> Exception:
        error = after_header(row, message)
        line = getattr(error, "line", None)
        return error if line is None else ReadError(name, line - 1, message)

    return columns, where


def find_column(
    columns: Mapping[str, object], given: str | None, known: Sequence[str], parameter: str, what: str, where: Where
) -> str:
    """Return the column that was named, or the first that goes by a known name."""
    wanted = known if given is None else (given,)
    found = next((name for name in wanted if name in columns), None)
    if found is None:
        missing = repr(given) if given is not None else f"named {', '.join(known)}"
        there = listed([*columns]) or "none"
        name = getattr(where(None, ""), "source", None)  # a frame has none
        hint = no_header_hint([*columns], name) if name else ""
        to_do = hint or f"; name that of {what} ({either(parameter)})"
        raise where(None, f"there is no column {missing}; the columns are {there}{to_do}")
    return found


def id_strings(values: Sequence[Any], column: str, what: str, where: Where) -> Array:
    """Return ids as text: whole numbers in decimal; an empty one is a mistake."""
    found = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            came = "nothing" if value is None or value == "" else f"{value!r:.60}"
            raise where(row, f"expected {what} in {column!r}, text or a whole number, got {came}")
        found[row] = clean(str(value))
    return found


def clean(text: str) -> str:
    """Return the text with what is no Unicode character (half of a pair, from a cut-off JSON escape) replaced.

    >>> clean("ab"), clean("a\\ud800b")
    ('ab', 'a\ufffdb')
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def where_said(where: Where, row: int) -> str | None:
    """Return how errors name a row: `line 3`, or None in data that has no lines."""
    line = getattr(where(row, ""), "line", None)
    return None if line is None else f"line {line}"


def _format_of(name: str, content: bytes) -> str | None:
    suffix = format_suffix(name)
    if suffix in (".jsonl", ".ndjson", ".json"):
        return "jsonl"
    if suffix.removeprefix(".") in TABLE_FORMATS:
        return suffix.removeprefix(".")
    return "jsonl" if content.lstrip()[:1] in (b"{", b"[") else None


def _read_jsonl(content: bytes, name: str) -> tuple[dict[str, list[Any]], Where]:
    check_utf8(content, name)
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    for line, text in enumerate(content.decode("utf-8-sig").split("\n"), start=1):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            hint = "; a file of one JSON array must be written as one object a line" if text.lstrip()[:1] == "[" else ""
            raise ReadError(name, line, f"expected one JSON object a line: {error}{hint}") from None
        if not isinstance(value, dict):
            raise ReadError(name, line, f"expected one JSON object a line, got {text.strip()[:60]!r}")
        rows.append(value)
        lines.append(line)

    def at_line(row: int | None, message: str) -> Exception:
        return ReadError(name, None if row is None else lines[row], message)

    names = dict.fromkeys(field for row in rows for field in row)
    return {field: [row.get(field) for row in rows] for field in names}, at_line


def _cleaned(name: str, values: Sequence[Any], where: Where) -> list[Value]:
    return [value if value is None else _clean_value(name, value, row, where) for row, value in enumerate(values)]


def _clean_value(name: str, value: Any, row: int, where: Where) -> Value:
    if isinstance(value, str):
        return clean(value) if value.strip() else None
    if isinstance(value, bool | np.bool_):
        return float(value)
    if isinstance(value, int | float | np.number):
        return None if value != value else value  # type: ignore[return-value]
    if isinstance(value, list | tuple | np.ndarray | pl.Series):
        items = [item for item in value if item is not None and item != ""]
        if all(isinstance(item, str) for item in items):
            return [clean(item) for item in items] or None
        if all(isinstance(item, int | float | np.number) for item in items):
            if any(not math.isfinite(item) for item in items):
                raise where(row, f"expected finite numbers in the list {name!r}")
            return items
        value = next(item for item in items if not isinstance(item, str))
    elif hasattr(value, "isoformat"):  # a date of Parquet or a data frame
        return str(value.isoformat())
    raise where(
        row, f"field {name!r} must hold text, a number, or a list of texts or of numbers: it holds {value!r:.60}"
    )


def _strings(ids: Any) -> Array:
    column = check_column("ids", ids, len(ids))
    strings = np.empty(len(column), dtype=object)
    strings[:] = [value if type(value) is str else str(value) for value in column.tolist()]
    return strings


def _first_repeated(ids: Array) -> tuple[int, int] | None:
    """Return the places of the first id that is there twice, or None."""
    if len(set(ids.tolist())) == ids.size:
        return None
    first: dict[str, int] = {}
    again = next(row for row, one in enumerate(ids.tolist()) if first.setdefault(one, row) != row)
    return first[ids[again]], again
