"""What the linear baselines share: weights, scores, missing values, the model file."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.ballots import LinearForm
from rulerank.baselines.row_order import canonical_order
from rulerank.core.blas import one_blas_thread
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.linear.kernels import dense_scores
from rulerank.rankers.linear.missing import check_present, column_means, count_missing, fill_missing

MISSING = ("error", "mean")
ROWS_PER_THREAD = 20_000
LARGEST = 1e140  # squared and added up over a file of rows, it is a number still


class LinearRanker(Ranker):
    """Base of rankers whose score is a weighted sum of features, `X @ coef_`.

    A subclass stores `normalize`, `missing` and `n_jobs` beside its own parameters, and has `_weigh`, which returns one
    weight per feature. What else it learned it lists in `_also_learned`, and a model file keeps it.

    >>> class Difference(LinearRanker):
    ...     _also_learned = ("n_good_",)
    ...     def __init__(self, normalize=None, missing="error", n_jobs=None):
    ...         self.normalize, self.missing, self.n_jobs = normalize, missing, n_jobs
    ...     def _weigh(self, X, grades, queries):
    ...         self.n_good_ = int((grades > 0).sum())
    ...         return X[grades > 0].mean(axis=0) - X[grades == 0].mean(axis=0)
    >>> ranker = Difference().fit([[0, 1], [2, 1], [4, 0]], [0, 1, 1], qid=[7, 7, 7])
    >>> ranker.coef_.tolist(), ranker.predict([[1, 2]]).tolist(), ranker.contributions([[1, 2]]).tolist()
    ([3.0, -0.5], [2.0], [[3.0, -1.0]])
    """

    missing: str  # what to do with NaN: "error", or "mean" to put the mean of the training rows in its place
    _also_learned: ClassVar[tuple[str, ...]] = ()  # attributes: numbers, text, lists or arrays of numbers

    coef_: Array  # (n_features,)
    fill_: Array | None  # what stands for a missing value of each feature
    n_missing_: int

    @abstractmethod
    def _weigh(self, X: Array, grades: Array, queries: Array) -> Array:
        """Return a weight for each feature of X, float64 without missing values.

        The rows come in an order that depends on their content alone, so that results do not depend on the file's.
        queries has the number of each row's query, counted from 0 without gaps.
        """

    def contributions(self, X: Any, qid: Any = None) -> Array:
        """Return what each feature adds to each row's score: (n_rows, n_features), weight times value."""
        check_is_fitted(self)
        return self._present(self.check_rows(X, qid)) * self.coef_

    def linear_form(self) -> LinearForm:
        """Return the fitted model as a weighted sum of values."""
        return LinearForm(self.feature_names_, self.coef_, np.ones_like(self.coef_), self._present, self._score)

    def _learn(self, data: Labelled) -> None:
        if self.missing not in MISSING:
            raise DataError(f"unknown missing {self.missing!r}; choose from {', '.join(MISSING)}")
        order, queries = canonical_order(data)
        X = data.X[order]
        self._check_size(X)
        self.fill_ = column_means(X) if self.missing == "mean" else None
        self.n_missing_ = int(count_missing(X).sum())
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

    def _score(self, X: Array) -> Array:
        X = self._present(X)
        scores = np.empty(len(X))

        def work(start: int, stop: int) -> None:
            dense_scores(X[start:stop], self.coef_, scores[start:stop])

        in_blocks(work, len(X), self.n_jobs, min_block=ROWS_PER_THREAD)
        return scores

    def _present(self, X: Array) -> Array:
        """Return X without missing values."""
        if self.fill_ is not None:
            filled: Array = fill_missing(X, self.fill_)
            return filled
        check_present(X, self.feature_names_)
        return X

    def _learned_state(self) -> dict[str, Any]:
        state = {"coef": self.coef_, "fill": self.fill_, "n_missing": self.n_missing_}
        return state | {name: getattr(self, name) for name in self._also_learned}

    def _take_learned(self, state: dict[str, Any]) -> None:
        shape = (len(self.feature_names_),)
        for name in ("coef", "fill"):
            if state[name] is not None and state[name].shape != shape:
                raise DataError(f"expected {shape[0]} numbers as {name}, one per feature: got {state[name].shape}")
        self.coef_, self.fill_, self.n_missing_ = state["coef"], state["fill"], state["n_missing"]
        for name in self._also_learned:
            setattr(self, name, state[name])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags
