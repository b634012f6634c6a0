"""The admin's view of the labels: counts by query and rater, pages of tables, and an overview."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from rulerank.judging.agreement import Coefficient, Dispute, disputes, krippendorff_alpha
from rulerank.judging.grades import CurrentLabels
from rulerank.judging.labels import Plain
from rulerank.judging.pool import Pool

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

Row = TypeVar("Row")


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
    """Counts of all labels, and the agreement of raters."""

    labelled: int
    cannot_judge: int
    pool_size: int
    elsewhere: int  # labels in the store whose document is not in the pool
    closeness: float
    queries: tuple[QueryCount, ...]
    raters: tuple[RaterCount, ...]
    agreement: Coefficient  # Krippendorff's alpha of the human raters, ordinal


def count_queries(pool: Pool, current: CurrentLabels) -> tuple[QueryCount, ...]:
    """Count the labels of every query of the pool, in its order."""
    given: dict[int, list[int | None]] = defaultdict(list)
    for row in current.by_row:
        given[int(pool.query_numbers[row])].append(current.grades.get(row))
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


def count_raters(pool: Pool, store: LabelStore, current: CurrentLabels) -> tuple[RaterCount, ...]:
    """Count the labels of every rater, human or not."""
    given: dict[str, list[int | None]] = defaultdict(list)
    for row in current.by_row | current.by_other_rater:
        for label in current.labels_of(row):
            given[label.rater].append(label.grade)
    counts = []
    for rater, grades in sorted(given.items()):
        graded = [grade for grade in grades if grade is not None]
        n_skipped = len(pool.rows_in(store.skipped(rater)))
        counts.append(RaterCount(rater, len(graded), len(grades) - len(graded), n_skipped, _mean(graded)))
    return tuple(counts)


def _mean(grades: Sequence[int]) -> float | None:
    return round(sum(grades) / len(grades), 2) if grades else None


def alpha_of_people(current: CurrentLabels) -> Coefficient:
    """Return Krippendorff's alpha of the human raters, with an interval or the reason for none."""
    return krippendorff_alpha([label.grade for label in by.values()] for by in current.by_row.values())


def disputes_of(current: CurrentLabels) -> list[Dispute[int]]:
    """Return the documents on which human raters disagree, by row, the largest first; decided ones too.

    After them come those on which only non-human raters, such as a language model, differ.
    """
    grades = {row: {label.rater: label.grade for label in current.labels_of(row)} for row in current.by_row}
    return disputes(grades, current.counting.other_raters)


class Page(NamedTuple, Generic[Row]):
    """Some of the rows of a table."""

    rows: Sequence[Row]
    found: int  # rows in all
    page: int  # from 1
    pages: int

    def counts(self) -> dict[str, int]:
        return {"found": self.found, "page": self.page, "pages": self.pages}


def page_of(rows: Sequence[Row], page: int, rows_per_page: int) -> Page[Row]:
    """Return a page of rows; numbers beyond the last page give the last, and an empty table has one page.

    >>> page_of("abcde", 2, 2)
    Page(rows='cd', found=5, page=2, pages=3)
    >>> page_of("abcde", 9, 2).rows, page_of("", 1, 2).pages
    ('e', 1)
    """
    pages = max(1, -(-len(rows) // rows_per_page))
    page = min(max(1, page), pages)
    return Page(rows[(page - 1) * rows_per_page : page * rows_per_page], len(rows), page, pages)


ROWS_PER_PAGE = 50
ORDERS: dict[str, Callable[[QueryCount], Any]] = {  # ties keep the order of the pool
    "most labels": lambda row: -row.labelled,
    "fewest labels": lambda row: row.labelled,
    "highest mean grade": lambda row: (row.mean_grade is None, -(row.mean_grade or 0)),
}
USUAL_ORDER = "most labels"


def page_of_queries(
    rows: Sequence[QueryCount], search: str = "", order: str = USUAL_ORDER, page: int = 1
) -> Page[QueryCount]:
    """Return a page of the queries whose text or id contains all words of a search, ignoring case.

    >>> rows = (QueryCount("7", "red tent", 9, 2, 0, 1.5), QueryCount("8", "blue tent", 9, 4, 0, 1.0))
    >>> [row.query for row in page_of_queries(rows, "TENT").rows], page_of_queries(rows, "red").found
    (['8', '7'], 1)
    """
    words = search.casefold().split()
    found = [row for row in rows if all(word in f"{row.query} {row.query_text or ''}".casefold() for word in words)]
    return page_of(sorted(found, key=ORDERS[order]), page, ROWS_PER_PAGE)
