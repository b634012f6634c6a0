"""Pools as scarce as real ones: benchmarks judge what looked promising, so relevant documents are plentiful there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.dataset import Dataset, Fold
from rulerank.errors import DataError


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
