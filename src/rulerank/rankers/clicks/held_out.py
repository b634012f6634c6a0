"""How well rankings foresee clicks of queries that they were not learned from."""

from __future__ import annotations

import numpy as np

from rulerank.dataset import Array, starts_of
from rulerank.rankers.clicks.click_rows import ClickRows
from rulerank.rankers.clicks.joint_fit import fit_clicks
from rulerank.rankers.clicks.kernels import solve_click_intercepts
from rulerank.rankers.clicks.position_steps import PositionSteps

ROUNDS = 5  # of finding the intercepts and their mean
LITTLE = 1.0  # l2 of the rankings' weights: what holds them where all clicks go one way


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
    clicked = np.add.reduceat(rows.clicks, starts)
    share = (rows.clicks.sum() + 1.0) / (rows.shown.sum() + 2.0)
    mean = float(np.log(share / (1 - share)) - np.average(sorted_scores, weights=rows.shown))
    intercepts, totals = np.zeros(starts.size), np.empty(starts.size)
    pulls, slopes = np.empty((2, own.size, 2))
    losses = np.empty(starts.size)
    for _ in range(ROUNDS):
        for query in range(starts.size):
            span = slice(bounds[query], bounds[query + 1])
            losses[query] = solve_click_intercepts(
                sorted_scores[span] + mean, by_row[span], rows.shown[span], rows.clicks[span],
                np.array([0, bounds[query + 1] - bounds[query]]), rows.precision,
                intercepts[query : query + 1], pulls[span], slopes[span], totals[query : query + 1],
            )  # fmt: skip
        mean -= float(intercepts.mean())
        intercepts -= intercepts.mean()
    told = clicked > 0
    return own[starts][told], losses[told]
