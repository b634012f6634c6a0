"""How often two rankings put labelled documents in the right order, and how sure the difference is: a modest number.

Queries are the clusters: labels of one query say much the same, and counting their pairs as independent would promise
far too much. One win each way is added, so that a handful of pairs is never certain.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rulerank.core.words import percent
from rulerank.dataset import Array, query_index
from rulerank.splitting import QueryKFold
from rulerank.training.in_pool import PoolLearner

LEVEL = 0.9
FOLDS = 5
LEAST_QUERIES = 5  # with pairs: below, there is nothing to tell


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
        """better, worse, unclear, or too few."""
        if self.n_queries < LEAST_QUERIES:
            return "too few"
        return "better" if self.low > 0 else "worse" if self.high < 0 else "unclear"

    def line(self) -> str:
        """Say it in a sentence.

        >>> PairAccuracy(0.71, 0.66, -0.02, 0.12, 210, 9).line()
        'pairs in order on held-out labels: new 71 %, today 66 % (difference -2 to +12, 90 % interval): no clear ...'
        """
        if self.n_queries < LEAST_QUERIES:
            return "pairs in order on held-out labels: not enough to tell yet"
        words = {
            "better": "better than today",
            "worse": "your labels say it is worse: keep today's ranking",
            "unclear": "no clear difference",
        }
        reach = f"{100 * self.low:+.0f} to {100 * self.high:+.0f}"
        return (
            f"pairs in order on held-out labels: new {percent(self.new)}, today {percent(self.today)} "
            f"(difference {reach}, 90 % interval): {words[self.verdict]}"
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
