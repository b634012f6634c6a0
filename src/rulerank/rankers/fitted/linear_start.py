"""Where the rounds begin: a weighted sum of the features' bin means, learned with query intercepts."""

from __future__ import annotations

import numpy as np

from rulerank.core.blas import one_blas_thread
from rulerank.dataset import Array
from rulerank.rankers.linear.newton import minimise
from rulerank.rankers.linear.query_likelihood import QueryLikelihood

ROUNDING = 1e-12  # of values of size 1


def bin_centres(X: Array, bins: Array, n_bins: list[int]) -> list[Array]:
    """Return the mean value of each feature's bins, as deviations from the feature's mean.

    Bins without rows, and missing values, are at 0: they say neither more nor less than the average document.

    >>> X, bins = np.array([[1.0], [3.0], [np.nan]]), np.array([[0, 1, 2]], dtype=np.uint8)
    >>> [centres.round(9).tolist() for centres in bin_centres(X, bins, [3])]
    [[-1.0, 1.0, 0.0]]
    """
    found = []
    for f, n in enumerate(n_bins):
        values = X[:, f].astype(np.float64)
        known = ~np.isnan(values)
        if not known.any():
            found.append(np.zeros(n))
            continue
        largest = float(np.abs(values[known]).max()) or 1.0  # squares of huge values are not numbers
        values = np.where(known, values / largest, 0.0)
        counts = np.bincount(bins[f], minlength=n)
        means = np.bincount(bins[f], values, n) / np.maximum(counts, 1)
        mean = float(values.sum() / known.sum())
        spread = float(np.sqrt(np.square(np.where(known, values - mean, 0.0)).sum() / known.sum()))
        means = np.where(counts > 0, means - mean, 0.0) / (spread if spread > ROUNDING else 1.0)
        # a centre that is 0 but for rounding must be 0: a fold may have no other, and its weight would be astronomic
        means[np.abs(means) < ROUNDING] = 0.0
        means[-1] = 0.0
        found.append(means)
    return found


def worst_for_missing(centres: Array, sign: int) -> Array:
    """Return a feature's centres with the worst one for missing values, if votes must rise (1) or fall (-1).

    >>> worst_for_missing(np.array([-1.0, 2.0, 0.0]), -1).tolist()
    [-1.0, 2.0, 2.0]
    """
    if not sign:
        return centres
    return np.append(centres[:-1], centres[:-1].min() if sign > 0 else centres[:-1].max())


def linear_votes(
    centres: list[Array],
    bins: Array,
    grades: Array,
    queries: Array,
    row_weights: Array,
    l2: float,
    monotone: Array,
) -> tuple[list[Array], list[Array]]:
    """Return each feature's votes, weight times centre, and their standard errors.

    A weight whose sign the user ruled out is taken out, and the others are learned again. Where the user gives a sign,
    missing values are at the worst centre.
    """
    centres = [worst_for_missing(own, int(sign)) for own, sign in zip(centres, monotone, strict=True)]
    matrix = np.empty((grades.size, len(centres)))
    for f, own in enumerate(centres):
        matrix[:, f] = own[bins[f]]
    kept = np.array([bool(np.any(own)) for own in centres])
    while True:
        weights, errors = np.zeros((2, len(centres)))
        if kept.any():
            likelihood = QueryLikelihood(
                matrix[:, kept], grades, queries, l2, 1, row_weights if row_weights.size else None
            )
            with one_blas_thread():
                found = minimise(likelihood, int(kept.sum()))
            factors = likelihood.rows.factors
            weights[kept] = found.x * factors
            errors[kept] = np.sqrt(np.diagonal(found.covariance).clip(0)) * factors
        wrong = kept & (weights * monotone < 0)
        if not wrong.any():
            break
        kept &= ~wrong
    votes = [weight * own for weight, own in zip(weights, centres, strict=True)]
    return votes, [error * np.abs(own) for error, own in zip(errors, centres, strict=True)]
