"""What the baselines share: rows in an order of their own, weights, and that they are not saved."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NoReturn

import numpy as np

from rulerank._util.loops import one_blas_thread
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.normalize import ColumnSums
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.linear.query_intercepts import WeightedSum
from rulerank.rankers.rows import content_keys, order_by_content

LARGEST = 1e140  # squared and added up over a file of rows, it is a number still


class Baseline(Ranker):
    """Base of rankers that are here to be compared with."""

    def _learned_state(self) -> NoReturn:
        raise DataError(f"{type(self).__name__} is here to be compared with and is not saved")

    def _take_learned(self, state: dict[str, Any]) -> NoReturn:
        self._learned_state()


class LinearRanker(Baseline, WeightedSum):
    """Base of the linear baselines: weights from rows in an order of their own.

    A subclass stores `normalize`, `missing` and `n_jobs` beside its own parameters, and has `_weigh`, which returns one
    weight per feature.

    >>> class Difference(LinearRanker):
    ...     def __init__(self, normalize=None, missing="error", n_jobs=None):
    ...         self.normalize, self.missing, self.n_jobs = normalize, missing, n_jobs
    ...     def _weigh(self, X, grades, queries):
    ...         return X[grades > 0].mean(axis=0) - X[grades == 0].mean(axis=0)
    >>> ranker = Difference().fit([[0, 1], [2, 1], [4, 0]], [0, 1, 1], qid=[7, 7, 7])
    >>> ranker.coef_.tolist(), ranker.predict([[1, 2]]).tolist(), ranker.contributions([[1, 2]]).values.tolist()
    ([3.0, -0.5], [2.0], [[3.0, -1.0]])
    """

    @abstractmethod
    def _weigh(self, X: Array, grades: Array, queries: Array) -> Array:
        """Return a weight for each feature of X, float64 without missing values.

        The rows come in an order that depends on their content alone, so that results do not depend on the file's.
        queries has the number of each row's query, counted from 0 without gaps.
        """

    def _learn(self, data: Labelled) -> None:
        order, queries = canonical_order(data)
        X = data.X[order]
        self._check_size(X)
        self.take_missing(ColumnSums.of(X))
        with one_blas_thread():
            self.coef_ = self._weigh(self._present(X).astype(np.float64), data.grades[order], queries)

    def _check_size(self, X: Array) -> None:
        largest = np.nanmax(np.abs(X), axis=0, initial=0.0)
        feature = int(largest.argmax())
        size = float(largest[feature])
        if size > LARGEST:
            raise DataError(
                f"the feature {self.feature_names_[feature]!r} has values of {size:.1e}, more than "
                f'{LARGEST:.0e}, and their squares are not numbers any more: divide it, or give normalize="rank"'
            )


def informative_queries(kinds: Array, queries: Array) -> Array:
    """Tell of each query, numbered from 0, whether it has documents of different kinds, such as grades.

    >>> informative_queries(np.array([0, 1, 2, 2, 0]), np.array([0, 0, 1, 1, 2])).tolist()
    [True, False, False]
    """
    n_queries = queries.max() + 1
    lowest, highest = np.full(n_queries, kinds.max()), np.full(n_queries, kinds.min())
    np.minimum.at(lowest, queries, kinds)
    np.maximum.at(highest, queries, kinds)
    return lowest < highest


def canonical_order(data: Labelled) -> tuple[Array, Array]:
    """Return the rows, query by query, in an order of their content, and the query number of each, from 0 up.

    >>> X, grades, queries = np.array([[5.0], [1.0], [3.0]]), np.array([0, 1, 0]), np.array([0, 1, 0])
    >>> order, numbers = canonical_order(Labelled(X, grades, queries, np.array(["a", "b"])))
    >>> X[order].ravel().tolist(), numbers.tolist()
    ([3.0, 5.0, 1.0], [0, 0, 1])
    """
    return order_by_content(content_keys(data.X), data.grades, data.queries)
