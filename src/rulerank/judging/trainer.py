"""One training at a time, whoever asks for it, and what became of the last."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rulerank.errors import RulerankError
from rulerank.judging.labels import Plain

if TYPE_CHECKING:
    from rulerank.judging.learning import Learning, Lesson
    from rulerank.judging.train import SavedModel


class BusyError(RulerankError):
    """A model is being trained, and only one is at a time."""


@dataclass(frozen=True, slots=True)
class Training(Plain):
    """A training that is under way or was the last to end."""

    method: str
    n_labels: int
    running: bool
    seconds: float  # so far, or in all
    saved: SavedModel | None  # None: it is running, or it failed
    problem: str | None  # why it failed


class Trainer:
    """Trains and saves one model at a time, beside the raters' requests."""

    def __init__(self) -> None:
        self._one = threading.Lock()  # at a time: warnings are caught for all threads
        self._training: Training | None = None
        self._began = 0.0

    def save_model(
        self,
        path: str | os.PathLike[str],
        method: str,
        look: Callable[[], tuple[Learning, Lesson]],
        *,
        wait: bool = True,
    ) -> SavedModel:
        """Train, save and return what there is to say of it.

        look: finds what there is to learn from when it begins; wait: for another training to end, or raise a BusyError.
        """
        if not self._one.acquire(blocking=wait):
            running = self.training
            what = "a model" if running is None else running.method
            raise BusyError(f"{what} is being trained, and only one model is at a time: wait until it is saved")
        from rulerank.judging.train import SavedModel
        from rulerank.methods import method_name

        n_labels = 0
        self._began = time.perf_counter()
        try:
            learning, lesson = look()
            n_labels = len(lesson.grades)
            self._training = Training(method, n_labels, True, 0.0, None, None)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                ranker = learning.train(path, method, lesson)
            notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
            saved = SavedModel(os.fspath(path), method_name(ranker), n_labels, notes)
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
