"""CatBoost's ranker with its YetiRank loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from papers.baselines.library_ranker import LibraryRanker, Rows, library
from rulerank._util.parameters import Number, Parameter, Whole
from rulerank.dataset import Array


class YetiRank(LibraryRanker):
    """Rank by boosted symmetric trees: A. Gulin, I. Kuralenok and D. Pavlov (2011), as CatBoost has it.

    Needs the extra `compare` (catboost).

    Parameters
    ----------
    n_trees: trees at most.
    depth: splits from the root to a leaf.
    learning_rate: share of each tree that counts.
    patience: with `fit(..., vali=data)`, trees that may fail to raise NDCG@10 there before growing stops.
    seed: of the random permutations that the loss is made of.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    n_jobs: threads; all cores by default.

    Attributes
    ----------
    model_: the model of CatBoost.

    Examples
    --------
    >>> from rulerank.datasets.ranking import make_ranking
    >>> from rulerank.dataset import make_folds
    >>> fold = make_folds(make_ranking(n_queries=20))[0]
    >>> YetiRank(n_trees=20).fit(fold.train, vali=fold.vali).predict(fold.test).shape == (len(fold.test),)
    True
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "n_trees": Whole(1, meaning="trees at most"),
        "depth": Whole(1, 16, meaning="splits from the root to a leaf"),
        "learning_rate": Number(1e-6, 1, meaning="share of each tree that counts"),
        "patience": Whole(1, meaning="trees that may fail to help on vali before growing stops"),
        "seed": Whole(0, meaning="of the random permutations that the loss is made of"),
    }

    model_: Any

    def __init__(
        self,
        n_trees: int = 500,
        depth: int = 6,
        learning_rate: float = 0.06,
        patience: int = 50,
        seed: int = 0,
        normalize: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.depth = depth
        self.learning_rate = learning_rate
        self.patience = patience
        self.seed = seed
        self.normalize = normalize
        self.n_jobs = n_jobs

    def _learn_rows(self, rows: Rows, held_out: Rows | None) -> None:
        catboost = library("catboost", "catboost")
        made = catboost.CatBoostRanker(
            loss_function="YetiRank",
            eval_metric="NDCG:top=10",
            iterations=self.n_trees,
            depth=self.depth,
            learning_rate=self.learning_rate,
            early_stopping_rounds=self.patience,
            random_seed=self.seed,
            thread_count=self._threads(len(rows.X)),
            allow_writing_files=False,
            verbose=False,
        )
        train, vali = (
            None if part is None else catboost.Pool(part.X, part.grades, group_id=part.queries)
            for part in (rows, held_out)
        )
        self.model_ = made.fit(train, eval_set=vali)

    def _score(self, X: Array) -> Array:
        return np.asarray(self.model_.predict(X), dtype=np.float64)
