"""A linear ranker for few labels: it starts from today's ranking and moves away only as far as the labels say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.ballots import Case, LinearForm
from rulerank.ballots.anchored_cases import anchored_case
from rulerank.core.blas import one_blas_thread
from rulerank.core.parameters import Parameter
from rulerank.dataset import Array
from rulerank.errors import DataError, TooLargeError
from rulerank.rankers.anchored.priors import average
from rulerank.rankers.base import Labelled
from rulerank.rankers.linear.coefficients import Coefficient, Coefficients
from rulerank.rankers.linear.linear_ranker import WeightedSum, column_means
from rulerank.today import TODAY, Today, find_today

if TYPE_CHECKING:
    from rulerank.discretize import Discretizer

MAX_FEATURES = 2_000  # four Hessians of as many rows


class Anchored(WeightedSum):
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
    normalize: how features are put on one scale by query. The priors are made for z-scores; None is for features that
        are on such a scale already.
    missing: "mean" puts the mean of the training rows in the place of NaN, "error" refuses it. Documents that lack
        today's feature count as a little worse than any labelled one.
    n_jobs: threads of scoring; all cores by default.

    Attributes
    ----------
    coef_, standard_errors_: weight of each feature on its scale by query, and how unsure it is.
    covariance_, thresholds_: of the weights; of the levels of grades.
    today_: which feature is today's ranking. prior_shares_: how much each of `priors.PRIORS` counts.
    n_labels_, n_queries_: what it was trained on.

    Examples
    --------
    >>> import rulerank as rr
    >>> data = rr.make_world(n_queries=30, n_features=3, seed=0)
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

    parameter_table: ClassVar[Mapping[str, Parameter]] = {"today": TODAY}

    _weighs_rows: ClassVar[bool] = True

    today_: Today

    def __init__(
        self,
        today: str | int | None = None,
        normalize: str | None = "zscore",
        missing: str = "mean",
        n_jobs: int | None = None,
    ) -> None:
        self.today = today
        self.normalize = normalize
        self.missing = missing
        self.n_jobs = n_jobs

    def start(self, feature_names: tuple[str, ...]) -> Self:
        """Become today's ranking, as it is before the first label.

        >>> Anchored(today="bm25").start(("bm25", "length")).predict([[1, 0], [3, 0]], qid=[1, 1]).argmax()
        np.int64(1)
        """
        self.check_parameters()
        self.feature_names_, self.n_features_in_ = feature_names, len(feature_names)
        self.has_names_, self.categories_ = True, {}
        nothing = np.zeros(0, dtype=np.int64)
        data = Labelled(np.zeros((0, len(feature_names))), nothing, nothing, nothing)
        self._learn(data)
        self.record_params()
        return self

    def fit_prepared(
        self,
        X: Array,
        y: Any,
        qid: Any,
        *,
        feature_names: tuple[str, ...],
        discretizer: Discretizer | None = None,
    ) -> Self:
        """Learn from rows that are on the scale that `normalize` asks for; see `Ranker.fit_prepared`."""
        self._names = feature_names  # today is found by name, and X comes without names
        try:
            return super().fit_prepared(X, y, qid, feature_names=feature_names, discretizer=discretizer)
        finally:
            del self._names

    def coefficients(self) -> Coefficients:
        """Return the weights with their standard errors, the largest first."""
        check_is_fitted(self)
        ones = np.ones_like(self.coef_)
        columns = (self.feature_names_, self.coef_.tolist(), self.standard_errors_.tolist(), ones.tolist())
        rows = [Coefficient(*row) for row in zip(*columns, strict=True)]
        note = (
            f"starts from today's ranking ({self.today_}); {self.n_labels_:,} labels of {self.n_queries_:,} "
            f"{'query' if self.n_queries_ == 1 else 'queries'}"
        )
        return Coefficients(tuple(sorted(rows, key=lambda row: -abs(row.effect))), note)

    @property
    def standard_errors_(self) -> Array:
        """How unsure each weight is."""
        return np.sqrt(np.diagonal(self.covariance_).clip(0))

    def linear_form(self) -> LinearForm:
        """Return the fitted model as a weighted sum of values."""
        return LinearForm(self.feature_names_, self.coef_, np.ones_like(self.coef_), self._present, self._score)

    def case(self, X: Array, row: int) -> Case:
        """Return a document as today's ranking has it, and what moves it from there."""
        return anchored_case(self.linear_form(), X, row, self.today_.column, str(self.today_))

    def _learn(self, data: Labelled) -> None:
        n_features = data.X.shape[1]
        if n_features > MAX_FEATURES:
            raise TooLargeError(f"Anchored takes at most {MAX_FEATURES:,} features: got {n_features:,}")
        if self.today is None:
            raise DataError(
                "Anchored starts from today's ranking: say which feature ranks the documents now, such as "
                "Anchored(today='bm25')"
            )
        self.today_ = find_today(getattr(self, "_names", self.feature_names_), self.today)
        self._learn_missing(data.X)
        Z = np.asarray(self._present(data.X), dtype=np.float64)
        with one_blas_thread():
            found = average(Z, data.grades, data.queries, self.today_.column, self.today_.sign, data.weights)
        self.coef_, self.covariance_ = found.weights, found.covariance
        self.thresholds_, self.prior_shares_ = found.thresholds, found.shares
        self.n_labels_, self.n_queries_ = len(data.grades), int(np.unique(data.queries).size)

    def _learn_missing(self, X: Any) -> None:
        super()._learn_missing(X)
        if self.fill_ is None:
            return
        self.fill_ = column_means(X)
        column, sign = self.today_.column, self.today_.sign
        known = sign * X[:, column][~np.isnan(X[:, column])]
        spread = float(known.std()) if known.size else 0.0
        self.fill_[column] = sign * (float(known.min(initial=0.0)) - (spread or 1.0))  # not ranked today: behind

    def _learned_state(self) -> dict[str, Any]:
        return super()._learned_state() | {
            "covariance": self.covariance_,
            "thresholds": self.thresholds_,
            "prior_shares": self.prior_shares_,
            "today_column": self.today_.column,
            "today_sign": self.today_.sign,
            "n_labels": self.n_labels_,
            "n_queries": self.n_queries_,
        }

    def _take_learned(self, state: dict[str, Any]) -> None:
        super()._take_learned(state)
        n_features, column, sign = len(self.feature_names_), state["today_column"], state["today_sign"]
        if state["covariance"].shape != (n_features, n_features):
            raise DataError(f"expected {n_features} x {n_features} covariances: got {state['covariance'].shape}")
        if not 0 <= column < n_features or sign not in (1, -1):
            raise DataError(f"expected a column from 0 to {n_features - 1} and a sign: got {column} and {sign}")
        self.covariance_, self.thresholds_ = state["covariance"], state["thresholds"]
        self.prior_shares_ = state["prior_shares"]
        self.today_ = Today(self.feature_names_[column], column, sign)
        self.n_labels_, self.n_queries_ = state["n_labels"], state["n_queries"]
