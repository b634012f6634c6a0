"""How far each query has come, a page at a time: searched, sorted, and never all of thousands at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rulerank.errors import DataError
from rulerank.judging.labels import Plain
from rulerank.judging.overview import QueryCount
from rulerank.judging.paging import page_of

ROWS_PER_PAGE = 50
ORDERS: dict[str, Callable[[QueryCount], Any]] = {  # sorts keep the pool's order among equals
    "most labels": lambda row: -row.labelled,
    "fewest labels": lambda row: row.labelled,
    "highest mean grade": lambda row: (row.mean_grade is None, -(row.mean_grade or 0)),
    "lowest mean grade": lambda row: (row.mean_grade is None, row.mean_grade or 0),
    "pool": lambda row: 0,
}
USUAL_ORDER = "most labels"


@dataclass(frozen=True, slots=True)
class QueryPage(Plain):
    """Some of the queries that were looked for."""

    queries: tuple[QueryCount, ...]
    found: int  # queries in all
    page: int  # from 1
    pages: int


def page_of_queries(
    rows: tuple[QueryCount, ...], search: str = "", order: str = USUAL_ORDER, page: int = 1
) -> QueryPage:
    """Return a page of the queries whose words or id hold all words of a search, whatever their case.

    A page beyond the last is the last.

    >>> rows = (QueryCount("7", "red tent", 9, 2, 0, 1.5), QueryCount("8", "blue tent", 9, 4, 0, 1.0))
    >>> [row.query for row in page_of_queries(rows, "TENT").queries], page_of_queries(rows, "red").found
    (['8', '7'], 1)
    """
    if order not in ORDERS:
        raise DataError(f"queries are in order of {', '.join(ORDERS)}: got {order!r:.60}")
    words = search.casefold().split()
    found = [row for row in rows if all(word in f"{row.query} {row.query_text or ''}".casefold() for word in words)]
    found.sort(key=ORDERS[order])
    shown = page_of(found, page, ROWS_PER_PAGE)
    return QueryPage(tuple(shown.rows), shown.found, shown.page, shown.pages)
