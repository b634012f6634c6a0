"""Which queries say anything: those whose documents are not all of one kind."""

from __future__ import annotations

import numpy as np

from rulerank.dataset import Array

NOTHING = "there is nothing to learn from, and all scores are 0"


def informative_queries(kinds: Array, queries: Array) -> Array:
    """Tell of each query, numbered from 0, whether it has documents of different kinds, such as grades.

    >>> informative_queries(np.array([0, 1, 2, 2, 0]), np.array([0, 0, 1, 1, 2])).tolist()
    [True, False, False]
    """
    n_queries = queries.max() + 1
    lowest, highest = np.full(n_queries, kinds.max()), np.full(n_queries, kinds.min())
    np.minimum.at(lowest, queries, kinds)
    np.maximum.at(highest, queries, kinds)
    return lowest < highest
