"""What RankSVM and SVMMAP share: one machine, two losses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rulerank.baselines.cutting_plane import Risk, minimise_risk
from rulerank.baselines.informative import NOTHING, informative_queries
from rulerank.core.checks import check_number, is_whole
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.rankers.linear.linear_ranker import LinearRanker

C_GRID = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)  # worth trying; choose on queries that were not trained on
QUERIES_PER_THREAD = 50


class MarginRanker(LinearRanker):
    """Base of linear rankers that minimise |coef_|^2 / 2 + C times the mean loss of a query.

    A subclass names its loss, a loop of `margin_kernels`, which is 0 for queries whose documents are all of one kind.
    """

    _loss: ClassVar[Callable[..., None]]
    _kind: ClassVar[str] = "grade"  # what must differ within a query
    _also_learned: ClassVar[tuple[str, ...]] = ("objective_", "gap_", "n_iter_", "n_informative_")

    objective_: float
    gap_: float
    n_iter_: int
    n_informative_: int

    def __init__(
        self,
        C: float = 1.0,
        eps: float = 1e-5,
        max_iter: int = 2000,
        normalize: str | None = None,
        missing: str = "error",
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.eps = eps
        self.max_iter = max_iter
        self.normalize = normalize
        self.missing = missing
        self.n_jobs = n_jobs

    def _kinds(self, grades: Array) -> Array:
        """Return what the loss tells apart."""
        return grades

    def _weigh(self, X: Array, grades: Array, queries: Array) -> Array:
        self._check_parameters()
        kinds = self._kinds(grades)
        informative = informative_queries(kinds, queries)
        self.n_informative_ = int(informative.sum())
        if not self.n_informative_:
            _warn(f"no query has documents of more than one {self._kind}: {NOTHING}")
        used = informative[queries]
        bounds = np.concatenate([[0], np.cumsum(np.bincount(queries)[informative])])
        risk = self._mean_loss(X[used], kinds[used], bounds)
        found = minimise_risk(risk, X.shape[1], self.C, self.eps, self.max_iter)
        self.objective_, self.gap_, self.n_iter_ = found.objective, found.gap, found.n_iter
        if found.gap > self.eps:
            _warn(
                f"after max_iter={self.max_iter} rounds the objective may still be {found.gap:.1e} of itself above its "
                f"minimum, more than eps={self.eps:g}: raise max_iter, lower C, or put the features on one scale"
            )
        return found.w

    def _mean_loss(self, X: Array, kinds: Array, bounds: Array) -> Risk:
        n_queries = bounds.size - 1
        weights, losses = np.zeros(len(X)), np.zeros(n_queries)

        def risk(w: Array) -> tuple[float, Array]:
            scores = X @ w

            def work(first: int, last: int) -> None:
                type(self)._loss(scores, kinds, bounds, first, last, weights, losses)

            in_blocks(work, n_queries, self.n_jobs, min_block=QUERIES_PER_THREAD)
            return float(losses.sum()) / max(1, n_queries), -(weights @ X) / max(1, n_queries)

        return risk

    def _check_parameters(self) -> None:
        check_number("C", self.C, 1e-12, 1e12, "what the loss counts against small weights")
        check_number("eps", self.eps, 1e-8, 1, "a share of the objective")
        if not is_whole(self.max_iter, 1):
            raise DataError(f"max_iter must be a whole number from 1: got {self.max_iter!r}")


def _warn(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=5)  # where fit was called
