"""Pairs of queries and documents beside texts: judgements in any form, and what an engine returned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Array, check_column
from rulerank.errors import DataError
from rulerank.io.convert import NamedBytes
from rulerank.io.formats import HEAD, sniff
from rulerank.io.other_tools import fraction_hint
from rulerank.io.queries import QID_NAMES
from rulerank.io.streams import read_bytes
from rulerank.io.tables import is_frame
from rulerank.io.texts import Where, find_column, id_strings, read_columns_of, where_said
from rulerank.io.trec import Qrels, read_qrels, read_run

DOCID_NAMES = ("docid", "doc_id", "docno", "document_id", "corpus-id")
GRADE_NAMES = ("grade", "rating", "relevance", "label", "score")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Documents of queries, such as an engine returned them, with their ranks and scores where these are known.

    >>> Pairs(["q1", "q1"], ["a", "b"], rank=[1, 2])
    Pairs(2 pairs, with engine_rank)
    """

    qid: Array
    docid: Array
    rank: Array | None = None  # float64, from 1
    score: Array | None = None  # float64, NaN = not known

    def __post_init__(self) -> None:
        for name in ("qid", "docid"):
            column = check_column(name, getattr(self, name), len(self.qid))
            strings = np.empty(column.size, dtype=object)
            strings[:] = [str(one) for one in column.tolist()]
            object.__setattr__(self, name, strings)
        for name in ("rank", "score"):
            values = getattr(self, name)
            if values is not None:
                object.__setattr__(self, name, check_column(name, values, len(self.qid)).astype(np.float64))
        seen = set(zip(self.qid.tolist(), self.docid.tolist(), strict=True))
        if len(seen) < len(self):
            raise DataError("a document can be there once per query: a pair is there twice")

    def __len__(self) -> int:
        return self.qid.size

    def __repr__(self) -> str:
        known = [f"engine_{name}" for name in ("rank", "score") if getattr(self, name) is not None]
        return f"Pairs({counted(len(self), 'pair')}{', with ' + ' and '.join(known) if known else ''})"


def read_judgements(source: Any, *, format: str | None = None) -> Qrels:
    """Read judgements: TREC qrels, or a csv, tsv, jsonl or Parquet table with columns qid, docid and grade.

    >>> import io
    >>> read_judgements(io.BytesIO(b"query_id\\tquery\\tdoc_id\\tgrade\\n1\\tmilk\\td7\\t2\\n")).grade.tolist()
    [2]
    """
    columns, where = _columns(source, format, "qrels")
    if columns is None:
        return read_qrels(source if where is None else where)
    qids, docids = _ids(columns, where)
    column = find_column(columns, None, GRADE_NAMES, "grade", "the grade", where)
    grades = [_number(value, row, column, where, whole=True) for row, value in enumerate(columns[column])]
    _check_once(qids, docids, where)
    return Qrels(qids, docids, np.array(grades, dtype=np.int32))


def read_pairs(source: Any, *, format: str | None = None) -> Pairs:
    """Read which documents to compute features of: a TREC run, or a table with qid, docid and maybe rank and score.

    >>> import io
    >>> read_pairs(io.BytesIO(b"q1 Q0 d7 1 12.5 solr\\nq1 Q0 d8 2 11.0 solr\\n")).rank.tolist()
    [1.0, 2.0]
    """
    columns, where = _columns(source, format, "run")
    if columns is None:
        run = read_run(source if where is None else where)
        return Pairs(run.qid, run.docid, run.ranks(), run.score)
    qids, docids = _ids(columns, where)
    _check_once(qids, docids, where)
    known = {
        name: np.array([_number(v, row, name, where) for row, v in enumerate(columns[name])])
        for name in ("rank", "score")
        if name in columns
    }
    return Pairs(qids, docids, **known)


def _columns(source: Any, format: str | None, trec: str) -> tuple[dict[str, list[Any]] | None, Any]:
    """Return the columns of a table and its errors, or None and the source when it is a TREC file."""
    if is_frame(source):
        return read_columns_of(source, format)
    content, name = read_bytes(source)
    if format == trec or (format is None and sniff(content[:HEAD]) == trec and b"{" not in content[:1]):
        return None, NamedBytes(content, name)
    return read_columns_of(NamedBytes(content, name), format)


def _ids(columns: dict[str, list[Any]], where: Where) -> tuple[Array, Array]:
    qid = find_column(columns, None, (*QID_NAMES, "query"), "qid", "the query id", where)
    docid = find_column(columns, None, DOCID_NAMES, "docid", "the document id", where)
    return id_strings(columns[qid], qid, "a query id", where), id_strings(columns[docid], docid, "a document id", where)


def _check_once(qids: Array, docids: Array, where: Where) -> None:
    first: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(zip(qids.tolist(), docids.tolist(), strict=True)):
        before = first.setdefault(pair, row)
        if before != row:
            said = where_said(where, before) or f"row {before}"
            raise where(row, f"document {pair[1]!r} of query {pair[0]!r} is there twice, first in {said}")


def _number(value: Any, row: int, column: str, where: Where, *, whole: bool = False) -> float:
    try:
        number = float("nan") if value is None and not whole else float(value)
    except (TypeError, ValueError):
        number = float("inf")
    if abs(number) == float("inf") or (whole and not number.is_integer()):
        what = "a whole number" if whole else "a number"
        hint = fraction_hint(value, f"(pl.col({column!r}) * 2).round() in Polars") if whole else ""
        raise where(row, f"expected {what} in {column!r}, got {value!r:.60}{hint}")
    return number
