"""The check of a team: which model is compared with today's ranking, kept in the store and the same after a restart."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Set
from typing import TYPE_CHECKING, cast

from rulerank.errors import DataError
from rulerank.judging.check import Check
from rulerank.judging.counting import Counting
from rulerank.judging.labels import CheckRecord, KeepsLabels, ReadOnlyError, labels_at
from rulerank.judging.pool import Pool
from rulerank.judging.train import PoolModel
from rulerank.rankers.base import Ranker
from rulerank.today import Today

if TYPE_CHECKING:
    from rulerank.judging.team_store import TeamStore


class KeptCheck:
    """The duels of the model that was trained last.

    The store notes the last label that it learned from. That is enough to train the same model again, and to know
    which queries were judged before: so a check goes on after a restart, and other processes have the same one.
    """

    def __init__(self, pool: Pool, store: KeepsLabels, model: PoolModel, today: Today) -> None:
        self._pool, self._store, self._model, self._today = pool, store, model, today
        self._lock = threading.Lock()
        self._check: Check | None = None
        self._noted: CheckRecord | None = None  # what the store knows of it

    def begin(self, ranker: Ranker, method: str, last_label: int, judged: Set[str]) -> None:
        """Compare a new model from now on; judged: the queries that have labels up to the last one it learned from."""
        check = self._against_today(ranker, judged)
        with self._lock:
            self._check = check
            try:
                self._noted = self._store.note_check(last_label, method, self._today.option)
            except ReadOnlyError:  # it can be trained on all the same
                self._noted = None

    def current(self) -> Check | None:
        """Return the check; None: no model was trained yet."""
        with self._lock:
            last = self._store.last_check()
            if last is not None and (self._noted is None or last.id > self._noted.id):
                self._noted, self._check = last, self._resumed(last)
            return self._check

    def _resumed(self, noted: CheckRecord) -> Check | None:
        """Train once more on the labels of then; None: with these documents that cannot be done."""
        if noted.today != self._today.option:
            return None
        labels = [
            label
            for label in labels_at(self._store.history(), noted.last_label, noted.time)
            if (label.query, label.doc) in self._pool.rows
        ]
        counting = Counting.at(cast("TeamStore", self._store), noted.time)  # a file notes no check
        rows = self._pool.rows
        grades = {rows[pair]: grade for pair, grade in counting.grades(labels).items() if pair in rows}
        others = {
            judge: {rows[pair]: grade for pair, grade in given.items()}
            for judge, given in counting.others(labels).items()
        }
        if len(set(grades.values())) < 2:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they were shown when it was trained first
                ranker = self._model.train_method(noted.method, grades, self._today, others)
        except DataError:  # a method that this version does not know
            return None
        judged = {query for query, _ in counting.people(labels)} | {query for query, _ in counting.decided}
        return self._against_today(ranker, judged)

    def _against_today(self, ranker: Ranker, judged: Set[str]) -> Check:
        new, today = ranker.predict(self._pool.data), self._today.scores(self._pool.data.X)
        return Check(self._pool, self._store, new, today, judged=judged)
