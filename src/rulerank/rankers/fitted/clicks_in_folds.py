"""Clicks as fitted rules learn from them: a document's impressions count for less the more there are."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rulerank.dataset import Array
from rulerank.rankers.clicks.click_rows import ClickRows, weighed
from rulerank.rankers.clicks.joint_fit import fit_clicks
from rulerank.rankers.clicks.learns import Told
from rulerank.rankers.fitted.training_folds import FoldClicks, TrainingFolds


@dataclass(frozen=True, eq=False)
class ClicksToFit:
    """Clicks of training rows, and what may be told of positions."""

    rows: ClickRows
    weighed: ClickRows  # as they count for scores
    told: Told
    weights: Array  # float64 (n_rows,) of a document's rows 1 together

    @classmethod
    def of(cls, rows: ClickRows, told: Told, spread: float) -> ClicksToFit:
        """Weigh rows by the documents they show."""
        documents, rows = told.documents, told.seen(rows)
        return cls(rows, weighed(rows, documents, spread), told, 1 / np.bincount(documents)[documents])

    def dealt(self, folds: TrainingFolds, order: Array, link: str) -> TrainingFolds:
        """Return folds whose rows, these in an order of theirs, came to clicks."""
        steps = self.told.steps
        clicks = FoldClicks(self.weighed[order], self.rows[order], steps, link, steps.start)
        return replace(folds, clicks=clicks, weights=self.weights[order])


def effects_beside(folds: TrainingFolds, X: Array, l2: float) -> tuple[TrainingFolds, Array]:
    """Find the effects of positions beside some columns, unless they are known.

    Return the folds that know of them, and the covariance of their steps.
    """
    clicks = folds.clicks
    if clicks is None or not clicks.steps.n_steps:
        return folds, np.zeros((0, 0))
    fit = fit_clicks(X, clicks.full, folds.queries, clicks.steps, clicks.link, l2)
    return replace(folds, clicks=replace(clicks, found=fit.steps)), fit.step_covariance
