"""Calibration of members to one scale, and their weights by maximum likelihood.

Scores of different metrics and rankers have different scales, and so have the queries of one ranker. So scores become
z-scores by query. Rows that a member was not fitted to calibrate them: isotonic regression gives the probability of
each grade, and a factor per member gives the log-odds of being ranked first.

Weights are those of a mixture model: each document follows one of the members, and which one is not observed. The
weights are the same for all documents, or depend on their features if that improves held-out queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulerank._util.loops import one_blas_thread
from rulerank.dataset import Array
from rulerank.errors import ModelFileError
from rulerank.normalize import normalize_by_query
from rulerank.rankers.foreign import QueryKFold

DOUBT = 0.02  # chance that a grade comes from nowhere: no member is ruled out by one document
MAX_FACTOR = 20.0
PENALTIES = (0.1, 0.01)
N_SPLITS = 3
N_ERRORS = 2.0  # one standard error let features in by chance, and cost .0015 of MAP
MAX_STEPS = 30  # of the optimiser: stopping early is a penalty too
FAR = 3.0  # deviations from the mean; beyond it a feature says no more


class Calibration:
    """z-scores by query, times what a unit is worth for each member.

    >>> scores = np.array([[1.0, 5.0], [2.0, 5.5], [9.0, 3.0], [8.0, 9.0]])
    >>> scale = Calibration.learn(scores, np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1]))
    >>> scale.factors.tolist()  # the first is always right, the second says nothing
    [20.0, 0.0]
    """

    def __init__(self, factors: Array) -> None:
        self.factors = factors  # all that new documents need

    @staticmethod
    def learn(scores: Array, grades: Array, queries: Array) -> Calibration:
        """Find the factors from scores (n_rows, n_members) of rows that the members were not fitted to."""
        z = normalize_by_query(scores, queries, "zscore")
        return Calibration(np.array([_factor(column, grades, queries) for column in z.T]))

    def estimates(self, scores: Array, queries: Array) -> Array:
        """Return the scores (n_rows, n_members) as they can be mixed."""
        return self.factors * normalize_by_query(scores, queries, "zscore")

    def slopes(self, scores: Array) -> Array:
        """Return what one more point of score adds to each member's estimate in the one query of these rows."""
        deviation = scores.std(axis=0)
        constant = deviation <= 1e-12 * np.abs(scores).max(axis=0)  # as `normalize_by_query` has it
        return np.divide(self.factors, deviation, out=np.zeros(len(deviation)), where=~constant)


def log_likelihoods(scores: Array, grades: Array, queries: Array) -> Array:
    """Return the log-likelihood of each document's grade under each member, (n_rows, n_members)."""
    z = normalize_by_query(scores, queries, "zscore")
    rows = np.arange(len(z))
    out = np.empty(z.shape)
    for member, column in enumerate(z.T):
        # chances of at least grade 0, 1, ..., and of more than the highest
        least = [_isotonic(column, grades >= grade) for grade in range(1, int(grades.max()) + 1)]
        of_grade = -np.diff(np.stack([np.ones(len(z)), *least, np.zeros(len(z))], axis=1), axis=1)
        out[:, member] = (1 - DOUBT) * of_grade[rows, grades] + DOUBT / of_grade.shape[1]
    return np.log(out)


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

    from scipy.optimize import minimize_scalar  # slow to load

    found = minimize_scalar(loss, bounds=(0.0, MAX_FACTOR), method="bounded", options={"xatol": 1e-6})
    return min((0.0, float(found.x), MAX_FACTOR), key=loss)


def _isotonic(z: Array, holds: Array) -> Array:
    from sklearn.isotonic import IsotonicRegression  # slow to load

    found: Array = IsotonicRegression(out_of_bounds="clip").fit_transform(z, holds.astype(np.float64))
    return found


class Mixture:
    """Weights of members, as one of them explains each document best.

    Weights depend on the features only if that makes the members' likelihood greater on queries left out, by more
    than two standard errors: competence is hard to predict, and a wrong prediction costs more than none.

    >>> likelihood = np.log([[0.9, 0.1], [0.8, 0.1], [0.1, 0.9]])
    >>> mixture = Mixture(likelihood, np.zeros((3, 0)), np.arange(3))
    >>> mixture.weights(np.zeros((1, 0))).round(2).tolist()
    [[0.71, 0.29]]
    """

    def __init__(self, log_likelihood: Array, features: Array, queries: Array, seed: int = 0) -> None:
        known = np.isfinite(features)
        self.shift = np.where(known, features, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        squares = np.where(known, features - self.shift, 0.0) ** 2
        self.scale = np.sqrt(squares.sum(axis=0) / np.maximum(known.sum(axis=0), 1))
        self.common = common_weights(log_likelihood)
        self.coef: Array | None = None  # float (n_features + 1, n_members) once weights depend on features
        with one_blas_thread():  # threads that wait for each other's small products take five times as long
            penalty = self._penalty_that_pays(log_likelihood, features, queries, seed)
            if penalty is not None:
                self.coef = _fit_gate(log_likelihood, self._standard(features), self.common, penalty)

    def to_state(self) -> dict[str, Any]:
        """Return what was learned as plain values and arrays."""
        return {"shift": self.shift, "deviation": self.scale, "common": self.common, "coef": self.coef}

    @classmethod
    def from_state(cls, state: dict[str, Any], n_members: int) -> Mixture:
        """Return the mixture that `to_state` described."""
        made = cls.__new__(cls)
        made.shift, made.scale, made.common = state["shift"], state["deviation"], state["common"]
        made.coef = state["coef"]
        shape = (made.shift.size + 1, n_members)
        fits = made.shift.shape == made.scale.shape and made.common.shape == (n_members,)
        if not fits or (made.coef is not None and made.coef.shape != shape):
            raise ModelFileError("inconsistent model file (its weights do not match its members); train again")
        return made

    def weights(self, features: Array) -> Array:
        """Return the weights of the members for each unit, (n_units, n_members); they add up to 1."""
        if self.coef is None:
            return np.tile(self.common, (len(features), 1))
        return _softmax(self._standard(features) @ self.coef)

    def reasons(self, features: Array, names: Sequence[str], members: Sequence[str], n: int = 3) -> tuple[str, ...]:
        """Say which features of one unit favour its weightiest member over the next, in log-odds."""
        assert self.coef is not None
        weights = self.weights(features[None])[0]
        first, second = np.argsort(-weights, kind="stable")[:2]
        odds = self._standard(features[None])[0] * (self.coef[:, first] - self.coef[:, second])
        most = np.argsort(-np.abs(odds[1:]), kind="stable")[:n]
        said = ", ".join(f"{names[f]} {odds[1 + f]:+.2f}" for f in most if odds[1 + f])
        return (f"{members[first]} counts more than {members[second]} for its features: {said} (log-odds).",)

    def _standard(self, features: Array) -> Array:
        standard = (features - self.shift) / np.where(self.scale > 1e-12, self.scale, np.inf)
        standard = np.clip(np.nan_to_num(standard), -FAR, FAR)
        return np.hstack([np.ones((len(features), 1)), standard])

    def _penalty_that_pays(self, log_likelihood: Array, features: Array, queries: Array, seed: int) -> float | None:
        n_queries = np.unique(queries).size
        if features.shape[1] == 0 or n_queries < 4 * N_SPLITS:
            return None
        standard = self._standard(features)
        gains = np.zeros((len(PENALTIES), len(features)))
        for train, test in QueryKFold(N_SPLITS, seed=seed).split(features, qid=queries):
            common = common_weights(log_likelihood[train])
            without = _log_mix(log_likelihood[test], np.tile(common, (test.size, 1)))
            for place, penalty in enumerate(PENALTIES):
                coef = _fit_gate(log_likelihood[train], standard[train], common, penalty)
                gains[place, test] = _log_mix(log_likelihood[test], _softmax(standard[test] @ coef)) - without
        by_query = np.stack([np.bincount(queries, gain) for gain in gains])  # documents of a query are not independent
        mean, error = by_query.mean(axis=1), by_query.std(axis=1, ddof=1) / np.sqrt(n_queries)
        best = int(np.argmax(mean))
        return PENALTIES[best] if mean[best] > N_ERRORS * error[best] else None


def common_weights(log_likelihood: Array, tolerance: float = 1e-6) -> Array:
    """Return the weights that make all units together most likely (expectation maximisation).

    >>> common_weights(np.log([[0.5, 0.5], [0.9, 0.1]])).round(3).tolist()
    [1.0, 0.0]
    """
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    weights = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for _ in range(200):
        share = likelihood * weights
        share /= share.sum(axis=1, keepdims=True)
        before, weights = weights, share.mean(axis=0)
        if np.abs(weights - before).max() < tolerance:
            break
    return weights


def _fit_gate(log_likelihood: Array, standard: Array, common: Array, penalty: float) -> Array:
    """Fit weights = softmax(standard @ coef) to the mean log-likelihood, all but the constants penalised."""
    n_units, n_members = log_likelihood.shape
    penalties = np.full((standard.shape[1], 1), penalty)
    penalties[0] = 1e-6

    def loss(flat: Array) -> tuple[float, Array]:
        coef = flat.reshape(-1, n_members)
        weights = _softmax(standard @ coef)
        mix = _log_mix(log_likelihood, weights)
        share = weights * np.exp(log_likelihood - mix[:, None])
        gradient = standard.T @ (weights - share) / n_units + penalties * coef
        return float(-mix.mean() + 0.5 * (penalties * coef**2).sum()), gradient.ravel()

    start = np.zeros((standard.shape[1], n_members))
    start[0] = np.log(np.maximum(common, 1e-3))
    from scipy.optimize import minimize  # slow to load

    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS})
    coef: Array = found.x.reshape(-1, n_members)
    return coef


def _log_mix(log_likelihood: Array, weights: Array) -> Array:
    highest = log_likelihood.max(axis=1)
    mix = (weights * np.exp(log_likelihood - highest[:, None])).sum(axis=1)
    logs: Array = highest + np.log(np.maximum(mix, 1e-300))
    return logs


def _softmax(values: Array) -> Array:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    soft: Array = powers / powers.sum(axis=1, keepdims=True)
    return soft
