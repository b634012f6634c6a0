"""Coefficients and position effects found together, from clicks and, where there are some, from grades as well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rulerank.core.blas import one_blas_thread
from rulerank.dataset import Array
from rulerank.rankers.clicks.bounded_newton import minimise_above
from rulerank.rankers.clicks.click_rows import ClickRows
from rulerank.rankers.clicks.likelihood import ClickLikelihood
from rulerank.rankers.clicks.position_steps import PositionSteps
from rulerank.rankers.linear.newton import Point
from rulerank.rankers.linear.query_likelihood import QueryLikelihood


@dataclass(frozen=True, eq=False)
class ClickFit:
    """What was found."""

    coef: Array  # in the features' own units
    errors: Array  # NaN where the clicks do not determine a coefficient alone
    scale: Array  # (n_features,) deviation within queries
    steps: Array  # of positions
    step_covariance: Array
    intercepts: Array  # (n_groups,) of the groups of clicks
    label_intercepts: Array | None  # (n_groups, n_levels) of the groups of grades
    loss: float  # negative log-likelihood, with what holds the intercepts and the steps
    gradient_norm: float
    n_iter: int
    converged: bool


def fit_clicks(
    X: Array,
    rows: ClickRows,
    groups: Array,
    steps: PositionSteps,
    l2: float | Array,
    labels: QueryLikelihood | None = None,
    max_iter: int = 100,
) -> ClickFit:
    """Find coefficients, position effects and an intercept for each group, numbered from 0.

    l2: one penalty, or one of each feature.
    """
    with one_blas_thread():
        clicks = ClickLikelihood(X, rows, groups, steps, l2)
        n = clicks.n_features
        if labels is not None:
            spread = clicks.spread + labels.rows.spread
            clicks.put_on(spread)
            labels.rows.put_on(spread)

        def together(numbers: Array) -> Point:
            point = clicks(numbers)
            if labels is None:
                return point
            own = labels(numbers[:n])
            point.gradient[:n] += own.gradient
            point.hessian[:n, :n] += own.hessian
            return Point(point.value + own.value, point.gradient, point.hessian)

        found = minimise_above(together, clicks.start, clicks.lower, max_iter)
        together(found.x)  # the intercepts are those of the end
    coef = found.x[:n]
    errors = np.sqrt(np.diagonal(found.covariance)[:n].clip(0)) * clicks.factors
    return ClickFit(
        coef=coef * clicks.factors,
        errors=np.where(found.determined[:n] & (clicks.scale > 0), errors, np.nan),
        scale=clicks.scale,
        steps=found.x[n + 1 :],
        step_covariance=found.covariance[n + 1 :, n + 1 :],
        intercepts=clicks.query_intercepts(found.x),
        label_intercepts=None if labels is None else labels.best_intercepts(coef),
        loss=found.value - 0.5 * float(coef @ (l2 * coef)),
        gradient_norm=found.gradient_norm,
        n_iter=found.n_iter,
        converged=found.converged,
    )
