"""Sorting inside compiled loops.

np.sort and np.argsort inside loops that are kept on disk have crashed when several such loops ran in one process, so
the loops that must sort use this one.
"""

from __future__ import annotations

from rulerank.core.arrays import Array
from rulerank.core.compiled import compiled


@compiled
def sort_places(values: Array, places: Array) -> None:
    """Write into places, int64[n], the places of values in rising order (a heap sort: equal values in any order)."""
    n = places.size
    for i in range(n):
        places[i] = i
    for start in range(n // 2 - 1, -1, -1):
        sift(values, places, start, n)
    for last in range(n - 1, 0, -1):
        places[0], places[last] = places[last], places[0]
        sift(values, places, 0, last)


@compiled
def sift(values: Array, places: Array, root: int, n: int) -> None:
    """Let a place sink until neither of the two below it has a larger value."""
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and values[places[child]] < values[places[child + 1]]:
            child += 1
        if values[places[root]] >= values[places[child]]:
            return
        places[root], places[child] = places[child], places[root]
        root = child
