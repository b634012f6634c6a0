"""Two rankings compared by labelled documents of held-out queries: pairs in the right order, and NDCG@10.

Queries are the clusters: labels of one query say much the same, and counting their pairs as independent would promise
far too much. One win each way is added, so that a handful of pairs is never certain. Pairs weigh all places alike, and
28 % of the rankings that had more of them in order were worse in NDCG@10: more pairs are never called better.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rulerank.core.words import percent
from rulerank.dataset import Array, query_index
from rulerank.evaluation import evaluate
from rulerank.splitting import QueryKFold
from rulerank.training.in_pool import PoolLearner

LEVEL = 0.9
FOLDS = 5
LEAST_QUERIES = 5  # with pairs: below, there is nothing to tell
LEAST_TOPS = 10  # queries with different grades: below, no learner takes over


WORDS = {
    "more": "more pairs in the right order, top results unchecked",
    "fewer": "fewer pairs in the right order: keep the baseline ranking",
    "unclear": "no clear difference",
}


class Pairs(NamedTuple):
    """Pairs of differently graded documents by query."""

    n: Array  # float (n_queries,)
    right: Array  # of them, those in the right order; level ones are half right


@dataclass(frozen=True, slots=True)
class PairAccuracy:
    """The share of pairs that a new ranking has in order, today's share, and the interval of their difference."""

    new: float
    today: float
    low: float  # of new - today
    high: float
    n_pairs: int
    n_queries: int  # with pairs

    @property
    def verdict(self) -> str:
        """More, fewer, unclear, or too few: whether the new ranking has more pairs in order, beyond doubt."""
        if self.n_queries < LEAST_QUERIES:
            return "too few"
        return "more" if self.low > 0 else "fewer" if self.high < 0 else "unclear"

    def line(self) -> str:
        """Say it in a sentence.

        >>> PairAccuracy(0.71, 0.66, -0.02, 0.12, 210, 9).line()
        'pairs in order on held-out labels: new 71 %, today 66 % (difference -2 to +12, 90 % interval): no clear ...'
        """
        if self.n_queries < LEAST_QUERIES:
            return "pairs in order on held-out labels: not enough to tell yet"
        reach = f"{100 * self.low:+.0f} to {100 * self.high:+.0f}"
        return (
            f"pairs in order on held-out labels: new {percent(self.new)}, today {percent(self.today)} "
            f"(difference {reach}, 90 % interval): {WORDS[self.verdict]}"
        )


class TopGain(NamedTuple):
    """NDCG@10 of two rankings on the labelled documents of held-out queries, and the interval of their difference.

    >>> print(TopGain(0.512, 0.498, 0.004, 0.024, 101))
    NDCG@10 0.512 against 0.498 on labels of 101 held-out queries (difference +0.004 to +0.024, 90 % interval)
    """

    new: float
    old: float
    low: float  # of new - old
    high: float
    n_queries: int  # with different grades

    def __str__(self) -> str:
        reach = f"difference {self.low:+.3f} to {self.high:+.3f}, 90 % interval"
        return (
            f"NDCG@10 {self.new:.3f} against {self.old:.3f} on labels of {self.n_queries:,} held-out queries ({reach})"
        )


def pairs_in_order(scores: Array, grades: Array, queries: Array) -> Pairs:
    """Count, for each query, the pairs of different grades and how many of them the scores have in order.

    >>> pairs_in_order(np.array([3.0, 1.0, 2.0]), np.array([1, 0, 1]), np.array([0, 0, 0])).right.tolist()
    [2.0]
    """
    n_queries = int(queries.max(initial=-1)) + 1
    n, right = np.zeros(n_queries), np.zeros(n_queries)
    for query in range(n_queries):
        rows = np.flatnonzero(queries == query)
        above = grades[rows][:, None] > grades[rows][None, :]
        gap = np.sign(scores[rows][:, None] - scores[rows][None, :])
        n[query] = above.sum()
        right[query] = ((gap[above] + 1) / 2).sum()
    return Pairs(n, right)


def compare_pairs(new: Pairs, today: Pairs) -> PairAccuracy:
    """Compare two rankings of the same labelled documents."""
    from scipy.stats import t  # slow to load

    used = new.n > 0
    n = np.concatenate([new.n[used], [1.0, 1.0]])
    won = np.concatenate([(new.right - today.right)[used], [1.0, -1.0]])
    difference = won.sum() / n.sum()
    clusters = n.size
    spread = math.sqrt(clusters / (clusters - 1) * float(((won - difference * n) ** 2).sum())) / n.sum()
    reach = float(t.ppf(0.5 + LEVEL / 2, clusters - 1)) * spread
    total = float(new.n.sum()) or 1.0
    return PairAccuracy(
        new=float(new.right.sum()) / total,
        today=float(today.right.sum()) / total,
        low=float(difference - reach),
        high=float(difference + reach),
        n_pairs=int(new.n.sum()),
        n_queries=int(used.sum()),
    )


def compare_tops(new: Array, old: Array, grades: Array, queries: Array) -> TopGain | None:
    """Compare two rankings of the same labelled documents by NDCG@10; None: too few queries have different grades.

    >>> grades, queries = np.tile([1, 0, 0], 12), np.repeat(np.arange(12), 3)
    >>> compare_tops(1.0 * grades, -1.0 * grades, grades, queries)
    TopGain(new=1.0, old=0.5, low=0.5, high=0.5, n_queries=12)
    """
    from scipy.stats import t  # slow to load

    differ = pairs_in_order(new, grades, queries).n > 0
    n_queries = int(differ.sum())
    if n_queries < LEAST_TOPS:
        return None
    rows = differ[queries]
    ours, theirs = (evaluate(grades[rows], one[rows], queries[rows], "NDCG@10").values[0] for one in (new, old))
    gain = ours - theirs
    reach = float(t.ppf(0.5 + LEVEL / 2, n_queries - 1)) * float(gain.std(ddof=1)) / math.sqrt(n_queries)
    mean = float(gain.mean())
    return TopGain(float(ours.mean()), float(theirs.mean()), mean - reach, mean + reach, n_queries)


def held_out_scores(learner: PoolLearner, rows: Array, grades: Array) -> Array | None:
    """Return scores of labelled rows by models of the other queries' labels; None: all labels are of one query."""
    queries = query_index(learner.query[rows])[0]
    n_queries = int(queries.max(initial=-1)) + 1
    if n_queries < 2:
        return None
    scores = np.zeros(rows.size)
    for train, test in QueryKFold(n_splits=min(FOLDS, n_queries)).split(rows, qid=queries):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a part of few labels says little is no news
            fitted = learner.fit(rows[train], grades[train])
        scores[test] = learner.scores(fitted, rows[test])
    return scores
