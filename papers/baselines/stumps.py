"""Weak rankers that compare one feature with a threshold: 1 if the value reaches it, else 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from papers.baselines.boosting_kernels import stump_scores
from rulerank._util.loops import in_blocks
from rulerank.dataset import Array
from rulerank.discretize.base import equal_frequency_cuts

MAX_THRESHOLDS = 65_000  # bins are 16 bits
ROWS_PER_THREAD = 2_000


class Stump(NamedTuple):
    """A weak ranker and its weight: `weight` if the feature reaches the threshold, else 0."""

    feature: int
    threshold: float
    missing: int  # what it says of a document that lacks the feature: 1 or 0
    weight: float


@dataclass(frozen=True, slots=True)
class StumpSum:
    """Weighted stumps, in the order they were learned; a document's score is the sum of what they say."""

    features: Array  # int64[n_stumps]
    thresholds: Array  # float64[n_stumps]
    missing: Array  # uint8[n_stumps]
    weights: Array  # float64[n_stumps]

    @classmethod
    def of(cls, stumps: list[Stump]) -> StumpSum:
        """Put stumps together.

        >>> StumpSum.of([Stump(0, 2.5, 0, 1.0), Stump(1, 0.0, 1, 0.5)]).scores(np.array([[3, np.nan], [1, -1]]))
        array([1.5, 0. ])
        """
        columns = list(zip(*stumps, strict=True)) if stumps else [()] * 4
        types = (np.int64, np.float64, np.uint8, np.float64)
        return cls(*(np.array(column, dtype=kind) for column, kind in zip(columns, types, strict=True)))

    def __len__(self) -> int:
        return self.weights.size

    def __getitem__(self, number: int) -> Stump:
        return Stump(*(column[number].item() for column in self._columns()))

    def first(self, n: int) -> StumpSum:
        """Return the first n stumps."""
        return StumpSum(*(column[:n] for column in self._columns()))

    def says(self, number: int, X: Array) -> Array:
        """Return what one stump says of each row, 0 or 1."""
        values = X[:, self.features[number]]
        return np.where(np.isnan(values), self.missing[number], values >= self.thresholds[number]).astype(np.float64)

    def scores(self, X: Array, n_jobs: int | None = None) -> Array:
        """Return the sum for each row."""
        out = np.empty(len(X))

        def work(start: int, stop: int) -> None:
            stump_scores(X[start:stop], *self._columns(), out[start:stop])

        in_blocks(work, len(X), n_jobs, min_block=ROWS_PER_THREAD)
        return out

    def _columns(self) -> tuple[Array, Array, Array, Array]:
        return self.features, self.thresholds, self.missing, self.weights


@dataclass(frozen=True, slots=True)
class Columns:
    """Features cut at thresholds. One with missing values appears twice: as if they were lowest, and highest."""

    bins: Array  # uint16[n_columns, n_rows] how many thresholds the value reaches
    features: Array  # int64[n_columns]
    missing: Array  # uint8[n_columns] what a stump says of missing values
    thresholds: tuple[Array, ...]  # ascending

    @property
    def n_bins(self) -> int:
        """How many different bins there are at most."""
        return 1 + max((cuts.size for cuts in self.thresholds), default=0)

    def stump(self, column: int, bin: int, weight: float) -> Stump:
        """Return the stump that says 1 from this bin on."""
        threshold = float(self.thresholds[column][bin - 1])
        return Stump(int(self.features[column]), threshold, int(self.missing[column]), weight)


def cut_columns(X: Array, n_thresholds: int, n_jobs: int | None = None) -> Columns:
    """Cut each feature at n_thresholds at most, so that the parts hold equally many rows.

    >>> columns = cut_columns(np.array([[1.0, np.nan], [2.0, 5.0], [4.0, 5.0]]), 9)
    >>> columns.features.tolist(), columns.missing.tolist(), columns.bins.tolist()
    ([0, 1, 1], [0, 0, 1], [[0, 1, 2], [0, 1, 1], [0, 0, 0]])
    >>> [cuts.tolist() for cuts in columns.thresholds]
    [[1.5, 3.0], [-inf], []]
    """
    n_features = X.shape[1]
    found: list[list[tuple[int, Array, Array]]] = [[] for _ in range(n_features)]

    def work(start: int, stop: int) -> None:
        for feature in range(start, stop):
            values = X[:, feature].astype(np.float64)
            absent = np.isnan(values)
            cuts = equal_frequency_cuts(values, n_thresholds + 1)
            bins = np.searchsorted(cuts, values, side="right").astype(np.uint16)
            if absent.any():  # being there at all is a threshold too
                low = np.where(absent, 0, bins + 1).astype(np.uint16)
                found[feature].append((0, low, np.concatenate([[-np.inf], cuts])))
                found[feature].append((1, np.where(absent, cuts.size, bins).astype(np.uint16), cuts))
            else:
                found[feature].append((0, bins, cuts))

    in_blocks(work, n_features, n_jobs)
    columns = [(feature, *column) for feature, part in enumerate(found) for column in part]
    return Columns(
        np.array([bins for _, _, bins, _ in columns], dtype=np.uint16).reshape(len(columns), len(X)),
        np.array([feature for feature, *_ in columns], dtype=np.int64),
        np.array([missing for _, missing, _, _ in columns], dtype=np.uint8),
        tuple(cuts for *_, cuts in columns),
    )
