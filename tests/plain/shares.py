"""Intervals of shares by trying out every share: slow, obviously right."""

import numpy as np
from scipy.stats import binom, ttest_1samp


def is_possible(share, parts, wholes):
    """Tell whether queries with these parts of these wholes allow for a share, at 95 %."""
    parts, wholes = np.asarray(parts, dtype=float), np.asarray(wholes, dtype=float)
    k, n = parts.sum(), wholes.sum()
    if binom.cdf(k, n, share) >= 0.025 and binom.sf(k - 1, n, share) >= 0.025:  # if all trials were on their own
        return True
    if wholes.max() == 1:
        return False
    return _may_be_0(wholes) or _may_be_0(parts - share * wholes)  # one query that holds nearly all says nothing


def _may_be_0(values):
    return bool(np.ptp(values) > 0 and ttest_1samp(values, 0).pvalue >= 0.05)
