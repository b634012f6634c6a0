"""What positions do to clicks, told by documents that were shown at several of them, and as a value that can be read.

Whatever makes a document worth a click, it is the same document at both positions. So only what its clicks do when it
moves tells positions apart without any model of relevance; where nothing moves, nothing can. Effects never rise further
up, and are smooth where the clicks say little.

The same moves tell how many people leave after a click. Whoever leaves never sees what is below, so that how often
one was looked at depends on what stood above it, and not on its position alone. Whoever looks at a position is taken to
have looked at all above it, as somebody does who goes down the list.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from rulerank._util.loops import compiled
from rulerank._util.words import counted, listed, percent
from rulerank.dataset import Array, starts_of
from rulerank.errors import DataError
from rulerank.rankers.clicks.click_rows import ClickRows, known_effects
from rulerank.rankers.linear.newton import Minimum, Point, minimise_above
from rulerank.render.text import plain_table

SMOOTH = 10.0  # precision of a bend, the difference of two neighbouring slopes over the logarithm of the position
KNOTS_APART = 0.05  # of the logarithm of the position, at least: up to 20 every position has a step of its own
SLOPE = 4.0  # precision of the mean slope: a few clicks more are needed before positions count
HEADER = ("position", "impressions", "clicked", "effect", "std. error", "looked at")  # the last is exp(-effect)
ESTIMATED, GIVEN, NONE, ALONE = "estimated", "given", "none", "alone"
PRINTED = 20  # positions, from the top
SOURCES = {
    ESTIMATED: "estimated from {n} that moved",
    GIVEN: "as given",
    NONE: "no document moved between positions: their effects are not identifiable, and none is assumed",
    ALONE: "all was shown at one position, whose effect is not identifiable",
}
LEAST = 0.1  # share of people still there: less is taken for this, as a few clicks above say little about each list
FEWEST = 0.01  # the same while positions are looked for, where clicks of many lists come together
TELLS = 2.0  # log-likelihood that somebody's leaving must gain: 95 % of the time less, where nobody leaves
DEEP = 200  # positions: of more, it is not looked for, as each look costs their square
MAX_ROUNDS = 12  # of finding effects and who is still there in turn
NEAR = 0.01  # change of an effect that is the last
NOBODY = 1e-6  # share of users still there, below which positions cannot be separated
ABOVE_ZERO = 1e-300  # the least share after many positions: what is divided out again must not be 0


class PositionWarning(UserWarning):
    """The clicks cannot tell some positions apart."""


@dataclass(frozen=True, eq=False)
class PositionEffects:
    """How much less is clicked at each position for no other reason, from the top; one entry per position.

    >>> seen = PositionEffects(np.array([1, 2]), np.array([0.0, 0.69]), np.array([math.nan, 0.05]),
    ...     np.array([100.0, 100.0]), np.array([30.0, 17.0]), ESTIMATED, 20)
    >>> seen
    position  impressions  clicked  effect  std. error  looked at
           1          100    0.300   0.000           -      1.000
           2          100    0.170   0.690       0.050      0.502
    estimated from 20 documents that moved
    """

    positions: Array  # int64
    effects: Array  # float64: how much lower the log of the chance of a click is; the first has 0
    errors: Array  # standard errors, NaN where there is none
    impressions: Array
    clicks: Array
    source: str = ESTIMATED
    n_moved: int = 0  # documents that were shown at several positions
    leaving: float = 0.0  # share of people who leave after a click

    def __repr__(self) -> str:
        cells, more = self._cells(), self.positions.size - PRINTED
        note = f"{self.note}; {counted(more, 'position')} further down not printed" if more > 0 else self.note
        return f"{plain_table(HEADER, cells[:PRINTED], n_left=0)}\n{note}"

    @property
    def note(self) -> str:
        """How they came about."""
        said = SOURCES[self.source].format(n=counted(self.n_moved, "document"))
        if not self.leaving:
            return said
        sure = "; standard errors take that for certain" if self.source == ESTIMATED else ""
        return f"{said}; about {percent(self.leaving)} leave after a click{sure}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; what is not known is None."""
        columns = (self.positions, self.impressions, self.clicks, self.effects, self.errors)
        names = ("position", "impressions", "clicks", "effect", "standard_error")
        rows = [dict(zip(names, row, strict=True)) for row in zip(*(c.tolist() for c in columns), strict=True)]
        for row in rows:
            row["standard_error"] = None if math.isnan(row["standard_error"]) else row["standard_error"]
        found = {"positions": rows, "source": self.source, "documents_that_moved": self.n_moved}
        return found | {"leave_after_click": self.leaving}

    def to_state(self) -> dict[str, Any]:
        """Return plain values and arrays, for a model file."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> PositionEffects:
        """Return what `to_state` described."""
        names = ("positions", "effects", "errors", "impressions", "clicks")
        sizes = {np.shape(state[name]) for name in names}
        if len(sizes) != 1 or state["source"] not in SOURCES:
            raise DataError(f"expected one effect per position: got {sorted(sizes)}, {state['source']!r}")
        leaving = float(state.get("leaving", 0.0))  # models of before knew of none
        return cls(**{name: state[name] for name in (*names, "source", "n_moved")}, leaving=leaving)

    def _cells(self) -> list[list[str]]:
        cells = []
        columns = self.positions, self.effects, self.errors, self.impressions, self.clicks
        for position, effect, error, shown, clicked in zip(*(c.tolist() for c in columns), strict=True):
            rate = f"{clicked / shown:.3f}" if shown else "-"
            deviation = "-" if math.isnan(error) else f"{error:.3f}"
            cells.append([str(position), f"{shown:,.6g}", rate, f"{effect:.3f}", deviation, f"{math.exp(-effect):.3f}"])
        return cells


def find_positions(
    rows: ClickRows, queries: Array, documents: Array, propensities: Any = None, leaving: float | None = None
) -> tuple[PositionEffects, Array]:
    """Return what may be said of positions from these rows, and what clicks further up take away from each.

    propensities: where it is known how likely positions are looked at. leaving: share of people who leave after a
        click, where that is known; else it is found where positions are.
    """
    positions = rows.positions
    source, n_moved = GIVEN, 0
    if propensities is not None:
        steps = PositionSteps.known(known_effects(propensities, positions))
    else:
        seen_at = np.unique(documents * positions.size + rows.places)
        n_moved = int((np.bincount(seen_at // positions.size) > 1).sum())
        groups = joined_positions(rows, documents)
        sizes = np.bincount(groups[rows.places], rows.shown, int(groups.max()) + 1)
        main = groups == int(sizes.argmax())
        if main.sum() < positions.size:
            warnings.warn(_words(positions, main), PositionWarning, stacklevel=7)
        if main.sum() > 1:
            source, steps = ESTIMATED, PositionSteps.falling(knots(positions[main]), positions)
        else:
            source, steps = NONE if positions.size > 1 else ALONE, PositionSteps.known(np.zeros(positions.size))
            leaving = leaving or 0.0
    share, after, found = find_leaving(Moves(rows, queries, documents), steps, leaving)
    errors = np.sqrt(np.einsum("ij,jk,ik->i", steps.design, found.covariance, steps.design).clip(0))
    errors[errors == 0] = np.nan
    effects = steps.effects(found.x)
    return PositionEffects(positions, effects, errors, *rows.by_position(), source, n_moved, share), after


def _words(positions: Array, main: Array) -> str:
    """Return which position effects are not identifiable, as a sentence."""
    if main.sum() < 2:
        return (
            f"no document was shown at two of the {counted(positions.size, 'position')}, so position effects cannot be "
            "separated from the documents: no position effect is assumed, and documents at the top look better than "
            "they are; show some documents at other positions, or give propensities"
        )
    others = [str(one) for one in positions[~main].tolist()]
    return (
        f"no document was shown both at position{'s' if len(others) > 1 else ''} {listed(others)} and elsewhere, so "
        "the effects there cannot be separated from the documents: those of the nearest positions are assumed; or give "
        "propensities"
    )


def knots(positions: Array) -> Array:
    """Return the positions that get a step of their own: a list of a thousand has no thousand effects to be found.

    >>> knots(np.arange(1, 31)).tolist()[-8:]
    [18, 19, 20, 22, 24, 26, 28, 30]
    """
    kept = [int(positions[0])]
    for one in positions[1:].tolist():
        if np.log(one / kept[-1]) >= KNOTS_APART:
            kept.append(one)
    return np.array(kept, dtype=np.int64)


class PositionSteps(NamedTuple):
    """What may be found of effects, (n_positions,): effects = given + design @ steps, each step from 0."""

    given: Array  # (n_positions,) what is known before
    design: Array  # (n_positions, n_steps)
    penalty: Array  # (n_steps, n_steps)
    start: Array  # (n_steps,) where to begin to look

    def effects(self, steps: Array) -> Array:
        """Return the effect of each position."""
        return np.asarray(self.given + self.design @ steps)

    @classmethod
    def known(cls, effects: Array) -> PositionSteps:
        """Return effects that are given: nothing is left to find."""
        return cls(effects, np.zeros((effects.size, 0)), np.zeros((0, 0)), np.zeros(0))

    @classmethod
    def falling(cls, own: Array, positions: Array) -> PositionSteps:
        """Return effects that only grow further down, as a power of the position unless the clicks say otherwise.

        own: the positions that have steps; between two of them effects are in proportion, else as the nearest.

        >>> PositionSteps.falling(np.array([1, 2, 4]), np.array([1, 2, 4])).effects(np.array([0.5, 0.25])).tolist()
        [0.0, 0.5, 0.75]
        >>> PositionSteps.falling(np.array([1, 4]), np.array([1, 2, 4, 9])).design.tolist()
        [[0.0], [0.5], [1.0], [1.0]]
        """
        n_steps = own.size - 1
        where, known = np.log(positions.astype(np.float64)), np.log(own.astype(np.float64))
        gaps = np.diff(known)
        bends = np.zeros((max(n_steps - 1, 0), n_steps))
        for j in range(len(bends)):
            bends[j, j], bends[j, j + 1] = -1 / gaps[j], 1 / gaps[j + 1]
        slope = np.full(n_steps, 1 / gaps.sum()) if n_steps else np.zeros(0)
        penalty = SMOOTH * bends.T @ bends + SLOPE * np.outer(slope, slope)
        columns = [np.interp(where, known, column) for column in np.tri(own.size, n_steps, -1).T]
        design = np.stack(columns, axis=1) if columns else np.zeros((positions.size, 0))
        return cls(np.zeros(positions.size), design, penalty, 0.5 * gaps)


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
    """Impressions and clicks by document and position, one cell each, and by query and position."""

    def __init__(self, rows: ClickRows, queries: Array, documents: Array) -> None:
        n = rows.positions.size
        keys, first, cells = np.unique(documents * n + rows.places, return_index=True, return_inverse=True)
        self.cells = cells.reshape(-1)  # of each row
        self.shown = np.bincount(self.cells, rows.shown, keys.size)
        self.clicks = np.bincount(self.cells, rows.clicks, keys.size)
        self.places, self.starts = keys % n, starts_of(keys // n)
        self.clicked = np.bincount(rows.places, rows.clicks, n)
        keys, cells = np.unique(queries * n + rows.places, return_inverse=True)
        cells = cells.reshape(-1)
        self.query_shown, self.query_clicks = (np.bincount(cells, own, keys.size) for own in (rows.shown, rows.clicks))
        self.query_places, self.query_starts = keys % n, starts_of(keys // n)
        self.query_cells = cells[first]

    def effects(self, steps: PositionSteps, there: Array | None = None, start: Array | None = None) -> Minimum:
        """Find the steps under which a document's clicks divide over its positions as they did; begin at `start`.

        Given how often it was clicked in all, a click falls on a position with a chance in proportion to the
        impressions there times exp(-effect): how relevant the document is falls out, and so do all that never moved.

        there: share of the impressions of each cell that people have not left before.
        """
        weights = self.shown if there is None else self.shown * there
        known = float(self.clicks @ np.log(weights))
        n_steps = steps.start.size

        def loss(found: Array) -> Point:
            effects, design = steps.effects(found), steps.design
            expected, second = np.zeros(effects.size), np.zeros((n_steps, n_steps))
            value = divide_clicks(
                self.starts, self.places, weights, self.clicks, np.exp(-effects), design, expected, second
            )
            value += float(self.clicked @ effects) - known + 0.5 * float(found @ steps.penalty @ found)
            gradient = design.T @ (self.clicked - expected) + steps.penalty @ found
            return Point(value, gradient, design.T @ (expected[:, None] * design) - second + steps.penalty)

        return minimise_above(loss, steps.start if start is None else start, np.zeros(n_steps))

    def still_there(self, share: float, effects: Array) -> Array:
        """Return the share of people who have not left before each cell for clicks on other documents.

        share: of people who leave after a click. effects: -log of how many would look at each position otherwise.

        >>> rows = ClickRows(np.array([0, 1, 0, 1]), np.full(4, 10.0), np.array([5.0, 0, 2, 1]), np.array([1, 2]))
        >>> moves = Moves(rows, np.zeros(4, dtype=int), np.array([0, 1, 1, 0]))
        >>> moves.still_there(1.0, np.zeros(2)).tolist()  # document 0 at both positions, then document 1
        [1.0, 0.8, 1.0, 0.5]
        """
        looks = np.exp(-effects)
        before, stay = np.empty((2, self.query_places.size))
        shown, clicks = self.query_shown, self.query_clicks
        walk_queries(self.query_starts, looks[self.query_places], shown, clicks, share, before, stay)
        there = np.empty(self.places.size)
        looks, cells = looks[self.places], self.query_cells
        walk_documents(self.starts, looks, self.shown, self.clicks, cells, shown, clicks, share, before, stay, there)
        return there


@compiled
def divide_clicks(
    starts: Array, places: Array, weights: Array, clicks: Array, looks: Array, design: Array, expected: Array,
    second: Array,
) -> float:  # fmt: skip
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


def find_leaving(moves: Moves, steps: PositionSteps, share: float | None) -> tuple[float, Array, Minimum]:
    """Find the share of people who leave after a click, what follows for each row, and the steps that go with it.

    What follows is -log of the share of people still there, an effect beside the position's.

    share: where it is known; else it is looked for, and 0 unless the clicks of documents that moved say clearly that
        somebody leaves. Of more than 200 positions it is not looked for.
    """

    @functools.cache
    def beside(one: float) -> Minimum:
        """Find the steps of positions where a share of people leaves after a click."""
        if one == 0:
            return moves.effects(steps)
        effects, start = steps.effects(np.zeros(steps.start.size)), steps.start
        for _ in range(MAX_ROUNDS):
            found = moves.effects(steps, np.maximum(moves.still_there(one, effects), FEWEST), start)
            new, start = steps.effects(found.x), found.x
            if np.abs(new - effects).max(initial=0.0) < NEAR:
                break
            effects = 0.5 * (effects + new)
        return found

    if share is None and steps.given.size > DEEP:
        share = 0.0
    if share is None:
        tried = [0.0, 1.0]

        def loss(one: float) -> float:
            tried.append(float(one))
            return beside(float(one)).value

        minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded", options={"xatol": 0.02})
        best = min(tried, key=lambda one: beside(one).value)
        share = best if beside(0.0).value - beside(best).value > TELLS else 0.0
    there = moves.still_there(share, steps.effects(beside(share).x))
    return share, -np.log(np.maximum(there, LEAST))[moves.cells], beside(share)


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
    starts: Array, looks: Array, shown: Array, clicks: Array, query_cell: Array, query_shown: Array,
    query_clicks: Array, share: float, before: Array, stay: Array, there: Array,
) -> None:  # fmt: skip
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
