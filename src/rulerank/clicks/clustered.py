"""Shares with intervals that know that what belongs to one query goes together."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import t

from rulerank.dataset import Array


class Share(NamedTuple):
    """A share and its interval."""

    value: float
    low: float
    high: float


def clustered_share(parts: Array, wholes: Array, level: float = 0.95) -> Share:
    """Return sum of parts by sum of wholes, one entry a cluster, and its interval.

    Clusters are drawn anew, not what is in them: a thousand impressions of one query say little about other queries.
    A share p is in the interval if a t-test of `parts - p * wholes` does not find that their mean differs from 0
    (Fieller), which holds its level however uneven clusters are, or if a test of the wholes, taken for independent,
    does not tell them from p (Wilson): clusters that agree by chance prove nothing. One cluster alone, or one that
    holds nearly all, says nothing: the interval is all there is.

    >>> clustered_share(np.array([18, 22, 20]), np.array([100, 100, 100])).low < 0.2
    True
    >>> clustered_share(np.array([10]), np.array([100]))
    Share(value=0.1, low=0.0, high=1.0)
    """
    parts, wholes = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    parts, wholes = parts[wholes > 0], wholes[wholes > 0]
    part, whole, n = float(parts.sum()), float(wholes.sum()), wholes.size
    if not whole:
        return Share(math.nan, 0.0, 1.0)
    value = part / whole
    if n == 1:
        return Share(value, 0.0, 1.0)
    reach = float(t.ppf(0.5 + level / 2, n - 1)) ** 2
    spread = reach * n * np.cov(parts, wholes)
    fieller = _between(whole**2 - spread[1, 1], part * whole - spread[0, 1], part**2 - spread[0, 0], value)
    wilson = _between(whole**2 + reach * whole, part * whole + reach * whole / 2, part**2, value)
    return Share(value, max(0.0, min(fieller[0], wilson[0])), min(1.0, max(fieller[1], wilson[1])))


def _between(a: float, b: float, c: float, value: float) -> tuple[float, float]:
    """Return from where to where a p^2 - 2 b p + c is at most 0; the value is there, and no rounding leaves it out."""
    if a <= 0:
        return -math.inf, math.inf
    root = math.sqrt(max(0.0, b * b - a * c))
    return min(value, (b - root) / a), max(value, (b + root) / a)
