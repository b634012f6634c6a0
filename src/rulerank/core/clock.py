"""How long the rest will take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

ENOUGH = 10  # cells that must have run before a guess is worth telling


class Clock:
    """Guesses the time left by how long the same systems took on other folds.

    >>> now = iter([0.0, 60.0])
    >>> clock = Clock(["slow", "quick"], n_folds=20, now=lambda: next(now))
    >>> for _ in range(10):
    ...     clock.add("slow", 5.0)
    >>> clock.left()  # 10 of slow and, as nothing is known of it, 20 of quick as slow
    180.0
    """

    def __init__(self, systems: Sequence[str], n_folds: int, now: Callable[[], float] = time.monotonic) -> None:
        self._waiting = dict.fromkeys(systems, n_folds)
        self._seconds: dict[str, list[float]] = {}
        self._now = now
        self._start = now()
        self.n_cells = len(systems) * n_folds
        self.n_done = 0

    def add(self, system: str, seconds: float | None) -> None:
        """Count a cell; seconds of one core that it took, None when it was finished before."""
        self.n_done += 1
        self._waiting[system] -= 1
        if seconds is not None:
            self._seconds.setdefault(system, []).append(seconds)

    def left(self) -> float:
        """Return the seconds left; NaN before enough is known."""
        n_known = sum(map(len, self._seconds.values()))
        total = sum(map(sum, self._seconds.values()))
        if n_known < ENOUGH or not total:
            return math.nan
        each = {name: sum(times) / len(times) for name, times in self._seconds.items()}
        work = sum(n * each.get(name, total / n_known) for name, n in self._waiting.items())
        return (self._now() - self._start) * work / total
