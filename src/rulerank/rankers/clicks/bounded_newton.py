"""Newton's method with lower bounds: numbers that rest on their bound stay there while the slope keeps them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rulerank.dataset import Array
from rulerank.rankers.linear.newton import FLAT, GOOD_ENOUGH, MAX_HALVINGS, ROUNDING, Function

LONGEST = 4.0  # step of a number: the parabola says nothing beyond


class BoundedMinimum(NamedTuple):
    """Where the search ended."""

    x: Array
    value: float
    gradient_norm: float  # of the numbers that are free
    covariance: Array  # inverse of the Hessian among the free, 0 elsewhere and along flat directions
    determined: Array  # bool (n,): free, and moved by no flat direction
    n_iter: int
    converged: bool


def minimise_above(function: Function, start: Array, lower: Array, max_iter: int = 100) -> BoundedMinimum:
    """Go downhill from `start`, every number at or above its bound, until nothing is left to gain.

    >>> from rulerank.rankers.linear.newton import Point
    >>> def bowl(x): return Point((x[0] - 3) ** 2 + (x[1] + 1) ** 2, 2 * (x - [3, -1]), 2 * np.eye(2))
    >>> found = minimise_above(bowl, np.zeros(2), np.array([-np.inf, 0.0]))
    >>> found.x.round(6).tolist(), found.determined.tolist()
    ([3.0, 0.0], [True, False])
    """
    x = np.maximum(start, lower)
    here = function(x)
    scale = max(abs(here.value), 1.0)
    n_iter, converged = 0, False
    while True:
        free = (x > lower) | (here.gradient < 0)
        inverse, kept = _inverse(here.hessian, free)
        step = -inverse @ here.gradient
        longest = float(np.abs(step).max(initial=0.0))
        step *= min(1.0, LONGEST / longest) if longest > 0 else 1.0
        promise = -0.5 * float(step @ here.gradient)
        if promise <= GOOD_ENOUGH * scale * 1e-2:
            converged = True
            break
        if n_iter == max_iter:
            break
        share = 1.0
        for _ in range(MAX_HALVINGS):
            there_x = np.maximum(x + share * step, lower)
            there = function(there_x)
            gain = float(here.gradient @ (x - there_x))
            if there.value <= here.value - 1e-4 * gain + ROUNDING * abs(here.value):
                break
            share /= 2
        else:  # rounding hides what is left to gain
            converged = True
            break
        x, here = there_x, there
        n_iter += 1
    return BoundedMinimum(
        x, here.value, float(np.linalg.norm(here.gradient[free])), inverse, kept & free, n_iter, converged
    )


def _inverse(hessian: Array, free: Array) -> tuple[Array, Array]:
    """Return the inverse of the Hessian among free numbers, 0 elsewhere; and which of them no flat direction moves."""
    places = np.flatnonzero(free)
    out, kept = np.zeros_like(hessian), np.zeros(free.size, dtype=bool)
    if not places.size:
        return out, kept
    own = hessian[np.ix_(places, places)]
    curvatures, directions = np.linalg.eigh(own)
    steep = curvatures > FLAT * max(float(curvatures.max()), 0.0)
    basis = directions[:, steep]
    out[np.ix_(places, places)] = (basis / curvatures[steep]) @ basis.T
    kept[places] = np.square(basis).sum(axis=1) > 1 - 1e-6
    return out, kept
