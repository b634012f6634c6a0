"""What documents tell of positions that were shown at several of them: which they join, and by how much they differ.

Whatever makes a document worth a click, it is the same document at both positions. So only what its clicks do when it
moves tells positions apart without any model of relevance; where nothing moves, nothing can.

The same moves tell how many people leave after a click. Whoever leaves never sees what is below, so that how often
one was looked at depends on what stood above it, and not on its position alone. Whoever looks at a position is taken to
have looked at all above it, as somebody does who goes down the list.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from rulerank.core.compiled import compiled
from rulerank.dataset import Array, query_index, starts_of
from rulerank.rankers.clicks.click_rows import ClickRows
from rulerank.rankers.clicks.positions import PositionSteps
from rulerank.rankers.linear.newton import Minimum, Point, minimise_above

LEAST = 0.1  # share of people still there: less is taken for this, as a few clicks above say little about each list
FEWEST = 0.01  # the same while positions are looked for, where clicks of many lists come together
TELLS = 2.0  # log-likelihood that somebody's leaving must gain: 95 % of the time less, where nobody leaves
DEEP = 200  # positions: of more, it is not looked for, as each look costs their square
MAX_ROUNDS = 12  # of finding effects and who is still there in turn
NEAR = 0.01  # change of an effect that is the last
NOBODY = 1e-6  # share of people still there below which nothing is told apart
ABOVE_ZERO = 1e-300  # the least share after many positions: what is divided out again must not be 0


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

    def effects(self, steps: PositionSteps, there: Array | None = None, start: Array | None = None) -> Minimum:
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


class Leaving(NamedTuple):
    """How many leave after a click, and what follows for rows."""

    share: float
    after: Array  # float64 (n_rows,) -log of the share of people still there, an effect beside the position's
    found: Minimum  # the steps of positions that go with it


class ClicksAbove:
    """Clicks by query and position, beside those by document, from which follows who is still there."""

    def __init__(self, rows: ClickRows, queries: Array, documents: Array) -> None:
        n = rows.positions.size
        self.moves = Moves(rows, documents)
        keys, cells = np.unique(queries * n + rows.places, return_inverse=True)
        cells = cells.reshape(-1)
        self._shown, self._clicks = (np.bincount(cells, values, keys.size) for values in (rows.shown, rows.clicks))
        self._places, self._starts = keys % n, starts_of(keys // n)
        self._of_moves = cells[self.moves.first]

    def still_there(self, share: float, effects: Array) -> Array:
        """Return the share of people who have not left before each cell for clicks on other documents.

        share: of people who leave after a click. effects: -log of how many would look at each position otherwise.

        >>> rows = ClickRows(np.array([0, 1, 0, 1]), np.full(4, 10.0), np.array([5.0, 0, 2, 1]), np.array([1, 2]))
        >>> above = ClicksAbove(rows, np.zeros(4, dtype=int), np.array([0, 1, 1, 0]))
        >>> above.still_there(1.0, np.zeros(2)).tolist()  # document 0 at both positions, then document 1
        [1.0, 0.8, 1.0, 0.5]
        """
        own, looks = self.moves, np.exp(-effects)
        before, stay = np.empty((2, self._places.size))
        walk_queries(self._starts, looks[self._places], self._shown, self._clicks, share, before, stay)
        there = np.empty(own.places.size)
        walk_documents(
            own.starts, looks[own.places], own.shown, own.clicks, self._of_moves, self._shown, self._clicks, share,
            before, stay, there,
        )  # fmt: skip
        return there

    def taken(self, share: float, effects: Array) -> Array:
        """Return what clicks further up take away from each row: -log of the share of people still there."""
        found: Array = -np.log(np.maximum(self.still_there(share, effects), LEAST))[self.moves.cells]
        return found


def find_leaving(
    rows: ClickRows, queries: Array, documents: Array, steps: PositionSteps, share: float | None = None
) -> Leaving:
    """Find how many leave after a click, and the effects of positions that go with it, from documents that moved.

    share: where it is known; else it is looked for, and 0 unless the clicks of documents that moved say clearly that
        somebody leaves. Of more than 200 positions it is not looked for.
    """
    above = ClicksAbove(rows, queries, documents)
    tried: dict[float, Minimum] = {}

    def loss(one: float) -> float:
        if one not in tried:
            tried[one] = _beside(above, steps, one)
        return tried[one].value

    if share is None and rows.positions.size > DEEP:
        share = 0.0
    if share is None:
        loss(0.0)
        loss(1.0)
        minimize_scalar(lambda one: loss(float(one)), bounds=(0.0, 1.0), method="bounded", options={"xatol": 0.02})
        best = min(tried, key=loss)
        share = best if loss(0.0) - loss(best) > TELLS else 0.0
    loss(share)
    found = tried[share]
    return Leaving(share, above.taken(share, steps.effects(found.x)), found)


def _beside(above: ClicksAbove, steps: PositionSteps, share: float) -> Minimum:
    """Find the effects of positions where a share of people leaves after a click."""
    if share == 0:
        return above.moves.effects(steps)
    effects, start = steps.effects(np.zeros(steps.n_steps)), steps.start
    for _ in range(MAX_ROUNDS):
        there = np.maximum(above.still_there(share, effects), FEWEST)
        found = above.moves.effects(steps, there, start)
        new, start = steps.effects(found.x), found.x
        if np.abs(new - effects).max(initial=0.0) < NEAR:
            break
        effects = 0.5 * (effects + new)
    return found


@compiled
def walk_queries(
    starts: Array, looks: Array, shown: Array, clicks: Array, share: float, before: Array, stay: Array
) -> None:
    """Write who is still there before each position of a query, and which part of them goes on from there."""
    for query in range(starts.size - 1):
        there = 1.0
        for i in range(starts[query], starts[query + 1]):
            before[i] = there
            stay[i] = 1.0
            if clicks[i] > 0:
                looked = max(shown[i] * looks[i] * there, clicks[i])
                stay[i] = max(1.0 - share * clicks[i] / looked, NOBODY)
            there = max(there * stay[i], ABOVE_ZERO)


@compiled
def walk_documents(
    starts: Array,
    looks: Array,
    shown: Array,
    clicks: Array,
    query_cell: Array,
    query_shown: Array,
    query_clicks: Array,
    share: float,
    before: Array,
    stay: Array,
    there: Array,
) -> None:
    """Write who is still there before each position of a document, for clicks on the other documents of its query."""
    for document in range(starts.size - 1):
        own = 1.0  # over what the whole query says, by the positions where this document stood itself
        for i in range(starts[document], starts[document + 1]):
            cell = query_cell[i]
            there[i] = min(before[cell] * own, 1.0)
            others = query_clicks[cell] - clicks[i]
            rest = 1.0
            if others > 0:
                looked = (query_shown[cell] * before[cell] - shown[i] * there[i]) * looks[i]
                rest = max(1.0 - share * others / max(looked, others), NOBODY)
            own *= rest / stay[cell]
