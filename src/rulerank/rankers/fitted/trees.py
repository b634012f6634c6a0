"""The loops of one small tree on a table's cells. Nothing here checks its arguments; `boosting.py` does.

A table has one or two axes and is handled as two: shape holds their numbers of bins, 1 where there is none.

cells   uint8 or uint16[n]     cell of each row in one table, last axis fastest
pulls   float64[n, 2]          first and second derivative of the loss by each row's score
shape   int64[2]
kinds   int8[2]                of the axes: 0 bins in order, the missing values' last; 1 categories, in no order;
                               2 in order and votes must rise; 3 in order and votes must fall; there a missing value
                               is the worst: its votes are never above those of a value
votes   float64[n_cells]       what the tree says, overwritten
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rulerank._util.loops import compiled, sort_places
from rulerank.dataset import Array

CATEGORIES, RISING, FALLING = 1, 2, 3


class Cells(NamedTuple):
    """What one table's cells hold."""

    sums: Array  # float64[n_cells, 2] the pulls of their rows, added up
    counts: Array  # float64[n_cells] rows
    shape: Array
    kinds: Array


class Leaves(NamedTuple):
    """The boxes of a tree, each with its best split."""

    order: Array  # int64[2, widest] of each axis' bins
    low: Array  # int64[n_leaves, 2] places in this order, from
    high: Array  # int64[n_leaves, 2] to, exclusive
    edges: Array  # float64[2, widest, 3] while a split is looked for: sums and counts at each place
    gains: Array  # float64[n_leaves] of the best split
    split_axis: Array  # int64[n_leaves]
    split_at: Array  # int64[n_leaves]


@compiled
def add_cells(cells: Array, pulls: Array, first: int, last: int, sums: Array) -> None:
    """Add the pulls of the rows first..last-1 to the sums of their cells.

    Rows in the same cell as the one before are added up first: most values of many features are the same.
    """
    if first >= last:
        return
    cell = cells[first]
    g = 0.0
    h = 0.0
    for i in range(first, last):
        if cells[i] != cell:
            sums[cell, 0] += g
            sums[cell, 1] += h
            cell = cells[i]
            g = 0.0
            h = 0.0
        g += pulls[i, 0]
        h += pulls[i, 1]
    sums[cell, 0] += g
    sums[cell, 1] += h


@compiled
def grow_tree(cells: Cells, n_leaves: int, l2: float, min_rows: float, votes: Array) -> float:
    """Grow a best-first tree of boxes over the cells, write every cell's vote, return what the loss gains (twice).

    The vote of a leaf is -g / (h + l2), its gain g^2 / (h + l2).
    """
    sums, shape, kinds = cells.sums, cells.shape, cells.kinds
    widest = max(shape[0], shape[1])
    leaves = Leaves(
        np.empty((2, widest), dtype=np.int64),
        np.zeros((n_leaves, 2), dtype=np.int64),
        np.zeros((n_leaves, 2), dtype=np.int64),
        np.empty((2, widest, 3)),
        np.zeros(n_leaves),
        np.zeros(n_leaves, dtype=np.int64),
        np.zeros(n_leaves, dtype=np.int64),
    )
    order, low, high, gains = leaves.order, leaves.low, leaves.high, leaves.gains
    order_axes(sums, shape, kinds, l2, order)
    for axis in range(2):
        high[0, axis] = shape[axis]
    find_split(cells, leaves, 0, l2, min_rows)
    n = 1
    while n < n_leaves:
        best = 0
        for leaf in range(1, n):
            if gains[leaf] > gains[best]:
                best = leaf
        if gains[best] <= 0.0:
            break
        axis = leaves.split_axis[best]
        for other in range(2):
            low[n, other] = low[best, other]
            high[n, other] = high[best, other]
        low[n, axis] = leaves.split_at[best]
        high[best, axis] = leaves.split_at[best]
        for leaf in (best, n):
            find_split(cells, leaves, leaf, l2, min_rows)
        n += 1
    gain = 0.0
    for leaf in range(n):
        g = 0.0
        h = 0.0
        for i in range(low[leaf, 0], high[leaf, 0]):
            for j in range(low[leaf, 1], high[leaf, 1]):
                cell = order[0, i] * shape[1] + order[1, j]
                g += sums[cell, 0]
                h += sums[cell, 1]
        vote = -g / (h + l2)
        gain += g * g / (h + l2)
        for i in range(low[leaf, 0], high[leaf, 0]):
            for j in range(low[leaf, 1], high[leaf, 1]):
                votes[order[0, i] * shape[1] + order[1, j]] = vote
    if kinds[0] >= RISING or kinds[1] >= RISING:
        n_monotone = 0
        for axis in range(2):
            if kinds[axis] >= RISING:
                make_monotone(votes, sums, shape, axis, kinds[axis] == RISING, l2)
                n_monotone += 1
        if n_monotone > 1:  # the second axis may have undone the first by a little
            for axis in range(2):
                if kinds[axis] >= RISING:
                    climb(votes, shape, axis, kinds[axis] == RISING)
        gain = 0.0
        for cell in range(votes.size):
            gain -= votes[cell] * (2.0 * sums[cell, 0] + sums[cell, 1] * votes[cell])
    return gain


@compiled
def order_axes(sums: Array, shape: Array, kinds: Array, l2: float, order: Array) -> None:
    """Write the order of each axis' bins: as they are, the worst first where votes must rise, categories by vote."""
    for axis in range(2):
        for place in range(shape[axis]):
            order[axis, place] = bin_at(place, shape[axis], kinds[axis] == RISING)
        if kinds[axis] != CATEGORIES:
            continue
        n = shape[axis]
        g = np.zeros(n)
        h = np.zeros(n)
        stride = shape[1] if axis == 0 else 1
        for cell in range(sums.shape[0]):
            place = (cell // stride) % n
            g[place] += sums[cell, 0]
            h[place] += sums[cell, 1]
        for place in range(n):
            g[place] = -g[place] / (h[place] + l2)
        places = np.empty(n, dtype=np.int64)
        sort_places(g, places)
        for place in range(n):
            order[axis, place] = places[place]


@compiled
def find_split(cells: Cells, leaves: Leaves, leaf: int, l2: float, min_rows: float) -> None:
    """Find the best place to split one leaf; its gain is 0 when there is none."""
    sums, counts, shape, kinds = cells
    order, low, high, edges, gains, split_axis, split_at = leaves
    for axis in range(2):
        for place in range(low[leaf, axis], high[leaf, axis]):
            for what in range(3):
                edges[axis, place, what] = 0.0
    for i in range(low[leaf, 0], high[leaf, 0]):
        for j in range(low[leaf, 1], high[leaf, 1]):
            cell = order[0, i] * shape[1] + order[1, j]
            g, h, n = sums[cell, 0], sums[cell, 1], counts[cell]
            edges[0, i, 0] += g
            edges[0, i, 1] += h
            edges[0, i, 2] += n
            if shape[1] > 1:
                edges[1, j, 0] += g
                edges[1, j, 1] += h
                edges[1, j, 2] += n
    gains[leaf] = 0.0
    for axis in range(2):
        first, last = low[leaf, axis], high[leaf, axis]
        if last - first < 2:
            continue
        g_all = 0.0
        h_all = 0.0
        n_all = 0.0
        for place in range(first, last):
            g_all += edges[axis, place, 0]
            h_all += edges[axis, place, 1]
            n_all += edges[axis, place, 2]
        before = g_all * g_all / (h_all + l2)
        g = 0.0
        h = 0.0
        n = 0.0
        for place in range(first + 1, last):
            g += edges[axis, place - 1, 0]
            h += edges[axis, place - 1, 1]
            n += edges[axis, place - 1, 2]
            if n < min_rows or edges[axis, place, 2] == 0.0:  # an empty bin goes with those before it
                continue
            if n_all - n < min_rows:
                break
            gain = g * g / (h + l2) + (g_all - g) * (g_all - g) / (h_all - h + l2) - before
            if gain <= gains[leaf]:
                continue
            if kinds[axis] >= RISING:
                rise = g / (h + l2) - (g_all - g) / (h_all - h + l2)
                if (rise < 0.0) == (kinds[axis] == RISING):
                    continue
            gains[leaf] = gain
            split_axis[leaf] = axis
            split_at[leaf] = place


@compiled
def bin_at(place: int, n_bins: int, rising: bool) -> int:
    """Return the bin at a place of an order: where votes must rise, that of missing values, the last, comes first."""
    return (place + n_bins - 1) % n_bins if rising else place


@compiled
def make_monotone(votes: Array, sums: Array, shape: Array, axis: int, rising: bool, l2: float) -> None:
    """Replace votes along an axis by the nearest ones that only rise, or only fall, missing values being the worst."""
    n = shape[axis]
    stride = shape[1] if axis == 0 else 1
    means = np.empty(n)
    weights = np.empty(n)
    sizes = np.empty(n, dtype=np.int64)
    sign = 1.0 if rising else -1.0
    for start in range(votes.size):
        if (start // stride) % shape[axis] != 0:
            continue
        top = 0
        for place in range(n):  # pool adjacent violators
            own = bin_at(place, n, rising)
            cell = start + own * stride
            means[top] = sign * votes[cell]
            weights[top] = sums[cell, 1] + l2
            if own == n - 1 and sums[cell, 1] == 0.0:  # nothing is missing here: it goes with the worst, unheard
                weights[top] = 0.0
            sizes[top] = 1
            top += 1
            while top > 1 and means[top - 2] > means[top - 1]:
                weight = weights[top - 2] + weights[top - 1]
                means[top - 2] = (weights[top - 2] * means[top - 2] + weights[top - 1] * means[top - 1]) / weight
                weights[top - 2] = weight
                sizes[top - 2] += sizes[top - 1]
                top -= 1
        place = 0
        for pool in range(top):
            for _ in range(sizes[pool]):
                votes[start + bin_at(place, n, rising) * stride] = sign * means[pool]
                place += 1


@compiled
def climb(votes: Array, shape: Array, axis: int, rising: bool) -> None:
    """Raise votes along an axis to the highest before them (or after, when they are to fall), missing values worst.

    Unlike the nearest monotone votes, this keeps every other axis monotone that was so.
    """
    n = shape[axis]
    stride = shape[1] if axis == 0 else 1
    for start in range(votes.size):
        if (start // stride) % n != 0:
            continue
        for step in range(1, n):
            place = bin_at(step if rising else n - 1 - step, n, rising)
            before = bin_at(step - 1 if rising else n - step, n, rising)
            votes[start + place * stride] = max(votes[start + place * stride], votes[start + before * stride])


@compiled
def smooth(votes: Array, shape: Array, kinds: Array) -> None:
    """Mix each bin's vote with its neighbours', 1/4, 1/2, 1/4; categories and missing values stay as they are."""
    for axis in range(2):
        n = shape[axis] - 1
        if kinds[axis] == CATEGORIES or n < 3:
            continue
        stride = shape[1] if axis == 0 else 1
        for start in range(votes.size):
            if (start // stride) % shape[axis] != 0:
                continue
            before = votes[start]
            for place in range(n):
                cell = start + place * stride
                here = votes[cell]
                after = votes[cell + stride] if place + 1 < n else here
                votes[cell] = 0.25 * before + 0.5 * here + 0.25 * after
                before = here
