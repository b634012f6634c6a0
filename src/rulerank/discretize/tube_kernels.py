"""The loops of TUBE. Nothing here checks its arguments; `tube.py` does.

edges   float64[2 * n_values]   where each place lies, from 0 to 1: left and right of each value
totals  int64[2 * n_values]     how many rows lie left of each place
places  int64[n_bins + 1]       the two ends, then the cuts in the order they are made
"""

from __future__ import annotations

import math

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array

TIE = 1e-9  # nats per row: far above rounding errors, far below what a cut is worth


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
    """Cut the interval that gains most, the lowest of equals, until places is full; return how many there are."""
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
            if chosen < 0 or gains[i] > gains[chosen] + tie:
                chosen = i
            elif gains[i] >= gains[chosen] - tie and bounds[i, 0] < bounds[chosen, 0]:
                chosen = i
        if chosen < 0:
            return n_intervals + 1
        first, cut, last = bounds[chosen, 0], bounds[chosen, 1], bounds[chosen, 2]
        places[n_intervals + 1] = cut
        bounds[chosen, 2], bounds[n_intervals, 0], bounds[n_intervals, 2] = cut, cut, last
        bounds[chosen, 1], gains[chosen] = best_cut(edges, narrowest, totals, first, cut, tie)
        bounds[n_intervals, 1], gains[n_intervals] = best_cut(edges, narrowest, totals, cut, last, tie)
    return places.size


@compiled
def held_out_likelihood(edges: Array, totals: Array, held_out: Array, places: Array, out: Array) -> None:
    """Add to out[i], float64[n_bins], the log-likelihood of held-out rows with the first i cuts made.

    One more training row is spread evenly over the range. With fewer cuts than out has room for, the last likelihood
    stands for the rest.
    """
    n_rows = totals[-1] + 1.0
    made = np.zeros(edges.size, np.bool_)
    likelihood = 0.0
    for n_bins in range(1, out.size + 1):
        if n_bins < places.size:
            made[places[n_bins] if n_bins > 1 else 0] = True
            likelihood = 0.0
            first = 0
            for place in range(1, edges.size):
                if made[place] or place == edges.size - 1:
                    count = held_out[place] - held_out[first]
                    if count:
                        width = edges[place] - edges[first]
                        density = (totals[place] - totals[first] + width) / (n_rows * width)
                        likelihood += count * math.log(density)
                    first = place
        out[n_bins - 1] += likelihood
