"""Tables of several rankings: side by side in the means, or query by query, with what a reader must know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rulerank.evaluation.comparison import Comparison
from rulerank.evaluation.measures import TIE_RULES
from rulerank.evaluation.rankings import Remark
from rulerank.evaluation.result import Result

Cell = str | int | float
Remarks = Mapping[str, Sequence[Remark]]  # by ranking


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


def note_of(results: Mapping[str, Result]) -> str:
    """Say how the figures came about."""
    first = next(iter(results.values()))
    empty = max(result.n_without_relevant for result in results.values())
    zeros = f"; queries without a relevant document count 0: {empty:,}" if empty else ""
    return f"convention {first.convention}; ties {first.ties}: {TIE_RULES[first.ties]}{zeros}"


def said(remarks: Remarks) -> list[str]:
    """Return the remarks as sentences, each after the name of its ranking."""
    return [f"{name}: {remark.text}" for name, several in remarks.items() for remark in several]


def as_dict(
    results: Mapping[str, Result],
    comparison: Comparison | None,
    *,
    per_query: bool = False,
    remarks: Remarks | None = None,
) -> dict[str, Any]:
    """Return what the tables show, with all digits, as plain values."""
    counts = {name: {remark.key: remark.n for remark in several} for name, several in (remarks or {}).items()}
    payload = {
        "rankings": [
            {"ranking": name} | result.to_dict(per_query=per_query) | counts.get(name, {})
            for name, result in results.items()
        ]
    }
    return payload if comparison is None else payload | {"pairs": comparison.to_dict()["pairs"]}
