"""The pool: documents to be judged, with their features and what a person needs to see of them."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from rulerank.core.words import counted, listed
from rulerank.dataset import UNLABELLED, Array, Dataset, query_index
from rulerank.errors import DataError, ReadError
from rulerank.io.convert import FRAME, read_any
from rulerank.io.doc_names import digest_names
from rulerank.io.formats import detect
from rulerank.io.streams import read_bytes
from rulerank.io.tables import TABLE_FORMATS, is_frame, read_frame, read_table
from rulerank.judging.labels import check_name
from rulerank.judging.views import FeatureValue

# what a task shows, and the columns that are taken for it when they hold text and no other is named
TEXT_COLUMNS = {
    "query_text": ("query_text", "query"),
    "description": ("description", "narrative"),
    "title": ("title",),
    "text": ("text", "body", "abstract"),
    "url": ("url", "link"),
}


class Pool:
    """Documents to be judged; grades that the data hold are not looked at.

    texts: for any of query_text, description, title, text and url one text or None per row of data.
    A document without an id is named after its features, so that labels find it again wherever its row moves.

    >>> pool = Pool(Dataset([[0.5], [0.1]], y=[-1, -1], qid=["q1", "q1"], docid=["a", "b"]), {"title": ["Milk", None]})
    >>> pool
    Pool(2 documents, 1 query, 1 feature, texts: title)
    >>> pool.row("q1", "b"), pool.shown(0)
    (1, {'title': 'Milk'})
    """

    data: Dataset  # query and doc ids are text; no grades
    texts: dict[str, list[str | None]]

    def __init__(self, data: Dataset, texts: Mapping[str, Sequence[str | None]] | None = None) -> None:
        if not len(data):
            raise DataError("expected at least one document to be judged: got none")
        if not data.X.shape[1]:
            raise DataError("a pool needs features, which tell what to judge next: the data have none")
        queries = _names("query", data.qid)
        docs = digest_names(data.X, queries.tolist()) if data.docid is None else _names("doc", data.docid)
        self.rows: dict[tuple[str, str], int] = {}
        for row, pair in enumerate(zip(queries.tolist(), docs.tolist(), strict=True)):
            first = self.rows.setdefault(pair, row)
            if first != row:
                raise DataError(
                    f"a document can be there once per query: {pair[1]!r} of {pair[0]!r} is at rows {first} and {row}"
                )
        self.texts = {}
        for role, texts_of_role in (texts or {}).items():
            if role not in TEXT_COLUMNS:
                raise DataError(f"unknown kind of text {role!r}; choose from {', '.join(TEXT_COLUMNS)}")
            if len(texts_of_role) != len(data):
                raise DataError(f"{role} must have one text per row: expected {len(data)}, got {len(texts_of_role)}")
            self.texts[role] = list(texts_of_role)
        self.data = replace(data, y=np.full(len(data), UNLABELLED), qid=queries, docid=docs)
        self.pairs = list(self.rows)  # (query, doc) of each row
        self.query_numbers, self.queries = query_index(queries)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        n_queries = counted(len(self.queries), "query", "queries")
        n_features = counted(self.data.X.shape[1], "feature")
        texts = ", ".join(self.texts) or "none"
        return f"Pool({counted(len(self), 'document')}, {n_queries}, {n_features}, texts: {texts})"

    def row(self, query: str, doc: str) -> int:
        """Return the row of a document, or say that it is not in the pool."""
        try:
            return self.rows[query, doc]
        except (KeyError, TypeError):
            raise DataError(f"the pool has no document {doc!r:.60} of query {query!r:.60}") from None

    def rows_of(self, query: str) -> Array:
        """Return the rows of a query's documents."""
        return np.flatnonzero(self.data.qid == query)

    def shown(self, row: int) -> dict[str, str]:
        """Return the texts that a row has."""
        texts = ((role, texts[row]) for role, texts in self.texts.items())
        return {role: text for role, text in texts if text}

    def feature_values(self, row: int) -> list[FeatureValue]:
        """Return a document's features, each with how many percent of the pool's values lie below."""
        X, values = self.data.X, self.data.X[row]
        n_known = np.maximum(1, (~np.isnan(X)).sum(axis=0))
        below = np.less(X, values).sum(axis=0) + np.equal(X, values).sum(axis=0) / 2
        return [
            FeatureValue(name, None, None) if np.isnan(value) else FeatureValue(name, float(value), float(share))
            for name, value, share in zip(
                self.data.feature_names, values, (100 * below / n_known).round(1), strict=True
            )
        ]


def read_pool(
    source: Any,
    *,
    query_text: str | None = None,
    description: str | None = None,
    title: str | None = None,
    text: str | None = None,
    url: str | None = None,
    qid: str = "qid",
    docid: str = "docid",
    features: Sequence[str] | None = None,
    format: str | None = None,
) -> Pool:
    """Read the documents to be judged: LETOR text, or a table (csv, tsv, parquet, data frame) that may hold texts too.

    The options name columns. A column of text called query, description, title, text, body, abstract or url is taken
    when no other is named; see TEXT_COLUMNS.

    >>> table = io.BytesIO(b"qid,docid,title,bm25\\n7,a,Fresh milk,0.5\\n7,b,Cheese,0.1\\n")
    >>> read_pool(table, format="csv")
    Pool(2 documents, 1 query, 1 feature, texts: title)
    """
    options = {"query_text": query_text, "description": description, "title": title, "text": text, "url": url}
    named = {role: column for role, column in options.items() if column is not None}
    if is_frame(source):
        content, name, format = source, FRAME, FRAME
    else:
        content, name = read_bytes(source)
        format = format or detect(name, content[: 1 << 16])
        if format == "quepid":  # a csv whose columns are query, docid and rating
            format = "csv"
    if format not in (FRAME, *TABLE_FORMATS):
        if named:
            raise ReadError(name, None, f"only tables have named columns ({', '.join(named)}): this is {format}")
        return _named_pool(read_any(Named(content, name), format), {}, name)

    def again() -> Any:
        return content if format == FRAME else Named(content, name)

    table_format = None if format == FRAME else format
    frame, mistake = read_frame(
        again(), text={qid, docid, "grade", "comment", *named.values()}, numeric=features or (), format=table_format
    )
    for role, column in named.items():
        if column not in frame.columns:
            raise mistake(
                None,
                f"there is no column {column!r}; the columns are {listed(frame.columns)}; "
                f"name the column of the {role.replace('_', ' ')} "
                f"({role}=..., on the command line --{role.replace('_', '-')} ...)",
            )
    chosen = named | _automatic(frame, {qid, docid, "grade", *(features or ())}, named)
    if features is None:
        features = _features(frame.drop({qid, docid, "grade", "comment", *chosen.values()}, strict=False))
    data = read_table(again(), qid=qid, docid=docid, features=features, format=table_format)
    texts = {role: _texts(frame[column]) for role, column in chosen.items()}
    return _named_pool(data, texts, name)


class Named(io.BytesIO):
    """Content that is read already, under the name it had."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def _named_pool(data: Dataset, texts: dict[str, list[str | None]], name: str) -> Pool:
    try:
        return Pool(data, texts)
    except DataError as error:
        raise ReadError(name, None, str(error)) from None


def _automatic(frame: pl.DataFrame, taken: set[str], named: Mapping[str, str]) -> dict[str, str]:
    free = [c for c in frame.columns if c not in taken | set(named.values()) and frame[c].dtype == pl.String]
    found = {role: next((c for c in columns if c in free), None) for role, columns in TEXT_COLUMNS.items()}
    return {role: column for role, column in found.items() if column is not None and role not in named}


def _features(others: pl.DataFrame) -> list[str]:
    numbers = [c for c, dtype in others.schema.items() if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)]
    left_out = [repr(column) for column in others.columns if column not in numbers]
    if left_out:
        warnings.warn(
            f"columns left out because they hold neither numbers nor known texts: {', '.join(left_out)}", stacklevel=3
        )
    return numbers


def _texts(column: pl.Series) -> list[str | None]:
    return [text or None for text in column.cast(pl.String).to_list()]


def _names(kind: str, ids: Array) -> Array:
    names = np.empty(ids.size, dtype=object)
    for row, value in enumerate(ids.tolist()):
        try:
            names[row] = check_name(kind, str(value))
        except DataError as error:
            raise DataError(f"row {row}: {error}") from None
    return names
