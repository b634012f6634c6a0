"""Loops over comparisons and rows grouped by query. Nothing here checks its arguments; `likelihood.py` does.

A row of grade g is compared at the levels max(g, 1) .. K-1 of its group; it passes level g and fails those above.

X           float[n_rows, n_features]
factors     float64[n_features]            one over each feature's deviation
rows        int64[n]                       rows of X, group by group
groups      int64[n]                       group of each of them, counted from the first of the call
bounds      int64[n_groups + 1]            where each group begins in rows
grades      int16[n]
weights     float64[n]                     what each row counts, or of size 0 when every row counts one
scores      float64[n]
intercepts  float64[n_groups, n_levels]    of level 1, 2, ...; not finite when all outcomes are equal: left out
curvatures  float64[n_levels, n]           p (1 - p) of each comparison, 0 where there is none
totals      float64[n_groups, n_levels]    their sums
residuals   float64[n]                     sum over the row's comparisons of p - outcome
"""

from __future__ import annotations

import math

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array

MAX_STEPS = 200  # Newton needs about four; bisection, its safety net, about sixty
# From here a straight line is right to the square of this: the last step needs no new exponentials. Loss and residuals
# are then exact but for rounding; the curvatures are right to this share, enough for steps and standard errors.
NEAR = 1e-7


@compiled
def solve_intercepts(
    scores: Array,
    grades: Array,
    weights: Array,
    bounds: Array,
    intercepts: Array,
    curvatures: Array,
    totals: Array,
    residuals: Array,
) -> float:
    """Move every intercept to where its comparisons' chances add up to what was seen; return the loss there."""
    loss = 0.0
    residuals[:] = 0.0
    curvatures[:] = 0.0
    totals[:] = 0.0
    chances = np.empty(scores.size)
    smalls = np.empty(scores.size)  # exp(-|margin|): no exponential is taken twice
    for group in range(bounds.size - 1):
        first, last = bounds[group], bounds[group + 1]
        for level in range(1, intercepts.shape[1] + 1):
            intercept = intercepts[group, level - 1]
            if not math.isfinite(intercept):
                continue
            n = 0.0
            n_passed = 0.0
            lowest = math.inf
            highest = -math.inf
            for i in range(first, last):
                if grades[i] <= level:
                    weight = weights[i] if weights.size else 1.0
                    n += weight
                    n_passed += weight if grades[i] == level else 0.0
                    lowest = min(lowest, scores[i])
                    highest = max(highest, scores[i])
            # all chances are too high at the low end and too low at the high end
            odds = math.log(n_passed / (n - n_passed))
            low, high = lowest - odds, highest - odds
            intercept = min(max(intercept, low), high)
            total = 0.0
            rest = 0.0
            for _ in range(MAX_STEPS):
                excess = -n_passed
                total = 0.0
                for i in range(first, last):
                    if grades[i] <= level:
                        margin = scores[i] - intercept
                        small = math.exp(-abs(margin))
                        inverse = 1.0 / (1.0 + small)
                        smalls[i] = small
                        chances[i] = inverse if margin >= 0 else small * inverse
                        weight = weights[i] if weights.size else 1.0
                        curvatures[level - 1, i] = weight * small * inverse * inverse
                        excess += weight * chances[i]
                        total += curvatures[level - 1, i]
                rest = excess / total if total > 0 else math.inf
                if abs(rest) <= NEAR:
                    break
                if excess > 0:
                    low = intercept
                else:
                    high = intercept
                moved = intercept + rest
                if not low < moved < high:
                    moved = 0.5 * (low + high)
                if moved == intercept:
                    rest = 0.0
                    break
                intercept = moved
            intercepts[group, level - 1] = intercept + rest
            totals[group, level - 1] = total
            for i in range(first, last):
                if grades[i] <= level:
                    margin = scores[i] - intercept
                    passed = grades[i] == level
                    weight = weights[i] if weights.size else 1.0
                    loss += weight * (
                        math.log1p(smalls[i]) + (max(margin, 0.0) - margin if passed else max(margin, 0.0))
                    )
                    residuals[i] += weight * (chances[i] - passed) - rest * curvatures[level - 1, i]
    return loss


@compiled
def dense_spread(
    X: Array, rows: Array, weights: Array, bounds: Array, centres: Array, squares: Array, largest: Array
) -> None:
    """Find each group's mean, and add up the squared differences to it and the largest value of each feature."""
    n_features = X.shape[1]
    mean = np.empty(n_features)
    for group in range(bounds.size - 1):
        first, last = bounds[group], bounds[group + 1]
        mean[:] = 0.0
        total = 0.0
        for i in range(first, last):
            weight = weights[i] if weights.size else 1.0
            total += weight
            for f in range(n_features):
                mean[f] += weight * X[rows[i], f]
        for f in range(n_features):
            centres[group, f] = mean[f] / total
        for i in range(first, last):
            weight = weights[i] if weights.size else 1.0
            for f in range(n_features):
                value = np.float64(X[rows[i], f])
                difference = value - centres[group, f]
                squares[f] += weight * difference * difference
                largest[f] = max(largest[f], abs(value))


@compiled
def dense_centred(X: Array, rows: Array, groups: Array, centres: Array, factors: Array, out: Array) -> None:
    """Copy rows as differences to their group's centre, times a factor for each feature."""
    for i in range(rows.size):
        row, group = rows[i], groups[i]
        for f in range(X.shape[1]):
            out[i, f] = (np.float64(X[row, f]) - centres[group, f]) * factors[f]


@compiled
def dense_group_sums(centred: Array, groups: Array, curvatures: Array, out: Array) -> None:
    """Add up, for each group and level, the rows times their curvatures."""
    n_levels = curvatures.shape[0]
    for i in range(groups.size):
        for level in range(n_levels):
            weight = curvatures[level, i]
            if weight == 0.0:
                continue
            place = groups[i] * n_levels + level
            for f in range(centred.shape[1]):
                out[place, f] += weight * centred[i, f]


@compiled
def dense_scores(X: Array, coef: Array, out: Array) -> None:
    for i in range(out.size):
        score = 0.0
        for f in range(coef.size):
            score += X[i, f] * coef[f]  # in order: a row alone scores as among others, to the last bit
        out[i] = score
