"""How far weights may move from today's ranking: a few answers, averaged by how well each foresaw the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rulerank.dataset import Array
from rulerank.rankers.anchored.posterior import Posterior, find_posterior


class Prior(NamedTuple):
    """Weights are about `start` for today's feature and 0 for others; the score moves by about 1 / sqrt(strength)."""

    start: float
    strength: float
    share: float  # how much it counts before any label


# fixed on eight collections (docs/few-labels.md); the last one is for a today's ranking that is of no use
PRIORS = (Prior(0.7, 16.0, 0.30), Prior(0.7, 8.0, 0.30), Prior(0.7, 4.0, 0.39), Prior(0.0, 1.0, 0.01))


class Averaged(NamedTuple):
    """Weights averaged over the priors, as one normal distribution."""

    weights: Array  # (n_features,)
    covariance: Array  # (n_features, n_features), how far the priors disagree included
    thresholds: Array  # (n_levels,)
    shares: Array  # (n_priors,) how much each prior counts now


def average(
    Z: Array, grades: Array, queries: Array, today: int, sign: int, row_weights: Array | None = None
) -> Averaged:
    """Return the averaged weights of the features, of which column `today` is today's ranking.

    Grades that are all the same, or none at all, say nothing of the order: the weights then are today's ranking.

    >>> average(np.zeros((0, 2)), np.zeros(0, dtype=int), np.zeros(0, dtype=int), 1, 1).weights.round(3).tolist()
    [0.0, 0.693]
    """
    Z, grades, queries, row_weights = what_says_something(Z, grades, queries, row_weights)
    n_features = Z.shape[1]
    found: list[Posterior] = []
    for prior in PRIORS:
        centre = np.zeros(n_features)
        centre[today] = sign * prior.start
        # times the number of features: else more of them would move the score further
        found.append(find_posterior(Z, grades, queries, centre, prior.strength * n_features, row_weights))
    return mixed(found, PRIORS)


def what_says_something(
    Z: Array, grades: Array, queries: Array, row_weights: Array | None
) -> tuple[Array, Array, Array, Array | None]:
    """Return the rows as they are, or none of them where all grades are the same."""
    if np.unique(grades).size < 2:
        return Z[:0], grades[:0], queries[:0], None
    return Z, grades, queries, row_weights


def mixed(found: list[Posterior], priors: Sequence[Prior]) -> Averaged:
    """Average what was found under each prior by its evidence."""
    logs = np.array([one.log_evidence + np.log(prior.share) for one, prior in zip(found, priors, strict=True)])
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    weights = sum_of([share * one.weights for share, one in zip(shares, found, strict=True)])
    spreads = [one.covariance + np.outer(one.weights - weights, one.weights - weights) for one in found]
    return Averaged(
        weights=weights,
        covariance=sum_of([share * spread for share, spread in zip(shares, spreads, strict=True)]),
        thresholds=sum_of([share * one.thresholds for share, one in zip(shares, found, strict=True)]),
        shares=shares,
    )


def sum_of(parts: list[Array]) -> Array:
    """Add arrays up one after the other."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
