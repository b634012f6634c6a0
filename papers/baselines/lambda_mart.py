"""LambdaMART: boosted regression trees, grown by LightGBM."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning

from papers.baselines.base import informative_queries
from papers.baselines.library_ranker import LibraryRanker, Rows, library, predicted
from rulerank._util.parameters import Number, Parameter, Whole
from rulerank.dataset import Array
from rulerank.errors import TooLargeError
from rulerank.rankers.rows import NOTHING

MOST_LEAVES = 131_072  # LightGBM takes no more
MOST_DOCS = 10_000  # of a query; LightGBM takes no more


class LambdaMART(LibraryRanker):
    """Rank documents by a sum of decision trees, each grown to raise NDCG: C. Burges (2010), as LightGBM has it.

    Needs the extra `compare`. Missing values (NaN) are sent to the better
    side of every split. The same rows, in any order, give the same trees, whatever the number of threads.

    Parameters
    ----------
    n_trees: trees at most. The defaults of this and of the next three are LightGBM's.
    n_leaves: leaves of a tree at most.
    learning_rate: share of each tree that counts.
    min_docs: documents in a leaf at least.
    patience: with `fit(..., vali=data)`, trees that may fail to raise NDCG@10 there before growing stops; those after
        the best are dropped.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    n_jobs: threads; all cores by default.

    Attributes
    ----------
    booster_: the model of LightGBM.
    n_trees_: how many there are.

    Examples
    --------
    >>> from rulerank.datasets.ranking import make_ranking
    >>> from rulerank.dataset import make_folds
    >>> fold = make_folds(make_ranking(n_queries=50))[0]
    >>> LambdaMART(n_leaves=7).fit(fold.train, vali=fold.vali).predict(fold.test).shape
    (389,)
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "n_trees": Whole(1, meaning="trees at most"),
        "n_leaves": Whole(2, MOST_LEAVES, meaning="leaves of a tree at most"),
        "learning_rate": Number(
            1e-6, 1, "the share of each tree that counts", meaning="share of each tree that counts"
        ),
        "min_docs": Whole(1, meaning="documents in a leaf at least"),
        "patience": Whole(1, meaning="trees that may fail to help on vali before growing stops"),
    }

    booster_: Any
    n_trees_: int

    def __init__(
        self,
        n_trees: int = 100,
        n_leaves: int = 31,
        learning_rate: float = 0.1,
        min_docs: int = 20,
        patience: int = 50,
        normalize: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.min_docs = min_docs
        self.patience = patience
        self.normalize = normalize
        self.n_jobs = n_jobs

    def _learn_rows(self, rows: Rows, held_out: Rows | None) -> None:
        lightgbm = library("lightgbm", "lightgbm")
        if not informative_queries(rows.grades, rows.queries).any():
            message = f"no query has documents of more than one grade: {NOTHING}"
            warnings.warn(message, ConvergenceWarning, stacklevel=5)
        train = _grouped(lightgbm, rows)
        booster = lightgbm.train(
            self._lightgbm_params(len(rows.X)),
            train,
            self.n_trees,
            valid_sets=[] if held_out is None else [_grouped(lightgbm, held_out, train)],
            callbacks=[] if held_out is None else [lightgbm.early_stopping(self.patience, verbose=False)],
        )
        self.booster_ = booster
        self.n_trees_ = booster.best_iteration or booster.num_trees()

    def _score(self, X: Array) -> Array:
        return predicted(self.booster_, X)


def _grouped(lightgbm: Any, rows: Rows, reference: Any = None) -> Any:
    """Return rows that lie together by query as LightGBM takes them."""
    sizes = rows.sizes
    if sizes.max() > MOST_DOCS:
        raise TooLargeError(
            f"LightGBM ranks at most {MOST_DOCS:,} documents of a query: one has {sizes.max():,}; "
            "leave out those that no simpler ranker puts among the best"
        )
    return lightgbm.Dataset(rows.X, rows.grades, group=sizes, reference=reference)
