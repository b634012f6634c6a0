"""The loops of the query-intercept likelihood. Nothing here checks its arguments; `fit.py` does.

A row of grade g is compared at the levels max(g, 1) .. K-1 of its query: it passes level g and fails those above.

scores      float64[n]
grades      int16[n]
weights     float64[n], or of size 0 when every row counts one
bounds      int64[n_queries + 1]        where each query's rows begin
intercepts  float64[n_queries, K - 1]   not finite where all outcomes are equal: left out
pulls       float64[n, 2]               first and second derivative of the loss by each score
losses      float64[n_queries]
"""

from __future__ import annotations

import math

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array

LONGEST = 2.0  # step of an intercept: a straight line says nothing beyond


@compiled
def add_pulls(
    scores: Array,
    grades: Array,
    weights: Array,
    bounds: Array,
    first: int,
    last: int,
    intercepts: Array,
    pulls: Array,
) -> None:
    """Write the derivatives of the queries first..last-1, their intercepts moved by one step of Newton.

    The step is taken into account to first order, so that the pulls of a query and level add up to 0: adding a number
    to all scores of a query changes nothing. One exponential per comparison, where solving for the intercept takes
    four or five.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, bounds[q + 1] - bounds[q])
    residuals = np.empty(longest)
    curvatures = np.empty(longest)
    for q in range(first, last):
        start, stop = bounds[q], bounds[q + 1]
        for i in range(start, stop):
            pulls[i, 0] = 0.0
            pulls[i, 1] = 0.0
        for level in range(1, intercepts.shape[1] + 1):
            intercept = intercepts[q, level - 1]
            if not math.isfinite(intercept):
                continue
            excess = 0.0
            total = 0.0
            for i in range(start, stop):
                if grades[i] > level:
                    continue
                margin = scores[i] - intercept
                small = math.exp(-abs(margin))
                inverse = 1.0 / (1.0 + small)
                weight = weights[i] if weights.size else 1.0
                chance = inverse if margin >= 0 else small * inverse
                residuals[i - start] = weight * (chance - (1.0 if grades[i] == level else 0.0))
                curvatures[i - start] = weight * small * inverse * inverse
                excess += residuals[i - start]
                total += curvatures[i - start]
            step = excess / total if total > 0.0 else 0.0
            step = min(max(step, -LONGEST), LONGEST)
            intercepts[q, level - 1] = intercept + step
            for i in range(start, stop):
                if grades[i] <= level:
                    pulls[i, 0] += residuals[i - start] - step * curvatures[i - start]
                    pulls[i, 1] += curvatures[i - start]


@compiled
def add_losses(
    scores: Array,
    grades: Array,
    weights: Array,
    bounds: Array,
    first: int,
    last: int,
    intercepts: Array,
    losses: Array,
) -> float:
    """Write the negative log-likelihood of the queries first..last-1 at the best intercepts, by one step of Newton.

    The intercepts move. Return the sum.
    """
    whole = 0.0
    for q in range(first, last):
        losses[q] = 0.0
        for level in range(1, intercepts.shape[1] + 1):
            intercept = intercepts[q, level - 1]
            if not math.isfinite(intercept):
                continue
            excess = 0.0
            total = 0.0
            loss = 0.0
            for i in range(bounds[q], bounds[q + 1]):
                if grades[i] > level:
                    continue
                margin = scores[i] - intercept
                small = math.exp(-abs(margin))
                inverse = 1.0 / (1.0 + small)
                weight = weights[i] if weights.size else 1.0
                chance = inverse if margin >= 0 else small * inverse
                passes = grades[i] == level
                excess += weight * (chance - (1.0 if passes else 0.0))
                total += weight * small * inverse * inverse
                wrong = -margin if passes else margin
                loss += weight * (math.log1p(small) + max(wrong, 0.0))
            step = excess / total if total > 0.0 else 0.0
            step = min(max(step, -LONGEST), LONGEST)
            intercepts[q, level - 1] = intercept + step
            losses[q] += loss - step * excess + 0.5 * step * step * total
        whole += losses[q]
    return whole
