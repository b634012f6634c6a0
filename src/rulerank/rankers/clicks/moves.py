"""What documents tell of positions that were shown at several of them: which positions they join, and by how much.

Whatever makes a document worth a click, it is the same document at both positions. So only what its clicks do when it
moves tells positions apart without any model of relevance; where nothing moves, nothing can.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from rulerank.core.compiled import compiled
from rulerank.dataset import Array, query_index, starts_of
from rulerank.rankers.clicks.bounded_newton import BoundedMinimum, minimise_above
from rulerank.rankers.clicks.click_rows import ClickRows
from rulerank.rankers.clicks.position_steps import PositionSteps
from rulerank.rankers.linear.newton import Point


def document_numbers(keys: Array, queries: Array) -> Array:
    """Number documents: rows of the same query with the same key, an id or the content, are the same document.

    >>> document_numbers(np.array([0.5, 0.7, 0.5]), np.array([0, 0, 0])).tolist()
    [0, 1, 0]
    """
    _, contents = np.unique(keys, return_inverse=True)
    return query_index(queries * (int(contents.max(initial=0)) + 1) + contents.reshape(-1))[0]


def id_numbers(docid: Array) -> Array:
    """Return a number for each document id, the keys that `document_numbers` takes.

    >>> id_numbers(np.array(["b", "a", "b"], dtype=object)).tolist()
    [1, 0, 1]
    """
    return np.unique(docid.astype(str), return_inverse=True)[1].reshape(-1)


def joined_positions(rows: ClickRows, documents: Array) -> Array:
    """Return the group of each position: two are in one if documents that moved lead from one to the other.

    >>> rows = ClickRows(np.array([0, 1, 2]), np.ones(3), np.zeros(3), np.array([1, 2, 3]))
    >>> joined_positions(rows, np.array([7, 7, 8])).tolist()
    [0, 0, 1]
    """
    n_positions = rows.positions.size
    n_nodes = n_positions + int(documents.max(initial=-1)) + 1
    edges = coo_array((np.ones(len(rows)), (rows.places, n_positions + documents)), shape=(n_nodes, n_nodes))
    return np.asarray(connected_components(edges, directed=False)[1][:n_positions])


class Moves:
    """Impressions and clicks of documents at the positions where they were shown: one cell each, by document."""

    def __init__(self, rows: ClickRows, documents: Array) -> None:
        n = rows.positions.size
        keys, first, cells = np.unique(documents * n + rows.places, return_index=True, return_inverse=True)
        self.first, self.cells = first, cells.reshape(-1)  # a row of each cell, and the cell of each row
        self.shown = np.bincount(self.cells, rows.shown, keys.size)
        self.clicks = np.bincount(self.cells, rows.clicks, keys.size)
        self.places, self.starts = keys % n, starts_of(keys // n)
        self.clicked = np.bincount(rows.places, rows.clicks, n)

    def effects(self, steps: PositionSteps, there: Array | None = None, start: Array | None = None) -> BoundedMinimum:
        """Find the steps under which a document's clicks divide over its positions as they did; begin at `start`.

        Given how often it was clicked in all, a click falls on a position with a chance in proportion to the
        impressions there times exp(-effect): how relevant the document is falls out, and so do all that never moved.

        there: share of the impressions of each cell that people have not left before.
        """
        weights = self.shown if there is None else self.shown * there
        known = float(self.clicks @ np.log(weights))

        def loss(found: Array) -> Point:
            effects, design = steps.effects(found), steps.design
            expected, second = np.zeros(effects.size), np.zeros((steps.n_steps, steps.n_steps))
            value = divide_clicks(
                self.starts, self.places, weights, self.clicks, np.exp(-effects), design, expected, second
            )
            value += float(self.clicked @ effects) - known + 0.5 * float(found @ steps.penalty @ found)
            return Point(
                value,
                design.T @ (self.clicked - expected) + steps.penalty @ found,
                design.T @ (expected[:, None] * design) - second + steps.penalty,
            )

        return minimise_above(loss, steps.start if start is None else start, steps.lower)


@compiled
def divide_clicks(
    starts: Array,
    places: Array,
    weights: Array,
    clicks: Array,
    looks: Array,
    design: Array,
    expected: Array,
    second: Array,
) -> float:
    """Add the clicks that each position may expect, and the squares of how documents' own shares go with the steps.

    Return the sum of log-totals.
    """
    value = 0.0
    n_steps = design.shape[1]
    moved = np.empty(n_steps)
    for document in range(starts.size - 1):
        first, last = starts[document], starts[document + 1]
        total = 0.0
        seen = 0.0
        for i in range(first, last):
            total += clicks[i]
            seen += weights[i] * looks[places[i]]
        if total == 0.0:
            continue
        value += total * math.log(seen)
        moved[:] = 0.0
        for i in range(first, last):
            own = weights[i] * looks[places[i]] / seen
            expected[places[i]] += total * own
            for k in range(n_steps):
                moved[k] += own * design[places[i], k]
        for j in range(n_steps):
            for k in range(n_steps):
                second[j, k] += total * moved[j] * moved[k]
    return value
