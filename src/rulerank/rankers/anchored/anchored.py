"""A linear ranker for few labels: it starts from today's ranking and moves away only as far as the labels say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.core.threads import one_blas_thread
from rulerank.dataset import Array
from rulerank.errors import TooLargeError
from rulerank.rankers.anchored.posterior import average
from rulerank.rankers.anchored.starts_from_today import StartsFromToday
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.linear.linear_ranker import Coefficient, Coefficients, WeightedSum, column_means
from rulerank.rules.additive import AdditiveTables

MAX_FEATURES = 2_000  # four Hessians of as many rows


class Anchored(StartsFromToday, WeightedSum):
    """Rank documents by today's ranking, corrected by what few labels say: never far from it without good reason.

    The likelihood is that of QueryIntercepts, with one threshold per level and one effect per query that a prior
    holds. A second prior pulls the weights towards today's ranking instead of towards 0; how strongly is averaged over
    by the evidence, with a small share for a today's ranking that is of no use. Without labels, or when all labels
    have one grade, it is today's ranking.

    Parameters
    ----------
    today: the feature that ranks the documents now: a name or a column number. The highest value comes first;
        "-name" is for lowest first. A name that ends in the word rank or position (`engine_rank`) counts places, and
        there the lowest comes first; "+name" says that it does not.
        Or a fitted ranker over the same features, such as one learned from clicks: its scores are then today's ranking.
    normalize: how features are put on one scale by query. The priors are made for z-scores; None is for features that
        are on such a scale already.
    missing: "mean" puts the mean of the training rows in the place of NaN, "error" refuses it. Documents that lack
        today's feature count as a little worse than any labelled one.
    n_jobs: threads of scoring; all cores by default.

    Attributes
    ----------
    coef_, standard_errors_: weight of each feature on its scale by query, and how unsure it is.
    covariance_, thresholds_: of the weights; of the levels of grades.
    today_: which feature or model is today's ranking; a model's scores have the last weight.
    prior_shares_: how much each of `priors.PRIORS` counts.
    n_labels_, n_queries_: what it was trained on.

    Examples
    --------
    >>> import rulerank as rr
    >>> data = rr.make_ranking(n_queries=30, n_features=3, seed=0)
    >>> ranker = rr.Anchored(today="bm25_body").fit(data[:100])
    >>> ranker
    Anchored(today='bm25_body')
    >>> ranker.coefficients()
    feature     coefficient  std. error     z       p  effect
    bm25_body        0.4998      0.2702  1.85  0.0643  0.4998
    pagerank         0.4332      0.2583  1.68  0.0935  0.4332
    bm25_title       0.3057      0.2746  1.11  0.2656  0.3057
    starts from today's ranking (bm25_body); 100 labels of 2 queries
    """

    def __init__(
        self,
        today: str | int | Ranker | None = None,
        normalize: str | None = "zscore",
        missing: str = "mean",
        n_jobs: int | None = None,
    ) -> None:
        self.today = today
        self.normalize = normalize
        self.missing = missing
        self.n_jobs = n_jobs

    def coefficients(self) -> Coefficients:
        """Return the weights with their standard errors, the largest first."""
        check_is_fitted(self)
        ones = np.ones_like(self.coef_)
        columns = (self._weighed_names, self.coef_.tolist(), self.standard_errors_.tolist(), ones.tolist())
        rows = [Coefficient(*row) for row in zip(*columns, strict=True)]
        return Coefficients(tuple(sorted(rows, key=lambda row: -abs(row.effect))), self._note())

    @property
    def standard_errors_(self) -> Array:
        """How unsure each weight is."""
        return np.sqrt(np.diagonal(self.covariance_).clip(0))

    def as_tables(self) -> AdditiveTables:
        """Return the fitted model as weights alone, the baseline ranking's among them."""
        return replace(super().as_tables(), baseline=self.today_.column, from_model=self.today_model_ is not None)

    def weighed_rows(self, X: Any, qid: Any = None) -> Array:
        """Return rows as the weights `coef_` take them: on one scale, nothing missing, a model's scores last."""
        return np.asarray(self._present(self.check_rows(X, qid)), dtype=np.float64)

    def _learn(self, data: Labelled) -> None:
        n_features = data.X.shape[1]
        if n_features > MAX_FEATURES:
            raise TooLargeError(f"Anchored takes at most {MAX_FEATURES:,} features: got {n_features:,}")
        self._find_today(data)
        X = self._amounts(data)
        self._learn_missing(X)
        Z = np.asarray(self._present(X), dtype=np.float64)
        with one_blas_thread():
            found = average(Z, data.grades, data.queries, self.today_.column, self.today_.sign, data.weights)
        self.coef_, self.covariance_ = found.weights, found.covariance
        self.thresholds_, self.prior_shares_ = found.thresholds, found.shares

    def _learn_missing(self, X: Any) -> None:
        super()._learn_missing(X)
        if self.fill_ is not None:
            self.fill_ = column_means(X)
            self.fill_[self.today_.column] = self._stands_for_missing(X)

    def _learned_state(self) -> dict[str, Any]:
        return super()._learned_state() | self._anchor_state()

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._take_saved_model(state)
        super()._take_learned(state)
        self._take_anchor(state, len(self._weighed_names))
