"""How well each feature tells relevant documents apart within queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.rules.kernels import sum_by_bin
from rulerank.rules.layout import Layout
from rulerank.rules.tables import UNIT, Counter, Rows
from rulerank.rules.votes import Training


@dataclass(frozen=True, eq=False)
class BinCounts:
    """What is counted of each feature by itself: all that is to be known before feature sets are chosen.

    Integers throughout: those of two shards that hold whole queries add up to those of both.
    """

    widths: Array  # int32 (n_features,) bins that a feature may have
    grades: Array  # int64 (n_cells, n_grades) rows of each bin, feature after feature
    expected: Array  # int64 (n_cells,) sum of the rows' expected grades, in UNITs
    spread: Array  # int64 (n_cells,) sum of the variances of the rows' queries, in UNITs

    @staticmethod
    def of(rows: Rows, widths: Array, n_jobs: int | None = None) -> BinCounts:
        """Count rows whose bins lie below the widths."""
        layout = Layout.over(widths, max_size=1, used=np.arange(widths.size))
        counts = Counter(rows, layout.n_bins, n_jobs=n_jobs).count(layout.sets[0])
        features, offsets = layout.sets[0].features[:, 0], layout.sets[0].offsets
        spread = np.zeros(layout.n_cells, dtype=np.int64)

        def work(first: int, last: int) -> None:
            sum_by_bin(rows.bins, rows.spread, features, offsets, first, last, spread)

        in_blocks(work, features.size, n_jobs, min_block=8)
        return BinCounts(layout.n_bins, counts.grades.astype(np.int64), counts.expected, spread)

    def __add__(self, other: BinCounts) -> BinCounts:
        return BinCounts(
            self.widths, self.grades + other.grades, self.expected + other.expected, self.spread + other.spread
        )

    def __sub__(self, other: BinCounts) -> BinCounts:
        return BinCounts(
            self.widths, self.grades - other.grades, self.expected - other.expected, self.spread - other.spread
        )

    @property
    def n_by_grade(self) -> Array:
        """Rows of each grade, int64 (n_grades,)."""
        return self.grades[: self.widths[0]].sum(axis=0)

    def n_bins(self) -> Array:
        """Return each feature's table width, 0 for a feature whose rows all fall in one bin: it carries nothing."""
        found = np.zeros(self.widths.size, dtype=np.int32)
        for feature, own in enumerate(np.split(self.grades.any(axis=1), self._offsets[1:-1])):
            seen = np.flatnonzero(own)
            found[feature] = seen[-1] + 1 if seen.size > 1 else 0
        return found

    def strength(self, n_bins: Array) -> Array:
        """Return each feature's mean squared surprise over the rows, see `feature_strength`."""
        strength = np.zeros(n_bins.size)
        features = np.flatnonzero(n_bins > 1)
        if not features.size:
            return strength
        cells = np.concatenate([np.arange(n_bins[f]) + self._offsets[f] for f in features.tolist()])
        offsets = np.concatenate([[0], np.cumsum(n_bins[features])])
        grades, expected, spread = self.grades[cells], self.expected[cells], self.spread[cells]
        n = grades.sum(axis=1)
        surprise = grades @ np.arange(grades.shape[1]) - expected * UNIT
        surprise[np.abs(surprise) <= n * UNIT] = 0.0  # no more than the rounding of the expected grades
        squares = surprise**2 / (spread * UNIT + 1e-9)
        strength[features] = np.add.reduceat(n * squares, offsets[:-1]) / self.n_by_grade.sum()
        return strength

    def training(self, min_rows: int, strength: Array) -> Training:
        """Sum up the rows, as `Training.of` does."""
        n_by_grade = self.n_by_grade
        mean_grade = float(n_by_grade @ np.arange(n_by_grade.size)) / float(n_by_grade.sum())
        return Training(n_by_grade.size, mean_grade, min_rows, strength, n_by_grade)

    @property
    def _offsets(self) -> Array:
        return np.concatenate([[0], np.cumsum(self.widths, dtype=np.int64)])


def feature_strength(rows: Rows, n_bins: Array, n_jobs: int | None = None) -> Array:
    """Return each feature's mean squared surprise over the rows; 0 for a feature that has one bin.

    A bin's squared surprise is the squared difference between its rows' grades and what their queries lead one to
    expect, over the variance of that difference: about 1 for noise, more for a feature that says something.

    >>> rows = Rows.of([[0, 0, 1, 1], [0, 1, 0, 1]], [0, 0, 1, 1], [0, 0, 0, 0])
    >>> feature_strength(rows, rows.n_bins()).round(6).tolist()
    [2.0, 0.0]
    """
    return BinCounts.of(rows, rows.bins.max(axis=1).astype(np.int32) + 1, n_jobs).strength(n_bins)


def without_weakest(strength: Array, n_bins: Array, share: float) -> Array:
    """Return the features that carry something, in order, without the weakest share of them.

    >>> without_weakest(np.array([3.0, 1.0, 0.0, 2.0]), np.array([2, 2, 0, 2]), 0.34).tolist()
    [0, 3]
    """
    features = np.flatnonzero(n_bins > 1)
    weakest_first = np.argsort(strength[features], kind="stable")
    n_dropped = min(int(share * features.size), max(0, features.size - 1))  # one feature always stays
    return np.sort(features[weakest_first[n_dropped:]])
