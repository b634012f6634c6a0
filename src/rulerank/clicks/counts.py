"""Impressions and clicks of documents at positions: read from a log, added up, and joined with a pool.

Rows of a log that cannot be right are counted and named.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from rulerank._util.parameters import is_whole
from rulerank._util.words import counted, listed
from rulerank.clicks.log import Log, LogFile, find_columns, naming, text, whole, zero_or_one
from rulerank.dataset import LOWEST, MOST, Array, Dataset, Impressions, check_total, query_index
from rulerank.errors import DataError
from rulerank.io.tables import TEXT_COLUMNS

KEYS = ("query", "doc", "position")
COUNTS = ("impressions", "clicks")
WAYS = ("id", "text")  # in which a log names queries
ABSENT = -1


@dataclass(frozen=True, eq=False, repr=False)
class ClickCounts:
    """One row per query, document and position, sorted by them: how often it was shown there, and clicked.

    `read_clicks` creates it from files or a data frame. The columns of `table`: `query` and `doc` (text; a query is its
    id, or what was typed), `position` (from 1, the top), `impressions` (from 1) and `clicks` (from 0 to the
    impressions).

    >>> import rulerank as rr
    >>> log = {"query": ["q1", "q1"], "doc": ["a", "b"], "position": [1, 2], "impressions": [9, 9], "clicks": [3, 1]}
    >>> rr.clicks.read_clicks(pl.DataFrame(log))
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

    def match(self, pool: Dataset) -> Match:
        """Return the row of each document in the pool."""
        return match_pool(self.table, pool)

    def join(self, pool: Dataset) -> Dataset:
        """Return the pool's documents that were shown, one row per position, in the pool's order.

        Each row carries the pool's features, grade and texts, and `shown`: its position, impressions and clicks.
        Documents of the log that are not in the pool are left out; `rulerank clicks` prints how many. The log has the
        pool's query ids, or the typed queries that the pool has as query_text or query: whichever finds more.

        >>> import rulerank as rr
        >>> pool = Dataset([[0.5], [0.1]], [-1, -1], ["q", "q"], docid=["a", "b"])
        >>> log = pl.DataFrame({"query": ["q", "q"], "doc": ["a", "a"], "position": [1, 2], "clicked": [1, 0]})
        >>> rr.clicks.read_clicks(log).join(pool)
        Dataset(2 rows, 1 query, 1 feature, grades not labelled: 2, 2 impressions, 1 click)
        """
        return self.match(pool).joined(pool)


@dataclass(frozen=True, eq=False)
class Match:
    """The rows of a pool that a log's counts belong to."""

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
        shown = Impressions(*(found[name].to_numpy() for name in ("position", *COUNTS)))
        return replace(replace(pool, impressions=None)[found["row"].to_numpy()], impressions=shown)


def match_pool(counts: pl.DataFrame, pool: Dataset) -> Match:
    """Return the rows of the pool that counts belong to, by query id or text: whichever finds more impressions."""
    if pool.docid is None:
        raise DataError("the pool has no document ids, which are needed to join the log: add a column docid")
    texts = query_texts(pool)
    ways = WAYS if texts is not None else WAYS[:1]
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
    for number, typed in dict.fromkeys(zip(numbers.tolist(), texts.tolist(), strict=True)):
        if typed is None:
            continue
        other = number_of.setdefault(folded(typed), number)
        if other != number:
            raise DataError(
                f"two queries of the pool, {str(ids[other])!r} and {str(ids[number])!r}, have the text {typed!r}: "
                "remove one of the two, or the column of query texts, from the pool"
            )
    return number_of


def _nothing_found(counts: pl.DataFrame, pool: Dataset, texts: Array | None, ways: Sequence[str], found: Match) -> str:
    log = f"the log has query {counts['query'][0]!r} with document {counts['doc'][0]!r}"
    assert pool.docid is not None
    query = "" if texts is None or "text" not in ways else f" ({texts[0]!r})"
    what = "documents are" if (found.queries != ABSENT).any() else "queries are"
    return (
        f"none of the log's {what} in the pool: {log}, the pool has query {str(pool.qid[0])!r}{query} "
        f"with document {str(pool.docid[0])!r}; both must use the same ids"
    )


ABOVE_THE_TOP = "whose position is above the top"
KINDS = {  # what may be wrong with a row, in the order in which it is looked for, as SQL
    "without a query": "query IS NULL",
    "without a document": "doc IS NULL",
    "whose position is not a whole number": "position IS NULL",
    ABOVE_THE_TOP: "position < 1",
    f"whose position is larger than {LOWEST:,}": f"position > {LOWEST}",
    f"where clicked is neither 0 nor 1, or impressions or clicks are not whole numbers from 0 to {MOST:,}": (
        f"coalesce(impressions NOT BETWEEN 0 AND {MOST} OR clicks NOT BETWEEN 0 AND {MOST}, true)"
    ),
    "with more clicks than impressions": "clicks > impressions",
}
WRONG = f"CASE {' '.join(f'WHEN {test} THEN {kind}' for kind, test in enumerate(KINDS.values()))} END"


def read_clicks(
    sources: Any,
    *,
    columns: Mapping[str, str] | None = None,
    first_position: int = 1,
    skip_bad: bool = False,
    format: str | None = None,
) -> ClickCounts:
    """Read and aggregate a click log: impressions and clicks of each document of a query by position.

    The log is a csv, tsv, jsonl or Parquet file (compressed ones, too), a folder or pattern of them, a data frame, or
    several. A row is one impression with `clicked` 0 or 1, or a sum with `impressions` and `clicks`. Columns are
    recognised by common names (qid, docid, rank, ...), or named here. DuckDB aggregates it on disk.

    Parameters
    ----------
    sources: the log.
    columns: names of the columns query, doc, position, clicked, impressions or clicks, if not recognised:
        {"query": "search term", "doc": "sku"}.
    first_position: number of the top position in the log, 1 or 0.
    skip_bad: leave out invalid rows, with a warning that counts them, instead of an error.
    format: csv, tsv, jsonl or parquet; by default from the file name.

    >>> import io
    >>> read_clicks(io.StringIO("qid,docid,rank,clicked\\nq1,a,1,1\\nq1,b,2,0\\nq1,a,1,0\\n")).table.rows()
    [('q1', 'a', 1, 2, 1), ('q1', 'b', 2, 1, 0)]
    """
    if not is_whole(first_position, 0, 1):
        raise DataError(f"first_position must be 1, or 0 if the log counts from 0: got {first_position!r}")
    with Log(sources, format) as log:
        rows = [_rows(file, columns, first_position) for file in log.files]
        keys = ", ".join(f"CASE WHEN wrong IS NULL THEN {name} END AS {name}" for name in KEYS)
        sums = ", ".join(f"CAST(sum({name}) AS DOUBLE) AS {name}" for name in COUNTS)
        every = " UNION ALL ".join(f"SELECT * FROM ({one})" for one in rows)
        found = log.fetch(f"SELECT {keys}, wrong, {sums}, count(*) AS n_rows FROM ({every}) GROUP BY ALL")
        if found["wrong"].count():
            _complain(log, rows, found, skip_bad, first_position)
        name = log.name
    found = found.filter(pl.col("wrong").is_null() & (pl.col("impressions") > 0)).drop("wrong", "n_rows")
    if not len(found):
        raise DataError(f"{name}: the log has no impressions")
    check_total(float(found["impressions"].sum()))
    typed = found.with_columns(pl.col("position").cast(pl.Int32), pl.col(*COUNTS).cast(pl.Int64))
    return ClickCounts(typed.select(*KEYS, *COUNTS).sort(KEYS))


def _rows(file: LogFile, named: Mapping[str, str] | None, first_position: int) -> str:
    """Return SQL of one file's rows as they are added up; `wrong` is the number of what cannot be right, or NULL."""
    columns = find_columns(file, named, (*KEYS, "clicked", *COUNTS), KEYS)
    shift = f" + {1 - first_position}" if first_position != 1 else ""
    cells = {role: text(columns[role], file) for role in ("query", "doc")}
    cells["position"] = whole(columns["position"], file) + shift
    if _has_sums(columns, file):
        cells |= {role: whole(columns[role], file) for role in COUNTS}
    else:
        cells |= {"impressions": "CAST(1 AS BIGINT)", "clicks": zero_or_one(columns["clicked"], file)}
    scan = f"SELECT {', '.join(f'{cell} AS {role}' for role, cell in cells.items())} FROM {file.scan}"
    return f"SELECT *, {WRONG} AS wrong FROM ({scan})"


def _has_sums(columns: Mapping[str, str], file: LogFile) -> bool:
    """Tell whether rows are sums; else each is one impression."""
    sums = [role for role in COUNTS if role in columns]
    if "clicked" in columns and sums:
        file.fail(
            f"is each row one impression ({columns['clicked']!r}) or a sum ({columns[sums[0]]!r})? "
            "Take away the column that does not count"
        )
    if "clicked" in columns:
        return False
    if len(sums) < len(COUNTS):
        file.fail(
            f"expected a column with clicks (0 or 1), or impressions and clicks: the columns are "
            f"{listed([*file.columns])}; name it{naming('clicked')}"
        )
    return True


def _complain(log: Log, rows: list[str], found: pl.DataFrame, skip_bad: bool, first_position: int) -> None:
    """Refuse rows that cannot be right, or warn how many there are."""
    wrong = found.drop_nulls("wrong").group_by("wrong").agg(pl.col("n_rows").sum()).sort("wrong")
    kinds = [*KINDS]
    n_wrong, n_rows = int(wrong["n_rows"].sum()), int(found["n_rows"].sum())
    parts = ", ".join(f"{n:,} {kinds[kind]}" for kind, n in wrong.rows())
    share = f"{log.name}: {n_wrong:,} of {counted(n_rows, 'row')} cannot be right: {parts}"
    if skip_bad:
        warnings.warn(f"{share}; left out", stacklevel=3)
        return
    hint = "skip_bad=True (on the command line --skip-bad) leaves them out"
    if kinds.index(ABOVE_THE_TOP) in wrong["wrong"] and first_position == 1:
        hint = f"if the log counts positions from 0, set first_position=0 (--first-position 0); else {hint}"
    for file, own in zip(log.files, rows, strict=True):
        numbered = f"SELECT row_number() OVER () AS row, wrong FROM ({own})"
        row = log.fetch(f"SELECT min(row) AS row FROM ({numbered}) WHERE wrong IS NOT NULL").item()
        if row is not None:
            first = f"row {row:,}" + (f" of {file.name}" if len(log.files) > 1 else "")
            raise DataError(f"{share}; the first is {first}; {hint}")
