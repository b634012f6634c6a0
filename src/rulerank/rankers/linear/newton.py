"""Newton's method for a smooth convex function of up to a few thousand numbers."""

from __future__ import annotations

from collections.abc import Callable
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


class Point(NamedTuple):
    """A function at one place."""

    value: float
    gradient: Array
    hessian: Array


Function = Callable[[Array], Point]


class Minimum(NamedTuple):
    """Where the search ended."""

    x: Array
    value: float
    gradient_norm: float
    covariance: Array  # inverse of the Hessian, 0 along flat directions
    flat: Array  # bool (n,): coordinates that a flat direction moves, and so not determined by the function
    n_iter: int
    converged: bool
    diverging: bool  # the value has settled and x has not


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
        x=basis @ found.x,
        covariance=basis @ found.covariance @ basis.T,
        flat=np.square(basis).sum(axis=1) < 1 - 1e-6,
    )


def _descend(function: Function, start: Point, max_iter: int) -> Minimum:
    x, here = np.zeros(start.gradient.size), start
    factor, step, promise = _newton_step(here)
    n_iter, converged = 0, promise <= 0
    while not converged and n_iter < max_iter:
        there = _walk(function, x, here, step, promise)
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


def _newton_step(here: Point) -> tuple[Any, Array, float]:
    """Return the Hessian's factor, the step to the bottom of the parabola that fits here, and the gain it promises."""
    factor = _factor(here.hessian)
    step = -cho_solve(factor, here.gradient)
    return factor, step, -0.5 * float(step @ here.gradient)


def _walk(function: Function, x: Array, here: Point, step: Array, promise: float) -> tuple[Array, Point] | None:
    """Go along the step, or half of it, or a quarter ..., so far that the function falls."""
    share = 1.0
    for _ in range(MAX_HALVINGS):
        there = function(x + share * step)
        if there.value <= here.value - 1e-4 * share * promise + ROUNDING * abs(here.value):
            return x + share * step, there
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
