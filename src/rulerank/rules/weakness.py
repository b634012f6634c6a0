"""Which features tell relevant documents apart within queries, by a chi-square over their bins."""

from __future__ import annotations

import numpy as np

from rulerank.dataset import Array
from rulerank.rules.layout import Layout
from rulerank.rules.tables import UNIT, Rows, count_all


def feature_strength(rows: Rows, n_bins: Array, n_jobs: int | None = None) -> Array:
    """Return the chi-square per degree of freedom of each feature; NaN for a feature that has one bin.

    The squared difference between a bin's grades and what its rows' queries lead one to expect, over its variance.

    >>> rows = Rows.of([[0, 0, 1, 1], [0, 1, 0, 1]], [0, 0, 1, 1], [0, 0, 0, 0])
    >>> feature_strength(rows, rows.n_bins()).tolist()
    [4.0, 0.0]
    """
    layout = Layout.over(n_bins, max_size=1)
    strength = np.full(n_bins.size, np.nan)
    if not layout.sets:
        return strength
    counts = count_all(rows, layout, n_jobs)
    n = counts.grades.sum(axis=1)
    surprise = counts.grades @ np.arange(rows.n_grades) - counts.moments[:, 0] * UNIT
    variance = float(rows.spread.mean()) * UNIT
    chi2 = np.divide(surprise**2, n * variance, out=np.zeros(n.size), where=(n > 0) & (variance > 0))
    features = layout.sets[0].features[:, 0]
    seen = np.add.reduceat(n > 0, layout.sets[0].offsets[:-1], dtype=np.int64)
    strength[features] = np.add.reduceat(chi2, layout.sets[0].offsets[:-1]) / (seen - 1)
    return strength


def strongest_features(rows: Rows, n_bins: Array, drop: float, n_jobs: int | None = None) -> Array:
    """Return the features that carry something, in order, without the weakest share of them."""
    features = np.flatnonzero(n_bins > 1)
    n_dropped = int(drop * features.size)
    if not n_dropped:
        return features
    weakest_first = np.argsort(feature_strength(rows, n_bins, n_jobs)[features], kind="stable")
    return np.sort(features[weakest_first[n_dropped:]])
