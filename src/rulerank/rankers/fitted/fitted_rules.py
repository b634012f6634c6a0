"""FittedRules: the score is a sum of votes, one of each table of rules, and every vote is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from rulerank.core.parameters import Parameter, Steps, Whole, Word
from rulerank.dataset import Array
from rulerank.normalize import NORMALIZATIONS
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.fitted.bins import MAX_BINS, Axis, bins_on, find_axes
from rulerank.rankers.fitted.fit import (
    Stage,
    boosted,
    chosen_sets,
    linear_stage,
    pair_candidates,
    straight_line,
    triple_candidates,
)
from rulerank.rankers.fitted.settings import FEW_LABELS, FEW_QUERIES, Settings
from rulerank.rankers.fitted.terms import Terms, lay_out
from rulerank.rankers.fitted.training_folds import TrainingFolds, deal
from rulerank.rankers.training_rows import canonical_order
from rulerank.rules.additive import AdditiveTables, Table


class FittedRules(Ranker):
    """Rank documents by the sum of one fitted vote for every rule.

    score = base + a vote of each feature's bin + a vote of the bins of a few chosen pairs of features.
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "max_pairs": Whole(0, 10_000, meaning="pairs of features with a table of their own at most"),
        "max_size": Whole(1, 3, meaning="features of a rule at most"),
        "n_folds": Whole(2, 100, meaning="parts of the queries; each is held out once to tell when to stop"),
        "seed": Steps(0, most=2**32 - 1, meaning="another seed deals the queries differently"),
    }

    tables_: AdditiveTables

    def __init__(
        self,
        max_pairs: int = 30,
        max_size: int = 2,
        normalize: str | None = None,
        n_folds: int = 5,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.max_pairs = max_pairs
        self.max_size = max_size
        self.normalize = normalize
        self.n_folds = n_folds
        self.seed = seed
        self.n_jobs = n_jobs

    def _learn(self, data: Labelled) -> None:
        order, numbers = canonical_order(data)
        X, grades = data.X[order], data.grades[order]
        monotone = np.zeros(X.shape[1], dtype=np.int64)
        places, folds = deal(numbers, grades, np.zeros(0), self.n_folds, self.seed)
        few = grades.size < FEW_LABELS or folds.n_queries < FEW_QUERIES
        settings = Settings.of(places.size)
        axes = find_axes(X, MAX_BINS // 2 if few else settings.n_bins, self.n_jobs)
        X = X[places]
        bins = bins_on(X, axes, self.n_jobs)
        if few:
            terms, votes, spread = straight_line(X, bins, axes, folds, monotone)
        else:
            stage = self._stages(X, bins, axes, folds, monotone, settings)
            terms, votes, spread = stage.terms, stage.votes.mean(axis=0), stage.votes.std(axis=0)
            self.stage_ = stage
        self.tables_ = _tables(terms, votes, spread, self.feature_names_)

    def _stages(
        self, X: Array, bins: Array, axes: list[Axis], folds: TrainingFolds, monotone: Array, settings: Settings
    ) -> Stage:
        stage = linear_stage(X, bins, axes, folds, monotone, self.n_jobs)
        stage = boosted(stage, stage.terms, folds, settings, self.n_jobs)
        if self.max_size < 2 or not self.max_pairs:
            return stage
        pairs = chosen_sets(stage, folds, pair_candidates(stage), settings, self.max_pairs, self.n_jobs)
        if pairs:
            higher = [(pair, settings.pair_bins) for pair in pairs]
            stage = boosted(stage, lay_out(bins, axes, monotone, higher), folds, settings, self.n_jobs)
        return stage

    def _score(self, X: Array) -> Array:
        return self.tables_.score(X, self.n_jobs)

    def _learned_state(self) -> dict[str, Any]:
        return {"tables": self.tables_.to_state()}

    def _take_learned(self, state: dict[str, Any]) -> None:
        self.tables_ = AdditiveTables.from_state(state["tables"], self.feature_names_)


def _tables(terms: Terms, votes: Array, spread: Array, feature_names: tuple[str, ...]) -> AdditiveTables:
    """Put the fitted votes into tables, centred; a table that says nothing is left out."""
    tables, shares = [], []
    for t, features in enumerate(terms.sets):
        own = terms.votes_of(votes, t)
        cells = (*terms.singles, *terms.higher)[t]
        counts = np.bincount(cells, minlength=own.size).reshape(own.shape).astype(np.float64)
        if not np.any(own[counts > 0]):
            continue
        own = np.where(_seen(counts), own, (own * counts).sum() / counts.sum())
        cuts = tuple(axis.cuts for axis in terms.axes[t])
        tables.append(Table(features, cuts, own, terms.votes_of(spread, t).copy()))
        shares.append(counts)
    return AdditiveTables(0.0, tuple(tables), feature_names).on_grid(shares)


def _seen(counts: Array) -> Array:
    """Tell which cells have bins of which each was seen in training; the others say nothing either way."""
    seen = np.ones(counts.shape, dtype=bool)
    for axis in range(counts.ndim):
        line = counts.sum(axis=tuple(other for other in range(counts.ndim) if other != axis)) > 0
        seen &= line.reshape([-1 if other == axis else 1 for other in range(counts.ndim)])
    return seen
