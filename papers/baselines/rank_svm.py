"""RankSVM: a linear ranker that keeps pairs of documents apart, and the machine that it shares with SVMMAP."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from papers.baselines.base import LinearRanker, informative_queries
from papers.baselines.cutting_plane import Risk, minimise_risk
from papers.baselines.linear_kernels import pair_hinges
from rulerank._util.loops import in_blocks
from rulerank._util.parameters import Number, Parameter, Whole
from rulerank.dataset import Array
from rulerank.rankers.rows import NOTHING

C_GRID = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)  # worth trying; choose on queries that were not trained on
QUERIES_PER_THREAD = 50


class MarginRanker(LinearRanker):
    """Base of linear rankers that minimise |coef_|^2 / 2 + C times the mean loss of a query.

    A subclass names its loss, a loop of `linear_kernels`, which is 0 for queries whose documents are all of one kind.
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "C": Number(1e-12, 1e12, "what the loss counts against small weights", meaning="weight of the loss"),
        "eps": Number(1e-8, 1, "a share of the objective", meaning="share of the objective to stop at"),
        "max_iter": Whole(1, meaning="rounds of the search at most"),
    }

    _loss: ClassVar[Callable[..., None]]
    _kind: ClassVar[str] = "grade"  # what must differ within a query

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


class RankSVM(MarginRanker):
    """Rank documents by a weighted sum of features that puts better ones at least 1 above worse ones of their query.

    Minimises |coef_|^2 / 2 + C times the mean over queries of the sum, over its pairs of documents with different
    grades, of max(0, 1 - score of the better + score of the worse): the optimum of R. Herbrich, T. Graepel and
    K. Obermayer (2000) and T. Joachims (2002), found without ever listing the pairs, as in T. Joachims (2006).
    Queries whose documents all have one grade say nothing and are left out of the mean.

    Parameters
    ----------
    C: how much the pairs count against small weights, as in SVMrank. `C_GRID` lists values worth trying. In SVMlight
        and in scikit-learn's LinearSVC on differences of documents it is C / number of queries.
    eps: stop when the objective is surely within this share of its minimum.
    max_iter: rounds of the cutting-plane search at most; some 10 to 100 are enough.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
        Weights depend on the units of features, so those of raw features of different sizes are seldom good.
    missing: what to do with NaN: "error", or "mean" to replace it by the mean of the training rows.
    n_jobs: threads; all cores by default. The weights are the same bits whatever the number.

    Attributes
    ----------
    coef_: weight of each feature.
    objective_, gap_, n_iter_: value reached, the share of it that the minimum is at most below, rounds.
    n_informative_: queries with documents of different grades.

    Examples
    --------
    >>> from rulerank.datasets.ranking import make_ranking
    >>> data = make_ranking(n_queries=30, n_features=3, seed=0)
    >>> ranker = RankSVM(normalize="zscore").fit(data)
    >>> dict(zip(ranker.feature_names_, ranker.coef_.round(2).tolist()))
    {'bm25_body': 0.42, 'bm25_title': 0.45, 'pagerank': 0.42}
    """

    _loss = staticmethod(pair_hinges)


def _warn(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=5)  # where fit was called
