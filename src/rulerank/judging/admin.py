"""What the lead sees of the labels: counts by query and rater, disputes and decisions, agreement, and a report."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from rulerank.core.words import counted
from rulerank.errors import DataError
from rulerank.judging.agreement import (
    Agreement,
    AgreementParts,
    Alpha,
    Dispute,
    JudgeAgreement,
    agreement_parts,
    disputes,
    judge_agreement,
)
from rulerank.judging.grades import Counting, CurrentLabels
from rulerank.judging.labels import Decision, Label, Plain, check_grade
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
    counts = []
    for rater in sorted({rater for by_rater in labels.values() for rater in by_rater}):
        given = [by_rater[rater].grade for by_rater in labels.values() if rater in by_rater]
        graded = [grade for grade in given if grade is not None]
        n_skipped = len(pool.rows_in(store.skipped(rater)))
        counts.append(RaterCount(rater, len(graded), len(given) - len(graded), n_skipped, _mean(graded)))
    return tuple(counts)


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


class Panel:
    """The raters of one labelling loop, as the lead sees them; `Judging.panel` is one.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.loop import Judging
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.make_ranking(n_queries=2, docs_per_query=3, seed=0))
    >>> judging = Judging(pool, LabelStore(tempfile.mkdtemp() + "/labels.db"), max_grade=2)
    >>> query, doc = pool.pairs[0]
    >>> labels = [judging.grade(rater, query, doc, grade) for rater, grade in (("ann", 0), ("bob", 2))]
    >>> [(pool.pairs[one.doc] == (query, doc), one.spread) for one in judging.panel.disputes()]
    [(True, 2)]
    >>> decision = judging.panel.decide("lea", query, doc, 1)
    >>> judging.panel.counting().decided
    {('q1', 'q1-d1'): 1}
    """

    def __init__(
        self, pool: Pool, store: LabelStore, current: CurrentLabels, lock: threading.RLock, max_grade: int
    ) -> None:
        self._pool, self._store, self._current, self._lock = pool, store, current, lock
        self._max_grade = max_grade

    @contextmanager
    def _synced(self, *, exact: bool = False) -> Iterator[CurrentLabels]:
        with self._lock:
            self._current.sync(self._store.state(), exact=exact)
            yield self._current

    def counting(self) -> Counting:
        """Return how labels become grades now: the lead's settings, decisions and judges."""
        with self._synced() as current:
            return current.counting

    def disputes(self) -> list[Dispute[int]]:
        """Return the documents on which people disagree, by row, the largest dispute first; decided ones, too.

        Behind them come those on which other judges, such as a language model, see it otherwise than the people.
        """
        with self._synced() as current:
            given = {row: by | current.by_judge.get(row, {}) for row, by in current.by_row.items()}
            grades = {row: {who: one.grade for who, one in by.items()} for row, by in given.items()}
            return disputes(grades, current.counting.judges)

    def count_queries(self) -> tuple[QueryCount, ...]:
        """Count the labels of every query, in the order of the pool."""
        with self._synced() as current:
            return count_queries(self._pool, current.grades, current.by_row)

    def count_raters(self) -> tuple[RaterCount, ...]:
        """Count the labels of every rater who has given some, people and others."""
        with self._synced() as current:
            rows = current.by_row | current.by_judge
            labels = {row: current.by_row.get(row, {}) | current.by_judge.get(row, {}) for row in rows}
            return count_raters(labels, self._pool, self._store)

    def labels_of(self, row: int) -> list[Label]:
        """Return what people and other judges say of a document, in the order of time."""
        with self._lock:
            given = self._current.by_row.get(row, {}) | self._current.by_judge.get(row, {})
            return sorted(given.values(), key=lambda label: label.id)

    def decide(
        self,
        rater: str,
        query: str,
        doc: str,
        grade: int | None,
        *,
        judgement: str | None = None,
        page: str | None = None,
    ) -> Decision:
        """Keep the lead's grade of a document, which counts instead of the raters' and stays beside them."""
        self._pool.row(query, doc)
        grade = check_grade(grade, self._max_grade)
        return self._store.decide(query, doc, grade, rater, judgement=judgement, page=page)

    def undo_decision(
        self, rater: str, query: str, doc: str, *, judgement: str | None = None, page: str | None = None
    ) -> Decision | None:
        """Take the decision on a document back; None: there is none."""
        self._pool.row(query, doc)
        return self._store.undo_decision(query, doc, rater, judgement=judgement, page=page)

    def judges(self) -> list[JudgeAgreement]:
        """Return how well each judge who is no person agrees with the people."""
        with self._synced(exact=True) as current:
            given = current.grades_of(sorted(current.counting.judges))
            return [judge_agreement(judge, found, current.grades) for judge, found in given.items()]

    def alpha(self) -> Alpha:
        """Return how well all people agree, with an interval or why there is none."""
        with self._synced() as current:
            given = [[label.grade for label in by.values()] for by in current.by_row.values()]
        return Alpha.of([[grade for grade in grades if grade is not None] for grades in given])

    def decisions(self) -> list[Decision]:
        """Return the lead's decisions on documents of the pool, in the order of time."""
        return [one for one in self._store.decisions() if (one.query, one.doc) in self._pool.rows]

    def agreement_parts(self) -> AgreementParts:
        """Return where people agree: by rater, by query, by grade."""
        with self._synced() as current:
            return agreement_parts(label for by in current.by_row.values() for label in by.values())


def label_report(overview: LabelOverview, source: str, combined: str) -> str:
    """Return the page; source: what the labels are of; combined: how labels of several raters became one.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.loop import Judging
    >>> from rulerank.judging.pool import Pool
    >>> from rulerank.judging.store import LabelStore
    >>> with LabelStore(tempfile.mkdtemp() + "/labels.db") as store:
    ...     overview = Judging(Pool(rr.make_ranking(n_queries=3, docs_per_query=5, seed=0)), store).overview()
    >>> "Labels of pool.csv" in label_report(overview, "pool.csv", "the median")
    True
    """
    from rulerank.render.document import Block, Page, Sentences, Table
    from rulerank.render.html import render_html

    o = overview
    facts = (
        ("Documents labelled", f"{o.labelled:,} of {o.pool_size:,}"),
        ("Cannot be judged", f"{o.cannot_judge:,}"),
        ("Raters", f"{len(o.raters):,}"),
        ("Agreement", _number(o.agreement.ordinal.value)),
    )
    raters = Table(
        "Raters",
        ("rater", "graded", "cannot judge", "skipped", "mean grade"),
        tuple(
            (row.rater, f"{row.graded:,}", f"{row.cannot_judge:,}", f"{row.skipped:,}", _number(row.mean_grade))
            for row in o.raters
        ),
    )
    judged = [row for row in o.queries if row.labelled or row.cannot_judge]
    queries = Table(
        "Queries that have labels",
        ("query", "labelled", "documents", "cannot judge", "mean grade"),
        tuple(
            (row.query_text or row.query, f"{row.labelled:,}", f"{row.n_docs:,}", f"{row.cannot_judge:,}",
             _number(row.mean_grade))
            for row in sorted(judged, key=lambda row: -row.labelled)
        ),
        note=f"{counted(len(o.queries) - len(judged), 'more query', 'more queries')} without a label.",
    )  # fmt: skip
    blocks: list[Block] = [Sentences("New against today", o.standing)]
    if o.rules:
        blocks.append(Sentences("Strongest rules so far", o.rules))
    blocks.append(raters)
    if o.agreement.pairs:
        columns = ("raters", "documents both graded", "Cohen's kappa", "weighted")
        pairs = tuple(
            (
                " and ".join(pair.raters),
                f"{pair.kappa.n_docs:,}",
                _number(pair.kappa.value),
                _number(pair.weighted.value),
            )
            for pair in o.agreement.pairs
        )
        blocks.append(Table("Agreement of two raters", columns, pairs))
    blocks.append(queries)
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    lead = f"{counted(o.labelled, 'document')} with a grade; of several raters {combined}."
    page = Page(f"Labels of {source}", (lead,), tuple(blocks), facts, footer=f"As of {now}.", sortable=True)
    return render_html(page)


def _number(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else f"{value:.2f}"
