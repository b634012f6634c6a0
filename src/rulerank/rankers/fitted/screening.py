"""Which features act together: cells in which two halves of the queries pull the same way.

The pulls are those of documents that the model was not fitted to. Under noise the products of the halves' sums are as
often negative as positive, so that the score of a pair that has nothing to say is about zero, however many cells.
"""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array


def agreement(
    bins: Array, n_bins: Array, pairs: Array, pulls: Array, odd: Array, l2: float, n_jobs: int | None
) -> Array:
    """Return a score for each pair of features: sum over cells of g_even * g_odd / (h + l2).

    >>> bins = np.array([[0, 1, 0, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> pulls, odd = np.array([[1.0, 1], [-1, 1], [1, 1], [-1, 1]]), np.array([0, 0, 1, 1], dtype=np.uint8)
    >>> agreement(bins, np.array([2, 2]), np.array([[0, 1]]), pulls, odd, 2.0, 1).tolist()
    [0.5]
    """
    out = np.zeros(len(pairs))
    sizes = np.prod(n_bins[pairs], axis=1)

    def work(first: int, last: int) -> None:
        if first < last:
            score_pairs(bins, n_bins, pairs[first:last], pulls, odd, l2, int(sizes[first:last].max()), out[first:last])

    in_blocks(work, len(pairs), n_jobs, min_block=max(1, 200_000 // max(1, len(pulls))))
    return out


@compiled
def score_pairs(
    bins: Array, n_bins: Array, pairs: Array, pulls: Array, odd: Array, l2: float, most: int, out: Array
) -> None:
    """Score each pair.

    bins uint8[n_features, n], n_bins int64[n_features], pairs int64[n_pairs, 2], pulls float64[n, 2], odd uint8[n].
    """
    g = np.zeros((most, 2))
    h = np.zeros(most)
    for s in range(pairs.shape[0]):
        width = n_bins[pairs[s, 1]]
        size = n_bins[pairs[s, 0]] * width
        g[:size] = 0.0
        h[:size] = 0.0
        first, second = bins[pairs[s, 0]], bins[pairs[s, 1]]
        for i in range(odd.size):
            cell = first[i] * width + second[i]
            g[cell, odd[i]] += pulls[i, 0]
            h[cell] += pulls[i, 1]
        score = 0.0
        for cell in range(size):
            score += g[cell, 0] * g[cell, 1] / (h[cell] + l2)
        out[s] = score
