"""Unsupervised cuts that follow the density: Schmidberger and Frank's tree-based bins."""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from rulerank._util.loops import between, compiled
from rulerank.dataset import Array
from rulerank.discretize.base import Discretizer

FINEST = 1e-6  # of the range: float32 hardly tells values apart below, and LETOR writes six digits
TIE = 1e-9  # nats per row: far above rounding errors, far below what a cut is worth


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
    n_bins: maximum number of intervals, 2 to 254.
    n_jobs: number of threads; all cores unless given. The cuts do not depend on it.

    >>> TUBE(n_bins=3).fit([[0], [0], [0], [5], [6], [7], [8], [9], [10]]).cuts_
    [array([0.5, 4.5])]
    >>> TUBE(n_bins=2).fit([[0.0], [1.0], [1.0]]).cuts_
    [array([0.5])]
    """

    kind = "tube"
    former_parameters: ClassVar[frozenset[str]] = frozenset(("cross_validate",))

    def _cuts_of(self, values: Array) -> Array:
        distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        if distinct.size < 2:
            return np.empty(0)
        cells = cells_of(distinct.astype(np.float64))
        places = grown(cells, counts, self.n_bins)
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
    totals = np.repeat(np.append(0, np.cumsum(counts)), 2)[1:-1]  # rows left of each place
    return places[: grow(cells.edges, cells.narrowest, totals, places)]


@compiled
def term(count: int, width: float) -> float:
    """Return what an interval adds to the log-likelihood, up to what all intervals share."""
    return count * math.log(count / width) if count else 0.0


@compiled
def best_cut(edges: Array, narrowest: float, totals: Array, first: int, last: int, tie: float) -> tuple[int, float]:
    """Return the lowest of the best places to cut the interval between two places, and what it gains; -1: none."""
    n_rows = totals[last] - totals[first]
    best, gain = -1, 0.0
    if n_rows == 0:
        return best, gain
    before = term(n_rows, edges[last] - edges[first])
    for place in range(first + 1, last):
        left, right = edges[place] - edges[first], edges[last] - edges[place]
        if min(left, right) < narrowest or left <= 0.0 or right <= 0.0:
            continue
        n_left = totals[place] - totals[first]
        gained = term(n_left, left) + term(n_rows - n_left, right) - before
        if gained > gain + tie:
            best, gain = place, gained
    return best, gain


@compiled
def grow(edges: Array, narrowest: float, totals: Array, places: Array) -> int:
    """Cut the interval that gains most, the lowest of equals, until places is full; return how many there are.

    edges   float64[2 * n_values]   where each place lies, from 0 to 1: left and right of each value
    totals  int64[2 * n_values]     how many rows lie left of each place
    places  int64[n_bins + 1]       the two ends, then the cuts in the order they are made
    """
    n_bins = places.size - 1
    bounds = np.empty((n_bins, 3), np.int64)  # first place, best cut, last place of each interval
    gains = np.empty(n_bins, np.float64)
    tie = TIE * totals[-1]
    places[0], places[1] = 0, edges.size - 1
    bounds[0, 0], bounds[0, 2] = 0, edges.size - 1
    bounds[0, 1], gains[0] = best_cut(edges, narrowest, totals, 0, edges.size - 1, tie)
    for n_intervals in range(1, n_bins):
        chosen = -1
        for i in range(n_intervals):
            if bounds[i, 1] < 0:
                continue
            if (
                chosen < 0
                or gains[i] > gains[chosen] + tie
                or (gains[i] >= gains[chosen] - tie and bounds[i, 0] < bounds[chosen, 0])
            ):
                chosen = i
        if chosen < 0:
            return n_intervals + 1
        first, cut, last = bounds[chosen, 0], bounds[chosen, 1], bounds[chosen, 2]
        places[n_intervals + 1] = cut
        bounds[chosen, 2], bounds[n_intervals, 0], bounds[n_intervals, 2] = cut, cut, last
        bounds[chosen, 1], gains[chosen] = best_cut(edges, narrowest, totals, first, cut, tie)
        bounds[n_intervals, 1], gains[n_intervals] = best_cut(edges, narrowest, totals, cut, last, tie)
    return places.size
