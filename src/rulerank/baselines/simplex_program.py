"""A small quadratic program over shares: numbers from 0 that sum to 1."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, lstsq, solve

from rulerank.dataset import Array

RIDGE = 1e-13  # of the largest number at hand: systems of planes that depend on one another stay solvable
ROUNDING = 1e-12  # a gain below this share of it is none
TINY = 1e-300


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
