"""How likely clicks are, given coefficients and position effects, when every query has its own intercept at its best.

The numbers to be found lie in one vector: a coefficient for each feature, on the scale of its deviation within queries;
the mean of the queries' intercepts, negative; and the steps between the effects of neighbouring positions.
"""

from __future__ import annotations

import itertools

import numpy as np

from rulerank.dataset import Array, starts_of
from rulerank.rankers.clicks.click_rows import ClickRows
from rulerank.rankers.clicks.kernels import solve_click_intercepts
from rulerank.rankers.clicks.position_steps import PositionSteps
from rulerank.rankers.linear.grouped_rows import Spread
from rulerank.rankers.linear.newton import Point

ROWS_AT_ONCE = 2**15


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
        self.centre, self.spread = self._look()
        self.X -= self.centre
        self.factors = np.ones(self.n_features)
        self.put_on(self.spread)
        self.intercepts = np.zeros(self.starts.size)
        self.n_numbers = self.n_features + 1 + steps.n_steps
        self.lower = np.concatenate([np.full(self.n_features + 1, -np.inf), steps.lower])
        self.start = np.concatenate([np.zeros(self.n_features), [self._overall()], steps.start])

    def __call__(self, numbers: Array) -> Point:
        """Return the loss with the intercepts at their best, its gradient and its expected Hessian."""
        n = self.n_features
        effects = self.steps.effects(numbers[n + 1 :])[self.places] + self.after
        scores = self.X @ numbers[:n] + numbers[n]
        pulls, slopes = np.empty((2, self.shown.size, 2))
        totals = np.empty(self.starts.size)
        loss = solve_click_intercepts(
            scores, effects, self.shown, self.clicks, self.bounds, self.precision,
            self.intercepts, pulls, slopes, totals,
        )  # fmt: skip
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
            sums /= np.sqrt(totals[first:last])[:, None]
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

    def put_on(self, spread: Spread) -> None:
        """Put the features on the scale of these rows and maybe others."""
        before = self.factors
        self.scale, self.factors = spread.scale()
        self.X *= np.divide(self.factors, before, out=np.zeros_like(before), where=before > 0)

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

    def _overall(self) -> float:
        """Return the log-odds of a click, where the search begins."""
        share = (self.clicks.sum() + 1.0) / (self.shown.sum() + 2.0)
        return float(np.log(share / (1.0 - share)))

    def _spans(self) -> list[tuple[int, int]]:
        """Cut the groups into spans of some rows each, at places that depend on the data only."""
        blocks = self.bounds[:-1] // ROWS_AT_ONCE
        starts = [*np.flatnonzero(np.diff(blocks, prepend=-1)).tolist(), self.starts.size]
        return list(itertools.pairwise(starts))
