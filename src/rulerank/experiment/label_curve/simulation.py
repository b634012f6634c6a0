"""Labelling simulated: pools to choose from, ways to choose, and what learns from the labels.

Pools can be thinned to be as scarce as real ones: benchmarks judge what looked promising, so relevant documents are
plentiful there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from rulerank.core.checks import is_whole
from rulerank.dataset import Array, Dataset, Fold
from rulerank.errors import DataError
from rulerank.experiment.label_curve.result import RANDOM
from rulerank.methods import method_named
from rulerank.rankers.anchored.anchored import Anchored
from rulerank.rankers.base import Ranker
from rulerank.rankers.pool import PoolLearner
from rulerank.sampling.ssar import SSAR
from rulerank.sampling.strata import Strata
from rulerank.training.few_labels import HAND_OVER, few_label_ranker, full_data_ranker, hand_over

Sampler = Callable[[Dataset, np.random.Generator], Array] | SSAR | Strata  # a function returns rows, the first first
SAMPLERS: dict[str, Sampler] = {
    "SSAR": SSAR(),
    "SSARP": SSAR(partitions=5),
    "SSAR per query": SSAR(per_query=True),
    RANDOM: lambda pool, rng: rng.permutation(len(pool)),
}
STRATA = "strata"
FROM_TODAY = "from-today"  # `select` from today's ranking: Anchored, until a full learner is better beyond doubt


def samplers_named(names: Sequence[str] | None, today: str | None) -> dict[str, Sampler]:
    """Return ways to choose by their names, all by default; capitals do not matter.

    >>> [*samplers_named(["random", "ssarp"], today=None)]
    ['random', 'SSARP']
    """
    strata: dict[str, Sampler] = {} if today is None else {STRATA: Strata(today=today)}
    known = strata | SAMPLERS
    if names is None:
        return known
    by_name = {name.lower(): name for name in known}
    for name in names:
        if name.lower() == STRATA and today is None:
            raise DataError(
                "strata are those of today's ranking: say which feature it is (--today, in Python today='bm25')"
            )
        if name.lower() not in by_name:
            raise DataError(f"unknown sampler {name!r}; choose from {', '.join(known)}")
    return {by_name[name.lower()]: known[by_name[name.lower()]] for name in names}


def choose(sampler: Sampler, pool: Dataset, seed: int, place: int, draw: int = 0, most: int | None = None) -> Array:
    """Return the rows of a pool in the order in which a sampler asks for their labels; place: of the fold.

    All see the rows shuffled, as the order of some files tells the grade, but `Strata`, which draws by itself, with
    seed + place, as `rulerank sample` does.

    >>> pool = Dataset([[1.0], [3.0], [2.0]], [0, 1, 0], ["q"] * 3, feature_names=["bm25"])
    >>> choose(lambda pool, rng: np.argsort(-pool.X[:, 0]), pool, seed=0, place=0, most=2).tolist()
    [1, 2]
    """
    if isinstance(sampler, Strata):
        drawn = clone(sampler).set_params(seed=seed + place)
        return np.asarray(drawn.select(pool, lambda row: pool.y[row], budget=most), dtype=np.int64)
    mixed = np.random.default_rng([seed, place]).permutation(len(pool))
    if isinstance(sampler, SSAR):
        chosen = clone(sampler).select(pool[mixed], lambda row: pool.y[mixed[row]], budget=most)
    else:
        chosen = sampler(pool[mixed], np.random.default_rng([seed, place, draw]))[:most]
    return np.asarray(mixed[chosen], dtype=np.int64)


def thin(data: Dataset, keep_one_in: int = 20, seed: int = 0) -> Dataset:
    """Keep one relevant document (grade 1 or more) in so many, at random, and all others.

    >>> from rulerank.datasets import make_ranking
    >>> thin(make_ranking(n_queries=50), keep_one_in=20)
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


class HalfSplits:
    """Splits of graded documents by query: a random half is the pool (`train`), the other is tested on.

    A split is made when it is asked for, for twenty copies of large data would not fit into memory. Split number k is
    drawn by seed + k. keep_one_in: thin the pools, see `thin`; what is tested on stays whole.

    >>> import rulerank as rr
    >>> splits = HalfSplits(rr.make_ranking(n_queries=10), n_splits=3)
    >>> [(split.name, len(set(split.train.qid)), len(set(split.test.qid))) for split in splits]
    [('split 1', 5, 5), ('split 2', 5, 5), ('split 3', 5, 5)]
    """

    def __init__(self, data: Dataset, n_splits: int = 20, *, keep_one_in: int | None = None, seed: int = 0) -> None:
        if not is_whole(n_splits, 2):
            raise DataError(f"n_splits must be a whole number from 2, for a worst one among them: got {n_splits!r}")
        self.data = data.labelled()
        self.queries = np.unique(self.data.qid.astype(str))
        if self.queries.size < 4:
            raise DataError(
                f"expected graded documents of at least 4 queries to split into halves, got {self.queries.size}"
            )
        self.n_splits, self.keep_one_in, self.seed = n_splits, keep_one_in, seed

    def __len__(self) -> int:
        return self.n_splits

    def __iter__(self) -> Iterator[Fold]:
        return (self[number] for number in range(self.n_splits))

    def __getitem__(self, number: int) -> Fold:
        half = np.random.default_rng(self.seed + number).permutation(self.queries)[: self.queries.size // 2]
        inside = np.isin(self.data.qid.astype(str), half)
        pool, test = self.data[np.flatnonzero(inside)], self.data[np.flatnonzero(~inside)]
        if self.keep_one_in is not None:
            pool = thin(pool, self.keep_one_in, self.seed + number)
        return Fold(f"split {number + 1}", train=pool, vali=pool[:0], test=test)


@dataclass(frozen=True)
class Learner:
    """A ranker as it learns from few labels and from all, to be made ready for a pool."""

    few: Ranker
    full: Ranker
    hands_over: bool = False

    def in_pool(self, pool: Dataset) -> PoolLearner:
        return HandingOver(self.few, pool) if self.hands_over else PoolLearner(self.few, pool)


class HandingOver(PoolLearner):
    """Learns as `select(today=)` does: another learner takes over where it ranks held-out queries better."""

    def fit(self, rows: Array, grades: ArrayLike) -> Ranker:
        if len(rows) < min(HAND_OVER.values()):  # cross-validation would change nothing
            return super().fit(rows, grades)
        order = np.argsort(rows)  # as they lie in the pool: the folds that decide follow it
        rows, grades = rows[order], np.asarray(grades)[order]
        return hand_over(PoolLearner(self.ranker, self.pool), rows, grades, HAND_OVER)[0].fit(rows, grades)


def make_learners(rankers: Sequence[str] | Mapping[str, Ranker], today: str | None = None) -> dict[str, Learner]:
    """Return learners by name.

    >>> [*make_learners(["qi", "from-today"], today="bm25")]
    ['QI', 'from-today']
    """
    if isinstance(rankers, Mapping):
        return {name: Learner(ranker, ranker) for name, ranker in rankers.items()}
    learners = {}
    for name in rankers:
        if name.lower() == FROM_TODAY:
            learners[FROM_TODAY] = Learner(Anchored(), Anchored(), hands_over=True)
        else:
            learners[method_named(name).name] = Learner(few_label_ranker(name), full_data_ranker(name))
    for name, learner in learners.items():
        for ranker in (learner.few, learner.full):
            if starts_from_today(ranker):
                if today is None:
                    raise DataError(
                        f"{name} starts from today's ranking: say which feature it is (--today, in Python today='bm25')"
                    )
                ranker.set_params(today=today)
    return learners


def starts_from_today(ranker: Ranker) -> bool:
    """Tell whether a ranker has today's ranking to start from, and so needs no labels to rank."""
    return "today" in ranker.get_params(deep=False)


def scores_after(learner: PoolLearner, rows: Array, test: Dataset) -> Array:
    """Return the scores of test documents after the labels of some rows; all tied where these teach nothing."""
    grades = learner.pool.y[rows]
    if np.unique(grades).size < 2 and not starts_from_today(learner.ranker):
        return np.zeros(len(test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that few labels say little is what the curve shows
        return learner.fit(rows, grades).predict(test)
