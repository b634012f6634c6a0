"""The likelihood of clicks, given coefficients and position effects, with the best intercept of every query.

P(click) = exp(-b) sigmoid(score - t): the user examines the position (effect b), and then finds the document relevant
(t is the query's intercept). The parameters are one vector: a coefficient for each standardised feature, and minus the
mean of the queries' intercepts. The position effects b are known (`positions.py`).
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from rulerank._util.loops import compiled, one_blas_thread
from rulerank.dataset import Array, starts_of
from rulerank.rankers.clicks.click_rows import ClickRows
from rulerank.rankers.linear.likelihood import Spread
from rulerank.rankers.linear.newton import Minimum, Point, minimise_above

ROWS_AT_ONCE = 2**15
MAX_STEPS = 100
NEAR = 1e-9  # an intercept's step that is the last
LONGEST = 2.0
SMALL = 1e-12  # chances of no click below this are rounding
ROUNDS = 5  # of finding the intercepts of held-out queries and their mean
LITTLE = 1.0  # l2 of the weights of whole rankings: what holds them where all clicks go one way


class ShownRows(NamedTuple):
    """Rows as the loops read them, by query; nothing checks them there."""

    scores: Array  # float64[n]
    effects: Array  # float64[n] b of each row's position
    shown: Array  # float64[n] impressions
    clicks: Array  # float64[n]
    bounds: Array  # int64[n_groups + 1] where each group's rows begin
    precision: float  # of the prior that holds the intercepts, N(mean, 1 / precision)


class Slopes(NamedTuple):
    """What the loops write at the best intercepts."""

    pulls: Array  # float64[n] first derivatives of the loss by the score
    slopes: Array  # float64[n] of the chance by the score, over its deviation: their squares are expected curvatures
    totals: Array  # float64[n_groups] curvatures of the intercepts
    losses: Array  # float64[n_groups]

    @classmethod
    def of(cls, n_rows: int, n_groups: int) -> Slopes:
        """Return room for them."""
        return cls(*np.empty((2, n_rows)), *np.empty((2, n_groups)))


@compiled
def click_row(margin: float, effect: float, shown: float, clicks: float) -> tuple[float, float, float]:
    """Return the loss of one row, its pull and its slope."""
    small = math.exp(-abs(margin))
    inverse = 1.0 / (1.0 + small)
    chance = inverse if margin >= 0 else small * inverse  # sigmoid
    rest = small * inverse if margin >= 0 else inverse  # one minus it
    log_chance = min(margin, 0.0) - math.log1p(small)
    clicked = math.exp(-effect) * chance
    missed = max(rest - chance * math.expm1(-effect), SMALL)  # 1 - clicked, without cancellation
    loss = -clicks * (log_chance - effect) - (shown - clicks) * math.log(missed)
    return loss, (shown * clicked - clicks) / missed * rest, math.sqrt(shown * clicked / missed) * rest


@compiled
def solve_click_intercepts(rows: ShownRows, intercepts: Array, out: Slopes) -> float:
    """Move every group's intercept, relative to the mean of all, to its best; write the slopes; return the loss."""
    whole = 0.0
    for group in range(rows.bounds.size - 1):
        first, last = rows.bounds[group], rows.bounds[group + 1]
        intercept = intercepts[group]
        loss, pull, curvature = group_at(rows, first, last, intercept)
        for _ in range(MAX_STEPS):
            step = min(max(pull / max(curvature, SMALL), -LONGEST), LONGEST)
            if abs(step) <= NEAR:
                break
            moved = False
            for _ in range(MAX_STEPS):
                there = intercept + step
                tried = group_at(rows, first, last, there)
                if tried[0] <= loss:
                    moved = tried[0] < loss or abs(tried[1]) < abs(pull)
                    break
                step *= 0.5
            if not moved:
                break
            intercept = there
            loss, pull, curvature = tried
        intercepts[group] = intercept
        out.totals[group] = rows.precision
        out.losses[group] = 0.5 * rows.precision * intercept * intercept
        for i in range(first, last):
            one = click_row(rows.scores[i] - intercept, rows.effects[i], rows.shown[i], rows.clicks[i])
            out.losses[group] += one[0]
            out.pulls[i] = one[1]
            out.slopes[i] = one[2]
            out.totals[group] += one[2] * one[2]
        whole += out.losses[group]
    return whole


@compiled
def group_at(rows: ShownRows, first: int, last: int, intercept: float) -> tuple[float, float, float]:
    """Return a group's loss at an intercept, how it falls when the intercept rises, and its expected curvature."""
    loss = 0.5 * rows.precision * intercept * intercept
    fall = -rows.precision * intercept
    curvature = rows.precision
    for i in range(first, last):
        one = click_row(rows.scores[i] - intercept, rows.effects[i], rows.shown[i], rows.clicks[i])
        loss += one[0]
        fall += one[1]
        curvature += one[2] * one[2]
    return loss, fall, curvature


class ClickLikelihood:
    """Negative log-likelihood of clicks, plus the penalties on coefficients and on intercepts."""

    def __init__(self, X: Array, rows: ClickRows, queries: Array, effects: Array, l2: float | Array) -> None:
        order = np.argsort(queries, kind="stable")
        self.l2, self.n_features = l2, X.shape[1]
        self.bounds = starts_of(queries[order])
        self.shown, self.clicks, self.effects = rows.shown[order], rows.clicks[order], effects[rows.places[order]]
        self.precision = rows.precision
        self.X = np.asarray(X[order], dtype=np.float64)
        self.centre, spread = self._look()
        self.scale, self.factors = spread.scale()
        self.X = (self.X - self.centre) * self.factors
        self.intercepts = np.zeros(self.bounds.size - 1)
        self.start = np.append(np.zeros(self.n_features), click_odds(self.shown, self.clicks))

    def __call__(self, numbers: Array) -> Point:
        """Return the loss with the intercepts at their best, its gradient and its expected Hessian."""
        coef = numbers[:-1]
        at = Slopes.of(self.shown.size, self.intercepts.size)
        scores = self.X @ coef + numbers[-1]
        rows = ShownRows(scores, self.effects, self.shown, self.clicks, self.bounds, self.precision)
        loss = solve_click_intercepts(rows, self.intercepts, at) + 0.5 * float(coef @ (self.l2 * coef))
        gradient, hessian = np.zeros(numbers.size), np.zeros((numbers.size, numbers.size))
        for first, last in self._spans():
            a, b = self.bounds[first], self.bounds[last]
            gradient[:-1] += at.pulls[a:b] @ self.X[a:b]
            gradient[-1] += at.pulls[a:b].sum()
            slopes = at.slopes[a:b, None]
            changes = np.hstack([slopes * self.X[a:b], slopes])
            hessian += changes.T @ changes
            sums = np.add.reduceat(slopes * changes, self.bounds[first:last] - a)
            sums /= np.sqrt(at.totals[first:last])[:, None]
            hessian -= sums.T @ sums
        gradient[:-1] += self.l2 * coef
        hessian[np.diag_indices(self.n_features)] += self.l2
        return Point(float(loss), gradient, hessian)

    def query_intercepts(self, numbers: Array) -> Array:
        """Return t of each query, in the order of their numbers, in the features' own units."""
        return self.intercepts - numbers[-1] + float(self.centre @ (numbers[:-1] * self.factors))

    def _look(self) -> tuple[Array, Spread]:
        """Return each feature's mean, and how far it varies within queries, both by impressions."""
        totals = np.add.reduceat(self.shown, self.bounds[:-1])
        means = np.empty((totals.size, self.n_features))
        squares = np.zeros(self.n_features)
        for first, last in self._spans():
            a, b = self.bounds[first], self.bounds[last]
            sums = np.add.reduceat(self.shown[a:b, None] * self.X[a:b], self.bounds[first:last] - a)
            means[first:last] = sums / totals[first:last, None]
            own = np.repeat(means[first:last], np.diff(self.bounds[first : last + 1]), axis=0)
            squares += self.shown[a:b] @ np.square(self.X[a:b] - own)
        largest = np.abs(self.X).max(axis=0, initial=0.0)
        return totals @ means / totals.sum(), Spread(squares, largest, float(totals.sum()))

    def _spans(self) -> list[tuple[int, int]]:
        """Cut the groups into spans of some rows each, at places that depend on the data only."""
        blocks = self.bounds[:-1] // ROWS_AT_ONCE
        starts = [*np.flatnonzero(np.diff(blocks, prepend=-1)).tolist(), self.bounds.size - 1]
        return list(itertools.pairwise(starts))


def fit_clicks(
    X: Array, rows: ClickRows, groups: Array, effects: Array, l2: float | Array, max_iter: int = 100
) -> tuple[ClickLikelihood, Minimum]:
    """Find coefficients and an intercept for each group, numbered from 0, given the effects of `rows.positions`.

    l2: one penalty, or one per feature.
    """
    with one_blas_thread():
        clicks = ClickLikelihood(X, rows, groups, effects, l2)
        found = minimise_above(clicks, clicks.start, np.full(clicks.start.size, -np.inf), max_iter)
        clicks(found.x)  # moves the intercepts to those of the minimum
    return clicks, found


def ranking_losses(rankings: Array, rows: ClickRows, queries: Array, effects: Array) -> tuple[Array, Array]:
    """Return the same as `click_losses` of rankings, (n_rows, n_rankings), each with the weight that suits it best.

    So the scale of scores does not count. A ranking never counts the wrong way round.
    """
    numbers = np.unique(queries, return_inverse=True)[1].reshape(-1)
    kept = np.ones(rankings.shape[1], dtype=bool)
    while kept.any():
        clicks, found = fit_clicks(rankings[:, kept], rows, numbers, effects, LITTLE)
        coef = found.x[:-1] * clicks.factors
        if (coef >= 0).all():
            return click_losses(rankings[:, kept] @ coef, rows, queries, effects)
        kept[kept] = coef >= 0
    return click_losses(np.zeros(len(rows)), rows, queries, effects)


def click_losses(scores: Array, rows: ClickRows, queries: Array, effects: Array) -> tuple[Array, Array]:
    """Return the numbers of the queries that have clicks, and their negative log-likelihood, intercepts at their best.

    effects: of `rows.positions`.

    >>> rows = ClickRows(np.zeros(2, dtype=int), np.ones(2), np.array([1.0, 0.0]), np.array([1]))
    >>> good, bad = (click_losses(np.array(s), rows, np.zeros(2, dtype=int), np.zeros(1))[1][0]
    ...     for s in ([1.0, 0.0], [0.0, 1.0]))
    >>> bool(good < bad)
    True
    """
    order = np.argsort(queries, kind="stable")
    rows, own = rows[order], queries[order]
    bounds = starts_of(own)
    starts = bounds[:-1]
    sorted_scores, by_row = np.asarray(scores, dtype=np.float64)[order], effects[rows.places]
    mean = click_odds(rows.shown, rows.clicks) - float(np.average(sorted_scores, weights=rows.shown))
    intercepts, at = np.zeros(starts.size), Slopes.of(own.size, starts.size)
    for _ in range(ROUNDS):
        shown = ShownRows(sorted_scores + mean, by_row, rows.shown, rows.clicks, bounds, rows.precision)
        solve_click_intercepts(shown, intercepts, at)
        mean -= float(intercepts.mean())
        intercepts -= intercepts.mean()
    clicked = np.add.reduceat(rows.clicks, starts) > 0
    return own[starts][clicked], at.losses[clicked]


def click_odds(shown: Array, clicks: Array) -> float:
    """Return the log-odds of a click, where searches begin."""
    share = (clicks.sum() + 1.0) / (shown.sum() + 2.0)
    return float(np.log(share / (1.0 - share)))
