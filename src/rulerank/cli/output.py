"""Print results: a Rich table on a terminal, aligned text in a pipe, JSON with --json."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.evaluation import ComparisonTable, Result
    from rulerank.render.document import Page

PICTURES = (".png", ".svg", ".pdf")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1) -> None:
    """Print rows of text, the first n_left columns left-aligned and the others right-aligned.

    >>> print_table(["ranking", "MAP"], [["bm25_body", "0.4120"]])
    ranking       MAP
    bm25_body  0.4120
    """
    if not sys.stdout.isatty():
        from rulerank.render.text import plain_table

        print(plain_table(header, rows, n_left))
        return
    from rich.console import Console

    from rulerank.render.html import table_of
    from rulerank.render.text import rich_table

    Console().print(rich_table(table_of(header, rows, n_left)))


def print_page(page: Page, to: TextIO) -> None:
    """Print a page: with Rich on a terminal, as aligned text in a pipe."""
    from rulerank.render.text import render_text, rich_page

    if to.isatty() and (to.encoding or "").startswith("utf"):
        from rich.console import Console

        Console(file=to).print(rich_page(page))
    else:
        print(render_text(page).rstrip(), file=to)


def print_json(payload: object) -> None:
    print(json.dumps(payload, indent=2))


def report(payload: Mapping[str, object], sentence: str, *, as_json: bool, target: str = "") -> None:
    """Print what was written; on stderr if the data itself went to stdout."""
    print(json.dumps(payload, indent=2) if as_json else sentence, file=sys.stderr if target == "-" else sys.stdout)


def ending_of(out: str, endings: Sequence[str]) -> str:
    """Return the ending of a file name, which selects the format.

    >>> ending_of("why.HTML", [".html", ".md"])
    '.html'
    """
    ending = Path(out).suffix.lower()
    if ending not in endings:
        raise DataError(f"no known format for {out!r}: use a name that ends in {', '.join(endings)}")
    return ending


def results_text(
    results: Mapping[str, Result], comparison: ComparisonTable | None, ending: str, *, per_query: bool
) -> str:
    """Return results as csv, with all digits, or as Markdown."""
    from rulerank.evaluation.evaluation import by_query, note_of, said, side_by_side
    from rulerank.render.text import csv_table, markdown_table

    header, rows = by_query(results) if per_query else side_by_side(results)
    if ending == ".csv":
        if comparison is not None:
            raise DataError("--compare cannot be written as csv: use .md or --json")
        return csv_table(header, rows)
    table = markdown_table(header, as_text(rows), 2 if per_query else 1)
    parts = [table, "\n".join([note_of(results), *said(results)])]
    if comparison is not None:
        parts += [markdown_table(*comparison.rows(), n_left=3), comparison.note]
    return "\n\n".join(parts) + "\n"


def print_results(
    results: Mapping[str, Result], comparison: ComparisonTable | None = None, *, per_query: bool = False
) -> None:
    """Print results as a table, and how they differ."""
    from rulerank.evaluation.evaluation import by_query, note_of, said, side_by_side

    header, rows = by_query(results) if per_query else side_by_side(results)
    print_table(header, as_text(rows), 2 if per_query else 1)
    print("\n".join([note_of(results), *said(results)]))
    if comparison is not None:
        print()
        print_table(*comparison.rows(), n_left=3)
        print(comparison.note)


def as_text(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    return [[f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
