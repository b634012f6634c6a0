"""Loops over pairs and bins for the boosted rankers. Nothing here checks its arguments; `boosted.py` does.

scores      float64[n]              of the paired rows: query by query, the highest grade first
bounds      int64[n_queries + 1]    where each query begins
below       int64[n]                first place of the query with a lower grade than this one
bins        uint16[n_columns, n]    of each column
potentials  float64[n]              weight of the pairs a row is the better of, less that of those it is the worse of
losses      float64[n_queries]
"""

from __future__ import annotations

import math

import numpy as np

from rulerank._util.loops import compiled
from rulerank.dataset import Array

CLEARLY = 1.0 + 1e-9  # of two that differ by rounding only, the first is taken
STEEPEST = 700.0  # beyond this exp is not a number; only pairs in order by far get there


@compiled
def exponential_potentials(
    scores: Array, bounds: Array, below: Array, first: int, last: int, potentials: Array, losses: Array
) -> None:
    """Weigh a pair by exp(worse - better); sums of exponentials do instead of pairs."""
    for query in range(first, last):
        start, end = bounds[query], bounds[query + 1]
        low = math.inf
        high = -math.inf
        for i in range(start, end):
            low = min(low, scores[i])
            high = max(high, scores[i])
        middle = 0.5 * (low + high)  # cancels in every pair, and keeps exponents small
        worse = 0.0
        place = end
        loss = 0.0
        for i in range(end - 1, start - 1, -1):
            while place > below[i]:
                place -= 1
                worse += math.exp(min(scores[place] - middle, STEEPEST))
            potentials[i] = math.exp(min(middle - scores[i], STEEPEST)) * worse
            loss += potentials[i]
        losses[query] = loss
        better = 0.0
        place = start
        for i in range(start, end):
            while below[place] <= i:
                better += math.exp(min(middle - scores[place], STEEPEST))
                place += 1
            potentials[i] -= math.exp(min(scores[i] - middle, STEEPEST)) * better


@compiled
def add_potentials(bins: Array, potentials: Array, first: int, last: int, out: Array) -> None:
    """Add up the potentials by column and bin, then from the highest bin down: out[c, b] is that of bins from b on."""
    for column in range(first, last):
        out[column, :] = 0.0
        for i in range(potentials.size):
            out[column, bins[column, i]] += potentials[i]
        for bin in range(out.shape[1] - 2, -1, -1):
            out[column, bin] += out[column, bin + 1]


@compiled
def best_bins(gains: Array, values: Array, places: Array) -> None:
    """Write each column's largest gain and its bin; bin 0 says nothing."""
    for column in range(gains.shape[0]):
        values[column] = 0.0
        places[column] = 0
        for bin in range(1, gains.shape[1]):
            if gains[column, bin] > values[column] * CLEARLY:
                values[column] = gains[column, bin]
                places[column] = bin


@compiled
def fidelity_weights(
    scores: Array,
    bounds: Array,
    below: Array,
    counts: Array,
    first: int,
    last: int,
    starts: Array,
    weights: Array,
    potentials: Array,
) -> None:
    """Weigh a pair by the slope of its fidelity loss, sqrt(p) (1 - p), with p = 1 / (1 + exp(worse - better)).

    counts   int64[n_queries]          how many pairs each query has, by which its weights are divided
    starts   int64[n_queries]          where each query's pairs begin in weights
    weights  float64[pairs at once]    better rows in order, and for each the worse ones in order
    """
    for query in range(first, last):
        start, end = bounds[query], bounds[query + 1]
        for i in range(start, end):
            potentials[i] = 0.0
        pair = starts[query]
        for i in range(start, end):
            for j in range(below[i], end):
                odds = math.exp(min(scores[j] - scores[i], STEEPEST))
                root = math.sqrt(1.0 / (1.0 + odds))
                weight = root * root * root * odds / counts[query]
                weights[pair] = weight
                potentials[i] += weight
                potentials[j] -= weight
                pair += 1


@compiled
def add_parted(
    bins: Array, bounds: Array, below: Array, queries: Array, weights: Array, first: int, last: int, out: Array
) -> None:
    """Add to out[c, b] so that its sum from bin b on is the weight of the pairs that a threshold there parts.

    A pair is parted by the bins above its lower one up to its higher one: its weight goes to the higher one and is
    taken off at the lower one.

    queries  int64[2]    the first query and the one after the last; weights begin with its pairs
    """
    longest = 0
    for query in range(queries[0], queries[1]):
        longest = max(longest, bounds[query + 1] - bounds[query])
    levels = np.empty(longest)
    nets = np.empty(longest)
    for column in range(first, last):
        pair = 0
        for query in range(queries[0], queries[1]):
            start = bounds[query]
            n = bounds[query + 1] - start
            for i in range(n):
                levels[i] = bins[column, start + i]
                nets[i] = 0.0
            for i in range(n):
                own = levels[i]
                n_worse = start + n - below[start + i]
                others = levels[n - n_worse : n]  # slices: the loop over them is turned into vector instructions
                other_nets = nets[n - n_worse : n]
                pair_weights = weights[pair : pair + n_worse]
                net = 0.0
                for j in range(n_worse):
                    weight = pair_weights[j]
                    signed = weight if others[j] > own else (-weight if others[j] < own else 0.0)
                    other_nets[j] += signed
                    net += signed
                nets[i] -= net
                pair += n_worse
            for i in range(n):
                out[column, bins[column, start + i]] += nets[i]


@compiled
def stump_scores(X: Array, features: Array, thresholds: Array, missing: Array, weights: Array, out: Array) -> None:
    for i in range(out.size):
        score = 0.0
        for number in range(weights.size):
            value = X[i, features[number]]
            says = missing[number] == 1 if math.isnan(value) else value >= thresholds[number]
            if says:
                score += weights[number]
        out[i] = score
