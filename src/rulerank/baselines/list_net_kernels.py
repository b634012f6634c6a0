"""The loop over lists. Nothing here checks its arguments; `list_net.py` does.

scores   float64[n_rows]
chances  float64[n_rows]         of each document to be first, by the grades; those of a query sum to 1
bounds   int64[n_queries + 1]    where each query's rows begin
excess   float64[n_rows]         written: chance by the scores less chance by the grades, the slope of the loss
losses   float64[n_queries]      written: cross entropy
"""

from __future__ import annotations

import math

from rulerank.core.compiled import compiled
from rulerank.dataset import Array


@compiled
def cross_entropies(scores: Array, chances: Array, bounds: Array, excess: Array, losses: Array) -> None:
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
