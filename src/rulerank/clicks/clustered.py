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
    Where a few clusters hold most, they count as that few (Kish), and one cluster alone says nothing: the interval is
    all there is.

    >>> clustered_share(np.array([18, 22, 20]), np.array([100, 100, 100])).low < 0.2
    True
    >>> clustered_share(np.array([10]), np.array([100]))
    Share(value=0.1, low=0.0, high=1.0)
    """
    parts, wholes = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    parts, wholes = parts[wholes > 0], wholes[wholes > 0]
    total = float(wholes.sum())
    if not total:
        return Share(math.nan, 0.0, 1.0)
    value, n = float(parts.sum()) / total, wholes.size
    freedom = total**2 / float((wholes**2).sum()) - 1
    if freedom < 0.5:
        return Share(value, 0.0, 1.0)
    spread = math.sqrt(n / (n - 1) * float(((parts - value * wholes) ** 2).sum())) / total
    spread = max(spread, math.sqrt(value * (1 - value) / total))  # clusters that agree by chance prove nothing
    reach = float(t.ppf(0.5 + level / 2, freedom)) * spread
    return Share(value, max(0.0, value - reach), min(1.0, value + reach))
