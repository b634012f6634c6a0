"""Query intercepts from clicks, and from grades of other judges beside them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rulerank.dataset import Array, query_index
from rulerank.errors import DataError
from rulerank.rankers.base import Labelled
from rulerank.rankers.clicks.click_rows import weighed
from rulerank.rankers.clicks.joint_fit import ClickFit, fit_clicks
from rulerank.rankers.clicks.learns import Clicks, Told
from rulerank.rankers.clicks.position_effects import PositionEffects
from rulerank.rankers.clicks.position_steps import PositionSteps
from rulerank.rankers.linear.query_likelihood import QueryLikelihood


class LearnedClicks(NamedTuple):
    """What clicks taught."""

    fit: ClickFit
    effects: PositionEffects
    intercepts: Array  # (n_groups, n_levels), NaN where nobody is compared
    n_comparisons: int  # impressions, and comparisons of grades
    n_informative: int  # groups that say something


def learn_clicks(
    data: Labelled,
    clicks: Clicks,
    told: Told,
    *,
    l2: Array,
    max_iter: int,
    document_spread: float,
    n_jobs: int | None,
) -> LearnedClicks:
    """Learn from rows without missing values, whose groups are queries or pairs of query and judge.

    l2: of each feature.
    """
    shown = clicks.shown
    X = data.X[shown]
    groups, own_groups = query_index(data.queries[shown])
    labels, intercepts = None, np.full((len(data.query_ids), 1), math.nan)
    if not shown.all():
        label_groups, graded = query_index(data.queries[~shown])
        both = np.intersect1d(own_groups, graded)
        if both.size:
            raise DataError(
                f"query {data.query_ids[both[0]]!r} has rows with clicks and rows with grades of one judge: "
                "clicks need a judge of their own"
            )
        weights = None if data.weights is None else data.weights[~shown]
        labels = QueryLikelihood(data.X[~shown], data.grades[~shown], label_groups, 0.0, n_jobs, weights)
    seen, steps, effects = told.seen(clicks.rows), told.steps, None
    if steps.n_steps and document_spread > 0:  # all impressions tell positions, documents tell coefficients
        first = fit_clicks(X, seen, groups, steps, l2, labels, max_iter)
        effects = told.effects(clicks.rows, first.steps, first.step_covariance)
        steps = PositionSteps.known(effects.effects)
    found = fit_clicks(X, weighed(seen, told.documents, document_spread), groups, steps, l2, labels, max_iter)
    if effects is None:
        effects = told.effects(clicks.rows, found.steps, found.step_covariance)
    if found.label_intercepts is not None:
        n_levels = found.label_intercepts.shape[1]  # none, where all labels are alike
        intercepts = np.full((len(data.query_ids), max(1, n_levels)), math.nan)
        intercepts[graded, :n_levels] = found.label_intercepts
    intercepts[own_groups, 0] = found.intercepts
    n_clicks, n_shown = (np.bincount(groups, values) for values in (clicks.rows.clicks, clicks.rows.shown))
    n_comparisons, n_informative = round(n_shown.sum()), ((n_clicks > 0) & (n_clicks < n_shown)).sum()
    if labels is not None:
        n_comparisons, n_informative = n_comparisons + labels.n_comparisons, n_informative + labels.used.sum()
    return LearnedClicks(found, effects, intercepts, int(n_comparisons), int(n_informative))
