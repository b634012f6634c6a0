"""Groups of features for SSARP: those that tell most about the others first, dealt round like cards."""

from __future__ import annotations

import math

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array

DIGITS = 9  # statistics that agree so far count as equal, whatever rounding made of them


def deal_features(bins: Array, partitions: int, n_jobs: int | None = None) -> list[Array]:
    """Deal features, given by their bins uint8 (n_features, n_rows), into groups of nearly the same size.

    Without grades, the paper ranks features by how well they predict each other. For each feature, the others are put
    in order of the chi-square statistic of the two features' bins over the pool, the greatest first, and one at place
    j scores 1 / log(10 j). The paper gives the first place 1, so the logarithm is to base 10. The features are dealt
    in the order of their total scores, the lower number first when two have the same.

    >>> bins = np.array([[0, 1, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0]], dtype=np.uint8)
    >>> [group.tolist() for group in deal_features(bins, partitions=2)]
    [[0, 2], [1]]
    """
    statistic = np.round(dependence(bins, n_jobs), DIGITS)
    n_features = len(statistic)
    np.fill_diagonal(statistic, -1.0)  # a feature comes last in its own order, where it scores nothing
    orders = np.argsort(-statistic, axis=1, kind="stable")
    weights = [1 / math.log10(10 * place) for place in range(1, n_features)]
    scores = [
        math.fsum(weights[place] for place in np.nonzero(orders == f)[1] if place < n_features - 1)
        for f in range(n_features)
    ]
    ranked = np.argsort(-np.round(scores, DIGITS), kind="stable")
    return [np.sort(ranked[start::partitions]) for start in range(partitions)]


def dependence(bins: Array, n_jobs: int | None = None) -> Array:
    """Return the chi-square statistic of every two features per row of the pool, float64 (n_features, n_features).

    >>> dependence(np.array([[0, 1, 1, 0], [5, 3, 3, 5], [1, 1, 0, 0]], dtype=np.uint8)).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    n_features = len(bins)
    n_bins = bins.max(axis=1).astype(np.int64) + 1
    ones, others = np.triu_indices(n_features, 1)
    statistic = np.zeros((n_features, n_features))

    def work(start: int, stop: int) -> None:
        compare_features(bins, n_bins, ones[start:stop], others[start:stop], statistic)

    in_blocks(work, ones.size, n_jobs)
    return statistic + statistic.T


@compiled
def compare_features(bins: Array, n_bins: Array, ones: Array, others: Array, statistic: Array) -> None:
    """Write chi-square / n_rows of each pair of features into statistic, float64[n_features, n_features]."""
    n_rows = bins.shape[1]
    table = np.empty((n_bins.max(), n_bins.max()), np.int64)
    for i in range(ones.size):
        one, other = bins[ones[i]], bins[others[i]]
        counts = table[: n_bins[ones[i]], : n_bins[others[i]]]
        counts[:] = 0
        for row in range(n_rows):
            counts[one[row], other[row]] += 1
        column_totals = counts.sum(axis=0)
        total = -1.0
        for a in range(counts.shape[0]):
            row_total = counts[a].sum()
            for b in range(counts.shape[1]):
                if counts[a, b]:
                    total += counts[a, b] / row_total * (counts[a, b] / column_totals[b])
        statistic[ones[i], others[i]] = total
