"""All labels at a glance: counts by query, a page at a time, and by rater, beside what is said of a model of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from rulerank.errors import DataError
from rulerank.judging.agreement import Agreement
from rulerank.judging.labels import Label, Plain
from rulerank.judging.pool import Pool

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

Labels = Mapping[int, Mapping[str, Label]]  # row -> rater -> label


@dataclass(frozen=True, slots=True)
class QueryCount(Plain):
    """Labels of one query."""

    query: str
    query_text: str | None
    n_docs: int
    labelled: int
    cannot_judge: int
    mean_grade: float | None


@dataclass(frozen=True, slots=True)
class RaterCount(Plain):
    """Labels of one rater."""

    rater: str
    graded: int
    cannot_judge: int
    skipped: int
    mean_grade: float | None


@dataclass(frozen=True, slots=True)
class LabelOverview(Plain):
    """All labels at a glance."""

    labelled: int
    cannot_judge: int
    pool_size: int
    elsewhere: int  # labels in the store whose document is not in the pool
    closeness: float
    queries: tuple[QueryCount, ...]
    raters: tuple[RaterCount, ...]
    agreement: Agreement
    rules: tuple[str, ...]  # the strongest of the current model
    standing: tuple[str, ...]  # what can honestly be said of a model of these labels, a sentence each

    def to_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = asdict(self)
        return plain | {"agreement": self.agreement.to_dict()}


def count_queries(pool: Pool, grades: Mapping[int, int], labels: Labels) -> tuple[QueryCount, ...]:
    """Count the labels of every query of the pool, in its order."""
    given: dict[int, list[int | None]] = defaultdict(list)
    for row in labels:
        given[int(pool.query_numbers[row])].append(grades.get(row))
    counts = []
    first_rows = np.unique(pool.query_numbers, return_index=True)[1]
    for number, n_docs in enumerate(np.bincount(pool.query_numbers).tolist()):
        graded = [grade for grade in given[number] if grade is not None]
        counts.append(
            QueryCount(
                query=pool.queries[number],
                query_text=pool.shown(int(first_rows[number])).get("query_text"),
                n_docs=n_docs,
                labelled=len(graded),
                cannot_judge=len(given[number]) - len(graded),
                mean_grade=_mean(graded),
            )
        )
    return tuple(counts)


def count_raters(labels: Labels, pool: Pool, store: LabelStore) -> tuple[RaterCount, ...]:
    """Count the labels of every rater who has given some."""
    raters = sorted({rater for by_rater in labels.values() for rater in by_rater})
    return tuple(_count_rater(rater, labels, len(pool.rows_in(store.skipped(rater)))) for rater in raters)


def _count_rater(rater: str, labels: Labels, n_skipped: int) -> RaterCount:
    given = [by_rater[rater].grade for by_rater in labels.values() if rater in by_rater]
    graded = [grade for grade in given if grade is not None]
    return RaterCount(rater, len(graded), len(given) - len(graded), n_skipped, _mean(graded))


def _mean(grades: Sequence[int]) -> float | None:
    return round(sum(grades) / len(grades), 2) if grades else None


Row = TypeVar("Row")


class Page(NamedTuple, Generic[Row]):
    """Some of the rows of a table."""

    rows: Sequence[Row]
    found: int  # rows in all
    page: int  # from 1
    pages: int


def page_of(rows: Sequence[Row], page: int, rows_per_page: int) -> Page[Row]:
    """Return a page of rows; one beyond the last is the last, and a table without rows has one page.

    >>> page_of("abcde", 2, 2)
    Page(rows='cd', found=5, page=2, pages=3)
    >>> page_of("abcde", 9, 2).rows, page_of("", 1, 2).pages
    ('e', 1)
    """
    pages = max(1, -(-len(rows) // rows_per_page))
    page = min(max(1, page), pages)
    return Page(rows[(page - 1) * rows_per_page : page * rows_per_page], len(rows), page, pages)


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
