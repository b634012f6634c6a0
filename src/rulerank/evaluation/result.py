"""What an evaluation returns: figures that say how they came about, of one ranking or of several side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rulerank.dataset import Array
from rulerank.evaluation.measures import TIE_RULES, Measure
from rulerank.render.notebook import html_table, table_of
from rulerank.render.tables import csv_table, markdown_table, plain_table

if TYPE_CHECKING:
    from rulerank.evaluation.comparison import Comparison

Cell = str | int | float


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The measures of one ranking, in the mean and query by query."""

    measures: tuple[Measure, ...]
    queries: Array  # query ids in order of appearance
    values: Array  # float64 (n_measures, n_queries)
    n_docs: int
    n_tied: int  # documents that share their score with another one of the same query
    n_without_relevant: int  # queries without a relevant document count 0 (in NDCG and ERR: without any gain)
    convention: str
    ties: str
    remarks: tuple[Remark, ...] = ()  # what else a reader must know, such as queries that a run lacks

    @property
    def n_queries(self) -> int:
        return int(self.values.shape[1])

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure over all queries, by its label."""
        return dict(zip(map(str, self.measures), self.values.mean(axis=1).tolist(), strict=True))

    @property
    def per_query(self) -> dict[str, Array]:
        """The values of each measure, in the order of `queries`."""
        return dict(zip(map(str, self.measures), self.values, strict=True))

    @property
    def note(self) -> str:
        """How the figures came about, in one line."""
        queries = "1 query" if self.n_queries == 1 else f"{self.n_queries:,} queries"
        if self.n_without_relevant:
            queries += f" ({self.n_without_relevant:,} without a relevant document)"
        tied = f"{self.n_tied:,} of {self.n_docs:,} documents tied"
        return "; ".join(
            [f"{queries}, convention {self.convention}, ties {self.ties}: {tied}", *(one.text for one in self.remarks)]
        )

    def __repr__(self) -> str:
        return f"{plain_table(['measure', 'mean'], self._rounded())}\n{self.note}"

    def _repr_html_(self) -> str:
        return html_table(table_of(["measure", "mean"], self._rounded(), note=self.note))

    def to_markdown(self) -> str:
        return f"{markdown_table(['measure', 'mean'], self._rounded())}\n\n{self.note}\n"

    def to_csv(self) -> str:
        return csv_table(["measure", "mean"], list(self.means.items()))

    def per_query_csv(self) -> str:
        """One line per query; the mean of averages is then called what it is for one query, AP and RR."""
        header = ["qid", *(measure.per_query for measure in self.measures)]
        return csv_table(header, ([q, *row] for q, row in zip(self.queries, self.values.T.tolist(), strict=True)))

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return the means and how they came about as plain values; per_query: the value of every query too."""
        payload: dict[str, Any] = {
            "means": self.means,
            "n_queries": self.n_queries,
            "n_without_relevant": self.n_without_relevant,
            "n_docs": self.n_docs,
            "n_tied": self.n_tied,
            "convention": self.convention,
            "ties": self.ties,
        } | {remark.key: remark.n for remark in self.remarks}
        if per_query:
            payload["queries"] = self.queries.tolist()
            payload["per_query"] = {label: values.tolist() for label, values in self.per_query.items()}
        return payload

    def to_json(self, *, per_query: bool = False) -> str:
        return json.dumps(self.to_dict(per_query=per_query), indent=2, default=str)

    def _rounded(self) -> list[list[str]]:
        return [[label, f"{mean:.4f}"] for label, mean in self.means.items()]


class Remark(NamedTuple):
    """Something counted that a reader of the figures must know."""

    key: str  # in JSON
    n: int
    text: str


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


def said(remarks: Mapping[str, Sequence[Remark]]) -> list[str]:
    """Return the remarks as sentences, each after the name of its ranking."""
    return [f"{name}: {remark.text}" for name, several in remarks.items() for remark in several]


def as_dict(
    results: Mapping[str, Result],
    comparison: Comparison | None,
    *,
    per_query: bool = False,
    remarks: Mapping[str, Sequence[Remark]] | None = None,
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
