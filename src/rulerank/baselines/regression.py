"""Regression: the grades as numbers, predicted by least squares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh

from rulerank.core.blas import one_blas_thread
from rulerank.core.parameters import Number, Parameter
from rulerank.dataset import Array
from rulerank.rankers.checked import Labelled
from rulerank.rankers.chunks import Chunks, KeptChunks
from rulerank.rankers.linear.likelihood_in_chunks import CHUNK_ROWS
from rulerank.rankers.linear.linear_ranker import ColumnSums, LinearRanker, check_present, fill_missing
from rulerank.rankers.parts import LearnsFromParts, TrainingParts
from rulerank.rankers.training_rows import canonical_order

FLAT = 1e-11  # features whose correlation leaves less than this share are combinations of others but for rounding


class Regression(LearnsFromParts, LinearRanker):
    """Rank documents by a weighted sum of features that is fitted to their grades by least squares.

    The simplest baseline: queries play no part unless features are normalised by query. There is an intercept, which
    scores leave out because it ranks nothing.

    Parameters
    ----------
    l2: adds l2 times the squared weights, each per deviation of its feature, to the sum of squared errors (ridge); it
        means the same whatever the units.
    normalize: put features on one scale by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    missing: what to do with NaN: "error", or "mean" to put the mean of the training rows in its place.
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

    def _learn_parts(self, parts: TrainingParts) -> None:
        chunks = parts.chunked(CHUNK_ROWS).mapped(in_order)
        sums: Sums = chunks.total(Sums.of)
        self._check_largest(sums.largest)
        self._take_missing(sums.columns)
        with one_blas_thread():
            self.coef_ = self._solve(chunks.mapped(partial(present, self.fill_, parts.facts.feature_names)), sums)

    def _weigh(self, X: Array, grades: Array, queries: Array) -> Array:
        rows = Labelled(X, grades, queries, np.unique(queries))
        return self._solve(KeptChunks([rows]), Sums.of(rows))

    def _solve(self, chunks: Chunks, sums: Sums) -> Array:
        """Return the weights, given chunks of rows without missing values."""
        fill = 0.0 if self.fill_ is None else self.fill_
        n_rows, n_missing = sums.columns.n_rows, sums.columns.n_missing
        means = (sums.columns.sums + n_missing * fill) / n_rows
        scale = np.sqrt(chunks.total(partial(squares_of, means)) / n_rows)
        varies = scale > 1e-12 * np.maximum(sums.largest, np.abs(fill))
        factors = np.divide(1.0, scale, out=np.zeros_like(scale), where=varies)
        moments: Moments = chunks.total(partial(Moments.of, means, factors, sums.grades / n_rows))
        squares, directions = eigh(moments.squares)
        shrunk = np.where(squares > FLAT * squares.max(), squares + self.l2, np.inf)
        weights: Array = directions @ ((directions.T @ moments.products) / shrunk)
        return weights * factors


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of the columns; those of two chunks add up."""

    columns: ColumnSums
    largest: Array  # float64 (n_features,) values without their sign
    grades: int

    @classmethod
    def of(cls, data: Labelled) -> Sums:
        """Add up a chunk."""
        largest = np.nanmax(np.abs(data.X), axis=0, initial=0.0).astype(np.float64)
        return cls(ColumnSums.of(data.X), largest, int(data.grades.sum(dtype=np.int64)))

    def __add__(self, other: Sums) -> Sums:
        largest = np.maximum(self.largest, other.largest)
        return Sums(self.columns + other.columns, largest, self.grades + other.grades)


@dataclass(frozen=True, eq=False)
class Moments:
    """Products of columns with each other and with the grades; those of two chunks add up."""

    squares: Array  # float64 (n_features, n_features)
    products: Array  # float64 (n_features,)

    @classmethod
    def of(cls, means: Array, factors: Array, mean_grade: float, data: Labelled) -> Moments:
        """Multiply the columns of a chunk, less their means and times factors."""
        centred = (data.X - means) * factors
        return cls(centred.T @ centred, centred.T @ (data.grades - mean_grade))

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.squares + other.squares, self.products + other.products)


def in_order(data: Labelled) -> Labelled:
    """Return the rows of a chunk in an order that their content alone says."""
    order, queries = canonical_order(data)
    return data._replace(X=data.X[order], grades=data.grades[order], queries=queries)


def present(fill: Array | None, names: tuple[str, ...], data: Labelled) -> Labelled:
    """Return rows without missing values, float64."""
    if fill is None:
        check_present(data.X, names)
    X = data.X if fill is None else fill_missing(data.X, fill)
    return data._replace(X=X.astype(np.float64))


def squares_of(means: Array, data: Labelled) -> Array:
    """Return the sum of the squared differences of each column to its mean."""
    found: Array = np.square(data.X - means).sum(axis=0)
    return found
