"""What linear rankers share: weights, scores, missing values, the model file, a table of coefficients to be read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from rulerank.core.parameters import Parameter, Word
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.rankers.base import Ranker
from rulerank.rankers.chunks import Summable
from rulerank.rankers.linear.kernels import dense_scores
from rulerank.render.document import Bar, Content, Table
from rulerank.render.html import html_table
from rulerank.render.text import plain_table
from rulerank.rules.additive import AdditiveTables, Contributions

MISSING = ("error", "mean")
ROWS_PER_THREAD = 20_000
LISTED = 5  # features named in a message
HEADER = ("feature", "coefficient", "std. error", "z", "p", "effect")


class WeightedSum(Ranker):
    """Base of rankers whose score is a weighted sum of features, `X @ coef_`, however the weights are found."""

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "missing": Word(MISSING, meaning="what to do with NaN: an error, or the mean of the training rows in its place")
    }

    base_text: ClassVar[str] = "where every linear score starts"

    missing: str

    coef_: Array  # (n_features,)
    fill_: Array | None  # what stands for a missing value of each feature
    n_missing_: int

    def as_tables(self) -> AdditiveTables:
        """Return the fitted model as weights alone."""
        return AdditiveTables(0.0, (), self._weighed_names, weights=self.coef_, fill=self.fill_)

    def checked_contributions(self, X: Any, queries: Array | None = None) -> Contributions:
        """Return weight times value of each feature, nothing missing."""
        return super().checked_contributions(self._present(X), queries)

    def _score(self, X: Any) -> Array:
        X = self._present(X)
        scores = np.empty(X.shape[0])
        if issparse(X):
            scores[:] = X @ self.coef_
            return scores

        def work(start: int, stop: int) -> None:
            dense_scores(X[start:stop], self.coef_, scores[start:stop])

        in_blocks(work, scores.size, self.n_jobs, min_block=ROWS_PER_THREAD)
        return scores

    def _learn_missing(self, X: Any) -> None:
        """Find what stands for missing values."""
        self._take_missing(ColumnSums.of(X))

    def _take_missing(self, sums: ColumnSums) -> None:
        # as float32, in which rows may come: a missing value then counts the same whatever the type of X
        self.fill_ = sums.means().astype(np.float32).astype(np.float64) if self.missing == "mean" else None
        self.n_missing_ = int(sums.n_missing.sum())

    def _present(self, X: Any) -> Any:
        """Return X without missing values."""
        if self.fill_ is not None:
            return fill_missing(X, self.fill_)
        check_present(X, self._weighed_names)
        return X

    @property
    def _weighed_names(self) -> tuple[str, ...]:
        """The names of the columns that have weights."""
        return self.feature_names_

    def _learned_state(self) -> dict[str, Any]:
        return {"coef": self.coef_, "fill": self.fill_, "n_missing": self.n_missing_}

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._check_shapes(state, "coef", "fill")
        self.coef_, self.fill_, self.n_missing_ = state["coef"], state["fill"], state["n_missing"]

    def _check_shapes(self, state: dict[str, Any], *names: str) -> None:
        shape = (len(self._weighed_names),)
        for name in names:
            if state[name] is not None and state[name].shape != shape:
                raise DataError(f"expected {shape[0]} numbers as {name}, one per feature: got {state[name].shape}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags


def check_present(X: Any, feature_names: tuple[str, ...]) -> None:
    """Refuse NaN in an array or a CSR matrix."""
    missing = count_missing(X)
    lacking = [name for name, n in zip(feature_names, missing, strict=True) if n]
    if lacking:
        shown = ", ".join(lacking[:LISTED]) + (", ..." if len(lacking) > LISTED else "")
        raise DataError(
            f"{missing.sum():,} values are missing (NaN), in {len(lacking)} of {len(feature_names)} features: {shown}; "
            'give missing="mean" to put the mean of the training rows in their place, or fill them before, '
            "for example with scikit-learn's SimpleImputer"
        )


@dataclass(frozen=True, eq=False)
class ColumnSums(Summable):
    """Sums of the values of each feature that are there; those of two groups of rows add up."""

    sums: Array  # float64 (n_features,)
    n_missing: Array  # int64 (n_features,)
    n_rows: int

    @classmethod
    def of(cls, X: Any) -> ColumnSums:
        """Add up an array or a CSR matrix; what is not stored is 0."""
        n_rows, n_features = X.shape
        n_missing = count_missing(X)
        if issparse(X):
            sums = np.bincount(X.indices, weights=np.nan_to_num(X.data, nan=0.0), minlength=n_features)
        elif not n_missing.any():
            sums = X.sum(axis=0, dtype=np.float64)
        else:
            sums = np.nansum(X, axis=0, dtype=np.float64)
        return cls(sums, n_missing, n_rows)

    def means(self) -> Array:
        """Return each feature's mean over the rows that have it, 0 when none does.

        >>> ColumnSums.of(np.array([[1.0, np.nan], [2.0, np.nan]])).means().tolist()
        [1.5, 0.0]
        """
        found: Array = self.sums / np.maximum(self.n_rows - self.n_missing, 1)
        return found


def fill_missing(X: Any, fill: Array) -> Any:
    """Return X with a feature's number of `fill` in place of NaN; X itself when nothing is missing.

    >>> fill_missing(np.array([[1.0, np.nan]]), np.array([5.0, 6.0])).tolist()
    [[1.0, 6.0]]
    """
    missing = np.isnan(X.data if issparse(X) else X)
    if not missing.any():
        return X
    X = X.copy()
    if issparse(X):
        X.data[missing] = fill[X.indices[missing]]
    else:
        X[missing] = fill[np.nonzero(missing)[1]]
    return X


def count_missing(X: Any) -> Array:
    """Return how many values of each feature are NaN."""
    if issparse(X):
        return np.bincount(X.indices[np.isnan(X.data)], minlength=X.shape[1])
    if not np.isnan(X.sum(dtype=np.float64)):  # needs no memory; a NaN never gets lost in a sum
        return np.zeros(X.shape[1], dtype=np.int64)
    return np.isnan(X).sum(axis=0)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """What one feature counts for.

    >>> bm25 = Coefficient("bm25", value=0.5, error=0.125, deviation=3.0)
    >>> bm25.effect, bm25.z, round(bm25.p, 5)
    (1.5, 4.0, 6e-05)
    """

    feature: str
    value: float  # per unit of the feature
    error: float  # standard error, NaN when the data do not determine this coefficient alone
    deviation: float  # standard deviation of the feature within queries

    @property
    def effect(self) -> float:
        """What one standard deviation of the feature adds to the score: comparable between features."""
        return self.value * self.deviation

    @property
    def z(self) -> float:
        return self.value / self.error if self.error else math.nan

    @property
    def p(self) -> float:
        """The chance of so large a z if the true coefficient were 0."""
        return math.erfc(abs(self.z) / math.sqrt(2))


@dataclass(frozen=True)
class Coefficients:
    """A linear ranker's coefficients, the largest effect first."""

    rows: tuple[Coefficient, ...]
    note: str  # how they came about

    @classmethod
    def of(cls, names: Sequence[str], values: Array, errors: Array, deviations: Array, note: str) -> Coefficients:
        """Put them in order."""
        columns = names, values.tolist(), errors.tolist(), deviations.tolist()
        rows = [Coefficient(*row) for row in zip(*columns, strict=True)]
        return cls(tuple(sorted(rows, key=lambda row: -abs(row.effect))), note)

    def __repr__(self) -> str:
        return f"{plain_table(HEADER, self._cells())}\n{self.note}"

    def _repr_html_(self) -> str:
        largest = max((abs(row.effect) for row in self.rows), default=0.0)
        rows: list[tuple[Content, ...]] = [
            (*cells[:-1], Bar(row.effect, largest)) for row, cells in zip(self.rows, self._cells(), strict=True)
        ]
        return html_table(Table("", HEADER, tuple(rows), note=self.note))

    def _cells(self) -> list[list[str]]:
        return [
            [
                row.feature,
                f"{row.value:.4g}",
                _shown(row.error, ".4g"),
                _shown(row.z, ".2f"),
                _shown(row.p, ".4f") if not row.p < 1e-4 else "<0.0001",
                f"{row.effect:.4f}",
            ]
            for row in self.rows
        ]


def _shown(number: float, form: str) -> str:
    return "-" if math.isnan(number) else format(number, form)
