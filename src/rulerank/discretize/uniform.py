"""Cuts that need no grades: intervals of equal width, and intervals that hold equally many rows."""

from __future__ import annotations

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.discretize.base import Discretizer, between


class EqualWidth(Discretizer):
    """Cut each feature's training range into intervals of equal width.

    A constant feature gets no cut. Missing values do not count.

    Parameters
    ----------
    n_bins: number of intervals, 2 to 254.
    n_jobs: number of threads; all cores unless given.

    >>> widths = EqualWidth(n_bins=4).fit([[0.0], [1.0], [8.0]])
    >>> widths.cuts_
    [array([2., 4., 6.])]
    >>> widths.transform([[-5.0], [2.0], [7.0], [float("nan")]]).ravel().tolist()
    [0, 1, 3, 4]
    """

    kind = "equal_width"

    def __init__(self, n_bins: int = 10, n_jobs: int | None = None) -> None:
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def _find_cuts(self, X: Array, grades: Array) -> list[Array]:
        share = np.arange(1, self.n_bins) / self.n_bins
        low = np.fmin.reduce(X, axis=0).astype(np.float64)  # NaN only where every value is
        high = np.fmax.reduce(X, axis=0).astype(np.float64)
        cuts = np.outer(low, 1 - share) + np.outer(high, share)
        # a range of a few neighbouring floats holds fewer cuts than asked for
        return [np.unique(c[(c > a) & (c <= b)]) for c, a, b in zip(cuts, low, high, strict=True)]


class EqualFrequency(Discretizer):
    """Cut each feature so that its intervals hold equally many training rows, as nearly as ties allow.

    Rows with the same value stay together: a cut that would part them moves to the nearer end of
    their run (the lower when both are as near), and cuts that meet become one. A cut lies halfway
    between two neighbouring values. A constant feature gets no cut. Missing values do not count.

    Parameters
    ----------
    n_bins: number of intervals at most, 2 to 254.
    n_jobs: number of threads; all cores unless given. The cuts do not depend on it.

    >>> EqualFrequency(n_bins=2).fit([[1.0], [2.0], [4.0], [90.0]]).cuts_
    [array([3.])]
    >>> EqualFrequency(n_bins=4).fit([[0.0], [0.0], [0.0], [1.0]]).cuts_
    [array([0.5])]
    """

    kind = "equal_frequency"

    def __init__(self, n_bins: int = 10, n_jobs: int | None = None) -> None:
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def _find_cuts(self, X: Array, grades: Array) -> list[Array]:
        cuts: list[Array] = [np.empty(0)] * X.shape[1]

        def work(start: int, stop: int) -> None:
            for feature in range(start, stop):
                cuts[feature] = equal_frequency_cuts(X[:, feature], self.n_bins)

        in_blocks(work, X.shape[1], self.n_jobs)
        return cuts


def equal_frequency_cuts(values: Array, n_bins: int) -> Array:
    """Return the cuts of one feature.

    >>> equal_frequency_cuts(np.array([5.0, 1.0, 1.0, 1.0, 2.0]), n_bins=2)
    array([1.5])
    """
    values = np.sort(values[~np.isnan(values)])
    n_rows = values.size
    if n_rows == 0:
        return np.empty(0)
    places = (2 * n_rows * np.arange(1, n_bins) + n_bins) // (2 * n_bins)  # n_rows * i / n_bins, rounded
    places = np.minimum(places, n_rows - 1)
    run_starts = np.searchsorted(values, values[places], side="left")
    run_stops = np.searchsorted(values, values[places], side="right")
    places = np.where(places - run_starts <= run_stops - places, run_starts, run_stops)
    places = np.unique(places[(places > 0) & (places < n_rows)])
    return between(values[places - 1], values[places])
