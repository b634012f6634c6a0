"""One fold of a label-efficiency curve: its pool, the orders in which it may be labelled, what the labels are worth."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rulerank.dataset import Array, Dataset, Fold
from rulerank.errors import DataError
from rulerank.training.fold_fitting import value_of
from rulerank.training.in_pool import PoolLearner


@dataclass(frozen=True)
class Trial:
    """A pool to label, and documents to test on what was learned from the labels."""

    name: str
    pool: Dataset
    test: Dataset
    orders: Mapping[str, list[Array]]  # by sampler: rows of the pool in the order to label them, one array per draw
    measure: str

    def __post_init__(self) -> None:
        if not len(self.test):
            raise DataError(f"{self.name}: a curve needs graded documents to test on, and there are none")

    def learn(self, learner: PoolLearner, rows: Array) -> float:
        """Return how good the learner is on the test part after the labels of these rows."""
        grades = self.pool.y[rows]
        if np.unique(grades).size < 2:  # nothing to learn from: all tied, which is the mean over all orders
            return self.judge(np.zeros(len(self.test)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that few labels say little is what the curve shows
            return self.judge(learner.fit(rows, grades).predict(self.test))

    def judge(self, scores: Array) -> float:
        """Return the mean of the measure over the test queries."""
        return value_of(self.test, scores, self.measure)


def shuffled(fold: Fold, seed: list[int]) -> Dataset:
    """Return the graded training rows in random order, as the order of some files tells the grade."""
    pool = fold.train.labelled()
    if not len(pool):
        raise DataError(f"{fold.name}: a curve needs graded documents to choose from, and there are none")
    return pool[np.random.default_rng(seed).permutation(len(pool))]
