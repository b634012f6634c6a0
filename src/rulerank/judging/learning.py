"""What is learned from the labels of a pool: estimates, models that are saved, and their check against today's ranking.

Loading what trains takes longer than the first answer after a restart may: `Judging` makes this when it is asked for.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Array, one_sided, warn_if_one_sided
from rulerank.errors import DataError
from rulerank.judging.by_judge import OtherGrades
from rulerank.judging.check import Check
from rulerank.judging.labels import CheckRecord, Plain, ReadOnlyError, labels_at
from rulerank.judging.pool import Pool
from rulerank.judging.team import Counting
from rulerank.judging.train import GROWTH, Estimate, PoolModel
from rulerank.rankers.base import Ranker
from rulerank.today import Today
from rulerank.training.from_today import learn_from_today
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
        if not self._pool.has_contrast(lesson.grades):
            found = "no query has labels of two grades" if lesson.grades else "no document has a grade"
            raise DataError(f"nothing can be learned yet: {found}; judge more documents of each query")
        warn_if_one_sided(lesson.grades.values())
        ranker = self._model.train_method(method, lesson.grades, self.today, lesson.others)
        ranker.save(path)
        if self._check is not None:
            self._check.begin(ranker, method, lesson.last_label, lesson.judged)
        return ranker


PATIENCE = 1.0  # seconds that a request waits for new sentences
SLOW = 1.0  # seconds above which sentences that are a little old will do
NO_TODAY = "Say which feature ranks the documents now (--today FEATURE), and the model is compared with that ranking."
FIRST = "What can be said of a model of these labels is being worked out: look again in a while."


@dataclass(frozen=True, slots=True)
class Said:
    """Sentences, and what they were made of."""

    lines: tuple[str, ...]
    grades: dict[int, int]
    seconds: float  # how long that took


class Standing:
    """What can honestly be said of a model of the labels so far, against today's ranking."""

    def __init__(self, pool: Pool, today: Today | None) -> None:
        self._pool, self._today = pool, today
        self._lock = threading.Lock()
        self._said: Said | None = None
        self._work: threading.Thread | None = None

    def lines(self, grades: Grades) -> tuple[str, ...]:
        """Return the sentences; of older labels, and it says so, while those of the newest take long to find."""
        if self._today is None:
            warning = one_sided(grades.values())
            return (NO_TODAY,) if warning is None else (f"{warning}.", NO_TODAY)
        wanted = dict(grades)
        with self._lock:
            if self._will_do(wanted):
                return self._said.lines if self._said else ()
            if self._work is None:
                self._work = threading.Thread(target=self._find, args=(wanted,), daemon=True)
                self._work.start()
            work = self._work
        work.join(PATIENCE)
        with self._lock:
            said = self._said
        if said is None:
            return (FIRST,)
        if said.grades == wanted or self._will_do(wanted):
            return said.lines
        return (*said.lines, f"This is of {counted(len(said.grades), 'label')}: newer ones are being looked at.")

    def _will_do(self, grades: dict[int, int]) -> bool:
        if self._said is None:
            return False
        last = self._said.grades
        slow = self._said.seconds > SLOW and len(last) <= len(grades) < GROWTH * len(last)
        return last == grades or slow

    def _find(self, grades: dict[int, int]) -> None:
        assert self._today is not None
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that few labels say little is what the lines say
                lines = tuple(learn_from_today(self._pool.graded(grades), self._today.option).lines())
        except Exception as error:  # a page must not be without its other figures
            lines = (f"Nothing can be said of a model of these labels: {error}.",)
        with self._lock:
            self._said, self._work = Said(lines, grades, time.perf_counter() - start), None


@dataclass(frozen=True, eq=False)
class NewRanking:
    """The model that was trained last, and how it and today's ranking score the pool's rows."""

    ranker: Ranker
    method: str
    new: Array
    today: Array


@dataclass(frozen=True, slots=True)
class ComparedDoc(Plain):
    """A document's places in two rankings of its query, from 1."""

    doc: str
    title: str
    new: int
    today: int
    grade: int | None  # by the labels; None: it has none


@dataclass(frozen=True, slots=True)
class Comparison(Plain):
    """The documents of one query in the new order, each with its place of today."""

    query: str
    query_text: str | None
    method: str
    docs: tuple[ComparedDoc, ...]


def compare(pool: Pool, query: str, ranking: NewRanking, grades: Mapping[int, int]) -> Comparison:
    """Put both rankings of a query side by side; documents with the same score stay in the order of the pool."""
    rows = pool.rows_of(query)
    new, today = _places(ranking.new[rows]), _places(ranking.today[rows])
    docs = [
        ComparedDoc(
            doc=pool.pairs[row][1],
            title=pool.shown(row).get("title") or pool.names[row],
            new=int(new[i]),
            today=int(today[i]),
            grade=grades.get(row),
        )
        for i, row in enumerate(rows.tolist())
    ]
    query_text = pool.shown(int(rows[0])).get("query_text")
    return Comparison(query, query_text, ranking.method, tuple(sorted(docs, key=lambda doc: doc.new)))


def reasons(pool: Pool, row: int, ranker: Ranker, n_reasons: int = 5) -> tuple[str, ...]:
    """Say what adds most to a document's score among those of its query, or takes most away."""
    rows = pool.rows_of(pool.pairs[row][0])
    why = ranker.explain(pool.data[rows], int(np.flatnonzero(rows == row)[0]))
    return tuple(why.lines(n_reasons)[1:])


def _places(scores: Array) -> Array:
    """Return the place of each score, from 1, best first.

    >>> _places(np.array([0.5, 2.0, 0.5])).tolist()
    [2, 1, 3]
    """
    places = np.empty(scores.size, dtype=np.int64)
    places[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
    return places


class KeptCheck:
    """The duels of the model that was trained last.

    The store notes the last label that it learned from. That is enough to train the same model again, and to know
    which queries were judged before: so a check goes on after a restart, and other processes have the same one.
    """

    def __init__(self, pool: Pool, store: LabelStore, model: PoolModel, today: Today) -> None:
        self._pool, self._store, self._model, self._today = pool, store, model, today
        self._lock = threading.Lock()
        self._check: Check | None = None
        self._ranking: NewRanking | None = None  # that the check is about
        self._noted: CheckRecord | None = None  # what the store knows of it

    def begin(self, ranker: Ranker, method: str, last_label: int, judged: Set[str]) -> None:
        """Compare a new model from now on; judged: the queries that have labels up to the last one it learned from."""
        ranking = self._beside_today(ranker, method)
        check = Check(self._pool, self._store, ranking.new, ranking.today, judged=judged)
        with self._lock:
            self._check, self._ranking = check, ranking
            try:
                self._noted = self._store.note_check(last_label, method, self._today.option)
            except ReadOnlyError:  # it can be trained on all the same
                self._noted = None

    def current(self) -> Check | None:
        """Return the check; None: no model was trained yet."""
        with self._lock:
            self._keep_up()
            return self._check

    def ranking(self) -> NewRanking | None:
        """Return the model of the check beside today's ranking; None: no model was trained yet."""
        with self._lock:
            self._keep_up()
            return self._ranking

    def _keep_up(self) -> None:
        last = self._store.last_check()
        if last is not None and (self._noted is None or last.id > self._noted.id):
            self._check = self._ranking = None
            self._resume(last)
            self._noted = last

    def _resume(self, noted: CheckRecord) -> None:
        """Train once more on the labels of then, if that can be done with these documents."""
        if noted.today != self._today.option:
            return
        labels = [
            label
            for label in labels_at(self._store.history(), noted.last_label, noted.time)
            if (label.query, label.doc) in self._pool.rows
        ]
        counting = Counting.at(self._store, noted.time)
        rows = self._pool.rows
        grades = {rows[pair]: grade for pair, grade in counting.grades(labels).items() if pair in rows}
        others = {
            judge: {rows[pair]: grade for pair, grade in given.items()}
            for judge, given in counting.others(labels).items()
        }
        if not self._pool.has_contrast(grades):
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they were shown when it was trained first
                ranker = self._model.train_method(noted.method, grades, self._today, others)
        except DataError:  # a method that this version does not know
            return
        ranking = self._beside_today(ranker, noted.method)
        judged = {query for query, _ in counting.people(labels)} | {query for query, _ in counting.decided}
        self._check = Check(self._pool, self._store, ranking.new, ranking.today, judged=judged)
        self._ranking = ranking

    def _beside_today(self, ranker: Ranker, method: str) -> NewRanking:
        return NewRanking(ranker, method, ranker.predict(self._pool.data), self._today.scores(self._pool.data.X))
