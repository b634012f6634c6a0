"""A progress bar for work that turns out to be long, in a terminal or a notebook; silent wherever nobody looks."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_one_at_a_time = threading.Lock()  # a bar inside a bar would draw over it


@contextmanager
def progress(total: int, label: str, after: float = 2.0) -> Iterator[Bar]:
    """Show a bar once the work has taken `after` seconds: on a terminal that is stderr, in a notebook below its cell.

    The environment variable RULERANK_PROGRESS=off silences it.

    >>> with progress(3, "reading") as bar:
    ...     for _ in range(3):
    ...         bar.advance()
    >>> bar.done
    3
    """
    bar = Bar(total, label)
    timer = threading.Timer(after, bar.show)
    timer.daemon = True
    if somebody_looks():
        timer.start()
    try:
        yield bar
    finally:
        timer.cancel()
        bar.close()


def somebody_looks() -> bool:
    """Tell whether stderr is a terminal, or a notebook runs us, and RULERANK_PROGRESS does not say off."""
    shell = sys.modules.get("IPython")
    in_notebook = shell is not None and hasattr(shell.get_ipython(), "kernel")
    return (sys.stderr.isatty() or in_notebook) and os.environ.get("RULERANK_PROGRESS", "").lower() != "off"


class Bar:
    """How much of the work is done; any thread may advance it. Rich draws it."""

    def __init__(self, total: int, label: str) -> None:
        self.total = total
        self.label = label
        self.done = 0
        self._closed = False
        self._drawn: Any = None
        self._lock = threading.Lock()

    def advance(self, n: int = 1) -> None:
        """Say that n more of the total are done."""
        with self._lock:
            self.done += n
            if self._drawn is not None:
                self._drawn.update(self._drawn.task_ids[0], completed=self.done)

    def show(self) -> None:
        """Start to draw, unless the work is over or another bar is there."""
        from rich.console import Console
        from rich.progress import Progress

        with self._lock:
            if self._closed or not _one_at_a_time.acquire(blocking=False):
                return
            # results go to stdout: rich must not move them to where it draws
            self._drawn = Progress(console=Console(stderr=True), transient=True, redirect_stdout=False)
            self._drawn.add_task(self.label, total=self.total, completed=self.done)
            self._drawn.start()

    def close(self) -> None:
        """Take the bar off the screen."""
        with self._lock:
            self._closed = True
            if self._drawn is not None:
                self._drawn.stop()
                self._drawn = None
                _one_at_a_time.release()
