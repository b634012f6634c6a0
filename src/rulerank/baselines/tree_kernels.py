"""Walk down trees; `trees.py` says what the arrays hold and checks them."""

from __future__ import annotations

import math

from rulerank.core.compiled import compiled
from rulerank.dataset import Array


@compiled
def sum_trees(
    X: Array,
    roots: Array,
    features: Array,
    thresholds: Array,
    lefts: Array,
    rights: Array,
    nan_lefts: Array,
    leaves: Array,
    out: Array,
) -> None:
    for i in range(out.size):
        total = 0.0
        for tree in range(roots.size):
            node = roots[tree]
            while node >= 0:
                value = X[i, features[node]]
                left = nan_lefts[node] == 1 if math.isnan(value) else value <= thresholds[node]
                node = lefts[node] if left else rights[node]
            total += leaves[-1 - node]
        out[i] = total
