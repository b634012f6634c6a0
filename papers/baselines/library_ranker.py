"""What rankers of other libraries share: rows query by query, queries to stop on, a word when a library is missing."""

from __future__ import annotations

from abc import abstractmethod
from importlib import import_module
from typing import Any, NamedTuple, Self

import numpy as np

from papers.baselines.base import Baseline, canonical_order
from rulerank._util.loops import n_threads
from rulerank.dataset import MAX_GRADE, Array, Dataset, query_index
from rulerank.errors import DataError, MissingExtraError
from rulerank.rankers.base import Labelled

ROWS_PER_THREAD = 50_000  # threads of the libraries wait for each other: with few rows two are slower than one


class Rows(NamedTuple):
    """Rows that lie together by query, in an order that the file's never changes."""

    X: Array
    grades: Array
    queries: Array  # numbers that never fall

    @property
    def sizes(self) -> Array:
        """Documents of each query.

        >>> Rows(np.zeros((3, 1)), np.zeros(3), np.array([0, 0, 1])).sizes.tolist()
        [2, 1]
        """
        return np.bincount(self.queries)


class LibraryRanker(Baseline):
    """Base of rankers that another library fits: fit may be given other queries, on which growing stops."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        vali: Dataset | None = None,
        *,
        group: Any = None,
        sample_weight: Any = None,
        **unknown: Any,
    ) -> Self:
        """Learn from grades y of rows X that belong to the queries qid (all one query when not given).

        vali: graded documents of other queries, to stop when more steps do not help them.
        sample_weight: how often each row counts, whole numbers.
        """
        self._vali = vali  # for _learn, and not kept
        try:
            return super().fit(X, y, qid, group=group, sample_weight=sample_weight, **unknown)
        finally:
            del self._vali

    n_leaves: int
    learning_rate: float
    min_docs: int

    @abstractmethod
    def _learn_rows(self, rows: Rows, held_out: Rows | None) -> None:
        """Learn from rows; stop on those held out, when there are some."""

    def _learn(self, data: Labelled) -> None:
        self._learn_rows(in_order(data), None if self._vali is None else self._held_out(self._vali))

    def _held_out(self, vali: Dataset) -> Rows:
        if not isinstance(vali, Dataset):
            raise DataError(f"vali must be a Dataset, such as rr.Dataset(X, y, qid): got {type(vali).__name__}")
        vali = vali.labelled()
        if not len(vali):
            raise DataError("vali has no document with a grade")
        return in_order(Labelled(self.check_rows(vali, None), vali.y, *query_index(vali.qid)))

    def _lightgbm_params(self, n_rows: int) -> dict[str, Any]:
        """Return what LightGBM is told by a ranker that has n_leaves, learning_rate and min_docs."""
        return {
            "objective": "lambdarank",
            "metric": "ndcg",
            "eval_at": [10],
            "label_gain": [2**grade - 1 for grade in range(MAX_GRADE + 1)],
            "num_leaves": self.n_leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": self.min_docs,
            "num_threads": self._threads(n_rows),
            "deterministic": True,
            "force_col_wise": True,  # one thread adds up a feature's histogram, always in the same order
            "verbosity": -1,
        }

    def _threads(self, n_rows: int) -> int:
        return max(1, min(n_threads(self.n_jobs), n_rows // ROWS_PER_THREAD))


def in_order(data: Labelled) -> Rows:
    """Return rows in an order of their content, query by query."""
    order, queries = canonical_order(data)
    return Rows(data.X[order], data.grades[order], queries)


def library(module: str, package: str) -> Any:
    """Load the library of another library.

    >>> library("no_such_library", "no-such-package")
    Traceback (most recent call last):
    rulerank.errors.MissingExtraError: this needs no-such-package, which is not installed; install it with: ...
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError("compare", package) from None


def predicted(booster: Any, X: Array) -> Array:
    """Return the scores of a model of LightGBM, by the trees up to the best."""
    return np.asarray(booster.predict(X, num_threads=1), dtype=np.float64)
