"""Intervals of shares by trying out every share: slow, obviously right."""

import numpy as np
from scipy.stats import t, ttest_1samp


def is_possible(share, parts, wholes):
    """Tell whether clusters with these parts of these wholes allow for a share, at 95 %."""
    parts, wholes = np.asarray(parts, dtype=float), np.asarray(wholes, dtype=float)
    left = parts - share * wholes
    if _may_be_0(wholes) or _may_be_0(left):  # one cluster that holds nearly all says nothing
        return True
    independent = abs(left.sum()) / np.sqrt(share * (1 - share) * wholes.sum())
    return independent <= t.ppf(0.975, parts.size - 1)


def _may_be_0(values):
    return bool(np.ptp(values) > 0 and ttest_1samp(values, 0).pvalue >= 0.05)
