"""How well each feature tells relevant documents apart within queries."""

from __future__ import annotations

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.rules.kernels import sum_by_bin
from rulerank.rules.layout import Layout
from rulerank.rules.tables import UNIT, Rows, count_all


def feature_strength(rows: Rows, n_bins: Array, n_jobs: int | None = None) -> Array:
    """Return each feature's mean squared surprise over the rows; 0 for a feature that has one bin.

    A bin's squared surprise is the squared difference between its rows' grades and what their queries lead one to
    expect, over the variance of that difference: about 1 for noise, more for a feature that says something.

    >>> rows = Rows.of([[0, 0, 1, 1], [0, 1, 0, 1]], [0, 0, 1, 1], [0, 0, 0, 0])
    >>> feature_strength(rows, rows.n_bins()).round(6).tolist()
    [2.0, 0.0]
    """
    layout = Layout.over(n_bins, max_size=1)
    strength = np.zeros(n_bins.size)
    if not layout.sets:
        return strength
    counts = count_all(rows, layout, n_jobs)
    features, offsets = layout.sets[0].features[:, 0], layout.sets[0].offsets
    spread = np.zeros(layout.n_cells, dtype=np.int64)

    def work(first: int, last: int) -> None:
        sum_by_bin(rows.bins, rows.spread, features, offsets, first, last, spread)

    in_blocks(work, features.size, n_jobs, min_block=8)
    n = counts.grades.sum(axis=1)
    surprise = counts.grades @ np.arange(rows.n_grades) - counts.expected * UNIT
    surprise[np.abs(surprise) <= n * UNIT] = 0.0  # no more than the rounding of the expected grades
    squares = surprise**2 / (spread * UNIT + 1e-9)
    strength[features] = np.add.reduceat(n * squares, offsets[:-1]) / rows.n_rows
    return strength


def without_weakest(strength: Array, n_bins: Array, share: float) -> Array:
    """Return the features that carry something, in order, without the weakest share of them.

    >>> without_weakest(np.array([3.0, 1.0, 0.0, 2.0]), np.array([2, 2, 0, 2]), 0.34).tolist()
    [0, 3]
    """
    features = np.flatnonzero(n_bins > 1)
    weakest_first = np.argsort(strength[features], kind="stable")
    n_dropped = min(int(share * features.size), max(0, features.size - 1))  # one feature always stays
    return np.sort(features[weakest_first[n_dropped:]])
