"""Which of two interleaved rankings wins: impressions decided by their clicks, and what follows from them, no more.

An impression, one list shown for a query in a session, is won by the ranking whose documents were clicked more; where
both were clicked alike, or nothing was, it has no winner and is dropped. The share that is won has an interval by
query: impressions of one query go together, and the next queries need not be like these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import norm

from rulerank.clicks.clustered import Share, clustered_share
from rulerank.core.words import counted, percent
from rulerank.dataset import Array

LEAST = 6  # decided impressions, and queries with one: five go all one way by chance in 1 of 16 cases
LEVEL = 0.95  # of intervals
POWER = 0.95  # with which advice is to tell


@dataclass(frozen=True, eq=False)
class Contest:
    """Impressions of each query that the rankings A and B have won, and those without a winner.

    >>> contest = Contest([*"opqrst"], a=[1, 2, 3, 1, 2, 2], b=[7, 8, 9, 8, 9, 7], ties=[20] * 6)
    >>> print(contest.line())
    B wins: 48 of 59 decided impressions of 6 queries (81 %, 95 % interval 66-90 %); 120 without a winner.
    >>> print(Contest(["q"], a=[2], b=[1], ties=[7]).line())
    Not enough to tell yet (A 2 : 1 B of 1 query, 7 impressions without a winner).
    """

    queries: list[str]
    a: Array  # (n_queries,) impressions won by A
    b: Array
    ties: Array
    names: tuple[str, str] = ("A", "B")

    def __post_init__(self) -> None:
        for name in ("a", "b", "ties"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.int64))

    @property
    def decided(self) -> int:
        return int(self.a.sum() + self.b.sum())

    @property
    def impressions(self) -> int:
        return self.decided + int(self.ties.sum())

    @property
    def share(self) -> Share:
        """The share of decided impressions that B wins, and its 95 % interval by query."""
        won, decided = self.b, self.a + self.b
        # one query each way: that all went alike so far is no certainty
        return clustered_share(np.array([*won, 1, 0]), np.array([*decided, 1, 1]), LEVEL)

    @property
    def verdict(self) -> str:
        """a, b, unclear, or too few."""
        if self.decided < LEAST or np.count_nonzero(self.a + self.b) < LEAST:
            return "too few"
        share = self.share
        return "b" if share.low > 0.5 else "a" if share.high < 0.5 else "unclear"

    def line(self) -> str:
        """Say what follows from the clicks."""
        a, b = int(self.a.sum()), int(self.b.sum())
        queries = counted(int(np.count_nonzero(self.a + self.b)), "query", "queries")
        rest = int(self.ties.sum())
        if self.verdict == "too few":
            score = f"{self.names[0]} {a:,} : {b:,} {self.names[1]} of {queries}"
            return f"Not enough to tell yet ({score}, {counted(rest, 'impression')} without a winner)."
        won, name, share = b, self.names[1], self.share
        if self.verdict == "a":
            won, name, share = a, self.names[0], Share(1 - share.value, 1 - share.high, 1 - share.low)
        begin = f"No clear difference: {name} won" if self.verdict == "unclear" else f"{name} wins:"
        interval = f"95 % interval {100 * share.low:.0f}-{percent(share.high)}"
        return (
            f"{begin} {won:,} of {counted(self.decided, 'decided impression')} of {queries} "
            f"({percent(won / self.decided)}, {interval}); {rest:,} without a winner."
        )

    def advice(self) -> str | None:
        """Say how many impressions would tell, if the difference is what it seems to be; None where it is told.

        What it seems to be may be far off while the interval is wide, and is said so.
        """
        if self.verdict in ("a", "b") or not self.decided:
            return None
        share = self.share
        if self.verdict == "too few":
            needed = impressions_needed(0.55, self.decided / self.impressions)
            return (
                f"To tell a share of 55 % from half, at least about {needed:,} impressions of many queries are needed."
            )
        if abs(share.value - 0.5) < 0.005:
            return "The two are so close that no number of impressions that could be advised would tell them apart."
        spread = (share.high - share.low) / (2 * norm.ppf(0.5 + LEVEL / 2))
        alone = math.sqrt(share.value * (1 - share.value) / self.decided)
        together = max(1.0, (spread / alone) ** 2)  # how much more impressions vary than if they had nothing in common
        needed = impressions_needed(share.value, self.decided / self.impressions, together)
        return (
            f"If the share stays at {percent(max(share.value, 1 - share.value))}, which is not sure, about {needed:,} "
            f"impressions would tell, {self.impressions:,} of which are there."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        share = self.share
        return {
            "verdict": self.verdict,
            "won": {"a": int(self.a.sum()), "b": int(self.b.sum())},
            "without_a_winner": int(self.ties.sum()),
            "queries": len(self.queries),
            "share_of_b": round(share.value, 4),
            "interval": [round(share.low, 4), round(share.high, 4)],
            "line": self.line(),
            "advice": self.advice(),
        }


def contest_of(impressions: pl.DataFrame, names: tuple[str, str] = ("A", "B")) -> Contest:
    """Return who won which impressions.

    impressions: one row each with the columns query, a and b: the clicks on documents of each team.
    """
    won = impressions.group_by("query").agg(
        (pl.col("a") > pl.col("b")).sum().alias("a won"),
        (pl.col("a") < pl.col("b")).sum().alias("b won"),
        (pl.col("a") == pl.col("b")).sum().alias("ties"),
    )
    won = won.sort("query")
    columns: Mapping[str, Array] = {name: won[name].to_numpy() for name in ("a won", "b won", "ties")}
    return Contest(won["query"].to_list(), columns["a won"], columns["b won"], columns["ties"], names)


def impressions_needed(share: float, decided: float = 1.0, together: float = 1.0) -> int:
    """Return how many impressions tell a share of decided ones from half, in 95 % of cases.

    decided: the share of impressions that have a winner.
    together: how many times as much impressions vary as if they had nothing in common.

    >>> impressions_needed(0.55), impressions_needed(0.55, decided=0.25)
    (1294, 5175)
    """
    reach = norm.ppf(0.5 + LEVEL / 2) * 0.5 + norm.ppf(POWER) * math.sqrt(share * (1 - share))
    return math.ceil(together * (reach / (share - 0.5)) ** 2 / decided)
