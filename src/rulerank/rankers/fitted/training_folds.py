"""Training rows as the rounds read them: query by query, the queries dealt to folds, each fold in one piece."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rulerank.dataset import Array, starts_of
from rulerank.rankers.fitted.gradient import add_losses


@dataclass(frozen=True, eq=False)
class TrainingFolds:
    """Rows in the order of their queries; fold f holds out the queries fold_bounds[f] .. fold_bounds[f + 1] - 1."""

    grades: Array  # int16 (n,)
    weights: Array  # float64 (n,), or of size 0
    bounds: Array  # int64 (n_queries + 1,) where each query's rows begin
    fold_bounds: Array  # int64 (n_folds + 1,)

    @property
    def n_folds(self) -> int:
        return self.fold_bounds.size - 1

    @property
    def n_queries(self) -> int:
        return self.bounds.size - 1

    @property
    def queries(self) -> Array:
        """The query of each row."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.bounds))

    def held_out(self, fold: int) -> Array:
        """The queries [a, b) that a fold does not learn from."""
        return self.fold_bounds[fold : fold + 2]

    def learned(self, fold: int) -> Array:
        """The queries [a, b) and [c, d) that a fold learns from."""
        a, b = self.held_out(fold).tolist()
        return np.array([0, a, b, self.n_queries])

    def windows(self, fold: int, n_rows: int) -> Array:
        """Cut what a fold learns from into windows of about n_rows rows, whole queries each, int64 (n_windows, 4)."""
        _, a, b, last = self.learned(fold).tolist()
        queries = np.concatenate([np.arange(a), np.arange(b, last)])
        sizes = np.diff(self.bounds)[queries]
        n_windows = max(1, math.ceil(int(sizes.sum()) / n_rows))
        which = np.minimum((np.cumsum(sizes) - 1) * n_windows // max(1, int(sizes.sum())), n_windows - 1)
        found = np.zeros((n_windows, 4), dtype=np.int64)
        for window in range(n_windows):
            own = queries[which == window]
            for place, part in ((0, own[own < a]), (2, own[own >= b])):
                if part.size:
                    found[window, place : place + 2] = part[0], part[-1] + 1
        return found

    def start_intercepts(self) -> Array:
        """The best intercepts when all scores are equal, infinite where a query and level say nothing."""
        n_levels = max(1, int(self.grades.max(initial=0)))
        found = np.full((self.n_queries, n_levels), np.inf)
        weights = self.weights if self.weights.size else np.ones(self.grades.size)
        queries = self.queries
        for level in range(1, n_levels + 1):
            compared = self.grades <= level
            n = np.bincount(queries, weights * compared, self.n_queries)
            passed = np.bincount(queries, weights * (self.grades == level), self.n_queries)
            told = (passed > 0) & (passed < n)
            found[told, level - 1] = np.log((n[told] - passed[told]) / passed[told])
        return found

    def losses(self, scores: Array, n_steps: int = 20) -> Array:
        """Return the negative log-likelihood of each query, its intercepts at their best."""
        losses, intercepts = np.zeros(self.n_queries), self.start_intercepts()
        for _ in range(n_steps):
            add_losses(scores, self.grades, self.weights, self.bounds, 0, self.n_queries, intercepts, losses)
        return losses


def deal(numbers: Array, grades: Array, weights: Array, n_folds: int, seed: int) -> tuple[Array, TrainingFolds]:
    """Put rows, sorted by query number, in the order of folds: return their places and the folds.

    Queries whose documents all have the same grade say nothing and are left out.

    >>> places, folds = deal(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), np.zeros(0), 2, seed=0)
    >>> places.tolist(), folds.bounds.tolist(), folds.n_folds
    ([0, 1], [0, 2], 1)
    """
    n_queries = int(numbers[-1]) + 1
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    told = np.maximum.reduceat(grades, starts) > np.minimum.reduceat(grades, starts)
    rank = np.empty(n_queries, dtype=np.int64)
    rank[np.random.default_rng(seed).permutation(n_queries)] = np.arange(n_queries)
    places = np.argsort(rank[numbers], kind="stable")
    places = places[told[numbers[places]]]
    own = rank[numbers[places]]
    bounds = starts_of(own)
    n_told = bounds.size - 1
    n_folds = max(1, min(n_folds, n_told))
    fold_bounds = np.array([n_told * fold // n_folds for fold in range(n_folds + 1)], dtype=np.int64)
    return places, TrainingFolds(grades[places], weights[places] if weights.size else weights, bounds, fold_bounds)
