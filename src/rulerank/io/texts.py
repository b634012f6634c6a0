"""Documents with named fields, queries and judgements, from jsonl, csv, tsv, Parquet or a data frame, or from qrels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from rulerank._util.words import counted, listed
from rulerank.dataset import Array, check_column
from rulerank.errors import DataError, ReadError
from rulerank.io.columns import MISSING, first_repeat, is_frame
from rulerank.io.files import NamedBytes, Origin, decoded, format_suffix, json_object, read_bytes
from rulerank.io.formats import HEAD, sniff
from rulerank.io.frames import TABLE_FORMATS, read_frame
from rulerank.io.trec import Qrels, read_qrels

NAMES = {  # of columns, the first that is there counts
    "id": ("id", "docid", "doc_id", "_id", "docno", "document_id"),
    "qid": ("qid", "query_id", "query-id", "id", "_id", "topic"),
    "query": ("query", "query_text", "text", "title", "q"),
    "docid": ("docid", "doc_id", "docno", "document_id", "corpus-id"),
    "grade": ("grade", "rating", "relevance", "label", "score"),
}
WHAT = {"id": "document id", "qid": "query id", "query": "query's text", "docid": "document id", "grade": "grade"}
JSON_ENDINGS = (".jsonl", ".ndjson", ".json")

Value = str | float | list[Any] | None  # of a field of one document; of a list's items, all text or all numbers
Columns = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents with ids and named fields; None where a document lacks a field.

    >>> Documents(["a", "b"], {"title": ["Fresh milk", None], "price": [1.5, 2.0]})
    Documents(2 documents, fields: title, price)
    """

    ids: Array  # (n_docs,) document ids, text, all different
    fields: Mapping[str, Sequence[Value]]  # name: one value per document

    def __post_init__(self) -> None:
        ids = _strings("ids", self.ids, len(self.ids))
        twice = first_repeat(ids.tolist())
        if twice:
            raise DataError(f"document ids must differ: {ids[twice[1]]!r} appears twice, at {twice[0]} and {twice[1]}")
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
        return f"Documents({counted(len(self), 'document')}, fields: {listed([*self.fields]) or 'none'})"


@dataclass(frozen=True, eq=False)
class Queries:
    """Query ids and texts; query vectors if the file has them.

    >>> Queries(["1", "2"], ["fresh milk", "cheese"])
    Queries(2 queries)
    """

    ids: Array  # (n_queries,) query ids, text, all different
    texts: Sequence[str]  # what was typed, "" for nothing
    vectors: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # field: a list of numbers or None per query

    def __post_init__(self) -> None:
        ids = np.array([str(one) for one in self.ids], dtype=object)
        if len(self.texts) != ids.size:
            raise DataError(f"every query needs a text: {ids.size} ids, {len(self.texts)} texts")
        for text in self.texts:
            if not isinstance(text, str):
                raise DataError(f"the text of a query must be text: got {text!r:.60}")
        twice = first_repeat(ids.tolist())
        if twice:
            raise DataError(f"query ids must differ: {ids[twice[0]]!r} appears twice")
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "texts", [clean(text) for text in self.texts])

    def __len__(self) -> int:
        return self.ids.size

    def __repr__(self) -> str:
        return f"Queries({counted(len(self), 'query', 'queries')})"


def read_documents(source: Any) -> Documents:
    """Read documents: jsonl, csv, tsv, Parquet (.gz too) or a data frame.

    Ids are text; their column is the first of id, docid, doc_id, _id, docno, document_id. Every other field is
    kept as it is: text, numbers, lists. An empty text, list or null means that the document lacks the field. A tsv
    without a header holds `id<tab>text`.

    >>> import io
    >>> read_documents(io.BytesIO(b'{"id": 7, "title": "Fresh milk", "price": 1.5}'))
    Documents(1 document, fields: title, price)
    """
    columns, origin = read_columns(source, ("id", "text"), (".tsv",))
    id, ids = _ids(columns, "id", origin)
    del columns[id]
    twice = first_repeat(ids.tolist())
    if twice:
        raise origin(
            twice[1], f"document ids must differ: {ids[twice[1]]!r} appears twice, first in {origin.row(twice[0])}"
        )
    nested = [name for name, values in columns.items() if {type(value) for value in values} - {type(None)} == {dict}]
    lost = [name for name in nested if any(columns[name])]
    if lost:
        warnings.warn(f"fields that hold objects left out: {listed(lost)}", stacklevel=2)
    return Documents(ids, {n: _cleaned(n, values, origin) for n, values in columns.items() if n not in nested})


def texts_from_dicts(docs: Sequence[Mapping[str, Any]], fields: Collection[str]) -> dict[str, list[Value]]:
    """Return the fields of documents given as dicts, as `read_documents` would; other fields are left out.

    >>> texts_from_dicts([{"title": "Milk", "price": 2}, {"title": ""}], ["title", "price"])
    {'title': ['Milk', None], 'price': [2, None]}
    """
    for number, doc in enumerate(docs):
        if not isinstance(doc, Mapping):
            raise DataError(f"a document must be a dict of fields: number {number} is a {type(doc).__name__}")
    return {name: _cleaned(name, [doc.get(name) for doc in docs], Origin()) for name in fields}


def read_queries(source: Any) -> Queries:
    """Read queries: a tsv, csv, jsonl or Parquet file with an id and a text, or a data frame.

    The columns are `qid` (or query_id, id) and `query` (or query_text, text, title). A tsv without a header holds
    `id<tab>text`. A query may appear in several lines, as in a file of judgements, with the same text in all.

    >>> import io
    >>> read_queries(io.BytesIO(b"1\\tfresh milk\\n2\\tcheese\\n")).texts
    ['fresh milk', 'cheese']
    """
    columns, origin = read_columns(source, ("qid", "query"), ("", ".tsv", ".txt"))
    qid, qids = _ids(columns, "qid", origin)
    others = {name: values for name, values in columns.items() if name != qid}
    query = _find_column(others, "query", origin)
    texts = columns[query]
    first: dict[str, int] = {}
    for row, one in enumerate(qids.tolist()):
        text = texts[row]
        if text is not None and not isinstance(text, str):
            raise origin(row, f"expected the query's text in {query!r}, got {text!r:.60}")
        before = first.setdefault(one, row)
        if texts[before] != text:
            other = f"{texts[before]!r:.60} in {origin.row(before)}"
            raise origin(row, f"query {one!r} has two texts: {text!r:.60}, but {other}")
    rows = [*first.values()]
    vectors = {
        name: [values[row] for row in rows]
        for name, values in others.items()
        if any(isinstance(value, list) for value in values)
    }
    return Queries(np.array([*first], dtype=object), [texts[row] or "" for row in rows], vectors)


def read_judgements(source: Any) -> Qrels:
    """Read judgements: TREC qrels, or a csv, tsv, jsonl or Parquet table with columns qid, docid and grade.

    >>> import io
    >>> read_judgements(io.BytesIO(b"query_id\\tquery\\tdoc_id\\tgrade\\n1\\tmilk\\td7\\t2\\n")).grade.tolist()
    [2]
    """
    if not is_frame(source):
        content, name = read_bytes(source)
        source = NamedBytes(content, name)
        if sniff(content[:HEAD]) == "qrels" and not content.startswith(b"{"):
            return read_qrels(source)
    columns, origin = read_columns(source)
    qids, docids = _pair_ids(columns, origin)
    column = _find_column(columns, "grade", origin)
    return Qrels(qids, docids, np.array([_grade(v, row, column, origin) for row, v in enumerate(columns[column])]))


def read_columns(
    source: Any, bare: tuple[str, str] | None = None, endings: Collection[str] = ()
) -> tuple[Columns, Origin]:
    """Return the columns of a file or frame as lists, and where its rows are.

    bare: names of the two columns of a tsv without a header, if the name of the file ends in one of `endings`.
    """
    if is_frame(source):
        frame, origin = read_frame(source)
        return {name: frame[name].to_list() for name in frame.columns}, origin
    content, name = read_bytes(source)
    if not content.strip():
        raise ReadError(name, None, "the file is empty")
    suffix, format, n_added = format_suffix(name), None, 0
    if bare and suffix in endings:
        cells = decoded(content, name).partition("\n")[0].rstrip("\r").split("\t")
        if len(cells) == 2 and not ({cell.lower() for cell in cells} & {*NAMES[bare[0]], *NAMES["query"]}):
            format, n_added = "tsv", 1
            content = "\t".join(bare).encode() + b"\n" + content.removeprefix(b"\xef\xbb\xbf")
    if format is None and suffix.removeprefix(".") not in TABLE_FORMATS:
        format = "jsonl" if suffix in JSON_ENDINGS or content.lstrip()[:1] in (b"{", b"[") else None
    if format == "jsonl":
        return _read_jsonl(content, name)
    frame, origin = read_frame(NamedBytes(content, name), text=None, format=format)
    if origin.lines is None:
        return {column: frame[column].to_list() for column in frame.columns}, origin
    nulls = frame.select(pl.when(pl.all().is_in(MISSING)).then(None).otherwise(pl.all()).name.keep())  # csv has no null
    lines = Origin(name, lambda: [(origin.line(row) or 0) - n_added for row in range(len(frame))])
    return {column: nulls[column].to_list() for column in frame.columns}, lines


def clean(text: str) -> str:
    """Return the text with lone surrogates, from a cut-off JSON escape, replaced.

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


def _read_jsonl(content: bytes, name: str) -> tuple[Columns, Origin]:
    rows: dict[int, dict[str, Any]] = {}  # by line
    for line, text in enumerate(decoded(content, name).split("\n"), start=1):
        if text.strip():
            rows[line] = json_object(text, name, line)
    names = dict.fromkeys(field for row in rows.values() for field in row)
    return {field: [row.get(field) for row in rows.values()] for field in names}, Origin(name, [*rows])


def _find_column(columns: Mapping[str, object], role: str, origin: Origin, given: str | None = None) -> str:
    """Return the column that is given, or the first with a known name."""
    names = NAMES[role] if given is None else (given,)
    found = next((name for name in names if name in columns), None)
    if found is None:
        there = listed([*columns]) or "none"
        raise origin(None, f"no column is the {WHAT[role]}: name it {' or '.join(names)}; the columns are {there}")
    return found


def _ids(columns: Columns, role: str, origin: Origin, given: str | None = None) -> tuple[str, Array]:
    """Return the column of ids and these as text: whole numbers in decimal; an empty one is a mistake."""
    column = _find_column(columns, role, origin, given)
    found = np.empty(len(columns[column]), dtype=object)
    for row, value in enumerate(columns[column]):
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        if isinstance(whole, bool) or not isinstance(whole, str | int) or whole == "":
            came = "nothing" if value is None or value == "" else f"{value!r:.60}"
            raise origin(row, f"expected a {WHAT[role]} in {column!r}, text or a whole number, got {came}")
        found[row] = clean(str(whole))
    return column, found


def _pair_ids(columns: Columns, origin: Origin) -> tuple[Array, Array]:
    """Return the ids of queries and documents; a pair that appears twice is an error."""
    no_id = "query" in columns and not {*columns} & {*NAMES["qid"]}
    qids, docids = _ids(columns, "qid", origin, "query" if no_id else None)[1], _ids(columns, "docid", origin)[1]
    twice = first_repeat(list(zip(qids, docids, strict=True)))
    if twice:
        pair = f"document {docids[twice[1]]!r} of query {qids[twice[1]]!r}"
        raise origin(twice[1], f"{pair} appears twice, first in {origin.row(twice[0])}")
    return qids, docids


def _grade(value: Any, row: int, column: str, origin: Origin) -> int:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number.is_integer():
        raise origin(row, f"expected a whole number in {column!r}, got {value!r:.60}")
    return int(number)


def _cleaned(name: str, values: Sequence[Any], origin: Origin) -> list[Value]:
    return [value if value is None else _clean_value(name, value, row, origin) for row, value in enumerate(values)]


def _clean_value(name: str, value: Any, row: int, origin: Origin) -> Value:
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
                raise origin(row, f"expected finite numbers in the list {name!r}")
            return items
        value = next(item for item in items if not isinstance(item, str))
    elif hasattr(value, "isoformat"):  # a date of Parquet or a data frame
        return str(value.isoformat())
    raise origin(
        row, f"field {name!r} must hold text, a number, or a list of texts or of numbers: it holds {value!r:.60}"
    )


def _strings(name: str, values: Any, size: int) -> Array:
    return np.array([str(value) for value in check_column(name, values, size).tolist()], dtype=object)
