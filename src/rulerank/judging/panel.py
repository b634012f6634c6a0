"""What the lead sees of several raters: disputes and decisions, other judges, agreement, and how labels count."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from rulerank.judging.agreement import (
    AgreementParts,
    Alpha,
    Dispute,
    JudgeAgreement,
    agreement_parts,
    disputes,
    judge_agreement,
)
from rulerank.judging.current import CurrentLabels
from rulerank.judging.labels import Label, check_grade
from rulerank.judging.overview import QueryCount, RaterCount, count_queries, count_raters
from rulerank.judging.pool import Pool
from rulerank.judging.team import Counting, Decision

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore


class Panel:
    """The raters of one labelling loop, as the lead sees them; `Judging.panel` is one.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.loop import Judging
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.make_world(n_queries=2, docs_per_query=3, seed=0))
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
        self,
        pool: Pool,
        store: LabelStore,
        current: CurrentLabels,
        lock: threading.RLock,
        max_grade: int,
    ) -> None:
        self._pool, self._store, self._current, self._lock = pool, store, current, lock
        self._max_grade = max_grade

    def counting(self) -> Counting:
        """Return how labels become grades now: the lead's settings, decisions and judges."""
        with self._lock:
            self._current.sync(self._store.state())
            return self._current.counting

    def disputes(self) -> list[Dispute[int]]:
        """Return the documents on which people disagree, by row, the largest dispute first; decided ones, too.

        Behind them come those on which other judges, such as a language model, see it otherwise than the people.
        """
        with self._lock:
            self._current.sync(self._store.state())
            by_row, by_judge = self._current.by_row, self._current.by_judge
            given = {row: by | by_judge.get(row, {}) for row, by in by_row.items()}
            grades = {row: {who: one.grade for who, one in by.items()} for row, by in given.items()}
            return disputes(grades, self._current.counting.judges)

    def count_queries(self) -> tuple[QueryCount, ...]:
        """Count the labels of every query, in the order of the pool."""
        with self._lock:
            self._current.sync(self._store.state())
            labels = {row: dict(by_rater) for row, by_rater in self._current.by_row.items()}
            grades = dict(self._current.grades)
        return count_queries(self._pool, grades, labels)

    def count_raters(self) -> tuple[RaterCount, ...]:
        """Count the labels of every rater who has given some, people and others."""
        with self._lock:
            self._current.sync(self._store.state())
            by_row, by_judge = self._current.by_row, self._current.by_judge
            labels = {row: by_row.get(row, {}) | by_judge.get(row, {}) for row in by_row | by_judge}
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
        with self._lock:
            self._current.sync(self._store.state(), exact=True)
            given: dict[str, dict[int, int]] = {judge: {} for judge in sorted(self._current.counting.judges)}
            for row, by in self._current.by_judge.items():
                for judge, label in by.items():
                    if label.grade is not None:
                        given[judge][row] = label.grade
            people = dict(self._current.grades)
        return [judge_agreement(judge, found, people) for judge, found in given.items()]

    def alpha(self) -> Alpha:
        """Return how well all people agree, with an interval or why there is none."""
        with self._lock:
            self._current.sync(self._store.state())
            by_row = [[label.grade for label in by.values()] for by in self._current.by_row.values()]
        return Alpha.of([[grade for grade in grades if grade is not None] for grades in by_row])

    def decisions(self) -> list[Decision]:
        """Return the lead's decisions on documents of the pool, in the order of time."""
        return [one for one in self._store.decisions() if (one.query, one.doc) in self._pool.rows]

    def agreement_parts(self) -> AgreementParts:
        """Return where people agree: by rater, by query, by grade."""
        with self._lock:
            self._current.sync(self._store.state())
            labels = [label for by in self._current.by_row.values() for label in by.values()]
        return agreement_parts(labels)
