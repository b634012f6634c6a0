"""In which order the documents of a pool are labelled: by SSAR, at random, or the top of a feature first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rulerank.dataset import Array, Dataset
from rulerank.training.single_feature import feature_scores

Sampler = Callable[[Dataset, np.random.Generator], Array]  # the rows of a pool in the order to label them


def random_order(pool: Dataset, rng: np.random.Generator) -> Array:
    """Label the documents in any order.

    >>> pool = Dataset([[1.0]] * 3, [0, 1, 0], ["q"] * 3)
    >>> sorted(random_order(pool, np.random.default_rng(0)).tolist())
    [0, 1, 2]
    """
    return rng.permutation(len(pool))


def top_of(feature: str) -> Sampler:
    """Label the documents with the highest value of a feature first, or the lowest for "-feature".

    >>> pool = Dataset([[1.0], [3.0], [2.0]], [0, 1, 0], ["q"] * 3, feature_names=["bm25"])
    >>> top_of("bm25")(pool, np.random.default_rng(0)).tolist()
    [1, 2, 0]
    """
    return lambda pool, rng: np.argsort(-feature_scores(pool, feature), kind="stable")


def by_rules(**options: Any) -> Sampler:
    """Label the documents that SSAR asks for, until it stops by itself; options are those of `SSAR`."""

    def order(pool: Dataset, rng: np.random.Generator) -> Array:
        from rulerank.sampling.ssar import SSAR

        rows = SSAR(**options).select(pool, lambda row: pool.y[row])
        return np.asarray(rows, dtype=np.int64)

    return order
