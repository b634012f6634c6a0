"""Split by query, so that no query is both learned from and tested on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from rulerank.dataset import Array, Dataset, Fold, check_column, query_index
from rulerank.errors import DataError


class QueryKFold(BaseCrossValidator):
    """Cross-validation that keeps the rows of a query together, for scikit-learn and on its own.

    Every query is tested on exactly once. Parts have equally many queries, give or take one, whatever their sizes:
    the measures are means over queries. The same seed gives the same parts, whatever the order of a query's rows.

    Parameters
    ----------
    n_splits: number of parts.
    shuffle: deal the queries out in random order rather than as they appear.
    seed: another seed shuffles differently.

    >>> qid = ["a", "a", "b", "c", "b"]
    >>> for train, test in QueryKFold(n_splits=3, shuffle=False).split(np.zeros((5, 1)), qid=qid):
    ...     print(train, test)
    [2 3 4] [0 1]
    [0 1 3] [2 4]
    [0 1 2 4] [3]
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"qid": True}  # scikit-learn hands the queries over

    def __init__(self, n_splits: int = 5, shuffle: bool = True, seed: int = 0) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.seed = seed

    def split(self, X: Any, y: Any = None, groups: Any = None, qid: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield the rows to train and to test on; the queries come as qid or, as scikit-learn calls them, groups."""
        if qid is None:
            qid = X.qid if groups is None and isinstance(X, Dataset) else groups
        if qid is None:
            raise DataError(
                "QueryKFold needs the query of each row: pass qid=qid, with sklearn.set_config("
                "enable_metadata_routing=True) where scikit-learn does the splitting; or pass groups=qid"
            )
        query, ids = query_index(check_column("qid", qid, len(X)))
        if not 2 <= self.n_splits <= ids.size:
            raise DataError(
                f"n_splits must be between 2 and the number of queries, {ids.size}: got {self.n_splits}"
                + ("; there is nothing to split by" if ids.size < 2 else "")
            )
        order = np.random.default_rng(self.seed).permutation(ids.size) if self.shuffle else np.arange(ids.size)
        part = np.empty(ids.size, dtype=np.int64)
        for number, queries in enumerate(np.array_split(order, self.n_splits)):
            part[queries] = number
        for number in range(self.n_splits):
            tested = part[query] == number
            yield np.flatnonzero(~tested), np.flatnonzero(tested)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:
        """Return the number of parts."""
        return self.n_splits


def make_folds(data: Dataset, n_folds: int = 5, seed: int = 0) -> list[Fold]:
    """Split by query for cross-validation as LETOR does: each query is tested once and validated on once.

    >>> folds = make_folds(Dataset(np.zeros((10, 1)), [0, 1] * 5, range(10)))
    >>> fold = folds[0]
    >>> fold.name, *(len(set(part.qid)) for part in (fold.train, fold.vali, fold.test))
    ('Fold1', 6, 2, 2)
    """
    query, ids = query_index(data.qid)
    for name, value, least in (("n_folds", n_folds, 3), ("seed", seed, 0)):
        if value < least:
            raise DataError(f"{name} must be at least {least}: got {value}")
    if ids.size < n_folds:
        raise DataError(f"n_folds must be at most the number of queries, {ids.size}: got {n_folds}")
    part = (np.random.default_rng(seed).permutation(ids.size) % n_folds)[query]
    folds = []
    for test in range(n_folds):
        vali = (test - 1) % n_folds
        train = (part != test) & (part != vali)
        folds.append(Fold(f"Fold{test + 1}", data[train], data[part == vali], data[part == test]))
    return folds
