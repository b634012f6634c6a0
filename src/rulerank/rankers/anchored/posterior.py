"""Weights given grades and a prior: their most likely values, how sure they are, and how well the prior foresaw them.

A document of grade g passes level g of its query: P(pass) = 1 / (1 + exp(threshold - effect - w.z)), the highest level
first, as in QueryIntercepts. Here all queries share one threshold per level, and each has one effect of its own that a
prior N(0, 3^2) holds, so that a query with two labels says something, and not too much. A document counts once: where
it is compared at several levels they share its weight, for they are no independent facts (docs/few-labels.md).
How far weights may move from the baseline ranking has a few answers, which are averaged by how well each foresaw the
labels.

Z        float64[n_rows, n_features]   features on one scale by query
grades   int[n_rows]
queries  int[n_rows]                   numbers from 0
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from rulerank.dataset import Array

EFFECT_PRECISION = 1 / 9  # of a query's effect: deviation 3
THRESHOLD_PRECISION = 0.05
MAX_STEPS = 100
MAX_HALVINGS = 40
GOOD_ENOUGH = 1e-10  # a step that promises less than this is the last


class Comparisons(NamedTuple):
    """Every row at every level it is compared with."""

    row: Array  # int (n,)
    level: Array  # int (n,) from 0
    passed: Array  # float (n,) 1 or 0
    weight: Array  # float (n,)
    n_levels: int

    @classmethod
    def of(cls, grades: Array, weights: Array | None = None) -> Comparisons:
        """List them; a row of grade g is compared at the levels from max(g, 1), and passes level g.

        >>> Comparisons.of(np.array([0, 2])).level.tolist()
        [0, 1, 1]
        """
        n_levels = int(grades.max(initial=0))
        levels = np.arange(1, n_levels + 1)
        row, level = np.nonzero(levels[None, :] >= np.maximum(grades, 1)[:, None])
        passed = (levels[level] == grades[row]).astype(np.float64)
        share = 1 / np.maximum(1, np.bincount(row, minlength=grades.size))[row]
        weight = share if weights is None else share * weights[row]
        return cls(row, level, passed, weight, n_levels)


class Posterior(NamedTuple):
    """A normal distribution around the most likely weights, and the evidence for the prior it came from."""

    weights: Array  # (n_features,)
    thresholds: Array  # (n_levels,)
    covariance: Array  # (n_features, n_features) of the weights
    log_evidence: float


class _Place(NamedTuple):
    """The loss at one place: its value, gradient and the parts of its Hessian."""

    value: float
    gradient: Array  # of weights and thresholds
    effect_gradient: Array
    corner: Array  # Hessian of weights and thresholds
    across: Array  # (n_queries, n_features + n_levels)
    effects: Array  # (n_queries,) diagonal


def find_posterior(
    Z: Array,
    grades: Array,
    queries: Array,
    centre: Array,
    precision: float,
    weights: Array | None = None,
    offset: Array | None = None,
) -> Posterior:
    """Return the posterior of the weights under the prior N(centre, 1 / precision), by Newton and Laplace.

    offset: what each row's margin has beside w.z, and no weight can change.

    >>> Z = np.array([[1.0], [-1.0]])
    >>> found = find_posterior(Z, np.array([1, 0]), np.array([0, 0]), np.zeros(1), 1.0)
    >>> found.weights.round(3).tolist()
    [0.675]
    """
    seen = Comparisons.of(grades, weights)
    n_queries = int(queries.max(initial=-1)) + 1
    p = centre.size
    x, effects = np.concatenate([centre, np.zeros(seen.n_levels)]), np.zeros(n_queries)
    prior = np.concatenate([np.full(p, precision), np.full(seen.n_levels, THRESHOLD_PRECISION)])
    centres = np.concatenate([centre, np.zeros(seen.n_levels)])

    start = np.zeros(len(Z)) if offset is None else offset

    def place(x: Array, effects: Array) -> _Place:
        return _look(Z, queries, seen, x, effects, centres, prior, start)

    here = place(x, effects)
    for _ in range(MAX_STEPS):
        step, effect_step, promise = _newton_step(here)
        if promise <= GOOD_ENOUGH:
            break
        share = 1.0
        for _ in range(MAX_HALVINGS):
            there = place(x + share * step, effects + share * effect_step)
            if there.value <= here.value - 1e-4 * share * promise:
                break
            share /= 2
        else:  # rounding hides what is left to gain
            break
        x, effects, here = x + share * step, effects + share * effect_step, there
    factor = cho_factor(_schur(here))
    log_det = 2 * float(np.log(np.diagonal(factor[0])).sum()) + float(np.log(here.effects).sum())
    log_prior = float(np.log(prior).sum()) + n_queries * math.log(EFFECT_PRECISION)
    return Posterior(
        weights=x[:p],
        thresholds=x[p:],
        covariance=cho_solve(factor, np.eye(x.size))[:p, :p],
        log_evidence=-here.value + 0.5 * (log_prior - log_det),
    )


def _look(
    Z: Array, queries: Array, seen: Comparisons, x: Array, effects: Array, centres: Array, prior: Array, start: Array
) -> _Place:
    p, n_queries = Z.shape[1], effects.size
    row, level = seen.row, seen.level
    margin = (start + Z @ x[:p])[row] + effects[queries[row]] - x[p:][level]
    chance = 1 / (1 + np.exp(-np.clip(margin, -500, 500)))
    loss = seen.weight @ (np.logaddexp(0.0, margin) - seen.passed * margin)
    residual = seen.weight * (chance - seen.passed)
    curvature = seen.weight * chance * (1 - chance)
    by_row = np.bincount(row, residual, minlength=len(Z))
    curved = np.bincount(row, curvature, minlength=len(Z))
    by_level = np.zeros((len(Z), seen.n_levels))  # each (row, level) is there once
    by_level[row, level] = curvature

    away = x - centres
    gradient = np.concatenate([Z.T @ by_row, -np.bincount(level, residual, minlength=seen.n_levels)]) + prior * away
    joint = np.hstack([Z * curved[:, None], -by_level])  # (n_rows, p + n_levels)
    corner = np.zeros((x.size, x.size))
    corner[:p, :p] = Z.T @ joint[:, :p]
    corner[:p, p:] = Z.T @ joint[:, p:]
    corner[p:, :p] = corner[:p, p:].T
    corner[p:, p:] = np.diag(by_level.sum(axis=0))
    corner[np.diag_indices_from(corner)] += prior
    across = np.zeros((n_queries, x.size))
    np.add.at(across, queries, joint)
    return _Place(
        value=float(loss + 0.5 * (prior @ away**2 + EFFECT_PRECISION * (effects @ effects))),
        gradient=gradient,
        effect_gradient=np.bincount(queries, by_row, minlength=n_queries) + EFFECT_PRECISION * effects,
        corner=corner,
        across=across,
        effects=np.bincount(queries, curved, minlength=n_queries) + EFFECT_PRECISION,
    )


def _schur(here: _Place) -> Array:
    """Return the Hessian of weights and thresholds when the effects follow them."""
    return here.corner - here.across.T @ (here.across / here.effects[:, None])


def _newton_step(here: _Place) -> tuple[Array, Array, float]:
    """Return the steps of weights with thresholds and of effects, and the gain they promise."""
    right = here.gradient - here.across.T @ (here.effect_gradient / here.effects)
    step = -cho_solve(cho_factor(_schur(here)), right)
    effect_step = -(here.effect_gradient + here.across @ step) / here.effects
    promise = -0.5 * float(step @ here.gradient + effect_step @ here.effect_gradient)
    return step, effect_step, promise


class Prior(NamedTuple):
    """Weights are near `start` for the baseline and near 0 for others; scores move by about 1 / sqrt(strength)."""

    start: float
    strength: float
    share: float  # how much it counts before any label


# fixed on eight collections (docs/few-labels.md); the last one is for a baseline ranking that is of no use
PRIORS = (Prior(0.7, 16.0, 0.30), Prior(0.7, 8.0, 0.30), Prior(0.7, 4.0, 0.39), Prior(0.0, 1.0, 0.01))


class Averaged(NamedTuple):
    """Weights averaged over the priors, as one normal distribution."""

    weights: Array  # (n_weights,)
    covariance: Array  # (n_weights, n_weights), how far the priors disagree included
    thresholds: Array  # (n_levels,)
    shares: Array  # (n_priors,) how much each prior counts now
    start: float  # what the priors start from, averaged as well


def average(
    Z: Array,
    grades: Array,
    queries: Array,
    n_features: int,
    centre: Array,
    offset: Array,
    row_weights: Array | None = None,
    priors: Sequence[Prior] = PRIORS,
) -> Averaged:
    """Return the weights of the columns of Z, averaged over the priors.

    centre, offset: what weights and margins are where a prior starts from 1; a prior takes `start` times as much.
    Grades that are all the same, or none at all, say nothing of the order: the weights then are those of the priors.

    >>> nothing = np.zeros(0, dtype=int)
    >>> average(np.zeros((0, 2)), nothing, nothing, 2, np.array([0.0, 1.0]), np.zeros(0)).weights.round(3).tolist()
    [0.0, 0.693]
    """
    if np.unique(grades).size < 2:
        Z, grades, queries, offset, row_weights = Z[:0], grades[:0], queries[:0], offset[:0], None
    found = [
        # times the number of features: else more of them would move the score further
        find_posterior(
            Z, grades, queries, prior.start * centre, prior.strength * n_features, row_weights, prior.start * offset
        )
        for prior in priors
    ]
    logs = np.array([one.log_evidence + np.log(prior.share) for one, prior in zip(found, priors, strict=True)])
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()

    def mean(values: list[Any]) -> Any:
        first, *more = [share * value for share, value in zip(shares.tolist(), values, strict=True)]
        return sum(more, first)

    weights = mean([one.weights for one in found])
    spreads = [one.covariance + np.outer(one.weights - weights, one.weights - weights) for one in found]
    thresholds = mean([one.thresholds for one in found])
    return Averaged(weights, mean(spreads), thresholds, shares, mean([prior.start for prior in priors]))
