"""Print what an evaluation found: rankings side by side, in the means or query by query."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rulerank.cli.output import print_json, print_table
from rulerank.cli.rankings import Remark
from rulerank.errors import DataError
from rulerank.evaluation.comparison import Comparison
from rulerank.evaluation.measures import TIE_RULES
from rulerank.evaluation.result import Result
from rulerank.render.tables import csv_table, markdown_table

Cell = str | int | float
Remarks = Mapping[str, Sequence[Remark]]  # by ranking


def show(
    results: Mapping[str, Result],
    comparison: Comparison | None = None,
    form: str = "table",
    *,
    per_query: bool = False,
    remarks: Remarks | None = None,
) -> None:
    """Print results as a table, csv, Markdown or JSON."""
    remarks = remarks or {}
    if form == "json":
        print_json(as_payload(results, comparison, per_query=per_query, remarks=remarks))
        return
    header, rows = by_query(results) if per_query else side_by_side(results)
    n_left = 2 if per_query else 1
    if form == "csv":
        if comparison is not None:
            raise DataError("--compare has no csv; choose --json or --markdown")
        print(csv_table(header, rows), end="")
        for line in said(remarks):
            print(f"note: {line}", file=sys.stderr)
        return
    lines = [[f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    if form == "markdown":
        print(markdown_table(header, lines, n_left), end="\n\n")
    else:
        print_table(header, lines, n_left)
    print("\n".join([note(results), *said(remarks)]))
    if comparison is None:
        return
    print()
    if form == "markdown":
        print(comparison.to_markdown().rstrip())
    else:
        print_table(*comparison.rows(brief=True), n_left=3)
        print(comparison.note)


def said(remarks: Remarks) -> list[str]:
    """Return the remarks as sentences, each after the name of its ranking."""
    return [f"{name}: {remark.text}" for name, several in remarks.items() for remark in several]


def as_payload(
    results: Mapping[str, Result],
    comparison: Comparison | None,
    *,
    per_query: bool = False,
    remarks: Remarks | None = None,
) -> dict[str, Any]:
    """Return what the tables show, with all digits, for JSON."""
    counts = {name: {remark.key: remark.n for remark in several} for name, several in (remarks or {}).items()}
    payload = {
        "rankings": [
            {"ranking": name} | json.loads(result.to_json(per_query=per_query)) | counts.get(name, {})
            for name, result in results.items()
        ]
    }
    return payload if comparison is None else payload | {"pairs": json.loads(comparison.to_json())["pairs"]}


def side_by_side(results: Mapping[str, Result]) -> tuple[list[str], list[list[Cell]]]:
    """Return one row per ranking: the means, how many queries they are over and how many documents were tied."""
    first = next(iter(results.values()))
    header = ["ranking", *first.means, "queries", "docs", "tied"]
    rows: list[list[Cell]] = [
        [name, *result.means.values(), result.n_queries, result.n_docs, result.n_tied]
        for name, result in results.items()
    ]
    return header, rows


def by_query(results: Mapping[str, Result]) -> tuple[list[str], list[list[Cell]]]:
    """Return one row per ranking and query."""
    first = next(iter(results.values()))
    header = ["ranking", "qid", *(measure.per_query for measure in first.measures)]
    rows: list[list[Cell]] = [
        [name, str(query), *values]
        for name, result in results.items()
        for query, values in zip(result.queries, result.values.T.tolist(), strict=True)
    ]
    return header, rows


def note(results: Mapping[str, Result]) -> str:
    """Say how the figures came about."""
    first = next(iter(results.values()))
    empty = max(result.n_without_relevant for result in results.values())
    zeros = f"; queries without a relevant document count 0: {empty:,}" if empty else ""
    return f"convention {first.convention}; ties {first.ties}: {TIE_RULES[first.ties]}{zeros}"
