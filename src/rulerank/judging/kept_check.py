"""The check of a team: which model is compared with today's ranking, kept in the store and the same after a restart."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Set
from typing import TYPE_CHECKING

from rulerank.errors import DataError
from rulerank.judging.check import Check
from rulerank.judging.compare import NewRanking
from rulerank.judging.counting import Counting
from rulerank.judging.labels import CheckRecord, ReadOnlyError, labels_at
from rulerank.judging.pool import Pool
from rulerank.judging.train import PoolModel
from rulerank.rankers.base import Ranker
from rulerank.today import Today

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore


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
        if len(set(grades.values())) < 2:
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
