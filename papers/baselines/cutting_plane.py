"""Minimise |w|^2 / 2 + C risk(w) for a convex risk that is known only point by point: by cutting planes.

Every look at the risk gives a plane that lies below it. The highest of these planes is a lower bound, and where it is
least is worth a look; the best value seen and the bound close in on the minimum from both sides.
T. Joachims, Training linear SVMs in linear time (2006), and V. Franc and S. Sonnenburg, Optimized cutting plane
algorithm for support vector machines (2008), from whom the second look near the best point is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, lstsq, solve

from rulerank.dataset import Array

Risk = Callable[[Array], tuple[float, Array]]  # w -> the risk, from 0, and a subgradient there
KEPT = 50  # rounds after which a plane that is not needed is forgotten
NEAR = 0.1  # how far from the best point towards the bound's the second look is: without it the search zigzags
RIDGE = 1e-13  # of the largest number at hand: systems of planes that depend on one another stay solvable
ROUNDING = 1e-12  # a gain below this share of it is none
TINY = 1e-300


class Solution(NamedTuple):
    """Where the search ended."""

    w: Array
    objective: float
    gap: float  # the least objective there is lies at most this share below
    n_iter: int


def minimise_risk(risk: Risk, n: int, C: float, eps: float, max_iter: int) -> Solution:
    """Return w of n numbers whose objective is within a share eps of the least, unless max_iter comes first.

    >>> def hinge(w): return max(0.0, 1 - 2 * w[0]), np.array([-2.0 if 2 * w[0] < 1 else 0.0])
    >>> minimise_risk(hinge, 1, C=100.0, eps=1e-9, max_iter=50).w.round(6).tolist()
    [0.5]
    """
    best = np.zeros(n)
    value, slope = risk(best)
    objective = C * value
    # the first plane says that the risk is never negative
    slopes, heights = np.array([np.zeros(n), slope]), np.array([0.0, value])
    shares, idle = np.array([1.0, 0.0]), np.zeros(2, dtype=np.int64)
    n_iter = 0
    while True:
        shares = best_shares(C * slopes @ slopes.T, heights, shares)
        lowest = -C * (shares @ slopes)
        bound = C * float(shares @ heights) - 0.5 * float(lowest @ lowest)
        gap = max(0.0, 1 - bound / objective) if objective > 0 else 0.0
        if gap <= eps or n_iter == max_iter:
            return Solution(best, objective, gap, n_iter)
        n_iter += 1
        idle = np.where(shares > 0, 0, idle + 1)
        idle[0] = 0
        kept = idle < KEPT
        slopes, heights, shares, idle = slopes[kept], heights[kept], shares[kept], idle[kept]
        for w in (lowest, (1 - NEAR) * best + NEAR * lowest):
            value, slope = risk(w)
            slopes, heights = np.vstack([slopes, slope]), np.append(heights, value - float(slope @ w))
            shares, idle = np.append(shares, 0.0), np.append(idle, 0)
            here = 0.5 * float(w @ w) + C * value
            if here < objective:
                best, objective = w, here


def best_shares(curvature: Array, gains: Array, start: Array) -> Array:
    """Return the shares that maximise gains.x - x.curvature.x / 2, beginning at `start`.

    The shares above 0 are the active ones. Where the best x for these alone has negative shares, the first to reach 0
    on the way is left out; where it has none, the share with most to gain joins, until there is none.

    >>> best_shares(np.eye(3), np.array([0.0, 0.5, -1.0]), np.array([1.0, 0.0, 0.0])).round(9).tolist()
    [0.25, 0.75, 0.0]
    """
    largest = max(float(curvature.diagonal().max()), float(np.abs(gains).max()), TINY)
    curvature = curvature + RIDGE * largest * np.eye(len(gains))
    x = start.copy()
    active = np.flatnonzero(x > 0)
    for _ in range(100 + 20 * x.size):  # two or three steps are the rule; rounding could make it go in circles
        goal = _best_of(curvature[np.ix_(active, active)], gains[active])
        falling = goal <= 0
        if falling.any():
            here = x[active]
            steps = np.full(active.size, np.inf)
            steps[falling] = here[falling] / np.maximum(here[falling] - goal[falling], TINY)
            first = int(steps.argmin())
            x[active] = np.maximum(0.0, here + min(1.0, float(steps[first])) * (goal - here))
            x[active[first]] = 0.0
            active = active[x[active] > 0]
        else:
            x[active] = goal
            slack = gains - curvature @ x
            level = float(x @ slack)
            slack[active] = -np.inf
            joins = int(slack.argmax())
            if slack[joins] - level <= ROUNDING * largest:
                break
            active = np.append(active, joins)
    return x / x.sum()


def _best_of(curvature: Array, gains: Array) -> Array:
    """Return the best numbers that sum to 1, negative or not."""
    n = gains.size
    scale = max(float(curvature.max()), TINY)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = curvature / scale
    system[n, n] = 0.0
    right = np.append(gains / scale, 1.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)
            found: Array = solve(system, right, assume_a="sym", check_finite=False)
    except LinAlgError:
        found = lstsq(system, right, check_finite=False)[0]
    return found[:n]
