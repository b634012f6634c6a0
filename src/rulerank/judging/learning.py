"""What is learned from the labels of a pool: estimates, models that are saved, and their check against today's ranking.

Loading what trains takes longer than the first answer after a restart may: `Judging` makes this when it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Set
from typing import TYPE_CHECKING, NamedTuple

from rulerank.errors import DataError
from rulerank.judging.by_judge import OtherGrades
from rulerank.judging.check import Check
from rulerank.judging.compare import Comparison, NewRanking, compare, reasons
from rulerank.judging.kept_check import KeptCheck
from rulerank.judging.pool import Pool
from rulerank.judging.standing import Standing
from rulerank.judging.train import Estimate, PoolModel
from rulerank.rankers.base import Ranker
from rulerank.today import Today
from rulerank.training.in_pool import Grades

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore


class Lesson(NamedTuple):
    """What there is to learn from at one moment."""

    grades: Grades  # by row
    judged: Set[str]  # queries that have labels
    last_label: int  # id of the newest
    others: OtherGrades  # of other judges that the lead lets count


class Learning:
    """Everything that is learned from the labels of one pool."""

    def __init__(self, pool: Pool, store: LabelStore, today: Today | None, max_grade: int) -> None:
        self._pool, self.today = pool, today
        self._model = PoolModel(pool, max_grade)
        self._standing = Standing(pool, today)
        self._check = None if today is None else KeptCheck(pool, store, self._model, today)

    def estimate(self, grades: Grades, row: int) -> Estimate | None:
        """Say what a model of the other documents' labels makes of a document; None while labels are too few."""
        return self._model.estimate(grades, row)

    def top_rules(self, grades: Grades) -> tuple[str, ...]:
        """Return the strongest rules so far."""
        return self._model.top_rules(grades)

    def standing(self, grades: Grades) -> tuple[str, ...]:
        """Return what can honestly be said of a model of these labels, a sentence each."""
        return self._standing.lines(grades)

    def check(self) -> Check | None:
        """Return the duels of the model that was trained last against today's ranking; None: none was trained yet."""
        return None if self._check is None else self._check.current()

    def compare(self, query: str, grades: Grades) -> Comparison | None:
        """Put the model that was trained last beside today's ranking on one query; None: there is no such model."""
        if query not in self._pool.queries:
            raise DataError(f"the pool has no query {query!r:.60}")
        ranking = self._ranking()
        return None if ranking is None else compare(self._pool, query, ranking, grades)

    def reasons(self, query: str, doc: str) -> tuple[str, ...] | None:
        """Say why the model that was trained last puts a document where it does; None: there is no such model."""
        row, ranking = self._pool.row(query, doc), self._ranking()
        return None if ranking is None else reasons(self._pool, row, ranking.ranker)

    def _ranking(self) -> NewRanking | None:
        return None if self._check is None else self._check.ranking()

    def train(self, path: str | os.PathLike[str], method: str, lesson: Lesson) -> Ranker:
        """Train a ranker, save it, and begin its check."""
        if len(set(lesson.grades.values())) < 2:
            n_docs = len(lesson.grades)
            found = "no document has a grade" if not n_docs else f"all {n_docs} labels have the same grade"
            raise DataError(f"nothing can be learned yet: {found}; judge documents of different grades first")
        ranker = self._model.train_method(method, lesson.grades, self.today, lesson.others)
        ranker.save(path)
        if self._check is not None:
            self._check.begin(ranker, method, lesson.last_label, lesson.judged)
        return ranker
