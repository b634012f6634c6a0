"""What can honestly be said of a model of the labels so far: worked out beside the requests, which do not wait long."""

from __future__ import annotations

import threading
import time
import warnings
from dataclasses import dataclass

from rulerank.core.words import counted
from rulerank.judging.pool import Pool
from rulerank.judging.train import GROWTH
from rulerank.today import Today
from rulerank.training.from_today import learn_from_today
from rulerank.training.in_pool import Grades

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
            return (NO_TODAY,)
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
