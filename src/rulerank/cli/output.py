"""Print results: a table drawn by Rich on a terminal, aligned text in a pipe, JSON when asked."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from rulerank.core.progress import somebody_looks
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.evaluation import ComparisonTable, Result


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1) -> None:
    """Print rows of text, the first n_left columns to the left and the others to the right.

    >>> print_table(["ranking", "MAP"], [["bm25_body", "0.4120"]])
    ranking       MAP
    bm25_body  0.4120
    """
    if not sys.stdout.isatty():
        from rulerank.render.text import plain_table

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


def print_results(
    results: Mapping[str, Result],
    comparison: ComparisonTable | None = None,
    form: str = "table",
    *,
    per_query: bool = False,
) -> None:
    """Print results as a table, csv, Markdown or JSON."""
    from rulerank.evaluation.evaluation import as_dict, by_query, note_of, said, side_by_side
    from rulerank.render.text import csv_table, markdown_table

    if form == "json":
        print_json(as_dict(results, comparison, per_query=per_query))
        return
    header, rows = by_query(results) if per_query else side_by_side(results)
    n_left = 2 if per_query else 1
    if form == "csv":
        if comparison is not None:
            raise DataError("--compare has no csv; choose --json or --markdown")
        print(csv_table(header, rows), end="")
        for line in said(results):
            print(f"note: {line}", file=sys.stderr)
        return
    lines = [[f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    if form == "markdown":
        print(markdown_table(header, lines, n_left), end="\n\n")
    else:
        print_table(header, lines, n_left)
    print("\n".join([note_of(results), *said(results)]))
    if comparison is None:
        return
    print()
    if form == "markdown":
        print(markdown_table(*comparison.rows(), n_left=3), end="\n\n")
    else:
        print_table(*comparison.rows(), n_left=3)
    print(comparison.note)


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
