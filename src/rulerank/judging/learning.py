"""What is learned from the labels of a pool: estimates, models that are saved, and their check against today's ranking.

Loading what trains takes longer than the first answer after a restart may: `Judging` makes this when it is asked for.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from rulerank.errors import DataError, RulerankError
from rulerank.judging.by_judge import OtherGrades
from rulerank.judging.check import Check
from rulerank.judging.kept_check import KeptCheck
from rulerank.judging.labels import KeepsLabels, Plain
from rulerank.judging.pool import Pool
from rulerank.judging.standing import Standing
from rulerank.judging.train import Estimate, PoolModel, SavedModel
from rulerank.methods import method_of
from rulerank.rankers.base import Ranker
from rulerank.today import Today
from rulerank.training.in_pool import Grades


class BusyError(RulerankError):
    """A model is being trained, and only one is at a time."""


class Lesson(NamedTuple):
    """What there is to learn from at one moment."""

    grades: Grades  # by row
    judged: Set[str]  # queries that have labels
    last_label: int  # id of the newest
    others: OtherGrades  # of other judges that the lead lets count


@dataclass(frozen=True, slots=True)
class Training(Plain):
    """A training that is under way or was the last to end."""

    method: str
    n_labels: int
    running: bool
    seconds: float  # so far, or in all
    saved: SavedModel | None  # None: it is running, or it failed
    problem: str | None  # why it failed


class Learning:
    """Everything that is learned from the labels of one pool."""

    def __init__(self, pool: Pool, store: KeepsLabels, today: Today | None, max_grade: int) -> None:
        self.today = today
        self._model = PoolModel(pool, max_grade)
        self._standing = Standing(pool, today)
        self._check = None if today is None else KeptCheck(pool, store, self._model, today)
        self._one = threading.Lock()  # at a time: warnings are caught for all threads
        self._training: Training | None = None
        self._began = 0.0

    def estimate(self, grades: Grades, row: int) -> Estimate | None:
        """Say what a model of the other documents' labels makes of a document; None while labels are too few."""
        return self._model.estimate(grades, row)

    def expected(self, grades: Grades, rows: Sequence[int]) -> dict[int, float]:
        """Return the grades that the model of these labels expects of rows; nothing while labels are too few."""
        return self._model.expected(grades, rows)

    def top_rules(self, grades: Grades) -> tuple[str, ...]:
        """Return the strongest rules so far."""
        return self._model.top_rules(grades)

    def standing(self, grades: Grades) -> tuple[str, ...]:
        """Return what can honestly be said of a model of these labels, a sentence each."""
        return self._standing.lines(grades)

    def check(self) -> Check | None:
        """Return the duels of the model that was trained last against today's ranking; None: none was trained yet."""
        return None if self._check is None else self._check.current()

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

    def save_model(
        self, path: str | os.PathLike[str], method: str, look: Callable[[], Lesson], *, wait: bool = True
    ) -> SavedModel:
        """Train and save as `train` does, one at a time, and return what there is to say of it.

        look: finds what there is to learn from when it begins; wait: for another training to end, or raise a BusyError.
        """
        if not self._one.acquire(blocking=wait):
            running = self.training
            what = "a model" if running is None else running.method
            raise BusyError(f"{what} is being trained, and only one model is at a time: wait until it is saved")
        n_labels = 0
        self._began = time.perf_counter()
        try:
            lesson = look()
            n_labels = len(lesson.grades)
            self._training = Training(method, n_labels, True, 0.0, None, None)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                ranker = self.train(path, method, lesson)
            notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
            saved = SavedModel(os.fspath(path), method_of(ranker).name, n_labels, notes)
            self._training = Training(method, n_labels, False, self._seconds(), saved, None)
            return saved
        except BaseException as error:
            self._training = Training(method, n_labels, False, self._seconds(), None, str(error))
            raise
        finally:
            self._one.release()

    @property
    def training(self) -> Training | None:
        """The training that is under way, or else the last one; None: there was none since the start."""
        last = self._training
        if last is None or not last.running:
            return last
        return Training(last.method, last.n_labels, True, self._seconds(), None, None)

    def _seconds(self) -> float:
        return round(time.perf_counter() - self._began, 1)
