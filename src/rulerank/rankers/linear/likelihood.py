"""How likely grades are, given coefficients, when every query has its own intercepts at their best.

Intercepts take up whatever a group's rows have in common, so only differences within a group count. Rows are never
copied as a whole: they are centred by group as they are read, in float64, a few thousand at a time.

Sums over all rows are formed within blocks first and then over blocks, in their order. A block holds the queries whose
first row is one of BLOCK_ROWS neighbours, in the order in which queries appear: the same blocks, and so the same
bits, whether rows come from memory or from a hundred files (`scale/`). The compiled loops check nothing.

A row of grade g is compared at the levels max(g, 1) .. K-1 of its group; it passes level g and fails those above.

X           float[n_rows, n_features]
factors     float64[n_features]            one over each feature's deviation
rows        int64[n]                       rows of X, group by group
groups      int64[n]                       group of each of them, counted from the first of the call
bounds      int64[n_groups + 1]            where each group begins in rows
grades      int16[n]
weights     float64[n]                     what each row counts, or of size 0 when every row counts one
scores      float64[n]
intercepts  float64[n_groups, n_levels]    of level 1, 2, ...; not finite when all outcomes are equal: left out
curvatures  float64[n_levels, n]           p (1 - p) of each comparison, 0 where there is none
totals      float64[n_groups, n_levels]    their sums
residuals   float64[n]                     sum over the row's comparisons of p - outcome
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rulerank._util.loops import compiled, in_blocks
from rulerank.dataset import Array
from rulerank.rankers.linear.newton import Point
from rulerank.rankers.rows import Labelled

BLOCK_ROWS = 2**17  # of 46 features 24 MiB: what may travel when a block lies in two parts
AT_ONCE = 8  # sums that are added up in a row; then the sums of these, and so on
CONSTANT = 1e-12  # a feature that varies less than this within groups, relative to its size, varies by rounding
EVEN = np.zeros(0)  # every row counts one
CELLS_AT_ONCE = 2**18  # 2 MiB of float64: fits the cache, so that gathering rows costs little
ROWS_AT_ONCE = 4096  # groups are visited together up to about this many rows
CELLS_PER_THREAD = 2**20  # less is done before another thread has begun
MAX_LANES = 8
LANES_MEMORY = 2**28  # bytes for the lanes' Hessians together

MAX_STEPS = 200  # Newton needs about four; bisection, its safety net, about sixty
# From here a straight line is right to the square of this: the last step needs no new exponentials. Loss and residuals
# are then exact but for rounding; the curvatures are right to this share, enough for steps and standard errors.
NEAR = 1e-7


@dataclass(frozen=True, eq=False)
class Spread:
    """How far features vary within groups; that of two groups of rows adds up."""

    squares: Array  # (n_features,) sums of squared differences to the group's mean
    largest: Array  # (n_features,) values without their sign
    n_rows: float

    def __add__(self, other: Spread) -> Spread:
        largest = np.maximum(self.largest, other.largest)
        return Spread(self.squares + other.squares, largest, self.n_rows + other.n_rows)

    def scale(self) -> tuple[Array, Array]:
        """Return the deviation of each feature and what to multiply it by, both 0 for a constant one."""
        scale = np.sqrt(self.squares / (self.n_rows or 1))
        scale[scale <= CONSTANT * self.largest] = 0.0
        factors = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return scale, factors


class Slopes(NamedTuple):
    """The comparisons of some rows at their best intercepts, as `solve_intercepts` writes them."""

    curvatures: Array  # (n_levels, n)
    totals: Array  # (n_groups, n_levels)
    residuals: Array  # (n,)


class CentredRows:
    """Rows of an array, as differences to their group's mean; group i holds rows[bounds[i]:bounds[i + 1]].

    weights: what each of the rows counts in the common scale; of size 0 when every row counts one.
    """

    spread: Spread
    scale: Array  # (n_features,) deviation within groups, 0 for a feature that is constant within each
    factors: Array  # one over it, 0 where it is 0

    def __init__(self, X: Array, rows: Array, bounds: Array, weights: Array = EVEN) -> None:
        self.X, self.rows, self.bounds = X, rows, bounds
        self.groups = np.repeat(np.arange(bounds.size - 1), np.diff(bounds))
        # any number near the mean will do, so the input's precision is enough
        self.centres = np.empty((bounds.size - 1, X.shape[1]), dtype=X.dtype)
        squares, largest = np.zeros((2, X.shape[1]))
        add_spread(X, rows, weights, bounds, self.centres, squares, largest)
        self.put_on(Spread(squares, largest, float(weights.sum() if weights.size else rows.size)))

    def put_on(self, spread: Spread) -> None:
        """Take a scale, that of these rows or of more."""
        self.spread = spread
        self.scale, self.factors = spread.scale()

    def scores(self, coef: Array, start: int, stop: int) -> Array:
        """Return scores, up to a constant for each group, by coefficients on the common scale; of groups start.. ."""
        first, last = self.bounds[start], self.bounds[stop]
        out = np.empty(last - first)
        for begin, end in self._pieces(first, last):
            out[begin - first : end - first] = self._centred(begin, end) @ coef
        return out

    def offsets(self, coef: Array) -> Array:
        """Return for each group the constant that `scores` leaves out."""
        return self.centres @ (coef * self.factors)

    def add_moments(self, start: int, stop: int, at: Slopes, gradient: Array, hessian: Array) -> None:
        """Add these groups' share of the gradient and of the Hessian with the intercepts eliminated."""
        first, last = self.bounds[start], self.bounds[stop]
        sums = np.zeros((at.totals.size, gradient.size))
        deviations = np.sqrt(at.curvatures.sum(axis=0))
        for begin, end in self._pieces(first, last):
            here = slice(begin - first, end - first)
            centred = self._centred(begin, end)
            gradient += at.residuals[here] @ centred
            add_group_sums(centred, self.groups[begin:end] - start, at.curvatures[:, here], sums)
            centred *= deviations[here, None]
            hessian += centred.T @ centred  # NumPy computes one half only
        used = at.totals.ravel() > 0
        sums = sums[used] / np.sqrt(at.totals.ravel()[used, None])
        hessian -= sums.T @ sums

    def _pieces(self, first: int, last: int) -> list[tuple[int, int]]:
        step = max(1, CELLS_AT_ONCE // self.X.shape[1])
        return [(begin, min(begin + step, last)) for begin in range(first, last, step)]

    def _centred(self, begin: int, end: int) -> Array:
        out = np.empty((end - begin, self.X.shape[1]))
        centre_rows(self.X, self.rows[begin:end], self.groups[begin:end], self.centres, self.factors, out)
        return out


@dataclass(frozen=True)
class Outcomes:
    """How the comparisons of each (group, level) end."""

    n: Array  # (n_groups, n_levels): rows compared, or what they count
    n_passed: Array  # of them, those that pass the level

    @classmethod
    def of(cls, grades: Array, groups: Array, weights: Array | None = None, n_grades: int | None = None) -> Outcomes:
        """Count them; a row of grade g is compared at the levels from max(g, 1), and passes level g.

        >>> seen = Outcomes.of(np.array([0, 1, 2, 2]), np.array([0, 0, 0, 1]))
        >>> seen.n.tolist(), seen.n_passed.tolist()
        ([[2, 3], [0, 1]], [[1, 1], [0, 1]])
        """
        n_grades = int(grades.max()) + 1 if n_grades is None else n_grades
        counts = np.bincount(groups * n_grades + grades, weights, minlength=(int(groups.max()) + 1) * n_grades)
        counts = counts.reshape(-1, n_grades)
        return cls(counts.cumsum(axis=1)[:, 1:], counts[:, 1:])

    @property
    def informative(self) -> Array:
        """Whether both outcomes occur; where they do not, the best intercept is infinite and tells nothing."""
        return np.logical_and(self.n_passed > 0, self.n_passed < self.n)

    def intercepts(self) -> Array:
        """Return the best intercepts when no feature counts; NaN where nothing is compared."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log((self.n - self.n_passed) / self.n_passed)


class QueryLikelihood:
    """Negative log-likelihood of coefficients, plus l2 / 2 times their squares.

    Coefficients are on the scale of the features' deviations within groups. Rows whose group says nothing are left out.
    The sums are formed in a fixed order, in lanes that depend on the data only: threads do not change a bit.
    """

    def __init__(
        self, X: Array, grades: Array, groups: Array, l2: float, n_jobs: int | None, weights: Array | None = None,
        n_grades: int | None = None,
    ) -> None:  # fmt: skip
        self.l2, self.n_jobs = l2, n_jobs
        self.outcomes = Outcomes.of(grades, groups, weights, n_grades)
        self.used = np.asarray(self.outcomes.informative.any(axis=1))  # (n_groups,)
        order = np.arange(groups.size) if (groups[1:] >= groups[:-1]).all() else np.argsort(groups, kind="stable")
        order = order[self.used[groups[order]]]
        self.bounds = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=self.used.size)[self.used])])
        self.grades = grades[order]
        self.weights = EVEN if weights is None else weights[order]
        self.rows = CentredRows(X, order, self.bounds, self.weights)
        self.n_features = X.shape[1]
        # where to look first, and after each call where they were found; not finite: left out
        self.intercepts = np.where(self.outcomes.informative, self.outcomes.intercepts(), np.inf)[self.used]
        self.lanes = self._lanes()

    def __call__(self, coef: Array) -> Point:
        """Return the loss with the intercepts at their best, its gradient and its Hessian."""
        n_lanes = len(self.lanes)
        losses = np.zeros(n_lanes)
        gradients = np.zeros((n_lanes, self.n_features))
        hessians = np.zeros((n_lanes, self.n_features, self.n_features))

        def work(first: int, last: int) -> None:
            for lane in range(first, last):
                for start, stop in self.lanes[lane]:
                    losses[lane] += self._add_groups(coef, start, stop, gradients[lane], hessians[lane])

        worth_a_thread = self.grades.size * self.n_features >= CELLS_PER_THREAD
        in_blocks(work, n_lanes, self.n_jobs, min_block=1 if worth_a_thread else n_lanes)
        return Point(float(losses.sum()), gradients.sum(axis=0), hessians.sum(axis=0)).shrunken(coef, self.l2)

    def best_intercepts(self, coef: Array) -> Array:
        """Return the intercepts of all groups that belong to the coefficients last asked for, in the rows' units."""
        found = self.outcomes.intercepts()
        found[self.used] = np.where(
            np.isfinite(self.intercepts), self.intercepts + self.rows.offsets(coef)[:, None], found[self.used]
        )
        return found

    @property
    def n_comparisons(self) -> float:
        """How many comparisons tell something, or what they count."""
        return float(self.outcomes.n[self.outcomes.informative].sum())

    def _add_groups(self, coef: Array, start: int, stop: int, gradient: Array, hessian: Array) -> float:
        bounds = self.bounds[start : stop + 1]
        grades, weights = (column[bounds[0] : bounds[-1]] for column in (self.grades, self.weights))
        intercepts = self.intercepts[start:stop]
        at = Slopes(np.empty((intercepts.shape[1], grades.size)), np.empty(intercepts.shape), np.empty(grades.size))
        scores = self.rows.scores(coef, start, stop)
        loss = solve_intercepts(scores, grades, weights, bounds - bounds[0], intercepts, *at)
        self.rows.add_moments(start, stop, at, gradient, hessian)
        return float(loss)

    def _lanes(self) -> list[list[tuple[int, int]]]:
        """Deal spans of groups, each of about ROWS_AT_ONCE rows, to a few lanes, neighbours to the same one."""
        block_of_group = self.bounds[:-1] // ROWS_AT_ONCE
        starts = np.flatnonzero(np.diff(block_of_group, prepend=-1)).tolist()
        spans = list(itertools.pairwise([*starts, self.bounds.size - 1]))
        n_lanes = max(1, min(len(spans), MAX_LANES, LANES_MEMORY // (8 * self.n_features**2)))
        cuts = [len(spans) * lane // n_lanes for lane in range(n_lanes + 1)]
        return [spans[first:last] for first, last in itertools.pairwise(cuts)]


class BlockedLikelihood:
    """Negative log-likelihood of coefficients, plus l2 / 2 times their squares, over blocks of rows, in their order."""

    def __init__(self, blocks: Sequence[QueryLikelihood | None], l2: float) -> None:
        self.blocks, self.l2 = blocks, l2
        self.spread: Spread = summed([block and block.rows.spread for block in blocks])
        self.scale, self.factors = self.spread.scale()
        used = [block for block in blocks if block is not None]
        self.n_comparisons = float(summed([block and block.n_comparisons for block in blocks]))
        self.n_informative = sum(int(block.used.sum()) for block in used)
        for block in used if len(blocks) > 1 else []:
            block.rows.put_on(self.spread)
        self.coef = self.factors  # last asked for

    def __call__(self, coef: Array) -> Point:
        """Return the loss with the intercepts at their best, its gradient and its Hessian."""
        self.coef = coef
        point: Point = summed([block and block(coef) for block in self.blocks])
        return point.shrunken(coef, self.l2)

    def intercepts(self) -> Array:
        """Return the intercepts of all queries, which belong to the coefficients last asked for."""
        return np.concatenate([block.best_intercepts(self.coef) for block in self.blocks if block is not None])


def cut(data: Labelled, size: int, before: int = 0) -> list[tuple[int, Labelled]]:
    """Return the rows of each block of `size` rows, with its number; `before`: rows that came before these.

    >>> rows = Labelled(np.array([[1.0], [2.0], [3.0]]), np.zeros(3), np.array([0, 1, 0]), np.array(["a", "b"]))
    >>> [(number, block.X.ravel().tolist()) for number, block in cut(rows, 2)]
    [(0, [1.0, 3.0]), (1, [2.0])]
    """
    counts = np.bincount(data.queries, minlength=len(data.query_ids))
    bounds = np.concatenate([[0], np.cumsum(counts)])
    number = (bounds[:-1] + before) // size
    if number[0] == number[-1]:
        return [(int(number[0]), data)]
    data = data.by_query()
    firsts = np.flatnonzero(np.diff(number, prepend=-1))
    blocks = []
    for first, last in zip(firsts, [*firsts[1:], len(counts)], strict=True):
        rows = data.rows(slice(bounds[first], bounds[last]))
        rows = rows._replace(queries=rows.queries - first, query_ids=data.query_ids[first:last])
        blocks.append((int(number[first]), rows))
    return blocks


def blocks_of(data: Labelled) -> list[Labelled | None]:
    """Return the rows of each block, in order; None where no query begins."""
    found = dict(cut(data, BLOCK_ROWS))
    return [found.get(number) for number in range(n_blocks(data.X.shape[0]))]


def n_blocks(n_rows: int) -> int:
    """Return the number of blocks, including those in which no query begins."""
    return -(-n_rows // BLOCK_ROWS)


def summed(values: Sequence[Any]) -> Any:
    """Add values up, eight neighbours at a time, then the sums of eight, and so on; None is skipped.

    >>> summed([1, None, 2, 3])
    6
    """
    while len(values) > 1:
        values = [added(values[first : first + AT_ONCE]) for first in range(0, len(values), AT_ONCE)]
    return values[0] if values else None


def added(values: Sequence[Any]) -> Any:
    """Add up neighbours, from the first to the last."""
    present = [value for value in values if value is not None]
    return functools.reduce(operator.add, present) if present else None


@compiled
def solve_intercepts(
    scores: Array, grades: Array, weights: Array, bounds: Array, intercepts: Array, curvatures: Array, totals: Array,
    residuals: Array,
) -> float:  # fmt: skip
    """Move every intercept to where its comparisons' chances add up to what was seen; return the loss there."""
    loss = 0.0
    residuals[:] = 0.0
    curvatures[:] = 0.0
    totals[:] = 0.0
    chances = np.empty(scores.size)
    smalls = np.empty(scores.size)  # exp(-|margin|): no exponential is taken twice
    for group in range(bounds.size - 1):
        first, last = bounds[group], bounds[group + 1]
        for level in range(1, intercepts.shape[1] + 1):
            intercept = intercepts[group, level - 1]
            if not math.isfinite(intercept):
                continue
            n = 0.0
            n_passed = 0.0
            lowest = math.inf
            highest = -math.inf
            for i in range(first, last):
                if grades[i] <= level:
                    weight = weights[i] if weights.size else 1.0
                    n += weight
                    n_passed += weight if grades[i] == level else 0.0
                    lowest = min(lowest, scores[i])
                    highest = max(highest, scores[i])
            # all chances are too high at the low end and too low at the high end
            odds = math.log(n_passed / (n - n_passed))
            low, high = lowest - odds, highest - odds
            intercept = min(max(intercept, low), high)
            total = 0.0
            rest = 0.0
            for _ in range(MAX_STEPS):
                excess = -n_passed
                total = 0.0
                for i in range(first, last):
                    if grades[i] <= level:
                        margin = scores[i] - intercept
                        small = math.exp(-abs(margin))
                        inverse = 1.0 / (1.0 + small)
                        smalls[i] = small
                        chances[i] = inverse if margin >= 0 else small * inverse
                        weight = weights[i] if weights.size else 1.0
                        curvatures[level - 1, i] = weight * small * inverse * inverse
                        excess += weight * chances[i]
                        total += curvatures[level - 1, i]
                rest = excess / total if total > 0 else math.inf
                if abs(rest) <= NEAR:
                    break
                if excess > 0:
                    low = intercept
                else:
                    high = intercept
                moved = intercept + rest
                if not low < moved < high:
                    moved = 0.5 * (low + high)
                if moved == intercept:
                    rest = 0.0
                    break
                intercept = moved
            intercepts[group, level - 1] = intercept + rest
            totals[group, level - 1] = total
            for i in range(first, last):
                if grades[i] <= level:
                    margin = scores[i] - intercept
                    passed = grades[i] == level
                    weight = weights[i] if weights.size else 1.0
                    loss += weight * (
                        math.log1p(smalls[i]) + (max(margin, 0.0) - margin if passed else max(margin, 0.0))
                    )
                    residuals[i] += weight * (chances[i] - passed) - rest * curvatures[level - 1, i]
    return loss


@compiled
def add_spread(
    X: Array, rows: Array, weights: Array, bounds: Array, centres: Array, squares: Array, largest: Array
) -> None:
    """Find each group's mean, and add up the squared differences to it and the largest value of each feature."""
    n_features = X.shape[1]
    mean = np.empty(n_features)
    for group in range(bounds.size - 1):
        first, last = bounds[group], bounds[group + 1]
        mean[:] = 0.0
        total = 0.0
        for i in range(first, last):
            weight = weights[i] if weights.size else 1.0
            total += weight
            for f in range(n_features):
                mean[f] += weight * X[rows[i], f]
        for f in range(n_features):
            centres[group, f] = mean[f] / total
        for i in range(first, last):
            weight = weights[i] if weights.size else 1.0
            for f in range(n_features):
                value = np.float64(X[rows[i], f])
                difference = value - centres[group, f]
                squares[f] += weight * difference * difference
                largest[f] = max(largest[f], abs(value))


@compiled
def centre_rows(X: Array, rows: Array, groups: Array, centres: Array, factors: Array, out: Array) -> None:
    """Copy rows as differences to their group's centre, times a factor for each feature."""
    for i in range(rows.size):
        row, group = rows[i], groups[i]
        for f in range(X.shape[1]):
            out[i, f] = (np.float64(X[row, f]) - centres[group, f]) * factors[f]


@compiled
def add_group_sums(centred: Array, groups: Array, curvatures: Array, out: Array) -> None:
    """Add up, for each group and level, the rows times their curvatures."""
    n_levels = curvatures.shape[0]
    for i in range(groups.size):
        for level in range(n_levels):
            weight = curvatures[level, i]
            if weight == 0.0:
                continue
            place = groups[i] * n_levels + level
            for f in range(centred.shape[1]):
                out[place, f] += weight * centred[i, f]
