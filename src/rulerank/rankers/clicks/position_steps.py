"""The effects of positions as steps from each to the next: never upwards, and smooth where the clicks say little."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rulerank.dataset import Array

SMOOTH = 10.0  # precision of a bend, the difference of two neighbouring slopes over the logarithm of the position
KNOTS_APART = 0.05  # of the logarithm of the position, at least: up to 20 every position has a step of its own
SLOPE = 4.0  # precision of the mean slope: a few clicks more are needed before positions count


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
