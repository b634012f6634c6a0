"""What the orders of raters say: how many of the pairs they prefer does a new ranking get right, and how many today's?

An order of documents is a preference for each pair of them. Orders are not learned from: they are a second opinion on
a ranking that was learned from grades, by a model that has seen no label of the ordered query.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulerank.core.words import counted, percent
from rulerank.dataset import Array
from rulerank.judging.labels import Plain
from rulerank.judging.pool import Pool
from rulerank.judging.team import Order
from rulerank.today import Today
from rulerank.training.few_labels import few_label_ranker
from rulerank.training.in_pool import Grades, PoolLearner, rows_and_grades
from rulerank.training.pair_accuracy import FOLDS, LEAST_QUERIES, WORDS, Pairs, compare_pairs

LEAST_LABELS = 10  # of other queries, to learn from


@dataclass(frozen=True, slots=True)
class Preferred(Plain):
    """The shares of preferred pairs that two rankings get right, and the 90 % interval of their difference."""

    new: float
    today: float
    low: float  # of new - today
    high: float
    n_pairs: int
    n_queries: int
    n_labels: int  # that the new ranking was learned from, at most
    verdict: str  # more, fewer, unclear, or too few

    def line(self) -> str:
        """Say it in a sentence, and no more than the data allow.

        >>> Preferred(0.71, 0.66, -0.02, 0.12, 210, 9, 120, "unclear").line()
        'Pairs that raters prefer, in order: new 71 %, today 66 % of 210 pairs in 9 queries (difference -2 to +12 ...
        """
        if self.verdict == "too few":
            return f"Orders of {counted(self.n_queries, 'query', 'queries')} so far: not enough to tell yet."
        reach = f"{100 * self.low:+.0f} to {100 * self.high:+.0f} points, 90 % interval"
        return (
            f"Pairs that raters prefer, in order: new {percent(self.new)}, today {percent(self.today)} of "
            f"{self.n_pairs:,} pairs in {counted(self.n_queries, 'query', 'queries')} (difference {reach}): "
            f"{WORDS[self.verdict]}."
        )


def check_preferences(pool: Pool, today: Today, grades: Grades, orders: Sequence[Order]) -> Preferred | None:
    """Compare a new ranking with today's on preferred pairs; None: there are no orders, or too few labels to learn.

    >>> import rulerank as rr
    >>> from datetime import UTC, datetime
    >>> from rulerank.today import find_today
    >>> pool = Pool(rr.make_world(n_queries=12, docs_per_query=8, seed=0))
    >>> orders = []
    >>> for number, query in enumerate(pool.queries[:6]):
    ...     rows = sorted(pool.rows_of(query).tolist(), key=lambda row: -pool.own_grades[row])
    ...     docs = tuple(pool.pairs[row][1] for row in rows)
    ...     orders.append(Order(id=number, rater="ann", time=datetime(2026, 1, 5, tzinfo=UTC), query=query, docs=docs))
    >>> found = check_preferences(pool, find_today(pool.data.feature_names, "bm25_body"), pool.own_grades, orders)
    >>> found.n_pairs, found.n_queries, found.verdict
    (168, 6, 'unclear')
    """
    by_query: dict[str, list[list[int]]] = {}
    for order in orders:
        rows = [row for doc in order.docs if (row := pool.rows.get((order.query, doc))) is not None]
        if len(rows) > 1:
            by_query.setdefault(order.query, []).append(rows)
    queries = [*by_query]
    if not queries:
        return None
    new = _held_out(pool, today, grades, queries)
    if new is None:
        return None
    old = today.scores(pool.data.X)
    found = compare_pairs(_pairs(new, by_query), _pairs(old, by_query))
    verdict = "too few" if len(queries) < LEAST_QUERIES else found.verdict
    return Preferred(
        found.new, found.today, found.low, found.high, found.n_pairs, found.n_queries, len(grades), verdict
    )


def _pairs(scores: Array, by_query: dict[str, list[list[int]]]) -> Pairs:
    """Count the pairs of each query and those that the scores have in the raters' order; level ones are half right."""
    n, right = np.zeros(len(by_query)), np.zeros(len(by_query))
    for number, orders in enumerate(by_query.values()):
        for rows in orders:
            gap = np.sign(scores[rows][:, None] - scores[rows][None, :])
            above = np.triu(np.ones((len(rows), len(rows)), dtype=np.bool_), k=1)
            n[number] += above.sum()
            right[number] += ((gap[above] + 1) / 2).sum()
    return Pairs(n, right)


def _held_out(pool: Pool, today: Today, grades: Grades, queries: Sequence[str]) -> Array | None:
    """Return scores of the queries' documents by models of other queries' labels; None: a model would have too few."""
    learner = PoolLearner(few_label_ranker("Anchored").set_params(today=today.option), pool.data)
    scores = np.zeros(len(pool))
    n_folds = min(FOLDS, len(queries))
    for fold in range(n_folds):
        left_out = set(queries[fold::n_folds])
        known = {row: grade for row, grade in sorted(grades.items()) if pool.pairs[row][0] not in left_out}
        if len(known) < LEAST_LABELS or len(set(known.values())) < 2:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that few labels say little is what the interval says
            fitted = learner.fit(*rows_and_grades(known))
        rows = np.concatenate([pool.rows_of(query) for query in left_out])
        scores[rows] = learner.scores(fitted, rows)
    return scores
