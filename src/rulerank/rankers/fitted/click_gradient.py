"""The loops of `gradient.py` for clicks. Nothing here checks its arguments; `fit.py` does.

precision, effects, shown and clicks are as `rankers/clicks/kernels.py` has them, in the order of the rows; intercepts
float64 [n_queries, 1]. The intercepts of the queries that are looked at are held together by a prior around their mean.
"""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array
from rulerank.rankers.clicks.kernels import click_row
from rulerank.rankers.fitted.gradient import LONGEST


@compiled
def add_click_pulls(
    scores: Array,
    link: int,
    precision: float,
    effects: Array,
    shown: Array,
    clicks: Array,
    bounds: Array,
    first: int,
    last: int,
    intercepts: Array,
    pulls: Array,
) -> None:
    """Write the derivatives of the queries first..last-1, their intercepts moved by one step of Newton."""
    centre = mean_of(intercepts, first, last)
    for q in range(first, last):
        excess = -precision * (intercepts[q, 0] - centre)
        total = precision
        for i in range(bounds[q], bounds[q + 1]):
            one = click_row(scores[i] - intercepts[q, 0], effects[i], shown[i], clicks[i], link)
            pulls[i, 0] = one[1]
            pulls[i, 1] = one[3] * one[3]
            excess += one[1]
            total += pulls[i, 1]
        step = min(max(excess / total, -LONGEST), LONGEST)
        intercepts[q, 0] += step
        for i in range(bounds[q], bounds[q + 1]):
            pulls[i, 0] -= step * pulls[i, 1]


@compiled
def add_click_losses(
    scores: Array,
    link: int,
    precision: float,
    effects: Array,
    shown: Array,
    clicks: Array,
    bounds: Array,
    first: int,
    last: int,
    intercepts: Array,
    losses: Array,
) -> float:
    """Write the negative log-likelihood of the queries first..last-1 at the best intercepts, by one step of Newton.

    The intercepts move. Return the sum.
    """
    centre = mean_of(intercepts, first, last)
    whole = 0.0
    for q in range(first, last):
        away = intercepts[q, 0] - centre
        loss = 0.5 * precision * away * away
        excess = -precision * away
        total = precision
        for i in range(bounds[q], bounds[q + 1]):
            one = click_row(scores[i] - intercepts[q, 0], effects[i], shown[i], clicks[i], link)
            loss += one[0]
            excess += one[1]
            total += one[3] * one[3]
        step = min(max(excess / total, -LONGEST), LONGEST)
        intercepts[q, 0] += step
        losses[q] = loss - step * excess + 0.5 * step * step * total
        whole += losses[q]
    return whole


@compiled
def mean_of(intercepts: Array, first: int, last: int) -> float:
    total = 0.0
    for q in range(first, last):
        total += intercepts[q, 0]
    return total / np.maximum(last - first, 1)
