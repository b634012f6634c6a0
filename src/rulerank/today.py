"""Today's ranking: the one feature, such as BM25 or an engine's rank, that users see documents ranked by now."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.core.parameters import Checked, is_whole, shown
from rulerank.core.words import listed
from rulerank.dataset import Array, check_column
from rulerank.errors import DataError

RANKS = ("rank", "ranking", "position", "pos")  # a name that ends in one of these words counts places: 1 is the best
# names that mean the ranking of now, the surest first
USUAL = (
    r"(today|engine|search|es|solr|elastic|elasticsearch|opensearch|vespa)[_ .-]?(score|rank|position)?",
    r"_?score|rank|position",
    r"bm25[^a-z0-9]?(all|full|total|whole|sum)?[^a-z0-9]?",
    r"bm25.*",
    r".*bm25.*",
)


@dataclass(frozen=True, slots=True)
class Today:
    """Which feature ranks the documents today, and which end of it comes first.

    >>> str(Today("engine_rank", 3, -1))
    'engine_rank, lowest first'
    """

    feature: str
    column: int
    sign: int  # 1: the highest value comes first, -1: the lowest

    def __str__(self) -> str:
        return self.feature if self.sign > 0 else f"{self.feature}, lowest first"

    @property
    def option(self) -> str:
        """The words by which it can be asked for again."""
        if self.sign == usual_sign(self.feature):
            return self.feature
        return f"{'+' if self.sign > 0 else '-'}{self.feature}"

    def scores(self, X: Array) -> Array:
        """Return today's score of each row, the best highest; rows that lack it come last.

        >>> Today("bm25", 0, 1).scores(np.array([[2.0], [np.nan], [1.0]])).argsort().tolist()  # from worst to best
        [1, 2, 0]
        """
        values = self.sign * X[:, self.column].astype(np.float64)
        missing = np.isnan(values)
        values[missing] = np.nextafter(values[~missing].min(initial=0.0), -np.inf)
        return values


def find_today(names: Sequence[str], today: Any) -> Today:
    """Return today's ranking by the name or the column number of its feature.

    The highest value comes first; "-name" turns that round. A name that ends in the word rank or position, such as
    engine_rank, counts places, of which 1 is the best: there the lowest comes first, and "+name" turns that round.

    >>> find_today(["bm25", "engine_rank"], "engine_rank")
    Today(feature='engine_rank', column=1, sign=-1)
    >>> find_today(["bm25", "engine_rank"], 0)
    Today(feature='bm25', column=0, sign=1)
    """
    check_today(today)
    if not isinstance(today, str):
        if today >= len(names):
            raise DataError(f"today must be a feature, a column from 0 to {len(names) - 1}: got {today}")
        return Today(names[today], int(today), usual_sign(names[today]))
    if today in names:
        return Today(today, list(names).index(today), usual_sign(today))
    feature = today[1:]
    if today[:1] in ("-", "+") and feature in names:
        return Today(feature, list(names).index(feature), -1 if today[0] == "-" else 1)
    raise DataError(f"baseline ranking: there is no feature {today!r}; the data has {listed(list(names)) or 'none'}")


def check_today(today: Any) -> None:
    """Refuse what can be neither the name of a feature nor a column number."""
    if not (isinstance(today, str) and today) and not is_whole(today, 0):
        raise DataError(
            "today must be the feature that ranks the documents now, its name such as 'bm25' or its column number "
            f"from 0: got {shown(today)}"
        )


def check_scores(scores: Any, n_rows: int) -> Array:
    """Return today's score of each row as floats, or say which is none.

    >>> check_scores([2, 1], 2)
    array([2., 1.])
    """
    column = check_column("today", scores, n_rows)
    try:
        found = column.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "today must be a feature, a model, or a score of each row: got values that are no numbers"
        ) from None
    if not np.isfinite(found).all():
        row = int((~np.isfinite(found)).argmax())
        raise DataError(f"today's scores must be finite numbers: got {found[row]} at row {row}")
    return found


def check_no_category(today: Today, categories: Iterable[str]) -> None:
    """Refuse a today's ranking that is a category: its codes have no order."""
    if today.feature in categories:
        raise DataError(
            f"baseline ranking: {today.feature!r} holds categories, which put nothing in order; name a feature of "
            "numbers"
        )


def suggest_today(names: Sequence[str]) -> Today | None:
    """Return the feature whose name says that it is today's ranking, None when no name does.

    >>> suggest_today(["length", "bm25(title)", "bm25(all)"]).feature
    'bm25(all)'
    >>> suggest_today(["length", "pagerank"]) is None
    True
    """
    for pattern in USUAL:
        for name in names:
            if re.fullmatch(pattern, name.lower()):
                return find_today(names, name)
    return None


def usual_sign(name: str) -> int:
    """Return -1 for a name that ends in a word for a place, which is the better the lower, and else 1.

    >>> usual_sign("engine_rank"), usual_sign("pagerank"), usual_sign("bm25")
    (-1, 1, 1)
    """
    return -1 if re.split(r"[^a-z0-9]+", name.lower().rstrip(")_ "))[-1] in RANKS else 1


TODAY = Checked(
    check_today,
    "the feature that ranks the documents now: its name, '-name' for lowest first, or its column number",
    meaning="the feature that ranks the documents now",
    none="not said yet: fit asks for it",
)
