"""Impressions and clicks of documents at positions, added up, and the join with a pool: what a click log becomes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from rulerank.core.words import counted
from rulerank.dataset import Array, Dataset, Shown, query_index
from rulerank.errors import DataError
from rulerank.io.tables import TEXT_COLUMNS

KEYS = ("query", "doc", "position")
COUNTS = ("impressions", "clicks")
WAYS = ("id", "text")  # in which a log names queries
ABSENT = -1


@dataclass(frozen=True, eq=False, repr=False)
class ClickCounts:
    """One row per query, document and position, sorted by them: how often it was shown there, and clicked.

    `read_clicks` makes it, of files or a data frame. The columns of `table`: `query` and `doc` (text; a query is its
    id, or what was typed), `position` (from 1, the top), `impressions` (from 1) and `clicks` (from 0 to the
    impressions).

    >>> import rulerank as rr
    >>> log = {"query": ["q1", "q1"], "doc": ["a", "b"], "position": [1, 2], "impressions": [9, 9], "clicks": [3, 1]}
    >>> rr.read_clicks(pl.DataFrame(log))
    ClickCounts(1 query, 2 documents, 2 positions, 18 impressions, 4 clicks)
    """

    table: pl.DataFrame  # as Polars holds it: without a Python object per cell, a large log fits

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        sums = self.table.select(pl.col(*COUNTS).sum()).row(0)
        n_queries, n_positions = self.table["query"].n_unique(), self.table["position"].n_unique()
        return (
            f"ClickCounts({counted(n_queries, 'query', 'queries')}, "
            f"{counted(self.table.select('query', 'doc').n_unique(), 'document')}, "
            f"{counted(n_positions, 'position')}, {counted(sums[0], 'impression')}, {counted(sums[1], 'click')})"
        )

    def match(self, pool: Dataset, *, by: str | None = None) -> Match:
        """Return where each row's document stands in the pool; `by` as in `join`."""
        return match_pool(self.table, pool, by)

    def join(self, pool: Dataset, *, by: str | None = None) -> Dataset:
        """Return the pool's documents that were shown, one row per position, in the pool's order.

        Each row carries the pool's features, grade and texts, and `shown`: its position, impressions and clicks.
        Documents of the log that the pool does not hold are left out; `rulerank clicks` says how many.

        by: "id" where the log names queries as the pool's qid does, "text" where it holds what was typed and the pool
            has that as query_text or query; None takes the one by which more impressions are found.

        >>> import rulerank as rr
        >>> pool = Dataset([[0.5], [0.1]], [-1, -1], ["q", "q"], docid=["a", "b"])
        >>> log = pl.DataFrame({"query": ["q", "q"], "doc": ["a", "a"], "position": [1, 2], "clicked": [1, 0]})
        >>> rr.read_clicks(log).join(pool)
        Dataset(2 rows, 1 query, 1 feature, grades not labelled: 2, 2 impressions, 1 click)
        """
        return self.match(pool, by=by).joined(pool)


@dataclass(frozen=True, eq=False)
class Match:
    """Where the rows of a log's counts stand in a pool."""

    counts: pl.DataFrame  # query, doc, position, impressions, clicks
    rows: Array  # int64 (n_counts,) the row of the pool, -1: not there
    queries: Array  # int64 (n_counts,) the number of the pool's query, -1: not there
    by: str  # "id" or "text"

    def joined(self, pool: Dataset) -> Dataset:
        """Return the pool's rows that were shown, one per position."""
        found = (
            self.counts.with_columns(pl.Series("row", self.rows))
            .filter(pl.col("row") != ABSENT)
            .group_by("row", "position")  # two texts of the log may be one query of the pool
            .agg(pl.col(*COUNTS).sum())
            .sort("row", "position")
        )
        shown = Shown(*(found[name].to_numpy() for name in ("position", *COUNTS)))
        return replace(replace(pool, shown=None)[found["row"].to_numpy()], shown=shown)


def match_pool(counts: pl.DataFrame, pool: Dataset, by: str | None = None) -> Match:
    """Return where the rows of counts stand in the pool.

    by: "id", "text", or None: the way by which more impressions are found.
    """
    if by is not None and by not in WAYS:
        raise DataError(f"by must be id, text or None: got {by!r}")
    if pool.docid is None:
        raise DataError("the pool has no document ids, by which a log names documents: give it a column docid")
    texts = query_texts(pool)
    if by == "text" and texts is None:
        raise DataError("the pool has no texts of queries: give it a column query_text, or join by the queries' ids")
    if by is None and texts is None:
        by = "id"
    ways = [by] if by else [*WAYS]
    found = {way: _match(counts, pool, way, texts) for way in ways}
    best = max(ways, key=lambda way: int(counts["impressions"].filter(found[way].rows != ABSENT).sum()))
    if (found[best].rows == ABSENT).all():
        raise DataError(_nothing_found(counts, pool, texts, ways, found[best]))
    return found[best]


def query_texts(pool: Dataset) -> Array | None:
    """Return the text of each row's query, None where the pool has none."""
    return next((pool.texts[name] for name in TEXT_COLUMNS["query_text"] if name in pool.texts), None)


def folded(text: str) -> str:
    """Return a query as it is compared: without the case and with single spaces.

    >>> folded("  Green  TENT ")
    'green tent'
    """
    return " ".join(text.casefold().split())


def _match(counts: pl.DataFrame, pool: Dataset, way: str, texts: Array | None) -> Match:
    numbers, ids = query_index(pool.qid)
    name_of = {str(one): number for number, one in enumerate(ids)}
    if way == "text":
        assert texts is not None
        name_of = _numbers_of_texts(numbers, ids, texts)
    asked = counts["query"].unique().to_list()
    number_of = {one: name_of.get(folded(one) if way == "text" else one, ABSENT) for one in asked}
    queries = np.array([number_of[one] for one in counts["query"].to_list()], dtype=np.int64)
    assert pool.docid is not None
    docs = pl.DataFrame({"number": numbers, "doc": [str(one) for one in pool.docid], "row": np.arange(len(pool))})
    twice = docs.filter(docs.select("number", "doc").is_duplicated())
    if len(twice):
        query = ids[twice["number"][0]]
        raise DataError(
            f"the pool holds document {twice['doc'][0]!r} of query {str(query)!r} more than once: "
            "join a log to a pool with one row per query and document"
        )
    asked_for = counts.select("doc").with_columns(pl.Series("number", queries))
    rows = asked_for.join(docs, on=["number", "doc"], how="left", maintain_order="left")["row"]
    return Match(counts, rows.fill_null(ABSENT).to_numpy(), queries, way)


def _numbers_of_texts(numbers: Array, ids: Array, texts: Array) -> dict[str, int]:
    number_of: dict[str, int] = {}
    for number, text in dict.fromkeys(zip(numbers.tolist(), texts.tolist(), strict=True)):
        if text is None:
            continue
        other = number_of.setdefault(folded(text), number)
        if other != number:
            raise DataError(
                f"two queries of the pool, {str(ids[other])!r} and {str(ids[number])!r}, have the text {text!r}: "
                "join by the queries' ids, or take one of the two out of the pool"
            )
    return number_of


def _nothing_found(counts: pl.DataFrame, pool: Dataset, texts: Array | None, ways: list[str], found: Match) -> str:
    log = f"the log has query {counts['query'][0]!r} with document {counts['doc'][0]!r}"
    assert pool.docid is not None
    query = "" if texts is None or "text" not in ways else f" ({texts[0]!r})"
    what = "documents are" if (found.queries != ABSENT).any() else "queries are"
    return (
        f"none of the log's {what} in the pool: {log}, the pool has query {str(pool.qid[0])!r}{query} "
        f"with document {str(pool.docid[0])!r}; both must use the same ids"
    )
