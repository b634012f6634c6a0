"""Loops over rows that were shown and clicked, by query. Nothing here checks its arguments; `likelihood.py` does.

P(click) = exp(-b) sigmoid(score - t): somebody looks at the position, and then likes the document.

scores      float64[n]
effects     float64[n]               b of each row's position
shown       float64[n]               impressions
clicks      float64[n]
bounds      int64[n_groups + 1]      where each group's rows begin
intercepts  float64[n_groups]        t of each group, relative to the mean of all
precision   float                    of the prior that holds the intercepts, N(mean, 1 / precision)
pulls       float64[n, 2]            first derivatives of the loss by the score and by b
slopes      float64[n, 2]            of the chance by both, over its deviation: their products are expected curvatures
"""

from __future__ import annotations

import math

from rulerank.core.compiled import compiled
from rulerank.dataset import Array

MAX_STEPS = 100
NEAR = 1e-9  # an intercept's step that is the last
LONGEST = 2.0
SMALL = 1e-12  # chances of no click below this are rounding


@compiled
def click_row(margin: float, effect: float, shown: float, clicks: float) -> tuple[float, ...]:
    """Return the loss of one row, its pulls and its slopes."""
    small = math.exp(-abs(margin))
    inverse = 1.0 / (1.0 + small)
    chance = inverse if margin >= 0 else small * inverse  # sigmoid
    rest = small * inverse if margin >= 0 else inverse  # one minus it
    log_chance = min(margin, 0.0) - math.log1p(small)
    looked = math.exp(-effect)
    clicked = looked * chance
    missed = max(rest - chance * math.expm1(-effect), SMALL)  # 1 - clicked, without cancellation
    loss = -clicks * (log_chance - effect) - (shown - clicks) * math.log(missed)
    over = (shown * clicked - clicks) / missed
    slope = math.sqrt(shown * clicked / missed)
    return loss, over * rest, -over, slope * rest, -slope


@compiled
def solve_click_intercepts(
    scores: Array,
    effects: Array,
    shown: Array,
    clicks: Array,
    bounds: Array,
    precision: float,
    intercepts: Array,
    pulls: Array,
    slopes: Array,
    totals: Array,
) -> float:
    """Move every group's intercept to its best; write the rows' pulls and slopes there; return the loss."""
    whole = 0.0
    for group in range(bounds.size - 1):
        first, last = bounds[group], bounds[group + 1]
        intercept = intercepts[group]
        loss, pull, curvature = group_at(scores, effects, shown, clicks, first, last, precision, intercept)
        for _ in range(MAX_STEPS):
            step = min(max(pull / max(curvature, SMALL), -LONGEST), LONGEST)
            if abs(step) <= NEAR:
                break
            moved = False
            for _ in range(MAX_STEPS):
                there = intercept + step
                tried = group_at(scores, effects, shown, clicks, first, last, precision, there)
                if tried[0] <= loss:
                    moved = tried[0] < loss or abs(tried[1]) < abs(pull)
                    break
                step *= 0.5
            if not moved:
                break
            intercept = there
            loss, pull, curvature = tried
        intercepts[group] = intercept
        totals[group] = precision
        whole += 0.5 * precision * intercept * intercept
        for i in range(first, last):
            one = click_row(scores[i] - intercept, effects[i], shown[i], clicks[i])
            whole += one[0]
            pulls[i, 0] = one[1]
            pulls[i, 1] = one[2]
            slopes[i, 0] = one[3]
            slopes[i, 1] = one[4]
            totals[group] += one[3] * one[3]
    return whole


@compiled
def group_at(
    scores: Array,
    effects: Array,
    shown: Array,
    clicks: Array,
    first: int,
    last: int,
    precision: float,
    intercept: float,
) -> tuple[float, float, float]:
    """Return a group's loss at an intercept, how it falls when the intercept rises, and its expected curvature."""
    loss = 0.5 * precision * intercept * intercept
    fall = -precision * intercept
    curvature = precision
    for i in range(first, last):
        one = click_row(scores[i] - intercept, effects[i], shown[i], clicks[i])
        loss += one[0]
        fall += one[1]
        curvature += one[3] * one[3]
    return loss, fall, curvature
