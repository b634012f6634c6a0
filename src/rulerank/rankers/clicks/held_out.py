"""How well scores foresee clicks of queries that they were not learned from."""

from __future__ import annotations

import numpy as np

from rulerank.dataset import Array
from rulerank.rankers.clicks.click_rows import ClickRows
from rulerank.rankers.clicks.kernels import solve_click_intercepts
from rulerank.rankers.clicks.likelihood import LINKS

ROUNDS = 5  # of finding the intercepts and their mean


def click_losses(scores: Array, rows: ClickRows, queries: Array, effects: Array, link: str) -> tuple[Array, Array]:
    """Return the numbers of the queries that have clicks, and their negative log-likelihood, intercepts at their best.

    effects: of `rows.positions`.

    >>> rows = ClickRows(np.zeros(2, dtype=int), np.ones(2), np.array([1.0, 0.0]), np.array([1]))
    >>> good, bad = (click_losses(np.array(s), rows, np.zeros(2, dtype=int), np.zeros(1), "log-odds")[1][0]
    ...     for s in ([1.0, 0.0], [0.0, 1.0]))
    >>> bool(good < bad)
    True
    """
    order = np.argsort(queries, kind="stable")
    rows, own = rows[order], queries[order]
    starts = np.flatnonzero(np.diff(own, prepend=-1))
    bounds = np.append(starts, own.size).astype(np.int64)
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
                LINKS[link], sorted_scores[span] + mean, by_row[span], rows.shown[span], rows.clicks[span],
                np.array([0, bounds[query + 1] - bounds[query]]), rows.precision,
                intercepts[query : query + 1], pulls[span], slopes[span], totals[query : query + 1],
            )  # fmt: skip
        mean -= float(intercepts.mean())
        intercepts -= intercepts.mean()
    told = clicked > 0
    return own[starts][told], losses[told]
