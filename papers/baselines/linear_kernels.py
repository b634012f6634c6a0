"""Loops over the rows of queries for RankSVM, SVMMAP and ListNet. Nothing here checks its arguments.

scores   float64[n_rows]
grades   int16[n_rows]           from 0
chances  float64[n_rows]         of each document to be first, by the grades; those of a query sum to 1
bounds   int64[n_queries + 1]    where each query's rows begin: they lie together
weights  float64[n_rows]         written: the subgradient of the loss is -weights @ X
excess   float64[n_rows]         written: chance by the scores less chance by the grades, the slope of the loss
losses   float64[n_queries]      written
"""

from __future__ import annotations

import math

import numpy as np

from rulerank._util.loops import compiled, sort_places
from rulerank.dataset import Array


@compiled
def pair_hinges(
    scores: Array, grades: Array, bounds: Array, first: int, last: int, weights: Array, losses: Array
) -> None:
    """Sum max(0, 1 - (score of the better - score of the worse)) over a query's pairs of different grades.

    In rising order of the scores, the documents less than 1 away are a window that only moves up: it is enough to keep
    count of the grades inside.
    """
    n_grades = 0
    for i in range(bounds[first], bounds[last]):
        n_grades = max(n_grades, grades[i] + 1)
    inside = np.zeros(n_grades, dtype=np.int64)
    for q in range(first, last):
        start = bounds[q]
        n = bounds[q + 1] - start
        places = np.empty(n, dtype=np.int64)
        sort_places(scores[start : start + n], places)
        loss = 0.0
        # as the better one: against worse ones whose score is above its own minus 1
        inside[:] = 0
        for i in range(n):
            inside[grades[start + i]] += 1
        low = 0
        for i in range(n):
            row = start + places[i]
            while scores[row] - scores[start + places[low]] >= 1.0:
                inside[grades[start + places[low]]] -= 1
                low += 1
            n_worse = 0
            for grade in range(grades[row]):
                n_worse += inside[grade]
            weights[row] = n_worse
            loss += n_worse * (1.0 - scores[row])
        # as the worse one: against better ones whose score is below its own plus 1
        inside[:] = 0
        high = 0
        for i in range(n):
            row = start + places[i]
            while high < n and scores[start + places[high]] - scores[row] < 1.0:
                inside[grades[start + places[high]]] += 1
                high += 1
            n_better = 0
            for grade in range(grades[row] + 1, n_grades):
                n_better += inside[grade]
            weights[row] -= n_better
            loss += n_better * scores[row]
        losses[q] = loss


@compiled
def map_hinges(
    scores: Array, grades: Array, bounds: Array, first: int, last: int, weights: Array, losses: Array
) -> None:
    """Find the ranking of each query whose loss of average precision, plus how much it suits the scores, is most.

    Relevant documents (grades from 1) and the others keep their order by score among themselves. Each of the others,
    the best first, goes above as many relevant ones as pays most, whatever the choices for the rest: Yue et al. (2007).
    """
    for q in range(first, last):
        start = bounds[q]
        n = bounds[q + 1] - start
        n_good = 0
        for i in range(n):
            n_good += grades[start + i] > 0
            weights[start + i] = 0.0
        n_bad = n - n_good
        losses[q] = 0.0
        if n_good == 0 or n_bad == 0:
            continue
        places = np.empty(n, dtype=np.int64)
        sort_places(scores[start : start + n], places)
        good = np.empty(n_good, dtype=np.int64)  # rows, the highest score first
        bad = np.empty(n_bad, dtype=np.int64)
        n_good = 0
        n_bad = 0
        for i in range(n - 1, -1, -1):
            row = start + places[i]
            if grades[row] > 0:
                good[n_good] = row
                n_good += 1
            else:
                bad[n_bad] = row
                n_bad += 1
        pair = 2.0 / n_good / n_bad
        above = np.zeros(n_good, dtype=np.int64)  # how many others are above each relevant document
        least = 0
        for j in range(n_bad):
            gain = 0.0
            most = 0.0
            place = n_good  # goes above good[place], good[place + 1], ...
            for k in range(n_good - 1, least - 1, -1):
                gain += ((j + 1.0) / (j + k + 2.0) - j / (j + k + 1.0)) / n_good
                gain -= pair * (scores[good[k]] - scores[bad[j]])
                if gain > most:
                    most = gain
                    place = k
            least = place
            weights[bad[j]] = -pair * (n_good - place)
            if place < n_good:
                above[place] += 1
        loss = 1.0
        n_above = 0
        for k in range(n_good):
            n_above += above[k]
            weights[good[k]] = pair * n_above
            loss -= (k + 1.0) / (k + 1.0 + n_above) / n_good
        for i in range(start, start + n):
            loss -= weights[i] * scores[i]
        losses[q] = loss


@compiled
def cross_entropies(scores: Array, chances: Array, bounds: Array, excess: Array, losses: Array) -> None:
    """Find the cross entropy of the chances by the scores and by the grades."""
    for query in range(bounds.size - 1):
        first, last = bounds[query], bounds[query + 1]
        highest = -math.inf
        for i in range(first, last):
            highest = max(highest, scores[i])
        total = 0.0
        for i in range(first, last):
            excess[i] = math.exp(scores[i] - highest)
            total += excess[i]
        log_total = math.log(total)
        loss = 0.0
        for i in range(first, last):
            loss -= chances[i] * (scores[i] - highest - log_total)
            excess[i] = excess[i] / total - chances[i]
        losses[query] = loss
