"""Newton's method for smooth functions of up to a few thousand numbers: convex ones, and those with lower bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.linalg.lapack import dpocon

from rulerank.dataset import Array

GOOD_ENOUGH = 1e-10  # a step that promises less than this share of the value at the start is the last: it squares it
FLAT = 1e-11  # a direction whose curvature is below this share of the largest is flat but for rounding
STILL_MOVING = 1e-3  # when the next step would be more than this share of x, the minimum is at infinity
TINY = 1e-3  # an x below this may itself be rounding
ROUNDING = 1e-13  # share of a value that summing a million terms may be off by
MAX_HALVINGS = 40
LONGEST = 4.0  # step of a number that has a bound: the parabola says nothing beyond


@dataclass(frozen=True, slots=True)
class Point:
    """A function at one place; points of two functions at the same place add up."""

    value: float
    gradient: Array
    hessian: Array

    def __add__(self, other: Point) -> Point:
        return Point(self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian)

    def shrunken(self, x: Array, l2: float) -> Point:
        """Return the function plus l2 / 2 times the squares of x."""
        return Point(float(self.value + 0.5 * l2 * (x @ x)), self.gradient + l2 * x, self.hessian + l2 * np.eye(x.size))


Function = Callable[[Array], Point]


class Minimum(NamedTuple):
    """Where the search ended."""

    x: Array
    value: float
    gradient_norm: float  # of the numbers that are free
    covariance: Array  # inverse of the Hessian, 0 along flat directions and of numbers that rest on their bound
    flat: Array  # bool (n,): not determined by the function, moved by a flat direction or resting on a bound
    n_iter: int
    converged: bool
    diverging: bool = False  # the value has settled and x has not


def minimise(function: Function, n: int, max_iter: int = 100) -> Minimum:
    """Start at 0 and go to the minimum of a convex function, never along directions in which it is flat.

    >>> def bowl(x): return Point((x[0] - 3) ** 2, np.array([2 * (x[0] - 3), 0]), np.diag([2.0, 0.0]))
    >>> found = minimise(bowl, 2)
    >>> found.x.round(6).tolist(), found.flat.tolist()
    ([3.0, 0.0], [False, True])
    """
    start = function(np.zeros(n))
    if _well_conditioned(start.hessian):
        return _descend(function, start, max_iter)
    curvatures, directions = eigh(start.hessian)
    basis = directions[:, curvatures > FLAT * max(0.0, curvatures.max(initial=0.0))]

    def within(point: Point) -> Point:
        return Point(point.value, basis.T @ point.gradient, basis.T @ point.hessian @ basis)

    found = _descend(lambda z: within(function(basis @ z)), within(start), max_iter)
    return found._replace(
        x=basis @ found.x, covariance=basis @ found.covariance @ basis.T, flat=np.square(basis).sum(axis=1) < 1 - 1e-6
    )


def _descend(function: Function, start: Point, max_iter: int) -> Minimum:
    x, here = np.zeros(start.gradient.size), start
    factor, step, promise = _newton_step(here)
    n_iter, converged = 0, promise <= 0
    while not converged and n_iter < max_iter:
        there = _walk(function, x, here, step)
        if there is None:  # rounding hides what is left to gain
            converged = True
            break
        x, here = there
        n_iter += 1
        converged = promise <= GOOD_ENOUGH * start.value
        factor, step, promise = _newton_step(here)
    return Minimum(
        x=x,
        value=here.value,
        gradient_norm=float(np.linalg.norm(here.gradient)),
        covariance=cho_solve(factor, np.eye(x.size)),
        flat=np.zeros(x.size, dtype=bool),
        n_iter=n_iter,
        converged=converged,
        diverging=bool(np.abs(step).max(initial=0) > STILL_MOVING * max(np.abs(x).max(initial=0), TINY)),
    )


def minimise_above(function: Function, start: Array, lower: Array, max_iter: int = 100) -> Minimum:
    """Go downhill from `start`, every number at or above its bound, until nothing is left to gain.

    Numbers that rest on their bound stay there while the slope keeps them.

    >>> def bowl(x): return Point((x[0] - 3) ** 2 + (x[1] + 1) ** 2, 2 * (x - [3, -1]), 2 * np.eye(2))
    >>> found = minimise_above(bowl, np.zeros(2), np.array([-np.inf, 0.0]))
    >>> found.x.round(6).tolist(), found.flat.tolist()
    ([3.0, 0.0], [False, True])
    """
    x = np.maximum(start, lower)
    here = function(x)
    scale = max(abs(here.value), 1.0)
    n_iter, converged = 0, False
    while True:
        free = (x > lower) | (here.gradient < 0)
        inverse, flat = _inverse(here.hessian, free)
        step = -inverse @ here.gradient
        longest = float(np.abs(step).max(initial=0.0))
        step *= min(1.0, LONGEST / longest) if longest > 0 else 1.0
        converged = -0.5 * float(step @ here.gradient) <= GOOD_ENOUGH * scale * 1e-2
        if converged or n_iter == max_iter:
            break
        there = _walk(function, x, here, step, lower)
        if there is None:
            converged = True
            break
        x, here = there
        n_iter += 1
    norm = float(np.linalg.norm(here.gradient[free]))
    return Minimum(x, here.value, norm, inverse, flat, n_iter, converged)


def _newton_step(here: Point) -> tuple[Any, Array, float]:
    """Return the Hessian's factor, the step to the bottom of the parabola that fits here, and the gain it promises."""
    factor = _factor(here.hessian)
    step = -cho_solve(factor, here.gradient)
    return factor, step, -0.5 * float(step @ here.gradient)


def _walk(
    function: Function, x: Array, here: Point, step: Array, lower: Array | float = -np.inf
) -> tuple[Array, Point] | None:
    """Go along the step, or half of it, or a quarter ..., so far that the function falls."""
    share = 1.0
    for _ in range(MAX_HALVINGS):
        there_x = np.maximum(x + share * step, lower)
        there = function(there_x)
        gain = float(here.gradient @ (x - there_x))
        if there.value <= here.value - 1e-4 * gain + ROUNDING * abs(here.value):
            return there_x, there
        share /= 2
    return None


def _factor(hessian: Array) -> Any:
    """Factor the Hessian; when rounding has made it indefinite, after as little damping as it takes."""
    damping = 0.0
    while True:
        try:
            return cho_factor(hessian + damping * np.eye(len(hessian)))
        except LinAlgError:
            damping = max(10 * damping, 1e-14 * float(np.abs(hessian).max()), 1e-300)


def _well_conditioned(hessian: Array) -> bool:
    try:
        factor, _ = cho_factor(hessian)
    except LinAlgError:
        return False
    return bool(dpocon(factor, np.abs(hessian).sum(axis=0).max(initial=0.0))[0] > FLAT)


def _inverse(hessian: Array, free: Array) -> tuple[Array, Array]:
    """Return the inverse of the Hessian among free numbers, 0 elsewhere; and which numbers it does not determine."""
    places = np.flatnonzero(free)
    out, flat = np.zeros_like(hessian), np.ones(free.size, dtype=bool)
    if places.size:
        curvatures, directions = np.linalg.eigh(hessian[np.ix_(places, places)])
        steep = curvatures > FLAT * max(float(curvatures.max()), 0.0)
        basis = directions[:, steep]
        out[np.ix_(places, places)] = (basis / curvatures[steep]) @ basis.T
        flat[places] = np.square(basis).sum(axis=1) <= 1 - 1e-6
    return out, flat
