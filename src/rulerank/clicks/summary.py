"""Summary of a click log: click rates by position, how much of it is in a pool, and which documents moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from rulerank._util.words import counted
from rulerank.clicks.counts import ABSENT, ClickCounts, Match
from rulerank.evaluation.comparison import share_interval
from rulerank.render.document import Bar, Content, Page, Sentences, Table

SHOWN_POSITIONS = 20  # in the table


class PositionRate(NamedTuple):
    """Click rate at a position, with a 95 % interval by query."""

    position: int
    impressions: int
    clicks: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True)
class ClickSummary:
    """Summary of a click log.

    >>> rows = [("q", "a", 1, 100, 30), ("q", "a", 2, 50, 10), ("p", "b", 1, 100, 20)]
    >>> names = ["query", "doc", "position", "impressions", "clicks"]
    >>> summary = summarise_clicks(ClickCounts(pl.DataFrame(rows, names, orient="row")))
    >>> print(summary.sentences()[0])
    2 queries, 2 documents (pairs of query and document), 2 positions; 250 impressions, 60 clicks (24.0 %).
    >>> summary.docs_moved
    1
    """

    queries: int
    docs: int  # pairs of query and document
    impressions: int
    clicks: int
    positions: tuple[PositionRate, ...]
    docs_moved: int  # pairs that were shown at more than one position
    pool: Mapping[str, Any] | None = None  # what of it a pool holds, by which the queries were found, and what it adds

    def sentences(self) -> list[str]:
        """Return the summary in sentences."""
        said = [
            f"{counted(self.queries, 'query', 'queries')}, {counted(self.docs, 'document')} "
            f"(pairs of query and document), {counted(len(self.positions), 'position')}; "
            f"{counted(self.impressions, 'impression')}, {counted(self.clicks, 'click')} "
            f"({_share(self.clicks, self.impressions)})."
        ]
        known = self.pool or {"docs": self.docs, "docs_moved": self.docs_moved}
        if self.pool is not None:
            docs, shown = self.docs - known["docs"], self.impressions - known["impressions"]
            said.append(
                f"In the pool, matched by query {known['by']}: {known['queries']:,} of the queries, "
                f"{known['docs']:,} of the documents; {_share(docs, self.docs)} of the documents and "
                f"{_share(shown, self.impressions)} of the impressions have no features."
            )
            if known["without_impressions"]:
                said.append(
                    f"{counted(known['without_impressions'], 'document')} of the pool never shown, and left out."
                )
        moved, docs = known["docs_moved"], known["docs"]
        said.append(
            f"Seen at more than one position: {moved:,} of {counted(docs, 'document')} ({_share(moved, docs)})."
        )
        return said

    def remarks(self) -> list[str]:
        """Return what looks wrong; training reports what a model cannot learn from the log."""
        if len(self.positions) < 3 or self.positions[-1].low <= self.positions[0].high:
            return []
        first, last = self.positions[0], self.positions[-1]
        return [
            f"position {last.position} is clicked more often than position {first.position} ({last.rate:.3f} "
            f"and {first.rate:.3f}): positions must count from the top of the list"
        ]

    def page(self) -> Page:
        """Return the page to print or show."""
        shown = self.positions[:SHOWN_POSITIONS]
        largest = max((one.rate for one in shown), default=0.0)
        rows: list[tuple[Content, ...]] = []
        for one in shown:
            cells = str(one.position), f"{one.impressions:,}", f"{one.clicks:,}", f"{one.low:.3f} to {one.high:.3f}"
            rows.append((*cells, Bar(one.rate, largest, signed=False)))
        more = len(self.positions) - len(shown)
        note = "Intervals: 95 %, by query: impressions of one query go together."
        note += f" {counted(more, 'position')} further down not shown." if more else ""
        header = ("position", "impressions", "clicks", "interval", "click rate")
        blocks: list[Table | Sentences] = [Table("Click rate by position", header, tuple(rows), note=note)]
        if self.remarks():
            blocks.append(Sentences("Take care", tuple(f"{one[0].upper()}{one[1:]}." for one in self.remarks())))
        return Page("Clicks", tuple(self.sentences()), tuple(blocks))

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain values."""
        return vars(self) | {"positions": [one._asdict() for one in self.positions], "remarks": self.remarks()}


def summarise_clicks(counts: ClickCounts, match: Match | None = None, *, n_pool: int = 0) -> ClickSummary:
    """Summarise a log.

    match: rows of its documents in a pool (`ClickCounts.match`), if there is one; n_pool: number of rows of the pool.
    """
    table = counts.table
    pool = None
    if match is not None:
        found = table.filter(pl.Series(match.rows != ABSENT)).with_columns(
            pl.Series("row", match.rows[match.rows != ABSENT])
        )
        by_row = found.group_by("row").agg(pl.col("position").n_unique())
        pool = {
            "by": match.by,
            "queries": found["query"].n_unique(),
            "docs": found.select("query", "doc").n_unique(),
            "impressions": int(found["impressions"].sum()),
            "clicks": int(found["clicks"].sum()),
            "docs_moved": int((by_row["position"] > 1).sum()),
            "without_impressions": n_pool - len(by_row),
        }
    places = table.group_by("query", "doc").agg(pl.col("position").n_unique())
    n_queries, n_moved = table["query"].n_unique(), int((places["position"] > 1).sum())
    n_impressions, n_clicks = (int(table[name].sum()) for name in ("impressions", "clicks"))
    return ClickSummary(n_queries, len(places), n_impressions, n_clicks, rates_by_position(table), n_moved, pool)


def rates_by_position(table: pl.DataFrame) -> tuple[PositionRate, ...]:
    """Return the click rate at every position, from the top, with intervals by query."""
    by_query = table.group_by("position", "query").agg(pl.col("impressions", "clicks").sum())
    rates = []
    for (position,), part in sorted(by_query.group_by("position")):
        shown, clicks = part["impressions"].to_numpy(), part["clicks"].to_numpy()
        rate = share_interval(clicks, shown)
        rates.append(PositionRate(int(str(position)), int(shown.sum()), int(clicks.sum()), *rate))
    return tuple(rates)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"
