"""Regression: the grades as numbers, predicted by least squares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh

from papers.baselines.base import LinearRanker
from rulerank._util.parameters import Number, Parameter
from rulerank.dataset import Array

FLAT = 1e-11  # features whose correlation leaves less than this share are combinations of others but for rounding


class Regression(LinearRanker):
    """Rank documents by a weighted sum of features that is fitted to their grades by least squares.

    The simplest baseline: queries play no part unless features are normalised by query. There is an intercept, which
    scores leave out because it ranks nothing.

    Parameters
    ----------
    l2: adds l2 times the squared weights, each per deviation of its feature, to the sum of squared errors (ridge); it
        means the same whatever the units.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    missing: what to do with NaN: "error", or "mean" to replace it by the mean of the training rows.
    n_jobs: threads; all cores by default. The weights are the same bits whatever the number.

    Attributes
    ----------
    coef_: weight of each feature. A constant feature has 0; features that are combinations of each other share their
        weight so that it is smallest (per deviation).

    Examples
    --------
    >>> X, grades = [[0.0, 7.0], [1.0, 7.0], [2.0, 7.0]], [0, 1, 2]
    >>> Regression().fit(X, grades, qid=["a", "a", "a"]).coef_.round(6).tolist()
    [1.0, 0.0]
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "l2": Number(
            0, 1e12, "what small weights count against the squared errors", meaning="penalty on the squared weights"
        )
    }

    def __init__(
        self, l2: float = 0.0, normalize: str | None = None, missing: str = "error", n_jobs: int | None = None
    ) -> None:
        self.l2 = l2
        self.normalize = normalize
        self.missing = missing
        self.n_jobs = n_jobs

    def _weigh(self, X: Array, grades: Array, queries: Array) -> Array:
        centred = X - X.mean(axis=0)
        scale = np.sqrt(np.square(centred).mean(axis=0))
        varies = scale > 1e-12 * np.abs(X).max(axis=0)
        factors = np.divide(1.0, scale, out=np.zeros_like(scale), where=varies)
        centred *= factors
        squares, directions = eigh(centred.T @ centred)
        shrunk = np.where(squares > FLAT * squares.max(), squares + self.l2, np.inf)
        weights: Array = directions @ ((directions.T @ (centred.T @ (grades - grades.mean()))) / shrunk)
        return weights * factors
