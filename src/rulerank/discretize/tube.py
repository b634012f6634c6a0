"""Unsupervised cuts that follow the density: Schmidberger and Frank's tree-based bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from rulerank.core.parameters import Flag, Parameter
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.discretize.base import Discretizer, between
from rulerank.discretize.tube_kernels import TIE, grow, held_out_likelihood

FINEST = 1e-6  # of the range: float32 hardly tells values apart below, and LETOR writes six digits
N_FOLDS = 10


class TUBE(Discretizer):
    """Cut where the density of the values changes most (Schmidberger and Frank, 2005). Needs no grades.

    Starting from one interval over all values, the cut that most raises the log-likelihood of the
    histogram, `sum of count * log(count / (N * width))`, is made until there are n_bins intervals or no
    cut raises it. Intervals are dense or sparse rather than equally wide or equally full.

    A cut may lie just left or just right of each value, so that a stretch without values can be split
    off as an interval of its own; it counts as one of the n_bins. Each value is a cell: as wide as the
    smallest step between two values, at least a millionth of the range, but never beyond halfway to its
    neighbours. Cuts lie at the ends of cells and no interval is narrower than half a cell, so a value
    that many rows share has a high density, never an infinite one. Whole numbers have cells of width 1.

    Of equally good cuts the lowest is made; likelihoods that differ by no more than rounding errors count as equal.
    A constant feature gets no cut. Missing values do not count.

    Parameters
    ----------
    n_bins: number of intervals at most, 2 to 254.
    cross_validate: choose, feature by feature, the number of intervals up to n_bins whose likelihood is
        best on held-out rows: ten folds, row i in fold i % 10, one more row spread evenly over the range
        so that no interval has density 0, the smaller number when two are as good.
    n_jobs: number of threads; all cores unless given. The cuts do not depend on it.

    >>> TUBE(n_bins=3).fit([[0], [0], [0], [5], [6], [7], [8], [9], [10]]).cuts_
    [array([0.5, 4.5])]
    >>> TUBE(n_bins=2).fit([[0.0], [1.0], [1.0]]).cuts_
    [array([0.5])]
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "cross_validate": Flag(meaning="choose the number of intervals on held-out rows")
    }
    kind = "tube"

    def __init__(self, n_bins: int = 10, cross_validate: bool = False, n_jobs: int | None = None) -> None:
        self.n_bins = n_bins
        self.cross_validate = cross_validate
        self.n_jobs = n_jobs

    def _find_cuts(self, X: Array, grades: Array) -> list[Array]:
        cuts: list[Array] = [np.empty(0)] * X.shape[1]

        def work(start: int, stop: int) -> None:
            for feature in range(start, stop):
                cuts[feature] = self._cuts_of(X[:, feature])

        in_blocks(work, X.shape[1], self.n_jobs)
        return cuts

    def _cuts_of(self, values: Array) -> Array:
        rows = np.flatnonzero(~np.isnan(values))
        distinct, counts = np.unique(values[rows], return_counts=True)
        if distinct.size < 2:
            return np.empty(0)
        cells = cells_of(distinct.astype(np.float64))
        n_bins = self.n_bins
        if self.cross_validate:
            fold_counts = np.zeros((N_FOLDS, distinct.size), dtype=np.int64)
            np.add.at(fold_counts, (rows % N_FOLDS, np.searchsorted(distinct, values[rows])), 1)
            n_bins = best_number(cells, fold_counts, n_bins)
        places = grown(cells, counts, n_bins)
        return cells.cuts[np.sort(places[2:])]


class Cells(NamedTuple):
    """Where one feature may be cut: place 2 i lies just left of its i-th value, place 2 i + 1 just right of it."""

    cuts: Array  # float64[2 * n_values]
    edges: Array  # float64[2 * n_values], the same as a share of the range
    narrowest: float  # share of the range that an interval has at least


def cells_of(distinct: Array) -> Cells:
    """Return the places where a feature with these ascending values may be cut.

    >>> cells_of(np.array([0.0, 1.0, 3.0])).cuts
    array([-0.5,  0.5,  0.5,  1.5,  2.5,  3.5])
    """
    exponent = np.frexp(np.abs(distinct).max())[1]  # a power of two brings every value within -1 .. 1, exactly
    scaled = np.ldexp(distinct, -exponent)
    half_cell = max(np.diff(scaled).min(), FINEST * (scaled[-1] - scaled[0])) / 2
    reach = np.ldexp(half_cell, exponent)
    middles = between(distinct[:-1], distinct[1:])
    with np.errstate(over="ignore"):  # only the two ends can, and nobody cuts there
        lefts, rights = distinct - reach, np.maximum(distinct + reach, np.nextafter(distinct, np.inf))
    lefts[1:] = np.maximum(lefts[1:], middles)
    rights[:-1] = np.minimum(rights[:-1], middles)
    cuts = np.column_stack([lefts, rights]).ravel()
    ends = np.ldexp(cuts, -exponent)
    ends[0], ends[-1] = scaled[0] - half_cell, scaled[-1] + half_cell
    span = ends[-1] - ends[0]
    narrowest = half_cell / span * (1 - TIE)  # rounding must not forbid a cell
    return Cells(cuts, (ends - ends[0]) / span, narrowest)


def grown(cells: Cells, counts: Array, n_bins: int) -> Array:
    """Return the places that bound the intervals of a histogram: the two ends, then the cuts in the order made."""
    places = np.empty(n_bins + 1, dtype=np.int64)
    return places[: grow(cells.edges, cells.narrowest, running(counts), places)]


def best_number(cells: Cells, fold_counts: Array, n_bins: int) -> int:
    """Return how many intervals, up to n_bins, are likeliest on held-out rows, given the counts of each fold."""
    likelihoods = np.zeros(n_bins)
    counts = fold_counts.sum(axis=0)
    for held_out in fold_counts:
        training = counts - held_out
        if training.any():
            places = grown(cells, training, n_bins)
            held_out_likelihood(cells.edges, running(training), running(held_out), places, likelihoods)
    return int(np.argmax(likelihoods >= likelihoods.max() - TIE * counts.sum())) + 1


def running(counts: Array) -> Array:
    """Return how many rows lie left of each place.

    >>> running(np.array([2, 1])).tolist()
    [0, 2, 2, 3]
    """
    totals = np.concatenate([[0], np.cumsum(counts)])
    return np.column_stack([totals[:-1], totals[1:]]).ravel()
