"""What rankers share that start from today's ranking: which feature it is, and what they leave out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from rulerank.core.parameters import Parameter
from rulerank.core.words import counted
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.rankers.base import Labelled, Ranker
from rulerank.today import TODAY, Today, check_no_category, find_today

if TYPE_CHECKING:
    from rulerank.discretize import Discretizer


class Known(NamedTuple):
    """What `fit_prepared` knows beside the rows: X comes without names, and bins were found on more rows."""

    names: tuple[str, ...]
    bins: Discretizer | None


class StartsFromToday(Ranker):
    """Base of rankers whose score is today's ranking plus what labels move.

    A subclass stores `today` and has, after `_learn`, `coef_`, `covariance_`, `thresholds_` and `prior_shares_`.
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {"today": TODAY}
    _weighs_rows: ClassVar[bool] = True

    today: str | int | None

    today_: Today
    coef_: Array  # (n_moves,)
    covariance_: Array  # (n_moves, n_moves)
    thresholds_: Array  # (n_levels,)
    prior_shares_: Array
    n_labels_: int
    n_queries_: int

    _known: Known | None = None

    def start(self, feature_names: tuple[str, ...]) -> Self:
        """Become today's ranking, as it is before the first label.

        >>> import rulerank as rr
        >>> ranker = rr.Anchored(today="bm25").start(("bm25", "length"))
        >>> ranker.predict([[1, 0], [3, 0]], qid=[1, 1]).argmax()
        np.int64(1)
        """
        self.check_parameters()
        self.feature_names_, self.n_features_in_ = feature_names, len(feature_names)
        self.has_names_, self.categories_ = True, {}
        nothing = np.zeros(0, dtype=np.int64)
        self._learn(Labelled(np.zeros((0, len(feature_names))), nothing, nothing, nothing))
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
        **more: Any,
    ) -> Self:
        """Learn from rows that are on the scale that `normalize` asks for; see `Ranker.fit_prepared`."""
        self._known = Known(feature_names, discretizer)
        try:
            return super().fit_prepared(X, y, qid, feature_names=feature_names, **more)
        finally:
            del self._known

    def _find_today(self, data: Labelled) -> None:
        """Find today's ranking among the features."""
        kind = type(self).__name__
        if self.today is None:
            raise DataError(
                f"{kind} starts from today's ranking: say which feature ranks the documents now, such as "
                f"{kind}(today='bm25')"
            )
        self.today_ = find_today(self.feature_names_ if self._known is None else self._known.names, self.today)
        check_no_category(self.today_, data.categories)
        self.n_labels_, self.n_queries_ = len(data.grades), int(np.unique(data.queries).size)

    def _amounts(self, data: Labelled) -> Array:
        """Return the training rows with 0 in the place of codes, which are no amounts and get no weight."""
        if not data.categories:
            return data.X
        X = data.X.copy()
        X[:, [self.feature_names_.index(name) for name in data.categories]] = 0.0
        return X

    def _words_for_categories(self, names: str) -> str:
        return (
            f"{type(self).__name__} leaves out {names}: categories are no amounts, and few labels say little of each; "
            "FittedRules, GlobalRules, StableRules and QueryRules read them"
        )

    def _stands_for_missing(self, X: Array) -> float:
        """Return today's value of a document that today's ranking lacks: a little worse than any other's."""
        known = self.today_.sign * X[:, self.today_.column]
        known = known[~np.isnan(known)]
        spread = float(known.std()) if known.size else 0.0
        return self.today_.sign * (float(known.min(initial=0.0)) - (spread or 1.0))

    def _note(self) -> str:
        """Say where it started and what it learned from."""
        labels = f"{counted(self.n_labels_, 'label')} of {counted(self.n_queries_, 'query', 'queries')}"
        return f"starts from today's ranking ({self.today_}); {labels}"

    def _anchor_state(self) -> dict[str, Any]:
        return {
            "covariance": self.covariance_,
            "thresholds": self.thresholds_,
            "prior_shares": self.prior_shares_,
            "today_column": self.today_.column,
            "today_sign": self.today_.sign,
            "n_labels": self.n_labels_,
            "n_queries": self.n_queries_,
        }

    def _take_anchor(self, state: dict[str, Any], n_moves: int) -> None:
        n_features, column, sign = len(self.feature_names_), state["today_column"], state["today_sign"]
        if state["covariance"].shape != (n_moves, n_moves):
            raise DataError(f"expected {n_moves} x {n_moves} covariances: got {state['covariance'].shape}")
        if not 0 <= column < n_features or sign not in (1, -1):
            raise DataError(f"expected a column from 0 to {n_features - 1} and a sign: got {column} and {sign}")
        self.covariance_, self.thresholds_ = state["covariance"], state["thresholds"]
        self.prior_shares_ = state["prior_shares"]
        self.today_ = Today(self.feature_names_[column], column, sign)
        self.n_labels_, self.n_queries_ = state["n_labels"], state["n_queries"]
