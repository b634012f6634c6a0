"""Preparation of features before training: normalisation by query, and numbers for missing values.

Raw features of different queries are not comparable.

X        float[n_rows, n_features]  NaN = missing
order    int64[n_rows]              rows sorted by query
bounds   int64[n_queries + 1]       where each query's rows begin in order
out      float64[n_rows, n_features]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank._util.loops import compiled, in_blocks, sort_places
from rulerank._util.parameters import Word
from rulerank.dataset import Array
from rulerank.errors import DataError

NORMALIZATIONS = ("minmax", "rank", "zscore")
NORMALIZE = Word(NORMALIZATIONS, meaning="normalisation of features by query", none="no normalisation")
LISTED = 5  # features named in a message


def normalize_by_query(
    X: Array, queries: Array, how: str, n_jobs: int | None = None, codes: Sequence[int] = ()
) -> Array:
    """Normalise every feature by query; missing values stay missing, constant ones become 0.

    minmax: from 0 to 1. rank: share of the query's documents below, ties in the middle. zscore: mean 0, deviation 1.
    codes: columns that stay as they are: codes of categories.

    >>> X = np.array([[1.0], [3.0], [5.0], [10.0]])
    >>> normalize_by_query(X, np.array([0, 0, 0, 1]), "minmax").ravel().tolist()
    [0.0, 0.5, 1.0, 0.0]
    """
    if how not in NORMALIZATIONS:
        raise DataError(f"unknown normalize {how!r}; choose from None, {', '.join(NORMALIZATIONS)}")
    order = np.argsort(queries, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(queries))])
    out = np.empty(X.shape, dtype=np.float64)
    kernel = {"minmax": scale_minmax, "rank": scale_rank, "zscore": scale_zscore}[how]

    def work(first: int, last: int) -> None:
        kernel(X, order, bounds, first, last, out)

    in_blocks(work, bounds.size - 1, n_jobs, min_block=8)
    out[:, [*codes]] = X[:, [*codes]]
    return out


@compiled
def scale_minmax(X: Array, order: Array, bounds: Array, first: int, last: int, out: Array) -> None:
    for q in range(first, last):
        for f in range(X.shape[1]):
            low = math.inf
            high = -math.inf
            for i in range(bounds[q], bounds[q + 1]):
                value = X[order[i], f]
                if value < low:
                    low = value
                if value > high:
                    high = value
            for i in range(bounds[q], bounds[q + 1]):
                row = order[i]
                if math.isnan(X[row, f]):
                    out[row, f] = math.nan
                else:  # halved first: the range itself could overflow
                    out[row, f] = (0.5 * X[row, f] - 0.5 * low) / (0.5 * high - 0.5 * low) if high > low else 0.0


@compiled
def scale_zscore(X: Array, order: Array, bounds: Array, first: int, last: int, out: Array) -> None:
    for q in range(first, last):
        for f in range(X.shape[1]):
            n = 0
            largest = 0.0
            for i in range(bounds[q], bounds[q + 1]):
                if not math.isnan(X[order[i], f]):
                    n += 1
                    largest = max(largest, abs(float(X[order[i], f])))
            scale = largest if largest > 0.0 else 1.0  # squares of tiny and of huge values would not be numbers
            mean = 0.0
            for i in range(bounds[q], bounds[q + 1]):
                if not math.isnan(X[order[i], f]):
                    mean += X[order[i], f] / scale / n
            squares = 0.0
            for i in range(bounds[q], bounds[q + 1]):
                if not math.isnan(X[order[i], f]):
                    squares += (X[order[i], f] / scale - mean) ** 2
            deviation = math.sqrt(squares / n) if n else 0.0
            constant = deviation <= 1e-12  # a constant column whose mean is rounded must not blow up into noise
            for i in range(bounds[q], bounds[q + 1]):
                row = order[i]
                if math.isnan(X[row, f]):
                    out[row, f] = math.nan
                else:
                    out[row, f] = 0.0 if constant else (X[row, f] / scale - mean) / deviation


@compiled
def scale_rank(X: Array, order: Array, bounds: Array, first: int, last: int, out: Array) -> None:
    for q in range(first, last):
        for f in range(X.shape[1]):
            values = np.empty(bounds[q + 1] - bounds[q], dtype=np.float64)
            n = 0
            for i in range(bounds[q], bounds[q + 1]):
                out[order[i], f] = math.nan
                if not math.isnan(X[order[i], f]):
                    values[n] = X[order[i], f]
                    n += 1
            places = np.empty(n, dtype=np.int64)
            sort_places(values, places)
            ranks = np.empty(n, dtype=np.float64)
            start = 0
            while start < n:
                stop = start
                while stop < n and values[places[stop]] == values[places[start]]:
                    stop += 1
                for place in range(start, stop):  # as many below as above: in the middle
                    ranks[places[place]] = 0.5 + (start - (n - stop)) / (2.0 * (n - 1)) if stop - start < n else 0.0
                start = stop
            known = 0
            for i in range(bounds[q], bounds[q + 1]):
                if not math.isnan(X[order[i], f]):
                    out[order[i], f] = ranks[known]
                    known += 1


def check_present(X: Any, feature_names: tuple[str, ...]) -> None:
    """Refuse NaN."""
    missing = count_missing(X)
    lacking = [name for name, n in zip(feature_names, missing, strict=True) if n]
    if lacking:
        shown = ", ".join(lacking[:LISTED]) + (", ..." if len(lacking) > LISTED else "")
        raise DataError(
            f"{missing.sum():,} values are missing (NaN), in {len(lacking)} of {len(feature_names)} features: {shown}; "
            'give missing="mean" (train --set missing=mean) to replace them by the mean of the training rows, or fill '
            "them first, for example with scikit-learn's SimpleImputer"
        )


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """Sums of the values of each feature that are there; those of two groups of rows add up."""

    sums: Array  # float64 (n_features,)
    n_missing: Array  # int64 (n_features,)
    n_rows: int

    @classmethod
    def of(cls, X: Any) -> ColumnSums:
        """Add up an array."""
        n_missing = count_missing(X)
        sums = np.asarray(
            np.nansum(X, axis=0, dtype=np.float64) if n_missing.any() else X.sum(axis=0, dtype=np.float64)
        )
        return cls(sums, n_missing, len(X))

    def __add__(self, other: ColumnSums) -> ColumnSums:
        return ColumnSums(self.sums + other.sums, self.n_missing + other.n_missing, self.n_rows + other.n_rows)

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
    missing = np.isnan(X)
    if missing.any():
        X = X.copy()
        X[missing] = fill[np.nonzero(missing)[1]]
    return X


def count_missing(X: Any) -> Array:
    """Return how many values of each feature are NaN."""
    if not np.isnan(X.sum(dtype=np.float64)):  # needs no memory; a NaN never gets lost in a sum
        return np.zeros(X.shape[1], dtype=np.int64)
    return np.isnan(X).sum(axis=0)
