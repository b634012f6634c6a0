"""Learn the weights of a linear combination of rankers from judged documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rulerank.aggregate.fusion import check_lists, linear, neutral_sum, on_one_scale
from rulerank.core.arrays import unmasked
from rulerank.core.parameters import Checked, HasParameters, Parameter, Steps
from rulerank.dataset import Array, check_column, query_index
from rulerank.errors import DataError
from rulerank.evaluation import Measure, evaluate


class LinearFusion(HasParameters, BaseEstimator):
    """A weighted sum of rankers' scores, put onto 0 .. 1 by query; the weights are learned by coordinate ascent.

    Starts from equal weights, or from the best single ranker if that is better, and moves one ranker's share of the
    whole at a time as long as the measure rises. Nothing is random. Fit it on queries that the rankers did not learn
    from: on their own training queries the one that remembers most looks best.

    Parameters
    ----------
    measure: what to raise, such as "MAP" or "NDCG@10".
    n_steps: shares tried for a ranker lie 1 / n_steps apart.

    Attributes
    ----------
    weights_: (n_rankers,), from 0 to 1; they sum to 1. `fuse(scores, qid, "linear", weights_)` uses them.
    value_: the measure that they reach where they were learned.

    Examples
    --------
    >>> scores = np.array([[3, 1], [2, 2], [1, 3], [1, 1], [2, 3]])  # a good ranker beside a bad one
    >>> fusion = LinearFusion().fit(scores, [2, 1, 0, 0, 1], qid=["a", "a", "a", "b", "b"])
    >>> fusion.weights_.tolist(), fusion.predict(scores, qid=["a", "a", "a", "b", "b"]).tolist()
    ([1.0, 0.0], [1.0, 0.5, 0.0, 0.0, 1.0])
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "measure": Checked(Measure.of, "a measure such as MAP or NDCG@10", meaning="what to raise"),
        "n_steps": Steps(1, meaning="shares tried for a ranker lie 1 / n_steps apart"),
    }

    weights_: Array
    value_: float

    def __init__(self, measure: str = "MAP", n_steps: int = 20) -> None:
        self.measure = measure
        self.n_steps = n_steps

    def fit(self, X: Any, y: Any, qid: Any) -> Self:
        """Learn from scores X (n_rows, n_rankers), NaN where a document is missing from a list."""
        self.check_parameters()
        lists, query = _lists(X, qid)
        parts = np.nan_to_num(on_one_scale(lists, query))

        def value(weights: Array) -> float:
            scores = neutral_sum(parts * weights[:, None])
            return next(iter(evaluate(y, scores, query, self.measure, any_grades=True).means.values()))

        starts = [np.full(len(lists), 1 / len(lists)), *np.eye(len(lists))]
        values = [value(weights) for weights in starts]
        best = int(np.argmax(values))
        self.weights_, self.value_ = starts[best], values[best]
        before = -np.inf
        while self.value_ > before:
            before = self.value_
            for ranker in range(len(lists)):
                self._move(ranker, value)
        return self

    def predict(self, X: Any, qid: Any) -> Array:
        """Return one score per row of the scores X (n_rows, n_rankers)."""
        check_is_fitted(self)
        lists, query = _lists(X, qid)
        if len(lists) != self.weights_.size:
            raise DataError(f"expected the scores of {self.weights_.size} rankers: got {len(lists)} columns")
        return linear(lists, query, self.weights_)

    def _move(self, ranker: int, value: Callable[[Array], float]) -> None:
        """Try every share for one ranker, the others keeping their proportions, and keep the best."""
        others = self.weights_.copy()
        others[ranker] = 0.0
        if not others.any():  # it has all the weight: the others will take their shares from it
            return
        others /= others.sum()
        for step in range(self.n_steps + 1):
            weights = (1 - step / self.n_steps) * others
            weights[ranker] = step / self.n_steps
            found = value(weights)
            if found > self.value_:
                self.weights_, self.value_ = weights, found


def _lists(X: Any, qid: Any) -> tuple[Array, Array]:
    scores = np.asarray(unmasked(X))
    if scores.ndim != 2:
        raise DataError(f"X must have one column per ranker, (n_rows, n_rankers): got the shape {scores.shape}")
    lists = check_lists(scores.T)
    return lists, query_index(check_column("qid", qid, lists.shape[1]))[0]
