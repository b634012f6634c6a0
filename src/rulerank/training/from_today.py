"""From today's ranking and a few labels to a ranker, and all that can honestly be said of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from rulerank.core.words import counted, listed, percent
from rulerank.dataset import UNLABELLED, Array, Dataset, check_contrast, has_contrast, one_sided, query_index
from rulerank.rankers.anchored.anchored import Anchored
from rulerank.rankers.anchored.starts_from_today import StartsFromToday
from rulerank.rankers.anchored.today_model import TodayModel, find_start, option_in_words, scores_today
from rulerank.rankers.base import Ranker
from rulerank.today import Today
from rulerank.training.few_labels import few_label_ranker
from rulerank.training.in_pool import PoolLearner
from rulerank.training.pair_accuracy import (
    PairAccuracy,
    TopGain,
    compare_pairs,
    compare_tops,
    held_out_scores,
    pairs_in_order,
)
from rulerank.training.still_to_gain import ENOUGH, gain_in_words, still_to_gain

# full learners that take over when they rank held-out queries better, each from so many labels on; with 200 and 400
# labels, and decided by pairs, they were behind the worst losses of all (docs/few-labels.md)
HAND_OVER = {"QI": 1000, "FR": 1000}
GOOD_START = 100  # labels, ten documents each of ten queries: with fewer nobody is told to stop
TOP = 3  # places that people look at
TIED = 1 / 3  # share of level documents from which on a ranking hardly is one


@dataclass(frozen=True, eq=False, repr=False)
class FromToday:
    """A ranker learned from today's ranking and labels, and what there is to say of it."""

    ranker: Ranker
    method: str  # Anchored, what took over, or the class of the ranker that was given
    took_over: TopGain | None  # what the full learner gains over Anchored, where one took over
    today: Today | TodayModel
    n_labels: int
    n_queries: int  # with labels
    changed: float  # share of the pool's queries whose top 3 is another
    tied: float  # share of the pool's documents that are level with another one of their query
    to_gain: float | None  # share of DCG@10 that more labels could add, at least about; None: not estimated
    pairs: PairAccuracy | None  # new against today on held-out labels; None: all labels are of one query
    contrast: bool  # whether any query has labels of two grades; else the ranker is the baseline ranking
    one_sided: str | None  # a warning, where nearly all labels have one grade
    left_out: tuple[str, ...] = ()  # features of categories, where the ranker does without them

    @property
    def starts_from_today(self) -> bool:
        """Whether the ranker is one that moves today's ranking; a full learner may have taken over from it."""
        return self.took_over is not None or isinstance(self.ranker, StartsFromToday)

    @property
    def worse(self) -> bool:
        """Whether it has fewer pairs of held-out labels in the right order than the baseline ranking, beyond doubt."""
        return self.pairs is not None and self.pairs.verdict == "fewer"

    def __repr__(self) -> str:
        return "\n".join([f"{self.ranker!r}", *self.lines()])

    def lines(self) -> list[str]:
        """Say all of it, a sentence a line."""
        labels = f"{counted(self.n_labels, 'label')} of {counted(self.n_queries, 'query', 'queries')}"
        changed = f"the top {TOP} changes in {percent(self.changed)} of queries"
        begins = "Starts from" if self.starts_from_today else "Compared with"
        first = f"{begins} today's ranking ({self.today}); {labels}; {changed}"
        if self.to_gain is not None:
            first += f"; more labels could add {gain_in_words(self.to_gain)}"
        lines = [f"{first}."]
        if not self.contrast:
            lines.append(
                "No query has labels of two grades, so nothing was learned: the model equals the baseline ranking. "
                "Label more documents of each query."
            )
        if self.one_sided is not None:
            lines.append(f"{self.one_sided}.")
        if self.left_out:
            lines.append(f"Left out: {listed(self.left_out)}, for categories are no amounts.")
        if self.took_over is not None:
            lines.append(f"{self.method} took over from Anchored: {self.took_over}.")
        if self.pairs is not None:
            said = self.pairs.line()
            lines.append(said[0].upper() + said[1:] + ".")
        if self.worse:
            lines.append("Keep the baseline ranking until you have more labels.")
        elif self._may_be_enough():
            lines.append(
                "That may be enough, though the estimate is a low one: check it against today's ranking, and use it if "
                "it is not behind."
            )
        if self.tied > TIED:
            lines.append(words_for_ties(self.tied))
        return lines

    def _may_be_enough(self) -> bool:
        balanced = self.contrast and self.one_sided is None
        return balanced and self.to_gain is not None and self.to_gain < ENOUGH and self.n_labels >= GOOD_START

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        pairs = None
        if self.pairs is not None:
            names = ("new", "today", "low", "high", "n_pairs", "n_queries", "verdict")
            pairs = {name: getattr(self.pairs, name) for name in names}
        return {
            "method": self.method,
            "today": option_in_words(self.today),
            "labels": self.n_labels,
            "labelled_queries": self.n_queries,
            "learned": self.contrast,
            "warning": self.one_sided,
            "top_changed": round(self.changed, 4),
            "tied": round(self.tied, 4),
            "took_over": None if self.took_over is None else self.took_over._asdict(),
            "still_to_gain": None if self.to_gain is None else round(self.to_gain, 4),
            "pairs": pairs,
        }


def learn_from_today(pool: Dataset, today: str | int | Ranker, *, ranker: Ranker | None = None) -> FromToday:
    """Learn from the labelled rows of a pool (the others have grade -1), starting from today's ranking.

    today: the feature that ranks the documents now, or a fitted ranker, such as one learned from clicks.
    ranker: another one to learn with; by default `Anchored`, which hands over to a full learner (`HAND_OVER`) from
    1,000 labels on, if, cross-validated by query, that one has a higher NDCG@10 and the 90 % interval excludes 0.

    Where no query has labels of two grades, nothing can be learned, and the ranker is the baseline ranking.

    >>> import rulerank as rr
    >>> data = rr.make_world(n_queries=20, seed=0)
    >>> grades = np.where(np.arange(len(data)) % 10 == 0, data.y, -1)
    >>> learned = learn_from_today(rr.Dataset(data.X, grades, data.qid, None, data.feature_names), "bm25_body")
    >>> learned.method, learned.n_labels
    ('Anchored', 83)
    """
    found = find_start(pool.feature_names, today)
    today_scores = scores_today(found, pool)
    query = query_index(pool.qid)[0]
    rows = np.flatnonzero(pool.y != UNLABELLED)
    grades = pool.y[rows]
    learner = PoolLearner(Anchored(today=found.option) if ranker is None else ranker, pool)
    contrast = has_contrast(grades, query[rows])
    if not contrast and not isinstance(learner.ranker, StartsFromToday):
        check_contrast(grades, query[rows])
    method = type(learner.ranker).__name__
    held_out = held_out_scores(learner, rows, grades) if contrast else None
    took_over = None
    if ranker is None and held_out is not None:
        learner, method, held_out, took_over = hand_over(learner, rows, grades, held_out)
    fitted = learner.fit(rows, grades) if contrast else clone(learner.ranker).start(pool.feature_names)
    scores = fitted.predict(pool)
    pairs = None
    if held_out is not None:
        of_rows = query_index(query[rows])[0]
        pairs = compare_pairs(
            pairs_in_order(held_out, grades, of_rows), pairs_in_order(today_scores[rows], grades, of_rows)
        )
    return FromToday(
        ranker=fitted,
        method=method,
        took_over=took_over,
        today=found,
        n_labels=int(rows.size),
        n_queries=int(np.unique(query[rows]).size),
        changed=float((top_sets(scores, query) != top_sets(today_scores, query)).any(axis=1).mean()),
        tied=share_tied(scores, query),
        to_gain=still_to_gain(fitted, pool) if isinstance(fitted, Anchored) else None,  # made for its posterior
        pairs=pairs,
        contrast=contrast,
        one_sided=one_sided(grades),
        left_out=tuple(pool.categories) if isinstance(fitted, StartsFromToday) else (),
    )


def hand_over(
    learner: PoolLearner, rows: Array, grades: Array, held_out: Array
) -> tuple[PoolLearner, str, Array, TopGain | None]:
    """Return what is to learn from these labels, its name, its held-out scores and, where it took over, its gain.

    The first learner of `HAND_OVER` takes over that ranks held-out queries better than the one there is, beyond doubt.
    """
    of_rows = query_index(learner.query[rows])[0]
    for name, least in HAND_OVER.items():
        if rows.size < least:
            continue
        other = PoolLearner(few_label_ranker(name), learner.pool)
        scores = held_out_scores(other, rows, grades)
        gain = None if scores is None else compare_tops(scores, held_out, grades, of_rows)
        if scores is not None and gain is not None and gain.low > 0:
            return other, name, scores, gain
    return learner, type(learner.ranker).__name__, held_out, None


def top_sets(scores: Array, query: Array, depth: int = TOP) -> Array:
    """Return the rows of each query's first places, sorted; -1 where a query has fewer.

    >>> top_sets(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 0]), depth=2).tolist()
    [[1, 2]]
    """
    order = np.lexsort((-scores, query))
    starts = np.searchsorted(query[order], np.arange(int(query.max()) + 1))
    place = np.arange(order.size) - starts[query[order]]
    top = np.full((starts.size, depth), -1, dtype=np.int64)
    first = place < depth
    top[query[order][first], place[first]] = order[first]
    return np.sort(top, axis=1)


def share_tied(scores: Array, query: Array) -> float:
    """Return the share of rows whose score another row of the query has too.

    >>> share_tied(np.array([1.0, 1.0, 2.0, 1.0]), np.array([0, 0, 0, 1]))
    0.5
    """
    order = np.lexsort((scores, query))
    same = (np.diff(scores[order]) == 0) & (np.diff(query[order]) == 0)
    return float((np.append(same, False) | np.append(False, same)).mean())


def words_for_ties(share: float) -> str:
    """Say that a ranking hardly is one.

    >>> words_for_ties(0.5)
    '50 % of the documents are level with another: chance puts them in order.'
    """
    return f"{percent(share)} of the documents are level with another: chance puts them in order."


def warn_of_ties(ranker: Ranker, pool: Dataset) -> None:
    """Say so when a model has more than a third of a pool's documents level with another one of their query."""
    share = share_tied(ranker.predict(pool), query_index(pool.qid)[0])
    if share > TIED:
        warnings.warn(words_for_ties(share), stacklevel=3)


def warn_of_few_labels(method: str, n_labels: int) -> None:
    """Say that a method made for many labels mostly loses against today's ranking when it has few."""
    if method in ("RE-GR", "RE-SR", "RE-QR") and n_labels < 1000:
        warnings.warn(
            f"{method} learned from {n_labels:,} labels is mostly worse than today's ranking (docs/few-labels.md); "
            "Anchored and AnchoredRules start from it: --method Anchored --today FEATURE",
            stacklevel=3,
        )
