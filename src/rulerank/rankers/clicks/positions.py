"""What positions do to clicks: effects as steps from each to the next, and as a value that can be read.

Effects never rise further up, and are smooth where the clicks say little.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulerank.core.words import counted, percent
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.render.text import markdown_table, plain_table

SMOOTH = 10.0  # precision of a bend, the difference of two neighbouring slopes over the logarithm of the position
KNOTS_APART = 0.05  # of the logarithm of the position, at least: up to 20 every position has a step of its own
SLOPE = 4.0  # precision of the mean slope: a few clicks more are needed before positions count
HEADER = ("position", "impressions", "clicked", "effect", "std. error", "looked at")  # the last is exp(-effect)
ESTIMATED, GIVEN, NONE, ALONE = "estimated", "given", "none", "alone"
PRINTED = 20  # positions, from the top
SOURCES = {
    ESTIMATED: "estimated from {n} that moved",
    GIVEN: "as given",
    NONE: "no document moved between positions: they cannot be told apart, and no effect is assumed",
    ALONE: "all was shown at one position, whose effect cannot be told",
}


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


@dataclass(frozen=True, eq=False)
class PositionSteps:
    """What may be found of effects, (n_positions,): effects = given + design @ steps."""

    given: Array  # (n_positions,) what is known before
    design: Array  # (n_positions, n_steps)
    penalty: Array  # (n_steps, n_steps)
    lower: Array  # (n_steps,)
    start: Array  # (n_steps,) where to begin to look

    @property
    def n_steps(self) -> int:
        return int(self.design.shape[1])

    def effects(self, steps: Array) -> Array:
        """Return the effect of each position."""
        found: Array = self.given + self.design @ steps
        return found

    @classmethod
    def known(cls, effects: Array) -> PositionSteps:
        """Return effects that are given: nothing is left to find.

        >>> PositionSteps.known(np.array([0.0, 0.7])).n_steps
        0
        """
        nothing = np.zeros(0)
        return cls(effects, np.zeros((effects.size, 0)), np.zeros((0, 0)), nothing, nothing)

    @classmethod
    def falling(cls, positions: Array) -> PositionSteps:
        """Return effects that only grow further down, as a power of the position unless the clicks say otherwise.

        >>> PositionSteps.falling(np.array([1, 2, 4])).effects(np.array([0.5, 0.25])).tolist()
        [0.0, 0.5, 0.75]
        """
        n_steps = positions.size - 1
        gaps = np.diff(np.log(positions.astype(np.float64)))
        bends = np.zeros((max(n_steps - 1, 0), n_steps))
        for j in range(len(bends)):
            bends[j, j], bends[j, j + 1] = -1 / gaps[j], 1 / gaps[j + 1]
        slope = np.full(n_steps, 1 / gaps.sum()) if n_steps else np.zeros(0)
        penalty = SMOOTH * bends.T @ bends + SLOPE * np.outer(slope, slope)
        design = np.tril(np.ones((positions.size, n_steps)), -1)
        return cls(np.zeros(positions.size), design, penalty, np.zeros(n_steps), 0.5 * gaps)

    def at(self, own: Array, positions: Array) -> PositionSteps:
        """Return the same steps for more positions than these, `own`: between two of them in proportion, else as the
        nearest.

        >>> PositionSteps.falling(np.array([1, 4])).at(np.array([1, 4]), np.array([1, 2, 4, 9])).design.tolist()
        [[0.0], [0.5], [1.0], [1.0]]
        """
        where, known = np.log(positions.astype(np.float64)), np.log(own.astype(np.float64))
        columns = [np.interp(where, known, column) for column in self.design.T]
        design = np.stack(columns, axis=1) if columns else np.zeros((positions.size, 0))
        return replace(self, given=np.interp(where, known, self.given), design=design)


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

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return f"{markdown_table(HEADER, self._cells())}\n\n{self.note}\n"

    def to_json(self) -> str:
        """Return all digits; what is not known is null."""
        return json.dumps(self.to_dict(), indent=2)

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
        return [
            [
                str(position),
                f"{shown:,.6g}",
                f"{clicked / shown:.3f}" if shown else "-",
                f"{effect:.3f}",
                "-" if math.isnan(error) else f"{error:.3f}",
                f"{math.exp(-effect):.3f}",
            ]
            for position, effect, error, shown, clicked in zip(
                *(c.tolist() for c in (self.positions, self.effects, self.errors, self.impressions, self.clicks)),
                strict=True,
            )
        ]
