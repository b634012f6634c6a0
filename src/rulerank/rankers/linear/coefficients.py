"""The coefficients of a linear ranker as a table that can be read."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from rulerank.render.document import Bar, Content, Table
from rulerank.render.notebook import html_table
from rulerank.render.tables import markdown_table, plain_table

HEADER = ("feature", "coefficient", "std. error", "z", "p", "effect")


@dataclass(frozen=True, slots=True)
class Coefficient:
    """What one feature counts for.

    >>> bm25 = Coefficient("bm25", value=0.5, error=0.125, deviation=3.0)
    >>> bm25.effect, bm25.z, round(bm25.p, 5)
    (1.5, 4.0, 6e-05)
    """

    feature: str
    value: float  # per unit of the feature
    error: float  # standard error, NaN when the data do not determine this coefficient alone
    deviation: float  # standard deviation of the feature within queries

    @property
    def effect(self) -> float:
        """What one standard deviation of the feature adds to the score: comparable between features."""
        return self.value * self.deviation

    @property
    def z(self) -> float:
        return self.value / self.error if self.error else math.nan

    @property
    def p(self) -> float:
        """The chance of so large a z if the true coefficient were 0."""
        return math.erfc(abs(self.z) / math.sqrt(2))


@dataclass(frozen=True)
class Coefficients:
    """A linear ranker's coefficients, the largest effect first."""

    rows: tuple[Coefficient, ...]
    note: str  # how they came about

    def __repr__(self) -> str:
        return f"{plain_table(HEADER, self._cells())}\n{self.note}"

    def _repr_html_(self) -> str:
        largest = max((abs(row.effect) for row in self.rows), default=0.0)
        rows: list[tuple[Content, ...]] = []
        for row, cells in zip(self.rows, self._cells(), strict=True):
            rows.append((*cells[:-1], Bar(row.effect, largest)))
        return html_table(Table("", HEADER, tuple(rows), note=self.note))

    def to_markdown(self) -> str:
        return f"{markdown_table(HEADER, self._cells())}\n\n{self.note}\n"

    def to_json(self) -> str:
        """Return all digits; what the data do not determine is null."""
        rows = [
            {
                "feature": row.feature,
                "coefficient": row.value,
                "standard_error": _known(row.error),
                "z": _known(row.z),
                "p": _known(row.p),
                "effect": row.effect,
            }
            for row in self.rows
        ]
        return json.dumps({"coefficients": rows, "note": self.note}, indent=2)

    def _cells(self) -> list[list[str]]:
        return [
            [
                row.feature,
                f"{row.value:.4g}",
                _shown(row.error, ".4g"),
                _shown(row.z, ".2f"),
                _shown(row.p, ".4f") if not row.p < 1e-4 else "<0.0001",
                f"{row.effect:.4f}",
            ]
            for row in self.rows
        ]


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number


def _shown(number: float, form: str) -> str:
    return "-" if math.isnan(number) else format(number, form)
