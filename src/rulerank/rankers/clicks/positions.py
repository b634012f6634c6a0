"""Position effects on clicks, estimated from documents that were shown at several positions.

A document has the same relevance at both positions, so the change of its click rate is the effect of the position, and
no model of relevance is needed. If no document moved, position effects are not identifiable. Effects only grow further
down the list, and are smooth where there are few clicks.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rulerank._util.loops import compiled
from rulerank._util.words import counted, listed
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

    def __repr__(self) -> str:
        cells, more = self._cells(), self.positions.size - PRINTED
        note = f"{self.note}; {counted(more, 'position')} further down not printed" if more > 0 else self.note
        return f"{plain_table(HEADER, cells[:PRINTED], n_left=0)}\n{note}"

    @property
    def note(self) -> str:
        """How they came about."""
        return SOURCES[self.source].format(n=counted(self.n_moved, "document"))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; what is not known is None."""
        columns = (self.positions, self.impressions, self.clicks, self.effects, self.errors)
        names = ("position", "impressions", "clicks", "effect", "standard_error")
        rows = [dict(zip(names, row, strict=True)) for row in zip(*(c.tolist() for c in columns), strict=True)]
        for row in rows:
            row["standard_error"] = None if math.isnan(row["standard_error"]) else row["standard_error"]
        return {"positions": rows, "source": self.source, "documents_that_moved": self.n_moved}

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
        return cls(**{name: state[name] for name in (*names, "source", "n_moved")})

    def _cells(self) -> list[list[str]]:
        cells = []
        columns = self.positions, self.effects, self.errors, self.impressions, self.clicks
        for position, effect, error, shown, clicked in zip(*(c.tolist() for c in columns), strict=True):
            rate = f"{clicked / shown:.3f}" if shown else "-"
            deviation = "-" if math.isnan(error) else f"{error:.3f}"
            cells.append([str(position), f"{shown:,.6g}", rate, f"{effect:.3f}", deviation, f"{math.exp(-effect):.3f}"])
        return cells


def find_positions(rows: ClickRows, documents: Array, propensities: Any = None) -> PositionEffects:
    """Estimate the effect of each position.

    documents: the number of each row's document. propensities: examination probability of each position, if known.
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
    found = Moves(rows, documents).effects(steps)
    errors = np.sqrt(np.einsum("ij,jk,ik->i", steps.design, found.covariance, steps.design).clip(0))
    errors[errors == 0] = np.nan
    effects = steps.effects(found.x)
    return PositionEffects(positions, effects, errors, *rows.by_position(), source, n_moved)


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
    from scipy.sparse import coo_array  # with the next one: slow to load
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(len(rows)), (rows.places, n_positions + documents)), shape=(n_nodes, n_nodes))
    return np.asarray(connected_components(edges, directed=False)[1][:n_positions])


class Moves:
    """Impressions and clicks by document and position, one cell each."""

    def __init__(self, rows: ClickRows, documents: Array) -> None:
        n = rows.positions.size
        keys, cells = np.unique(documents * n + rows.places, return_inverse=True)
        self.shown, self.clicks = (np.bincount(cells.reshape(-1), own, keys.size) for own in (rows.shown, rows.clicks))
        self.places, self.starts = keys % n, starts_of(keys // n)
        self.clicked = np.bincount(rows.places, rows.clicks, n)

    def effects(self, steps: PositionSteps) -> Minimum:
        """Find the steps that best explain how each document's clicks divide over its positions.

        Given the total number of clicks of a document, a click falls on a position with a probability in proportion to
        the impressions there times exp(-effect). The document's relevance cancels out, and documents that never moved
        do not count.
        """
        known = float(self.clicks @ np.log(self.shown))
        n_steps = steps.start.size

        def loss(found: Array) -> Point:
            effects, design = steps.effects(found), steps.design
            expected, second = np.zeros(effects.size), np.zeros((n_steps, n_steps))
            value = divide_clicks(
                self.starts, self.places, self.shown, self.clicks, np.exp(-effects), design, expected, second
            )
            value += float(self.clicked @ effects) - known + 0.5 * float(found @ steps.penalty @ found)
            gradient = design.T @ (self.clicked - expected) + steps.penalty @ found
            return Point(value, gradient, design.T @ (expected[:, None] * design) - second + steps.penalty)

        return minimise_above(loss, steps.start, np.zeros(n_steps))


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
