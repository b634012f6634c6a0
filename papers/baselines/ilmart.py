"""A glass-box LambdaMART as ILMART has it: trees of one feature, then trees of a few chosen pairs, by LightGBM.

Our reading of the paper (C. Lucchese, F. M. Nardini, S. Orlando, R. Perego and A. Veneri, SIGIR 2022), not its code,
which needs a patched LightGBM. LightGBM's own constraint holds for a path from the root, not for a tree: two paths of a
tree may then use different pairs, and the score is a sum of functions of at most two features all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from papers.baselines.library_ranker import LibraryRanker, Rows, library, predicted
from rulerank._util.parameters import Number, Parameter, Whole
from rulerank.dataset import Array

Pair = tuple[int, int]
SCREENING_TREES = 100  # trees of two splits, whose gains tell which pairs are worth having


class ILMARTLike(LibraryRanker):
    """Rank by a sum of functions of one feature and of at most `max_pairs` pairs, grown by LightGBM to raise NDCG.

    Needs the extra `compare`. First trees of one feature each; then trees of two splits, grown from there without a
    constraint, show which pairs gain most; then trees of these pairs, and of single features, go on from the first.

    Parameters
    ----------
    n_trees: trees at most in each of the two steps that count.
    n_leaves: leaves of a tree at most.
    learning_rate: share of each tree that counts.
    min_docs: documents in a leaf at least.
    max_pairs: pairs at most; 0 for single features alone.
    patience: with `fit(..., vali=data)`, trees that may fail to raise NDCG@10 there before growing stops.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    n_jobs: threads; all cores by default.

    Attributes
    ----------
    pairs_: the chosen pairs, as column numbers, the one with the greatest gain first.
    boosters_: the models of LightGBM, one per step.

    Examples
    --------
    >>> from rulerank.datasets.ranking import make_ranking
    >>> from rulerank.dataset import make_folds
    >>> fold = make_folds(make_ranking(n_queries=50))[0]
    >>> ranker = ILMARTLike(n_trees=50, max_pairs=5).fit(fold.train, vali=fold.vali)
    >>> len(ranker.pairs_), len(ranker.boosters_), ranker.predict(fold.test).shape
    (5, 2, (389,))
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "n_trees": Whole(1, meaning="trees at most, in each step"),
        "n_leaves": Whole(2, 131_072, meaning="leaves of a tree at most"),
        "learning_rate": Number(1e-6, 1, meaning="share of each tree that counts"),
        "min_docs": Whole(1, meaning="documents in a leaf at least"),
        "max_pairs": Whole(0, meaning="pairs of features at most"),
        "patience": Whole(1, meaning="trees that may fail to help on vali before growing stops"),
    }

    pairs_: list[Pair]
    boosters_: list[Any]

    def __init__(
        self,
        n_trees: int = 500,
        n_leaves: int = 7,
        learning_rate: float = 0.1,
        min_docs: int = 20,
        max_pairs: int = 30,
        patience: int = 50,
        normalize: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.min_docs = min_docs
        self.max_pairs = max_pairs
        self.patience = patience
        self.normalize = normalize
        self.n_jobs = n_jobs

    def _learn_rows(self, rows: Rows, held_out: Rows | None) -> None:
        lightgbm = library("lightgbm", "lightgbm")
        singles: list[list[int]] = [[feature] for feature in range(rows.X.shape[1])]
        first = self._grow(lightgbm, rows, held_out, [], interaction_constraints=singles)
        self.pairs_, self.boosters_ = [], [first]
        if not self.max_pairs or len(singles) < 2:
            return
        probe = self._grow(lightgbm, rows, None, [first], n_trees=SCREENING_TREES, num_leaves=3, screening=True)
        self.pairs_ = [pair for pair, _ in probe.most_common(self.max_pairs)]
        if self.pairs_:
            allowed = [*singles, *map(list, self.pairs_)]
            second = self._grow(lightgbm, rows, held_out, [first], interaction_constraints=allowed)
            self.boosters_ = [first, second]

    def _grow(
        self,
        lightgbm: Any,
        rows: Rows,
        held_out: Rows | None,
        before: list[Any],
        *,
        n_trees: int | None = None,
        screening: bool = False,
        **params: Any,
    ) -> Any:
        """Grow trees on top of those before; return them, or, for screening, the gain of each pair in them."""
        start, start_held_out = (None if part is None else summed(before, part.X) for part in (rows, held_out))
        train = lightgbm.Dataset(rows.X, rows.grades, group=rows.sizes, init_score=start)
        valid = []
        if held_out is not None:
            valid = [train.create_valid(held_out.X, held_out.grades, group=held_out.sizes, init_score=start_held_out)]
        booster = lightgbm.train(
            self._lightgbm_params(len(rows.X)) | params,
            train,
            n_trees or self.n_trees,
            valid_sets=valid,
            callbacks=[lightgbm.early_stopping(self.patience, verbose=False)] if valid else [],
        )
        if screening:
            return pair_gains(tree["tree_structure"] for tree in booster.dump_model()["tree_info"])
        return booster

    def _score(self, X: Array) -> Array:
        return summed(self.boosters_, X)


def summed(boosters: list[Any], X: Array) -> Array:
    """Return the sum of the scores of several models; 0 when there is none."""
    return sum((predicted(booster, X) for booster in boosters), start=np.zeros(len(X)))


def pair_gains(trees: Iterable[dict[str, Any]]) -> Counter[Pair]:
    """Return what the second splits of trees of two gain, by the pair of features of both.

    >>> leaf = {"leaf_value": 1.0}
    >>> below = {"split_feature": 2, "split_gain": 4.0, "left_child": leaf, "right_child": leaf}
    >>> tree = {"split_feature": 5, "split_gain": 9.0, "left_child": leaf, "right_child": below}
    >>> pair_gains([tree])
    Counter({(2, 5): 4.0})
    """
    gains: Counter[Pair] = Counter()
    for root in trees:
        for child in (root.get("left_child", {}), root.get("right_child", {})):
            if "split_feature" in child and child["split_feature"] != root["split_feature"]:
                a, b = sorted((root["split_feature"], child["split_feature"]))
                gains[a, b] += child["split_gain"]
    return gains
