"""A progress bar for work that turns out to be long; silent otherwise, and wherever nobody looks."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_one_at_a_time = threading.Lock()  # a bar inside a bar would draw over it


@contextmanager
def progress(total: int, label: str, after: float = 2.0) -> Iterator[Bar]:
    """Show a bar on stderr once the work has taken `after` seconds, if stderr is a terminal.

    The environment variable RULERANK_PROGRESS=off silences it.

    >>> with progress(3, "reading") as bar:
    ...     for _ in range(3):
    ...         bar.advance()
    >>> bar.done
    3
    """
    bar = Bar(total, label)
    if not somebody_looks():
        yield bar
        return
    timer = threading.Timer(after, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar
    finally:
        timer.cancel()
        bar.close()


def somebody_looks() -> bool:
    """Tell whether stderr is a terminal and RULERANK_PROGRESS does not say off."""
    return sys.stderr.isatty() and os.environ.get("RULERANK_PROGRESS", "").lower() not in ("off", "0", "no")


class Bar:
    """How much of the work is done; any thread may advance it."""

    def __init__(self, total: int, label: str) -> None:
        self.total = total
        self.label = label
        self.done = 0
        self._closed = False
        self._shown: Progress | None = None
        self._lock = threading.Lock()

    def advance(self, n: int = 1) -> None:
        """Say that n more of the total are done."""
        with self._lock:
            self.done += n
            if self._shown is not None:
                self._shown.update(self._shown.task_ids[0], completed=self.done)

    def show(self) -> None:
        """Start to draw, unless the work is over or another bar is there."""
        with self._lock:
            if self._closed or not _one_at_a_time.acquire(blocking=False):
                return
            from rich.console import Console
            from rich.progress import Progress

            # results go to stdout: rich must not move them to where it draws
            self._shown = Progress(console=Console(stderr=True), transient=True, redirect_stdout=False)
            self._shown.add_task(self.label, total=self.total, completed=self.done)
            self._shown.start()

    def close(self) -> None:
        """Take the bar off the screen."""
        with self._lock:
            self._closed = True
            if self._shown is not None:
                self._shown.stop()
                self._shown = None
                _one_at_a_time.release()
