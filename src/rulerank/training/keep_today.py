"""Whether clicks say that a new ranking is better than today's; where they do not, today's is kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.normalize import normalize_by_query
from rulerank.rankers.anchored.today_model import TodayModel, find_start, scores_today
from rulerank.today import Today, check_scores

SURE = 1.645  # standard errors that a gain must exceed: where there is none, one in twenty does
FEWEST = 6  # queries with clicks: fewer all go one way too often, whatever is better
QUERIES = ("held-out query", "held-out queries")
MOST_TIMES = 1000  # as many impressions: beyond, how many would tell is not said


@dataclass(frozen=True)
class AgainstToday:
    """What a new ranking gains on held-out clicks against today's: log-likelihood a query, by query.

    >>> AgainstToday("bm25", 0.01, 0.02, 40, 1000).impressions_needed
    11000
    """

    about: str
    gain: float  # NaN: not compared
    error: float  # standard error of the gain, over queries
    n_queries: int
    n_impressions: int
    known: bool = True  # False: mean positions stand in for today's ranking, which were once far too easy to beat

    @property
    def better(self) -> bool:
        """Whether the gain is certain to 95 %; never where today's ranking is not known."""
        return self.known and self.gain > SURE * self.error

    @property
    def impressions_needed(self) -> int | None:
        """About how many impressions would tell; None where nothing speaks for the new ranking, or far too many."""
        if self.better or not self.known or not self.gain > 0 or SURE * self.error > self.gain * math.sqrt(MOST_TIMES):
            return None
        needed = self.n_impressions * (SURE * self.error / self.gain) ** 2
        digits = 10 ** max(math.floor(math.log10(needed)) - 1, 0)
        return math.ceil(round(needed / digits, 6)) * digits

    def line(self) -> str:
        """Say it in a sentence."""
        shown, of = counted(self.n_impressions, "impression"), f"with clicks in {counted(self.n_queries, *QUERIES)},"
        if math.isnan(self.gain) and self.known:
            return f"{shown}, {of} are too few to compare a new ranking with today's ({self.about}): keep today's."
        held_out = f"{shown}, {of}"
        if self.better:
            figures = f"log-likelihood {self.gain:+.4f} a query, standard error {self.error:.4f}"
            return f"{held_out} say that it is better than today's ranking ({self.about}): {figures}."
        if not self.known:
            return (
                "Today's ranking is not known, so nothing says that the new one is better: name it, today= or --today."
            )
        needed = self.impressions_needed
        more = "" if needed is None else f"; about {needed:,} impressions would, if the difference is what it seems"
        return f"{held_out} do not say that a new ranking is better than today's ({self.about}): keep today's{more}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; what is not known is None."""
        known = not math.isnan(self.gain)
        return {
            "today": self.about,
            "gain": self.gain if known else None,
            "standard_error": self.error if known else None,
            "better": self.better,
            "impressions_needed": self.impressions_needed,
        }


@dataclass(frozen=True, eq=False)
class TodayScores:
    """Today's ranking of rows that were shown."""

    about: str
    views: tuple[Array, ...]  # scores as they are, and their ranks by query; the kinder one counts
    start: Today | TodayModel | None = None  # a feature or a model, by which new documents can be ranked too
    known: bool = True

    @property
    def feature(self) -> Today | None:
        """The feature, where it is one."""
        return self.start if isinstance(self.start, Today) else None


def today_scores(data: Dataset, today: Any, queries: Array, documents: Array) -> TodayScores:
    """Return today's scores: of a feature or a model, as given, or else by the mean position of a document.

    >>> import rulerank as rr
    >>> world = rr.make_world(n_queries=2, n_features=2, seed=0)
    >>> today_scores(world, "bm25_title", np.zeros(len(world), dtype=int), np.arange(len(world))).about
    'bm25_title'
    """
    start = None
    if today is None:
        about, scores = "the mean positions at which documents were shown", mean_standing(data, documents)
    elif isinstance(today, str | int | np.integer) or hasattr(today, "predict"):
        start = find_start(data.feature_names, today)
        about, scores = str(start), scores_once(partial(scores_today, start), data, documents)
    else:
        about, scores = "the scores given", check_scores(today, len(data))
    ranks = normalize_by_query(scores[:, None], queries, "rank")[:, 0]
    if today is not None and not _differs(ranks, queries):
        raise DataError(
            f"today's ranking ({about}) is the same for all documents of every query, so it ranks nothing: name another"
        )
    return TodayScores(about, (scores, ranks), start, today is not None)


def _differs(scores: Array, queries: Array) -> bool:
    """Tell whether documents of any query have different scores."""
    lowest, highest = np.full(int(queries.max()) + 1, np.inf), np.full(int(queries.max()) + 1, -np.inf)
    np.minimum.at(lowest, queries, scores)
    np.maximum.at(highest, queries, scores)
    return bool((highest > lowest).any())


def mean_standing(data: Dataset, documents: Array) -> Array:
    """Return, of each row, how far up its document stood in the mean: minus its mean position."""
    assert data.shown is not None
    shown, position = data.shown.impressions.astype(np.float64), data.shown.position
    means = np.bincount(documents, shown * position) / np.bincount(documents, shown)
    found: Array = -means[documents]
    return found


def scores_once(predict: Callable[[Dataset], Array], data: Dataset, documents: Array) -> Array:
    """Return the score of each row, each document scored once, whatever the positions it was shown at.

    A model that puts features on one scale by query would else see a document as often as it moved.
    """
    _, first, own = np.unique(documents, return_index=True, return_inverse=True)
    return predict(data[first])[own.reshape(-1)]


def compare_with_today(new: Array, today: Array, now: TodayScores, n_impressions: int) -> AgainstToday:
    """Compare losses of held-out queries."""
    gains = today - new
    if gains.size < FEWEST:
        return AgainstToday(now.about, math.nan, math.nan, int(gains.size), n_impressions, now.known)
    error = float(gains.std(ddof=1) / math.sqrt(gains.size))
    return AgainstToday(now.about, float(gains.mean()), error, int(gains.size), n_impressions, now.known)
