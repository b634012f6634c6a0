"""How likely clicks are, given coefficients and position effects, when every query has its own intercept at its best.

P(click) = exp(-b) sigmoid(score - t): somebody looks at the position, and then likes the document. The numbers to be
found lie in one vector: a coefficient for each feature, on the scale of its deviation within queries; the mean of the
queries' intercepts, negative; and the steps between the effects of neighbouring positions.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.core.threads import one_blas_thread
from rulerank.dataset import Array, starts_of
from rulerank.rankers.clicks.click_rows import ClickRows
from rulerank.rankers.clicks.positions import PositionSteps
from rulerank.rankers.linear.likelihood import Spread
from rulerank.rankers.linear.newton import Point, minimise_above

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

    pulls: Array  # float64[n, 2] first derivatives of the loss by the score and by b
    slopes: Array  # float64[n, 2] of the chance by both, over its deviation: their products are expected curvatures
    totals: Array  # float64[n_groups] curvatures of the intercepts
    losses: Array  # float64[n_groups]

    @classmethod
    def of(cls, n_rows: int, n_groups: int) -> Slopes:
        """Return room for them."""
        return cls(*np.empty((2, n_rows, 2)), *np.empty((2, n_groups)))


@compiled
def click_row(margin: float, effect: float, shown: float, clicks: float) -> tuple[float, ...]:
    """Return the loss of one row, its pulls and its slopes."""
    small = math.exp(-abs(margin))
    inverse = 1.0 / (1.0 + small)
    chance = inverse if margin >= 0 else small * inverse  # sigmoid
    rest = small * inverse if margin >= 0 else inverse  # one minus it
    log_chance = min(margin, 0.0) - math.log1p(small)
    looked = math.exp(-effect)
    clicked = looked * chance
    missed = max(rest - chance * math.expm1(-effect), SMALL)  # 1 - clicked, without cancellation
    loss = -clicks * (log_chance - effect) - (shown - clicks) * math.log(missed)
    over = (shown * clicked - clicks) / missed
    slope = math.sqrt(shown * clicked / missed)
    return loss, over * rest, -over, slope * rest, -slope


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
            out.pulls[i, 0] = one[1]
            out.pulls[i, 1] = one[2]
            out.slopes[i, 0] = one[3]
            out.slopes[i, 1] = one[4]
            out.totals[group] += one[3] * one[3]
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
        curvature += one[3] * one[3]
    return loss, fall, curvature


class ClickLikelihood:
    """Negative log-likelihood of clicks, plus the penalties on coefficients, on steps and on intercepts."""

    def __init__(self, X: Array, rows: ClickRows, queries: Array, steps: PositionSteps, l2: float | Array) -> None:
        order = np.argsort(queries, kind="stable")
        self.order, self.steps, self.l2 = order, steps, l2
        self.n_features = X.shape[1]
        self.queries = queries[order]
        self.bounds = starts_of(self.queries)
        self.starts = self.bounds[:-1]
        self.shown, self.clicks, self.places = rows.shown[order], rows.clicks[order], rows.places[order]
        self.precision = rows.precision
        self.after = 0.0 if rows.after is None else rows.after[order]
        self.X = np.asarray(X[order], dtype=np.float64)
        self.centre, spread = self._look()
        self.scale, self.factors = spread.scale()
        self.X = (self.X - self.centre) * self.factors
        self.intercepts = np.zeros(self.starts.size)
        self.n_numbers = self.n_features + 1 + steps.n_steps
        self.lower = np.concatenate([np.full(self.n_features + 1, -np.inf), steps.lower])
        self.start = np.concatenate([np.zeros(self.n_features), [click_odds(self.shown, self.clicks)], steps.start])

    def __call__(self, numbers: Array) -> Point:
        """Return the loss with the intercepts at their best, its gradient and its expected Hessian."""
        n = self.n_features
        effects = self.steps.effects(numbers[n + 1 :])[self.places] + self.after
        scores = self.X @ numbers[:n] + numbers[n]
        at = Slopes.of(self.shown.size, self.starts.size)
        rows = ShownRows(scores, effects, self.shown, self.clicks, self.bounds, self.precision)
        loss = solve_click_intercepts(rows, self.intercepts, at)
        pulls, slopes = at.pulls, at.slopes
        gradient = np.zeros(self.n_numbers)
        hessian = np.zeros((self.n_numbers, self.n_numbers))
        design = self.steps.design
        for first, last in self._spans():
            a, b = self.bounds[first], self.bounds[last]
            moves = design[self.places[a:b]]
            gradient[:n] += pulls[a:b, 0] @ self.X[a:b]
            gradient[n] += pulls[a:b, 0].sum()
            gradient[n + 1 :] += pulls[a:b, 1] @ moves
            by_score = slopes[a:b, :1]
            changes = np.hstack([by_score * self.X[a:b], by_score, slopes[a:b, 1:] * moves])
            hessian += changes.T @ changes
            sums = np.add.reduceat(by_score * changes, self.bounds[first:last] - a)
            sums /= np.sqrt(at.totals[first:last])[:, None]
            hessian -= sums.T @ sums
        coef, moved = numbers[:n], numbers[n + 1 :]
        penalty = self.steps.penalty
        loss += 0.5 * float(coef @ (self.l2 * coef)) + 0.5 * float(moved @ penalty @ moved)
        gradient[:n] += self.l2 * coef
        gradient[n + 1 :] += penalty @ moved
        hessian[np.arange(n), np.arange(n)] += self.l2
        hessian[n + 1 :, n + 1 :] += penalty
        return Point(float(loss), gradient, hessian)

    def query_intercepts(self, numbers: Array) -> Array:
        """Return t of each query, in the order of their numbers, in the features' own units."""
        n = self.n_features
        return self.intercepts - numbers[n] + float(self.centre @ (numbers[:n] * self.factors))

    def _look(self) -> tuple[Array, Spread]:
        """Return each feature's mean, and how far it varies within queries, both by impressions."""
        totals = np.add.reduceat(self.shown, self.starts)
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
        starts = [*np.flatnonzero(np.diff(blocks, prepend=-1)).tolist(), self.starts.size]
        return list(itertools.pairwise(starts))


@dataclass(frozen=True, eq=False)
class ClickFit:
    """What was found."""

    coef: Array  # in the features' own units
    errors: Array  # NaN where the clicks do not determine a coefficient alone
    scale: Array  # (n_features,) deviation within queries
    steps: Array  # of positions
    step_covariance: Array
    intercepts: Array  # (n_groups,)
    loss: float  # negative log-likelihood, with what holds the intercepts and the steps
    gradient_norm: float
    n_iter: int
    converged: bool


def fit_clicks(
    X: Array, rows: ClickRows, groups: Array, steps: PositionSteps, l2: float | Array, max_iter: int = 100
) -> ClickFit:
    """Find coefficients, position effects and an intercept for each group, numbered from 0.

    l2: one penalty, or one of each feature.
    """
    with one_blas_thread():
        clicks = ClickLikelihood(X, rows, groups, steps, l2)
        n = clicks.n_features
        found = minimise_above(clicks, clicks.start, clicks.lower, max_iter)
        clicks(found.x)  # the intercepts are those of the end
    coef = found.x[:n]
    errors = np.sqrt(np.diagonal(found.covariance)[:n].clip(0)) * clicks.factors
    return ClickFit(
        coef=coef * clicks.factors,
        errors=np.where(found.flat[:n] | (clicks.scale == 0), np.nan, errors),
        scale=clicks.scale,
        steps=found.x[n + 1 :],
        step_covariance=found.covariance[n + 1 :, n + 1 :],
        intercepts=clicks.query_intercepts(found.x),
        loss=found.value - 0.5 * float(coef @ (l2 * coef)),
        gradient_norm=found.gradient_norm,
        n_iter=found.n_iter,
        converged=found.converged,
    )


def ranking_losses(rankings: Array, rows: ClickRows, queries: Array, effects: Array) -> tuple[Array, Array]:
    """Return the same as `click_losses` of rankings, (n_rows, n_rankings), each with the weight that suits it best.

    So the scale of scores does not count. A ranking never counts the wrong way round.
    """
    numbers = np.unique(queries, return_inverse=True)[1].reshape(-1)
    kept = np.ones(rankings.shape[1], dtype=bool)
    while kept.any():
        coef = fit_clicks(rankings[:, kept], rows, numbers, PositionSteps.known(effects), LITTLE).coef
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
    sorted_scores, by_row = np.asarray(scores, dtype=np.float64)[order], rows.effects(effects)
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
