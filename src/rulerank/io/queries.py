"""Queries with their texts: tsv, csv, jsonl, Parquet, a data frame, or TREC topics."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Array
from rulerank.errors import DataError, ReadError
from rulerank.io.convert import NamedBytes
from rulerank.io.delimited import check_utf8
from rulerank.io.streams import read_bytes
from rulerank.io.tables import is_frame
from rulerank.io.texts import (
    Where,
    clean,
    find_column,
    has_no_header,
    id_strings,
    read_columns_of,
    read_two_columns,
    where_said,
)

QID_NAMES = ("qid", "query_id", "query-id", "id", "_id", "topic")
QUERY_NAMES = ("query", "query_text", "text", "title", "q")
TOPIC = re.compile(r"<top>(.*?)</top>", re.S | re.I)
NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)", re.I)
TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*(.*?)\s*(?=<|$)", re.S | re.I)


@dataclass(frozen=True, eq=False)
class Queries:
    """Query ids and what people typed; vectors of queries where a file has them.

    >>> Queries(["1", "2"], ["fresh milk", "cheese"])
    Queries(2 queries)
    """

    ids: Array  # (n_queries,) query ids, text, no two alike
    texts: Sequence[str]  # what was typed, "" for nothing
    vectors: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # field: a list of numbers or None per query

    def __post_init__(self) -> None:
        ids = np.empty(len(self.ids), dtype=object)
        ids[:] = [str(one) for one in self.ids]
        if len(self.texts) != ids.size:
            raise DataError(f"every query needs a text: {ids.size} ids, {len(self.texts)} texts")
        for text in self.texts:
            if not isinstance(text, str):
                raise DataError(f"the text of a query must be text: got {text!r:.60}")
        if len(set(ids.tolist())) < ids.size:
            twice = next(one for one in ids.tolist() if ids.tolist().count(one) > 1)
            raise DataError(f"query ids must differ: {twice!r} is there twice")
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "texts", [clean(text) for text in self.texts])

    def __len__(self) -> int:
        return self.ids.size

    def __repr__(self) -> str:
        return f"Queries({counted(len(self), 'query', 'queries')})"


def read_queries(
    source: Any, *, qid: str | None = None, query: str | None = None, format: str | None = None
) -> Queries:
    """Read queries: a tsv, csv, jsonl or Parquet file with an id and a text, a data frame, or TREC topics.

    The columns are `qid` (or query_id, id) and `query` (or query_text, text, title). A tsv without a header holds
    `id<tab>text`. A query may stand in several lines, as in a file of judgements, if it says the same in all.

    >>> import io
    >>> read_queries(io.BytesIO(b"1\\tfresh milk\\n2\\tcheese\\n")).texts
    ['fresh milk', 'cheese']
    """
    if is_frame(source):
        columns, where = read_columns_of(source, format)
        return _from_columns(columns, where, qid, query)
    content, name = read_bytes(source)
    if format == "topics" or (format is None and b"<top>" in content[:4096].lower()):
        return _read_topics(content, name)
    known = (*QID_NAMES, *QUERY_NAMES)
    if format is None and not (qid or query) and has_no_header(content, name, known, ("", ".tsv", ".txt")):
        columns, where = read_two_columns(content, name, "qid\tquery")
    else:
        columns, where = read_columns_of(NamedBytes(content, name), format)
    return _from_columns(columns, where, qid, query)


def _from_columns(columns: dict[str, list[Any]], where: Where, qid: str | None, query: str | None) -> Queries:
    qid = find_column(columns, qid, QID_NAMES, "qid", "the query id", where)
    others = {name: values for name, values in columns.items() if name != qid}
    query = find_column(others, query, QUERY_NAMES, "query", "the query's text", where)
    ids = id_strings(columns[qid], qid, "a query id", where).tolist()
    first: dict[str, int] = {}
    for row, one in enumerate(ids):
        text = columns[query][row]
        if text is not None and not isinstance(text, str):
            raise where(row, f"expected the query's text in {query!r}, got {text!r:.60}")
        before = first.setdefault(one, row)
        if columns[query][before] != text:
            said = where_said(where, before) or f"row {before}"
            raise where(row, f"query {one!r} has two texts: {text!r:.60}, but {columns[query][before]!r:.60} in {said}")
    rows = [*first.values()]
    vectors = {
        name: [values[row] for row in rows]
        for name, values in others.items()
        if any(isinstance(value, list) for value in values)
    }
    return Queries(np.array([*first], dtype=object), [columns[query][row] or "" for row in rows], vectors)


def _read_topics(content: bytes, name: str) -> Queries:
    check_utf8(content, name)
    text = content.decode("utf-8-sig")
    ids: dict[str, str] = {}
    for topic in TOPIC.finditer(text):
        line = text.count("\n", 0, topic.start()) + 1
        number, title = NUMBER.search(topic[1]), TITLE.search(topic[1])
        if number is None or title is None:
            raise ReadError(name, line, "expected <num> and <title> in a TREC topic")
        if number[1] in ids:
            raise ReadError(name, line, f"topic {number[1]!r} is there twice")
        ids[number[1]] = " ".join(html.unescape(title[1]).split())
    if not ids:
        raise ReadError(name, None, "expected TREC topics, <top> ... </top>: got none that is closed")
    return Queries(np.array([*ids], dtype=object), [*ids.values()])
