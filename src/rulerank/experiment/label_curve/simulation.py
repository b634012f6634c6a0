"""Labelling simulated in a fold: a pool to choose from, the order in which it is labelled, what the labels are worth.

Pools can be thinned to be as scarce as real ones: benchmarks judge what looked promising, so relevant documents are
plentiful there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from rulerank.core.checks import is_whole
from rulerank.dataset import Array, Dataset, Fold
from rulerank.errors import DataError
from rulerank.evaluation.single_feature import feature_scores
from rulerank.experiment.label_curve.learners import starts_from_today
from rulerank.rankers.base import Ranker
from rulerank.sampling.ssar import SSAR
from rulerank.sampling.strata import Strata
from rulerank.training.in_pool import PoolLearner
from rulerank.training.trials import Scoring

Sampler = Callable[[Dataset, np.random.Generator], Array]  # the rows of a pool in the order to label them


@dataclass(frozen=True)
class Simulation:
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
        return self.judge_fitted(self.fit(learner, rows))

    def fit(self, learner: PoolLearner, rows: Array) -> Ranker | None:
        """Return what was learned from the labels of these rows; None: there was nothing to learn from."""
        grades = self.pool.y[rows]
        if np.unique(grades).size < 2 and not starts_from_today(learner.ranker):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that few labels say little is what the curve shows
            return learner.fit(rows, grades)

    def judge_fitted(self, ranker: Ranker | None) -> float:
        """Return how good a ranker is on the test part; None has all tied, which is the mean over all orders."""
        return self.judge(np.zeros(len(self.test)) if ranker is None else ranker.predict(self.test))

    def judge(self, scores: Array) -> float:
        """Return the mean of the measure over the test queries."""
        return Scoring(self.measure).mean(self.test, scores)


def pool_of(fold: Fold) -> Dataset:
    """Return the graded training rows."""
    pool = fold.train.labelled()
    if not len(pool):
        raise DataError(f"{fold.name}: a curve needs graded documents to choose from, and there are none")
    return pool


def mixed_rows(pool: Dataset, seed: list[int]) -> Array:
    """Return the rows in random order, as the order of some files tells the grade."""
    return np.random.default_rng(seed).permutation(len(pool))


def shuffled(fold: Fold, seed: list[int]) -> Dataset:
    """Return the graded training rows in random order."""
    pool = pool_of(fold)
    return pool[mixed_rows(pool, seed)]


def choose(
    sampler: Sampler | SSAR | Strata, pool: Dataset, seed: int, place: int, draw: int = 0, most: int | None = None
) -> Array:
    """Return the rows of a pool in the order in which a sampler asks for their labels; place: of the fold.

    All see the rows shuffled but `Strata`, which draws by itself, with seed + place, as `rulerank sample` does.

    >>> pool = Dataset([[1.0], [3.0], [2.0]], [0, 1, 0], ["q"] * 3, feature_names=["bm25"])
    >>> choose(top_of("bm25"), pool, seed=0, place=0, most=2).tolist()
    [1, 2]
    """
    if isinstance(sampler, Strata):
        drawn = clone(sampler).set_params(seed=seed + place)
        return np.asarray(drawn.select(pool, lambda row: pool.y[row], budget=most), dtype=np.int64)
    mixed = mixed_rows(pool, [seed, place])
    if isinstance(sampler, SSAR):
        chosen = clone(sampler).select(pool[mixed], lambda row: pool.y[mixed[row]], budget=most)
    else:
        chosen = sampler(pool[mixed], np.random.default_rng([seed, place, draw]))[:most]
    return np.asarray(mixed[chosen], dtype=np.int64)


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
        rows = SSAR(**options).select(pool, lambda row: pool.y[row])
        return np.asarray(rows, dtype=np.int64)

    return order


def thin(data: Dataset, keep_one_in: int = 20, seed: int = 0) -> Dataset:
    """Keep one relevant document (grade 1 or more) in so many, at random, and all others.

    >>> from rulerank.worlds import make_world
    >>> thin(make_world(n_queries=50), keep_one_in=20)
    Dataset(1,454 rows, 50 queries, 20 features, grades 0: 1430, 1: 20, 2: 4)
    """
    if not is_whole(keep_one_in, 1):
        raise DataError(f"keep_one_in must be a whole number from 1: got {keep_one_in!r}")
    relevant = np.flatnonzero(data.y > 0)
    n_kept = round(relevant.size / keep_one_in)
    if relevant.size and not n_kept:
        raise DataError(
            f"one in {keep_one_in} of {relevant.size} relevant documents is none: keep more, or take more data"
        )
    kept = np.random.default_rng(seed).choice(relevant, n_kept, replace=False)
    return data[np.union1d(np.flatnonzero(data.y <= 0), kept)]


def thin_folds(folds: Sequence[Fold], keep_one_in: int = 20, n_pools: int = 3, seed: int = 0) -> list[Fold]:
    """Thin the training part of every fold, several times over; what is tested on stays whole.

    >>> from rulerank.worlds import make_folds, make_world
    >>> [fold.name for fold in thin_folds(make_folds(make_world(n_queries=10), 3), 5, n_pools=2)]
    ['Fold1, thinned 1', 'Fold1, thinned 2', 'Fold2, thinned 1', ...]
    """
    if not is_whole(n_pools, 1):
        raise DataError(f"n_pools must be a whole number from 1: got {n_pools!r}")
    return [
        replace(fold, name=f"{fold.name}, thinned {n + 1}", train=thin(fold.train, keep_one_in, seed + n))
        for fold in folds
        for n in range(n_pools)
    ]
