"""One scale for all members, and how likely each makes what the judges said.

A member's score means nothing by itself: metrics and rankers live on different scales, and so do the queries of one
ranker. So scores are z-scored by query, and what a z is worth is learned from rows the member was not fitted to:
as the chance of each grade (isotonic, for documents), and as log-odds of standing first (a factor, for whole queries).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.isotonic import IsotonicRegression

from rulerank.dataset import Array
from rulerank.normalize import normalize_by_query

DOUBT = 0.02  # chance that a grade comes from nowhere: no member is ruled out by one document
MAX_FACTOR = 20.0


class Scale(Protocol):
    """Puts members' scores on one scale and tells how likely they make the grades."""

    def estimates(self, scores: Array, queries: Array) -> Array:
        """Return the scores (n_rows, n_members) as they can be mixed."""

    def slopes(self, scores: Array) -> Array:
        """Return what one more point of score adds to each member's estimate in the one query of these rows."""

    def by_document(self, scores: Array, grades: Array, queries: Array) -> Array:
        """Return the log-likelihood of each document's grade under each member, (n_rows, n_members)."""

    def by_query(self, scores: Array, grades: Array, queries: Array) -> Array:
        """Return the log-likelihood of each query's grades under each member, (n_queries, n_members)."""


class Calibrated:
    """z-scores by query, times what a unit is worth for each member.

    >>> scores = np.array([[1.0, 5.0], [2.0, 5.5], [9.0, 3.0], [8.0, 9.0]])
    >>> scale = Calibrated(scores, np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1]))
    >>> scale.factors.tolist()  # the first is always right, the second says nothing
    [20.0, 0.0]
    """

    def __init__(self, scores: Array, grades: Array, queries: Array) -> None:
        z = normalize_by_query(scores, queries, "zscore")
        self.factors = np.array([_factor(column, grades, queries) for column in z.T])
        thresholds = range(1, int(grades.max()) + 1)
        self.curves = [[_isotonic(column, grades >= least) for least in thresholds] for column in z.T]

    @classmethod
    def of(cls, factors: Array) -> Calibrated:
        """Return the scale with these factors, which is all that new documents need."""
        made = cls.__new__(cls)
        made.factors, made.curves = factors, []
        return made

    def estimates(self, scores: Array, queries: Array) -> Array:
        return self.factors * normalize_by_query(scores, queries, "zscore")

    def slopes(self, scores: Array) -> Array:
        deviation = scores.std(axis=0)
        constant = deviation <= 1e-12 * np.abs(scores).max(axis=0)  # as `normalize_by_query` has it
        return np.divide(self.factors, deviation, out=np.zeros(len(deviation)), where=~constant)

    def by_document(self, scores: Array, grades: Array, queries: Array) -> Array:
        z = normalize_by_query(scores, queries, "zscore")
        rows = np.arange(len(z))
        out = np.empty(z.shape)
        for member, curves in enumerate(self.curves):
            # chances of at least grade 0, 1, ..., and of more than the highest
            least = [np.ones(len(z)), *(curve.predict(z[:, member]) for curve in curves), np.zeros(len(z))]
            of_grade = -np.diff(np.stack(least, axis=1), axis=1)
            out[:, member] = (1 - DOUBT) * of_grade[rows, grades] + DOUBT / of_grade.shape[1]
        return np.log(out)

    def by_query(self, scores: Array, grades: Array, queries: Array) -> Array:
        return listwise_log_likelihood(self.estimates(scores, queries), grades, queries)


class PickedByQuery:
    """Scores from 0 to 1 in their query, by its lowest and highest: what one member says can stand beside another.

    >>> PickedByQuery().estimates(np.array([[1.0], [3.0], [2.0]]), np.array([0, 0, 0])).ravel().tolist()
    [0.0, 1.0, 0.5]
    """

    def estimates(self, scores: Array, queries: Array) -> Array:
        return normalize_by_query(scores, queries, "minmax")

    def slopes(self, scores: Array) -> Array:
        spread = np.ptp(scores, axis=0)
        return np.divide(1.0, spread, out=np.zeros(len(spread)), where=spread > 0)


class AsTheyCome:
    """Scores that are taken for estimates of the grade as they are, with each member's own error.

    >>> scale = AsTheyCome(np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([0, 1]), np.array([0, 0]))
    >>> scale.by_document(np.array([[1.0, 0.5]]), np.array([1]), np.array([0])).round(2).tolist()
    [[1.38, -0.82]]
    """

    def __init__(self, scores: Array, grades: Array, queries: Array) -> None:
        self.deviation = np.maximum(np.sqrt(((scores - grades[:, None]) ** 2).mean(axis=0)), 0.1)

    @classmethod
    def of(cls, deviation: Array) -> AsTheyCome:
        """Return the scale with these errors of the members."""
        made = cls.__new__(cls)
        made.deviation = deviation
        return made

    def estimates(self, scores: Array, queries: Array) -> Array:
        return scores

    def slopes(self, scores: Array) -> Array:
        return np.ones(scores.shape[1])

    def by_document(self, scores: Array, grades: Array, queries: Array) -> Array:
        errors = (scores - grades[:, None]) / self.deviation
        return -0.5 * errors**2 - np.log(self.deviation * np.sqrt(2 * np.pi))

    def by_query(self, scores: Array, grades: Array, queries: Array) -> Array:
        logs = self.by_document(scores, grades, queries)
        return sum_by_query(logs, queries) / np.maximum(np.bincount(queries), 1)[:, None]


def listwise_log_likelihood(estimates: Array, grades: Array, queries: Array) -> Array:
    """Return how likely each member makes a query's relevant documents stand first, (n_queries, n_members), as logs.

    The chance of a document is the softmax of the estimates; documents count by their share of the query's grades.
    A query without a relevant document says nothing: 0.

    >>> listwise_log_likelihood(np.array([[0.0], [0.0]]), np.array([0, 2]), np.array([0, 0])).round(4).tolist()
    [[-0.6931]]
    """
    total = np.bincount(queries, grades)
    share = grades / np.maximum(total, 1)[queries]
    highest = np.full((total.size, estimates.shape[1]), -np.inf)
    np.maximum.at(highest, queries, estimates)
    above = estimates - highest[queries]
    mass = np.log(np.maximum(sum_by_query(np.exp(above), queries), 1e-300))
    return sum_by_query(share[:, None] * (above - mass[queries]), queries)


def sum_by_query(values: Array, queries: Array) -> Array:
    """Add up each column by query.

    >>> sum_by_query(np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0])).tolist()
    [[4.0], [2.0]]
    """
    return np.stack([np.bincount(queries, column) for column in values.T], axis=1)


def _factor(z: Array, grades: Array, queries: Array) -> float:
    """Find the factor under which a member's z-scores make the grades most likely; never negative."""

    def loss(factor: float) -> float:
        return -float(listwise_log_likelihood(factor * z[:, None], grades, queries).sum())

    found = minimize_scalar(loss, bounds=(0.0, MAX_FACTOR), method="bounded", options={"xatol": 1e-6})
    return min((0.0, float(found.x), MAX_FACTOR), key=loss)


def _isotonic(z: Array, holds: Array) -> Any:
    return IsotonicRegression(out_of_bounds="clip").fit(z, holds.astype(np.float64))
