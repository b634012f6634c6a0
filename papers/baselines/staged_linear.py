"""Linear rankers that learn in steps, so that one fit gives the ranker after every number of steps."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from papers.baselines.base import LinearRanker, informative_queries
from rulerank._util.parameters import is_whole
from rulerank.dataset import Array, query_index
from rulerank.errors import DataError
from rulerank.rankers.rows import NOTHING


class StagedLinearRanker(LinearRanker):
    """Base of linear rankers that keep their weights after each step, in `coef_path_` (n_stages, n_features)."""

    _by_step: ClassVar[tuple[str, ...]] = ()  # attributes with a value per step
    _stages: ClassVar[str]  # the parameter that says how many steps there are at most

    coef_path_: Array

    def staged_predict(self, X: Any, qid: Any = None) -> Iterator[Array]:
        """Yield the scores after each step; the last are those of `predict`, up to rounding."""
        check_is_fitted(self)
        rows = self._present(self.check_rows(X, qid)).astype(np.float64)
        for coef in self.coef_path_:
            yield rows @ coef

    def at_stage(self, n: int) -> Self:
        """Return the ranker as it was after n steps: the same as one fitted with that many."""
        check_is_fitted(self)
        most = self.params_[self._stages]
        if not is_whole(n, 1, most):
            raise DataError(f"a stage is a number from 1 to {most}: got {n!r}")
        made = copy(self)
        setattr(made, self._stages, n)
        made.params_ = self.params_ | {self._stages: n}
        made.coef_path_ = self.coef_path_[:n]
        made.coef_ = made.coef_path_[-1] if len(made.coef_path_) else self.coef_
        return made

    @abstractmethod
    def _path(self, X: Array, grades: Array, queries: Array) -> list[Array]:
        """Return the weights after each step; every query has documents of different grades."""

    def _weigh(self, X: Array, grades: Array, queries: Array) -> Array:
        used = informative_queries(grades, queries)[queries]
        if used.any():
            path = self._path(X[used], grades[used], query_index(queries[used])[0])
        else:
            warnings.warn(f"no query has documents of more than one grade: {NOTHING}", ConvergenceWarning, stacklevel=5)
            path = []
            for name in self._by_step:
                setattr(self, name, np.zeros(0))
        self.coef_path_ = np.array(path).reshape(len(path), X.shape[1])
        return path[-1].copy() if path else np.zeros(X.shape[1])
