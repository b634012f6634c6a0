"""The votes of rule items as a table that can be read."""

from __future__ import annotations

import json
from dataclasses import dataclass

from rulerank.render.tables import markdown_table, plain_table

HEADER = ("if", "vote", "std. error", "labels")


@dataclass(frozen=True, slots=True)
class ItemVote:
    """If the item holds of a document, its score moves by the vote.

    >>> print(ItemVote("bm25_title >= 0.8", 0.21, 0.11, 19))
    bm25_title >= 0.8 -> +0.21 (std. error 0.11, 19 labels)
    """

    item: str
    vote: float
    error: float
    labels: int  # labelled documents of which it holds

    def __str__(self) -> str:
        return f"{self.item} -> {self.vote:+.4g} (std. error {self.error:.2g}, {self.labels:,} labels)"


@dataclass(frozen=True)
class VoteTable:
    """Rules and their votes, the largest first."""

    rows: tuple[ItemVote, ...]
    note: str  # how they came about

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"{plain_table(HEADER, self._cells())}\n{self.note}"

    def to_markdown(self) -> str:
        return f"{markdown_table(HEADER, self._cells())}\n\n{self.note}\n"

    def to_json(self) -> str:
        """Return all digits."""
        rows = [
            {"if": row.item, "vote": row.vote, "standard_error": row.error, "labels": row.labels} for row in self.rows
        ]
        return json.dumps({"rules": rows, "note": self.note}, indent=2)

    def _cells(self) -> list[list[str]]:
        return [[row.item, f"{row.vote:+.4f}", f"{row.error:.4f}", f"{row.labels:,}"] for row in self.rows]
