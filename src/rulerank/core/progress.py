"""A progress bar for work that turns out to be long, in a terminal or a notebook; silent wherever nobody looks."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any, Protocol

EVERY = 0.3  # seconds between two drawings in a notebook
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
    """Tell whether stderr is a terminal, or a notebook runs us, and RULERANK_PROGRESS does not say off."""
    return (sys.stderr.isatty() or in_notebook()) and os.environ.get("RULERANK_PROGRESS", "").lower() not in (
        "off",
        "0",
        "no",
    )


def in_notebook() -> bool:
    """Tell whether a notebook's kernel runs this: one that displays pages, not a terminal."""
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")


class Bar:
    """How much of the work is done; any thread may advance it."""

    def __init__(self, total: int, label: str) -> None:
        self.total = total
        self.label = label
        self.done = 0
        self._closed = False
        self._drawn: Drawing | None = None
        self._lock = threading.Lock()

    def advance(self, n: int = 1) -> None:
        """Say that n more of the total are done."""
        with self._lock:
            self.done += n
            if self._drawn is not None:
                self._drawn.update(self.done)

    def show(self) -> None:
        """Start to draw, unless the work is over or another bar is there."""
        with self._lock:
            if self._closed or not _one_at_a_time.acquire(blocking=False):
                return
            draw = NotebookDrawing if in_notebook() else TerminalDrawing
            self._drawn = draw(self.total, self.label, self.done)

    def close(self) -> None:
        """Take the bar off the screen."""
        with self._lock:
            self._closed = True
            if self._drawn is not None:
                self._drawn.end()
                self._drawn = None
                _one_at_a_time.release()


class Drawing(Protocol):
    """A bar that somebody sees."""

    def update(self, done: int) -> None: ...

    def end(self) -> None: ...


class TerminalDrawing:
    """The bar on stderr."""

    def __init__(self, total: int, label: str, done: int) -> None:
        from rich.console import Console
        from rich.progress import Progress

        # results go to stdout: rich must not move them to where it draws
        self._bar = Progress(console=Console(stderr=True), transient=True, redirect_stdout=False)
        self._task = self._bar.add_task(label, total=total, completed=done)
        self._bar.start()

    def update(self, done: int) -> None:
        """Draw that so much is done."""
        self._bar.update(self._task, completed=done)

    def end(self) -> None:
        """Take it away."""
        self._bar.stop()


class NotebookDrawing:
    """The bar as an element of a page, below the cell that works."""

    def __init__(self, total: int, label: str, done: int) -> None:
        shell: Any = import_module("IPython.display")  # it is there, for it runs us
        self._total, self._label, self._last = total, label, 0.0
        self._as_html = shell.HTML
        self._place = shell.display(shell.HTML(""), display_id=True)
        self.update(done)

    def update(self, done: int) -> None:
        """Draw that so much is done, unless it was drawn a moment ago."""
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            share = f"{escape(self._label)} {done:,} of {self._total:,}"
            self._place.update(self._as_html(f'<progress value="{done}" max="{self._total}"></progress> {share}'))

    def end(self) -> None:
        """Take it away."""
        self._place.update(self._as_html(""))
