"""The pool: documents to judge, with their features and texts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from rulerank._util.words import counted, listed
from rulerank.dataset import UNLABELLED, Array, Dataset, doc_name, has_contrast, query_index
from rulerank.errors import DataError, ReadError
from rulerank.io.columns import doc_keys, first_rows, is_frame, named_row
from rulerank.io.files import NamedBytes, read_bytes
from rulerank.io.formats import FRAME, HEAD, detect, read_any
from rulerank.io.frames import FIELD, TABLE_FORMATS, read_frame
from rulerank.io.tables import MARKED_COLUMNS, TEXT_COLUMNS, feature_columns, read_table
from rulerank.judging.labels import JudgingTask, ShownField, check_name

MONEY = re.compile(r"(^|[^a-z])(price|cost|amount|fee|eur|usd|gbp)([^a-z]|$)", re.IGNORECASE)
GROUPED = 10_000  # whole numbers from here on get commas; years do not


def field_text(name: str, value: Any) -> str | None:
    """Format a value for people; None if there is nothing to show.

    >>> field_text("price", 24.9), field_text("reviews", 12400.0), field_text("year", 2019), field_text("rating", 4.25)
    ('24.90', '12,400', '2019', '4.25')
    >>> field_text("in_stock", True), field_text("brand", "Aldermoor"), field_text("rating", float("nan"))
    ('yes', 'Aldermoor', None)
    >>> field_text("genres", ["Horror", "Comedy"]), field_text("genres", [])
    ('Horror, Comedy', None)
    """
    if value is None:
        return None
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number):
        value = float(value)
        if not math.isfinite(value):
            return None
        if MONEY.search(name):
            return f"{value:,.2f}"
        whole = value == int(value)
        return f"{value:,.0f}" if whole and abs(value) >= GROUPED else f"{value:.0f}" if whole else f"{value:.3g}"
    if isinstance(value, list | tuple | np.ndarray):
        texts = (field_text(name, one) for one in value)
        return ", ".join(text for text in texts if text is not None) or None
    return str(value).strip() or None


class Pool:
    """Documents to judge.

    texts: for any of query_text, description, title, text and url one text or None per row of data.
    fields: more values to show, such as a brand or a price: by name one value or None per row.
    name: used in messages, such as the file name.
    log: for a table with clicks, its rows, one per position of a document.
    A document without an id gets a key made of its features and is shown by its row number (see `io.columns`).
    Grades of the data are kept in `own_grades`, for simulations; raters do not see them.

    >>> pool = Pool(Dataset([[0.5], [0.1]], y=[-1, 1], qid=["q1", "q1"], docid=["a", "b"]), {"title": ["Milk", None]})
    >>> pool
    Pool(2 documents, 1 query, 1 feature, texts: title)
    >>> pool.row("q1", "b"), pool.shown(0), pool.own_grades
    (1, {'title': 'Milk'}, {1: 1})
    """

    data: Dataset  # query ids and document keys are text; no grades
    texts: dict[str, list[str | None]]
    names: list[str]  # display name of each document

    def __init__(
        self,
        data: Dataset,
        texts: Mapping[str, Sequence[str | None]] | None = None,
        *,
        fields: Mapping[str, Sequence[Any]] | None = None,
        name: str = "the pool",
        names: Sequence[str] | None = None,
        log: Dataset | None = None,
    ) -> None:
        if not len(data):
            raise DataError("expected at least one document to judge: got none")
        if not data.X.shape[1]:
            raise DataError("a pool needs features to sample by: the data has none")
        queries, docs = _checked("query", [str(query) for query in data.qid]), _checked("doc", doc_keys(data).tolist())
        self.rows: dict[tuple[str, str], int] = {}
        for row, pair in enumerate(zip(queries.tolist(), docs.tolist(), strict=True)):
            first = self.rows.setdefault(pair, row)
            if first != row:
                raise DataError(
                    f"document {pair[1]!r} of query {pair[0]!r} is given twice, in rows {first + 1} and {row + 1}: "
                    "labels need unique ids"
                )
        self.texts = {}
        for role, texts_of_role in (texts or {}).items():
            if role not in TEXT_COLUMNS:
                raise DataError(f"unknown kind of text {role!r}; choose from {', '.join(TEXT_COLUMNS)}")
            if len(texts_of_role) != len(data):
                raise DataError(f"{role} must have one text per row: expected {len(data)}, got {len(texts_of_role)}")
            self.texts[role] = list(texts_of_role)
        self.fields = {field: list(values) for field, values in (fields or {}).items()}
        for field, values in self.fields.items():
            if len(values) != len(data):
                raise DataError(f"field {field!r} must have one value per row: expected {len(data)}, got {len(values)}")
        self.name, self.log = name, log
        self.names = [doc_name(data, row) for row in range(len(data))] if names is None else list(names)
        graded = np.flatnonzero(data.y != UNLABELLED)
        self.own_grades = dict(zip(graded.tolist(), data.y[graded].tolist(), strict=True))
        self.data = replace(data, y=np.full(len(data), UNLABELLED), qid=queries, docid=docs)
        self.pairs = list(self.rows)  # (query, key) of each row
        self.query_numbers, self.queries = query_index(queries)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        n_queries = counted(len(self.queries), "query", "queries")
        n_features = counted(self.data.X.shape[1], "feature")
        texts = ", ".join(self.texts) or "none"
        return f"Pool({counted(len(self), 'document')}, {n_queries}, {n_features}, texts: {texts})"

    def row(self, query: str, doc: str) -> int:
        """Return the row of a document, which must be in the pool."""
        try:
            return self.rows[query, doc]
        except (KeyError, TypeError):
            raise DataError(f"the pool has no document {doc!r:.60} of query {query!r:.60}") from None

    def find(self, query: str, doc: str) -> int | None:
        """Return the row of a document by its key or, if documents have no ids, by its display name."""
        row = self.rows.get((query, doc))
        if row is None and named_row(doc) is not None:
            row = self._rows_by_name.get((query, doc.removeprefix("row").strip()))
        return row

    @cached_property
    def _rows_by_name(self) -> dict[tuple[str, str], int]:
        """The row of each document without an id, by its query and row number."""
        named = ((pair[0], name, row) for row, (pair, name) in enumerate(zip(self.pairs, self.names, strict=True)))
        return {(query, name.removeprefix("row ")): row for query, name, row in named if name != self.pairs[row][1]}

    def only(self, rows: Sequence[int]) -> Pool:
        """Return a pool of some of the documents, in this order, with the same display names."""
        texts = {role: [texts[row] for row in rows] for role, texts in self.texts.items()}
        fields = {field: [values[row] for row in rows] for field, values in self.fields.items()}
        names = [self.names[row] for row in rows]
        return Pool(self.data[list(rows)], texts, fields=fields, name=self.name, names=names)

    def graded(self, grades: Mapping[int, int]) -> Dataset:
        """Return all documents, with only these grades by row."""
        y = np.full(len(self), UNLABELLED)
        y[[*grades]] = [*grades.values()]
        return replace(self.data, y=y, base=None)  # the recall base belongs to other judgements

    def has_contrast(self, grades: Mapping[int, int]) -> bool:
        """Return whether any query has two different grades, which training needs."""
        return has_contrast(np.array([*grades.values()]), self.query_numbers[[*grades]])

    def rows_of(self, query: str) -> Array:
        """Return the rows of a query's documents."""
        return np.flatnonzero(self.data.qid == query)

    def rows_in(self, pairs: Iterable[tuple[str, str]]) -> set[int]:
        """Return the rows of those (query, doc) pairs that are in the pool."""
        return {self.rows[pair] for pair in pairs if pair in self.rows}

    def shown(self, row: int) -> dict[str, Any]:
        """Return the texts of a row; without a title and an id, the title is the display name."""
        shown: dict[str, Any] = {} if self.names[row] == self.pairs[row][1] else {"title": self.names[row]}
        shown |= {role: text for role, texts in self.texts.items() if (text := texts[row])}
        texts = ((name, field_text(name, values[row])) for name, values in self.fields.items())
        fields = tuple(ShownField(name, text) for name, text in texts if text is not None)
        return shown | ({"fields": fields} if fields else {})

    def task(self, row: int) -> JudgingTask:
        """Return a document as raters see it."""
        return JudgingTask(*self.pairs[row], **self.shown(row))

    def query_text(self, query: str) -> str | None:
        """Return the text of a query, if the pool has it."""
        text: str | None = self.shown(int(self.rows_of(query)[0])).get("query_text")
        return text


def read_pool(
    source: Any,
    *,
    show: Sequence[str] = (),
    qid: str | None = None,
    docid: str | None = None,
    grade: str | None = None,
    features: Sequence[str] | None = None,
    format: str | None = None,
) -> Pool:
    """Read the documents to judge: LETOR text, or a table (csv, tsv, parquet, data frame) with optional texts.

    Text columns named query, description, title, text, body, abstract or url are shown as such (TEXT_COLUMNS).
    show: more columns to show to raters, of text or numbers, features or not; author also finds the column
    author:field. From a table with clicks, with one row per position, the pool takes each document once.

    >>> import io
    >>> table = io.BytesIO(b"qid,docid,title,bm25\\n7,a,Fresh milk,0.5\\n7,b,Cheese,0.1\\n")
    >>> read_pool(table, format="csv")
    Pool(2 documents, 1 query, 1 feature, texts: title)
    """
    if is_frame(source):
        content, name, format = source, FRAME, FRAME
    else:
        content, name = read_bytes(source)
        format = format or detect(name, content[:HEAD])
    ids = {"qid": qid, "docid": docid, "grade": grade}
    if format not in (FRAME, *TABLE_FORMATS):
        given = [role for role, column in (ids | {"features": features, "show": show}).items() if column]
        if given:
            raise ReadError(name, None, f"only tables have named columns ({', '.join(given)}): this is {format}")
        return _named_pool(read_any(NamedBytes(content, name), format), {}, name)
    columns: dict[str, Any] = {role: column or role for role, column in ids.items()}
    own = set(columns.values())

    def again() -> Any:
        return content if format == FRAME else NamedBytes(content, name)

    table_format = None if format == FRAME else format
    frame, mistake = read_frame(again(), text={*own, "comment"}, numeric=features or (), format=table_format)
    shown = {name: f"{name}{FIELD}" if f"{name}{FIELD}" in frame.columns else name for name in show}
    for column in shown.values():
        if column not in frame.columns:
            what = f"there is no column {column!r}; the columns are {listed(frame.columns)}"
            raise mistake(None, f"{what}; name a column to show (show=..., on the command line --show ...)")
    if columns["grade"] in show:
        raise mistake(None, f"raters must not see grades: the column {columns['grade']!r} cannot be shown")
    free = [c for c in frame.columns if c not in {*own, *(features or ())} and frame[c].dtype == pl.String]
    usual = {role: next((c for c in columns if c in free), None) for role, columns in TEXT_COLUMNS.items()}
    chosen = {role: column for role, column in usual.items() if column is not None}
    if features is None and "" not in frame.columns:  # which `read_table` refuses
        not_numbers = [column for column in shown.values() if frame[column].dtype == pl.String]
        not_numbers += [column for column in frame.columns if column.endswith(FIELD)]
        others = frame.drop({*own, "comment", *MARKED_COLUMNS, *chosen.values(), *not_numbers}, strict=False)
        features = feature_columns(others, else_hold="hold neither numbers nor known texts")
    data = read_table(again(), **columns, features=features, format=table_format)
    texts = {role: [text or None for text in frame[column].to_list()] for role, column in chosen.items()}
    return _named_pool(data, texts, name, {field: frame[column].to_list() for field, column in shown.items()})


def _named_pool(
    data: Dataset, texts: dict[str, list[str | None]], name: str, fields: dict[str, list[Any]] | None = None
) -> Pool:
    log, fields = None, fields or {}
    if data.impressions is not None:
        log, rows = data, first_rows(data)
        data = replace(data, impressions=None)[rows]
        texts, fields = (
            {column: [values[row] for row in rows] for column, values in of.items()} for of in (texts, fields)
        )
    try:
        return Pool(data, texts, fields=fields, name=name, log=log)
    except DataError as error:
        raise ReadError(name, None, str(error)) from None


def _checked(kind: str, ids: Sequence[str]) -> Array:
    names = np.empty(len(ids), dtype=object)
    names[:] = ids
    for name in dict.fromkeys(ids):  # each once: a query has many rows
        try:
            check_name(kind, name)
        except DataError as error:
            raise DataError(f"row {ids.index(name) + 1}: {error}") from None
    return names
