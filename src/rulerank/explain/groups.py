"""Fold rules that say the same into groups, so that a person reads ten lines instead of a thousand."""

from __future__ import annotations

import numpy as np

from rulerank.dataset import Array


def fold(adds: Array, holds: Array, voted: Array, covered: Array | None = None) -> list[Array]:
    """Return groups of cells, the strongest group first and in each the strongest cell, its leader.

    The strongest cell leads; the cells that share a feature with it and point the same way follow it. Then the
    strongest of the rest leads, until each cell that voted is in one group. Those that add nothing form the last.

    adds: float64 (n_cells,) what each adds to the score; holds: bool (n_cells, n_features); voted: bool (n_cells,)
    covered: training rows of each cell, to tell leaders apart that add the same: more rows are better evidence.

    >>> holds = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)
    >>> [group.tolist() for group in fold(np.array([0.2, 0.3, 0.1, -0.05]), holds, np.ones(4, dtype=bool))]
    [[1, 0, 2], [3]]
    """
    rows = np.zeros(len(adds)) if covered is None else covered
    size = np.abs(adds)
    strongest_first = np.lexsort((-rows, -np.round(size, 12)))  # equal but for rounding is equal
    strongest_first = strongest_first[voted[strongest_first]]
    left = voted & (size > 0)
    groups = []
    for leader in strongest_first:
        if left[leader]:
            alike = left & (np.sign(adds) == np.sign(adds[leader])) & holds[:, holds[leader]].any(axis=1)
            left &= ~alike
            groups.append(alike)
    if (voted & (size == 0)).any():
        groups.append(voted & (size == 0))
    ordered = [strongest_first[members[strongest_first]] for members in groups]
    return sorted(ordered, key=lambda cells: -abs(float(adds[cells].sum())))
