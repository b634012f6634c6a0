"""EBM: the explainable boosting machine of the interpret library, which knows grades and no queries."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from papers.baselines.library_ranker import LibraryRanker, Rows, library
from rulerank._util.parameters import Parameter, Whole
from rulerank.dataset import Array


class EBM(LibraryRanker):
    """Rank by a boosted sum of functions of one feature and of a few pairs, fitted to grades by least squares.

    Needs the extra `compare` (interpret-core). interpret has no ranking: this is its regressor, whose bags are made by
    query here. Each bag stops on the queries that it leaves out, so that `vali` has nothing to say.

    Parameters
    ----------
    max_pairs: pairs of features at most.
    n_bags: how many models are averaged.
    seed: random seed of the split into parts.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    n_jobs: processes; all cores by default.

    Attributes
    ----------
    model_: the regressor of interpret.

    Examples
    --------
    >>> from rulerank.datasets.ranking import make_ranking
    >>> synthetic = make_ranking(n_queries=6, docs_per_query=10, n_features=3)
    >>> EBM(max_pairs=1, n_bags=2, n_jobs=1).fit(synthetic).predict(synthetic).shape
    (60,)
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "max_pairs": Whole(0, meaning="pairs of features at most"),
        "n_bags": Whole(1, 100, meaning="how many models are averaged"),
        "seed": Whole(0, meaning="random seed of the split"),
    }

    model_: Any

    def __init__(
        self,
        max_pairs: int = 20,
        n_bags: int = 5,
        seed: int = 0,
        normalize: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_pairs = max_pairs
        self.n_bags = n_bags
        self.seed = seed
        self.normalize = normalize
        self.n_jobs = n_jobs

    def _learn_rows(self, rows: Rows, held_out: Rows | None) -> None:
        glassbox = library("interpret.glassbox", "interpret-core")
        n_queries = rows.sizes.size
        part = (np.random.default_rng(self.seed).permutation(n_queries) % self.n_bags)[rows.queries]
        bags = np.where(part[:, None] == np.arange(self.n_bags), -1, 1).astype(np.int8)  # -1: to stop on
        apart = self.n_bags > 1 and n_queries >= self.n_bags
        made = glassbox.ExplainableBoostingRegressor(
            interactions=self.max_pairs,
            outer_bags=self.n_bags,
            n_jobs=-1 if self.n_jobs is None else self.n_jobs,
            random_state=self.seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about pictures of missing values, which nobody draws here
            self.model_ = made.fit(rows.X, rows.grades.astype(np.float64), bags=bags if apart else None)

    def _score(self, X: Array) -> Array:
        return np.asarray(self.model_.predict(X), dtype=np.float64)
