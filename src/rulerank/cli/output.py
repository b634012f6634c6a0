"""Print results: a table drawn by Rich on a terminal, aligned text in a pipe, JSON when asked."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Self

from rulerank.core.progress import somebody_looks


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1) -> None:
    """Print rows of text, the first n_left columns to the left and the others to the right.

    >>> print_table(["ranking", "MAP"], [["bm25_body", "0.4120"]])
    ranking       MAP
    bm25_body  0.4120
    """
    if not sys.stdout.isatty():
        from rulerank.render.tables import plain_table

        print(plain_table(header, rows, n_left))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for place, name in enumerate(header):
        table.add_column(Text(name), justify="left" if place < n_left else "right")
    for row in rows:
        table.add_row(*map(Text, row))  # Text: a name in square brackets is no markup
    Console().print(table)


def print_json(payload: object) -> None:
    print(json.dumps(payload, indent=2))


def report(payload: dict[str, object], sentence: str, *, as_json: bool, target: str) -> None:
    """Say what was written; on stderr when the data itself went to stdout."""
    print(json.dumps(payload, indent=2) if as_json else sentence, file=sys.stderr if target == "-" else sys.stdout)


class StatusLine:
    """One line of stderr that is kept up to date while somebody looks, and cleared in the end."""

    def __enter__(self) -> Self:
        self._said = time.monotonic()
        return self

    def say(self, text: Callable[[], str]) -> None:
        """Show another text, which is only made when the last one has stood for a moment."""
        if time.monotonic() - self._said > 0.2:
            self._said = time.monotonic()
            self._show(text)

    def __exit__(self, *_: object) -> None:
        self._show(str)

    def _show(self, text: Callable[[], str]) -> None:
        if somebody_looks():
            print(f"\r\x1b[K{text()}", end="", file=sys.stderr, flush=True)
