"""The losses of the support vector machines once more, obvious and slow: every pair, every ranking."""

from itertools import permutations

import numpy as np


def pair_hinge(scores, grades):
    """Return the loss of one query and the weight of each row in its subgradient."""
    loss, weights = 0.0, np.zeros(len(scores))
    for better in range(len(scores)):
        for worse in range(len(scores)):
            if grades[better] > grades[worse] and scores[better] - scores[worse] < 1:
                loss += 1 - (scores[better] - scores[worse])
                weights[better] += 1
                weights[worse] -= 1
    return loss, weights


def pair_differences(X, grades, queries):
    """Return the better minus the worse document of every pair."""
    return np.array(
        [
            X[i] - X[j]
            for i in range(len(X))
            for j in range(len(X))
            if queries[i] == queries[j] and grades[i] > grades[j]
        ]
    )


def map_hinge(scores, grades):
    """Return the largest, over all rankings, of the loss of average precision plus what the scores like better."""
    relevant = np.asarray(grades) > 0
    n_pairs = relevant.sum() * (~relevant).sum()
    if not n_pairs:
        return 0.0
    best = -np.inf
    for ranking in permutations(range(len(scores))):
        place = np.argsort(ranking)
        misplaced = sum(
            scores[good] - scores[bad]
            for good in np.flatnonzero(relevant)
            for bad in np.flatnonzero(~relevant)
            if place[bad] < place[good]
        )
        best = max(best, 1 - average_precision(relevant[list(ranking)]) - 2 * misplaced / n_pairs)
    return best


def average_precision(relevant):
    """Return the mean precision at the places of the relevant documents."""
    return float(np.mean([np.mean(relevant[: place + 1]) for place in np.flatnonzero(relevant)]))
