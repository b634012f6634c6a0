"""Minimise |w|^2 / 2 + C risk(w) for a convex risk that is known only point by point: by cutting planes.

Every look at the risk gives a plane that lies below it. The highest of these planes is a lower bound, and where it is
least is worth a look; the best value seen and the bound close in on the minimum from both sides.
T. Joachims, Training linear SVMs in linear time (2006), and V. Franc and S. Sonnenburg, Optimized cutting plane
algorithm for support vector machines (2008), from whom the second look near the best point is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rulerank.baselines.simplex_program import best_shares
from rulerank.dataset import Array

Risk = Callable[[Array], tuple[float, Array]]  # w -> the risk, from 0, and a subgradient there
KEPT = 50  # rounds after which a plane that is not needed is forgotten
NEAR = 0.1  # how far from the best point towards the bound's the second look is: without it the search zigzags


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
