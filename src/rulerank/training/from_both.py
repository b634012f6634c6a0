"""From clicks and a few labels to a ranker: clicks first, and labels start from where both say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from rulerank.core.words import counted, percent
from rulerank.dataset import UNLABELLED, Dataset, query_index
from rulerank.rankers.anchored.starts_from_today import StartsFromToday
from rulerank.rankers.anchored.today_model import check_start, find_start, scores_today
from rulerank.rankers.base import Ranker
from rulerank.training.from_clicks import LearnedFromClicks, learn_from_clicks
from rulerank.training.from_today import FromToday, learn_from_today
from rulerank.training.pair_accuracy import WORDS, PairAccuracy, compare_pairs, pairs_in_order


@dataclass(frozen=True, eq=False)
class FromBoth:
    """What clicks taught, what labels say of it, and what they made of it."""

    clicks: LearnedFromClicks
    labels: FromToday
    starts_from_clicks: bool  # or from today's ranking
    pairs: PairAccuracy | None  # the model of the clicks (new) and today's ranking; None: that is not known

    @property
    def ranker(self) -> Ranker:
        """What was learned."""
        return self.labels.ranker

    def lines(self) -> list[str]:
        """Say what clicks say, what labels say of their model, and what labels made of the start."""
        return [*self.clicks.lines(), *self.about_the_start(), *self.labels.lines()]

    def about_the_start(self) -> list[str]:
        """Say where labels start from, and why."""
        start = "the model of the clicks" if self.starts_from_clicks else "today's ranking"
        if self.pairs is None:
            return [f"Labels start from {start}."]
        one = self.pairs
        if one.verdict not in WORDS:
            return [f"Labels start from {start}; they are too few to compare the clicks' model with today's ranking."]
        labels = f"{counted(one.n_pairs, 'pair')} of {counted(one.n_queries, 'query', 'queries')}"
        return [
            f"Labels start from {start}: the clicks' model has {percent(one.new)} of {labels} in order, "
            f"today's ranking {percent(one.today)}: {WORDS[one.verdict]}."
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        one = self.pairs
        pairs = None if one is None else {"clicks": one.new, "today": one.today, "verdict": one.verdict}
        start = {"start": "clicks" if self.starts_from_clicks else "today", "pairs": pairs}
        return {"clicks": self.clicks.to_dict(), "start": start, "few_labels": self.labels.to_dict()}


def learn_from_both(
    log: Dataset, pool: Dataset, *, today: Any = None, propensities: Any = None, ranker: StartsFromToday | None = None
) -> FromBoth:
    """Learn from clicks, and from there on from the labelled rows of a pool (the others have grade -1).

    Labels start from the model of the clicks if the clicks say that it is better than today's ranking, and from today's
    if they do not; but where the labels, of which neither has seen any, say which is better, that one is the start.

    today: a feature or a fitted ranker; where it is not known, there is nothing to keep. One that learned from these
        labels looks better on them than it is.
    ranker: what learns from the labels; by default as in `learn_from_today`.

    >>> import rulerank as rr
    >>> world = rr.make_world(n_queries=40, n_features=3, seed=0)
    >>> seen = rr.simulate_clicks(world, world.X[:, 0], n_impressions=4000, seed=0)
    >>> grades = np.where(np.arange(len(world)) % 9, -1, world.y)
    >>> some = rr.Dataset(world.X, grades, world.qid, None, world.feature_names)
    >>> learn_from_both(seen, some, today="bm25_body").starts_from_clicks
    True
    """
    if today is not None:
        check_start(today)  # scores of rows that were shown say nothing of a pool
    clicks = learn_from_clicks(log, propensities=propensities, today=today)
    pairs = None if today is None else compare_by_labels(pool, clicks.new, today)
    by_pairs = {"more": True, "fewer": False}
    from_clicks = pairs is None or by_pairs.get(pairs.verdict, not clicks.keep_today)
    start = clicks.new if from_clicks else today
    learned = learn_from_today(pool, start, ranker=None if ranker is None else clone(ranker).set_params(today=start))
    return FromBoth(clicks, learned, from_clicks, pairs)


def compare_by_labels(pool: Dataset, new: Any, today: Any) -> PairAccuracy:
    """Compare two rankings that have seen no labels of a pool, features or models, by the pairs of its labels."""
    rows = np.flatnonzero(pool.y != UNLABELLED)
    queries = query_index(pool.qid[rows])[0]
    of_new, of_today = (
        pairs_in_order(scores_today(find_start(pool.feature_names, one), pool)[rows], pool.y[rows], queries)
        for one in (new, today)
    )
    return compare_pairs(of_new, of_today)
