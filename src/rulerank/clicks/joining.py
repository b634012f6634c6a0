"""Find the documents of a click log in a pool: by the query's id or by its text."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.io.table_columns import TEXT_COLUMNS
from rulerank.shown import Shown

WAYS = ("id", "text")
ABSENT = -1


@dataclass(frozen=True, eq=False)
class Match:
    """Where the rows of a log's counts stand in a pool."""

    counts: pl.DataFrame  # query, doc, position (and device), impressions, clicks
    rows: Array  # int64 (n_counts,) the row of the pool, -1: not there
    queries: Array  # int64 (n_counts,) the number of the pool's query, -1: not there
    by: str  # "id" or "text"

    def joined(self, pool: Dataset) -> Dataset:
        """Return the pool's rows that were shown, one per position."""
        keys = ["row", "position", *(["device"] if "device" in self.counts.columns else [])]
        found = (
            self.counts.with_columns(pl.Series("row", self.rows))
            .filter(pl.col("row") != ABSENT)
            .group_by(keys)  # two texts of the log may be one query of the pool
            .agg(pl.col("impressions", "clicks").sum())
            .sort(keys)
        )
        device = np.array(found["device"].to_list(), dtype=object) if "device" in keys else None
        shown = Shown(found["position"].to_numpy(), found["impressions"].to_numpy(), found["clicks"].to_numpy(), device)
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
