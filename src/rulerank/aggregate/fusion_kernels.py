"""The loops of fusion. Nothing here checks its arguments; `fusion.py` does.

starts  int64[n_queries + 1]      first row of each query, when rows are sorted by query
points_of_places, one list at a time:
scores  float64[n_rows]           -inf = missing from the list
order   int64[n_rows]             rows sorted by query, then from the highest score to the lowest
points  float64[n]                what the places are worth, from the first; n is the longest query's number of rows
out     float64[n_rows]           points of each row
pairwise_wins:
scores  float64[n_lists, n_rows]  of rows sorted by query; -inf = missing from the list
wins    float64[n_rows]           rows beaten, plus half of those drawn with
"""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array


@compiled
def points_of_places(
    scores: Array, order: Array, starts: Array, points: Array, missing_are_last: bool, out: Array
) -> None:
    """Give every row the mean points of the places that its ties share; missing rows are last together, or get none."""
    for q in range(starts.size - 1):
        start = starts[q]
        n_docs = starts[q + 1] - start
        place = 0
        while place < n_docs:
            score = scores[order[start + place]]
            end = place
            total = 0.0
            while end < n_docs and scores[order[start + end]] == score:
                total += points[end]
                end += 1
            if score == -np.inf and not missing_are_last:
                total = 0.0
            for i in range(place, end):
                out[order[start + i]] = total / (end - place)
            place = end


@compiled
def pairwise_wins(scores: Array, starts: Array, first: int, last: int, wins: Array) -> None:
    """Let every two rows of a query meet: the one that more lists have above the other wins."""
    for q in range(first, last):
        start = starts[q]
        stop = starts[q + 1]
        ahead = np.empty(stop - start, dtype=np.int32)
        for i in range(start, stop):
            ahead[:] = 0
            for ranker in range(scores.shape[0]):
                own = scores[ranker, i]
                for j in range(i + 1, stop):
                    ahead[j - start] += np.int32(own > scores[ranker, j]) - np.int32(own < scores[ranker, j])
            for j in range(i + 1, stop):
                if ahead[j - start] > 0:
                    wins[i] += 1.0
                elif ahead[j - start] < 0:
                    wins[j] += 1.0
                else:
                    wins[i] += 0.5
                    wins[j] += 0.5
