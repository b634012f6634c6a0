"""What an evaluation returns: figures that say how they came about."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rulerank.dataset import Array
from rulerank.evaluation.measures import Measure
from rulerank.render.tables import csv_table, markdown_table, plain_table


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
        return f"{queries}, convention {self.convention}, ties {self.ties}: {tied}"

    def __repr__(self) -> str:
        return f"{plain_table(['measure', 'mean'], self._rounded())}\n{self.note}"

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
        }
        if per_query:
            payload["queries"] = self.queries.tolist()
            payload["per_query"] = {label: values.tolist() for label, values in self.per_query.items()}
        return payload

    def to_json(self, *, per_query: bool = False) -> str:
        return json.dumps(self.to_dict(per_query=per_query), indent=2, default=str)

    def _rounded(self) -> list[list[str]]:
        return [[label, f"{mean:.4f}"] for label, mean in self.means.items()]
