"""What the labelling loop learns: grades so far, models trained and saved, the check of the last one."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from rulerank.judging.current import CurrentLabels
from rulerank.judging.pool import Pool
from rulerank.judging.trainer import Trainer, Training
from rulerank.today import Today

if TYPE_CHECKING:
    from rulerank.judging.check import Check
    from rulerank.judging.learning import Learning, Lesson
    from rulerank.judging.store import LabelStore
    from rulerank.judging.train import SavedModel
    from rulerank.rankers.base import Ranker


class LearnsFromLabels:
    """The part of `loop.Judging` that trains; it takes the labels in force under the loop's lock."""

    pool: Pool
    store: LabelStore
    today: Today | None
    max_grade: int
    _lock: threading.RLock
    _current: CurrentLabels
    _trainer: Trainer
    _learning: Learning | None

    @property
    def usual_method(self) -> str:
        """What to train when nothing else is asked for; where other judges count, what has intercepts for them."""
        if self.store.settings().training_judges:
            with self._lock:
                self._current.sync(self.store.state())
                if self._current.others():
                    return "QI"
        return "RE-GR" if self.today is None else "Anchored"

    def train(self, path: str | os.PathLike[str], method: str | None = None) -> Ranker:
        """Train a ranker on the current labels, by default of the usual method, and save it to a model file."""
        learning, lesson = self._lesson()
        return learning.train(path, method or self.usual_method, lesson)

    def save_model(self, path: str | os.PathLike[str], method: str | None = None, *, wait: bool = True) -> SavedModel:
        """Train and save as `train` does, one at a time, and return what there is to say of it.

        wait: for another training to end, or raise a `trainer.BusyError`.
        """
        return self._trainer.save_model(path, method or self.usual_method, self._lesson, wait=wait)

    @property
    def training(self) -> Training | None:
        """The training that is under way, or else the last one; None: there was none since the start."""
        return self._trainer.training

    @property
    def check(self) -> Check | None:
        """The duels of the model that was trained last against today's ranking; None: none was trained yet."""
        return self.learning.check()

    @property
    def learning(self) -> Learning:
        """What is learned from the labels; loading what trains takes seconds, and no rater's first document waits."""
        from rulerank.judging.learning import Learning

        with self._lock:
            if self._learning is None:
                self._learning = Learning(self.pool, self.store, self.today, self.max_grade)
            return self._learning

    def _lesson(self) -> tuple[Learning, Lesson]:
        from rulerank.judging.learning import Lesson

        with self._lock:
            state = self.store.state()
            self._current.sync(state, exact=True)
            judged = {self.pool.pairs[row][0] for row in self._current.judged}
            lesson = Lesson(dict(self._current.grades), judged, state.last_id, self._current.others())
            return self.learning, lesson

    def grades(self) -> dict[int, int]:
        """Return the grade of every row that has one, by all raters."""
        with self._lock:
            self._current.sync(self.store.state())
            return dict(self._current.grades)
