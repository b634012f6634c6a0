"""What rankers share that start from the baseline ranking: which feature or model it is, and what they leave out.

A model as the baseline: its score is one more column, on one scale by query as the features are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from rulerank.core.parameters import Checked, Parameter, shown
from rulerank.core.words import counted, listed
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.normalize import normalize_by_query
from rulerank.rankers.anchored.posterior import Averaged
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.linear.linear_ranker import WeightedSum
from rulerank.today import TODAY, Today, check_no_category, check_today, find_today

if TYPE_CHECKING:
    from rulerank.discretize import Discretizer

LEARNED = ("covariance", "thresholds", "prior_shares", "n_labels", "n_queries")  # that a model file holds as they are


@dataclass(frozen=True, eq=False)
class TodayModel:
    """Which model ranks the documents today, and which column its scores are: the one after the features."""

    ranker: Ranker
    column: int
    sign: ClassVar[int] = 1  # the highest score comes first

    def __str__(self) -> str:
        # a weighted sum has coefficients to read; other models have their own explain
        own = self.ranker
        linear = isinstance(own, WeightedSum) and getattr(own, "today_model_", None) is None
        kind = type(own).__name__
        return f"{'an' if kind.startswith('A') else 'a'} {kind} model{', linear' if linear else ''}"

    @property
    def feature(self) -> str:
        """What the column of its scores is called."""
        return f"score of {type(self.ranker).__name__}"

    @property
    def option(self) -> Ranker:
        """The model, by which it can be asked for again."""
        return self.ranker


def check_start(today: Any) -> None:
    """Refuse what can be neither a feature nor a fitted ranker of this library."""
    if isinstance(today, Ranker):
        check_fitted(today)
    elif not isinstance(today, str) and hasattr(today, "predict"):
        raise DataError(
            "today must be a feature, or a fitted ranker of this library, such as QueryIntercepts: "
            f"got {shown(today)}; add what another model says to the data as a feature, and name that"
        )
    else:
        check_today(today)


def check_fitted(model: Ranker) -> None:
    """Refuse a ranker that has learned nothing yet."""
    if not model.__sklearn_is_fitted__():
        raise DataError(
            f"today: this {type(model).__name__} is not fitted, so it ranks nothing yet: fit it first, or read it with "
            "rr.load"
        )


def find_start(names: Sequence[str], today: Any) -> Today | TodayModel:
    """Return today's ranking, a feature by its name or column number, or a fitted ranker."""
    check_start(today)
    return TodayModel(today, len(names)) if isinstance(today, Ranker) else find_today(names, today)


def option_in_words(found: Today | TodayModel) -> str:
    """Return what was asked for as a word that JSON can hold: a feature, or which kind of model."""
    return str(found) if isinstance(found, TodayModel) else found.option


def scores_today(found: Today | TodayModel, data: Dataset) -> Array:
    """Return today's score of each row, the best highest."""
    if isinstance(found, TodayModel):
        places_in(found.ranker, data.feature_names, data.categories)
        return found.ranker.predict(data)
    check_no_category(found, data.categories)
    return found.scores(data.X)


def places_in(model: Ranker, names: Sequence[str] | None, categories: Mapping[str, tuple[str, ...]]) -> list[int]:
    """Return the columns that a model reads among those of the data; names None: the data has no names."""
    check_fitted(model)
    own, kind = model.feature_names_, type(model).__name__
    missing = [] if names is None or not model.has_names_ else [name for name in own if name not in names]
    if missing:
        raise DataError(
            f"today: this {kind} reads {listed(missing)}, which the data lacks (it has {listed(list(names or ()))}); "
            "give the data those features, or a model that was trained on its own"
        )
    others = [name for name, kinds in model.categories_.items() if categories.get(name) != kinds]
    if others:
        raise DataError(
            f"today: this {kind} knows other categories of {listed(others)} than the data has: train it on this data"
        )
    if names is None or not model.has_names_:
        return list(range(len(own)))
    place = {name: column for column, name in enumerate(names)}
    return [place[name] for name in own]


def model_column(model: Ranker, X: Array, places: list[int], queries: Array, how: str) -> Array:
    """Return a model's scores of raw rows on one scale by query, float64 (n_rows, 1)."""
    if max(places, default=-1) >= X.shape[1]:
        raise DataError(
            f"today: this {type(model).__name__} was trained on {len(places)} features: the data has {X.shape[1]}"
        )
    own = copy(model)
    own.__dict__.pop("feature_names_in_", None)  # columns were matched before, so a frame's names are not asked for
    scores = np.asarray(own.predict_codes(X[:, places], qid=queries), dtype=np.float64)
    if not np.isfinite(scores).all():
        raise DataError(f"today: the scores of this {type(model).__name__} are not all finite")
    return normalize_by_query(scores[:, None], queries, how)


START = Checked(
    check_start,
    f"{TODAY.what}; or a fitted ranker",
    meaning="the feature, or the model, that ranks the documents now",
    none=TODAY.none,
)


class Known(NamedTuple):
    """What `fit_prepared` knows beside the rows: X comes without names, bins and scales were found on more rows."""

    names: tuple[str, ...]
    bins: Discretizer | None
    model_column: Array | None  # (n_rows, 1) scores of a model that is today's ranking


class StartsFromToday(Ranker):
    """Base of rankers whose score is today's ranking plus what labels move.

    A subclass stores `today` and has, after `_learn`, `coef_`, `covariance_`, `thresholds_` and `prior_shares_`.
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {"today": START}
    _weighs_rows: ClassVar[bool] = True
    _without_contrast = "the model is the baseline ranking, or hardly differs from it"
    _why_not_additive: ClassVar[str] = "it starts from a model, whose scores are put on one scale by query"

    today: str | int | Ranker | None

    today_: Today | TodayModel
    today_model_: Ranker | None = None  # as it was when fitted, where a model is today's ranking
    coef_: Array  # (n_moves,)
    covariance_: Array  # (n_moves, n_moves)
    thresholds_: Array  # (n_levels,)
    prior_shares_: Array
    n_labels_: int
    n_queries_: int

    _known: Known | None = None

    _leaves_categories_out: ClassVar[bool] = True

    def start(self, feature_names: tuple[str, ...], categories: Mapping[str, tuple[str, ...]] | None = None) -> Self:
        """Become today's ranking, as it is before the first label.

        >>> import rulerank as rr
        >>> ranker = rr.Anchored(today="bm25").start(("bm25", "length"))
        >>> ranker.predict([[1, 0], [3, 0]], qid=[1, 1]).argmax()
        np.int64(1)
        """
        self.check_parameters()
        self.feature_names_, self.n_features_in_ = feature_names, len(feature_names)
        self.has_names_, self.categories_ = True, dict(categories or {})
        self._take_model()
        if self.today_model_ is not None:
            self.categories_ |= self.today_model_.categories_
            places_in(self.today_model_, feature_names, self.categories_)
        nothing = np.zeros(0, dtype=np.int64)
        self._learn(Labelled(np.zeros((0, len(self._weighed_names))), nothing, nothing, nothing))
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
        model_column: Array | None = None,
        **more: Any,
    ) -> Self:
        """Learn from rows that are on the scale that `normalize` asks for; see `Ranker.fit_prepared`.

        model_column: of the same rows, what `column_of_model` gives.
        """
        self._known = Known(feature_names, discretizer, model_column)
        try:
            super().fit_prepared(X, y, qid, feature_names=feature_names, **more)
        finally:
            del self._known
        if self.today_model_ is not None:  # new rows come to it by these codes
            self.categories_ |= self.today_model_.categories_
        return self

    def column_of_model(self, data: Dataset, queries: Array) -> Array | None:
        """Return today's model's scores of a whole pool on one scale by query; None where today is a feature."""
        if not isinstance(self.today, Ranker):
            return None
        self._check_scale()
        assert self.normalize is not None
        places = places_in(self.today, data.feature_names, data.categories)
        return model_column(self.today, data.X, places, queries, self.normalize)

    def on_one_scale(self, X: Array, queries: Array, how: str) -> Array:
        """Return rows normalised by query, with the scores of a model that is today's ranking as the last column."""
        out = super().on_one_scale(X, queries, how)
        out[:, [self.feature_names_.index(name) for name in self.categories_]] = 0.0  # as in training
        if self.today_model_ is None:
            return out
        places = places_in(self.today_model_, self.feature_names_ if self.has_names_ else None, self.categories_)
        return np.hstack([out, model_column(self.today_model_, X, places, queries, how)])

    def _check_training(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> Labelled:
        self._take_model()
        return super()._check_training(X, y, qid, sample_weight)

    def _take_model(self) -> None:
        """Keep the model that is today's ranking as it is now, whatever is fitted later."""
        self.today_model_ = copy(self.today) if isinstance(self.today, Ranker) else None
        if self.today_model_ is not None and self._known is None:
            self._check_scale()

    def _check_scale(self) -> None:
        if self.normalize is None:
            raise DataError(
                "today: a model's scores must be put on one scale by query, and the features with them: "
                "leave out normalize=None"
            )

    @property
    def _weighed_names(self) -> tuple[str, ...]:
        """The names of the columns of checked rows: the features, and a model that is today's ranking."""
        names = self.feature_names_ if self._known is None else self._known.names
        return names if self.today_model_ is None else (*names, TodayModel(self.today_model_, len(names)).feature)

    def _find_today(self, data: Labelled) -> None:
        """Find today's ranking among the features."""
        kind = type(self).__name__
        if self.today is None:
            raise DataError(
                f"{kind} starts from today's ranking: say which feature ranks the documents now, such as "
                f"{kind}(today='bm25')"
            )
        names = self.feature_names_ if self._known is None else self._known.names
        self.today_ = find_start(names, self.today if self.today_model_ is None else self.today_model_)
        if isinstance(self.today_, Today):
            check_no_category(self.today_, data.categories)
        self.n_labels_, self.n_queries_ = len(data.grades), int(np.unique(data.queries).size)

    def _amounts(self, data: Labelled) -> Array:
        """Return the training rows with 0 in the place of codes, which are no amounts and get no weight."""
        X = data.X
        if self._known is not None and self._known.model_column is not None:
            X = np.hstack([X, self._known.model_column])
        if not data.categories:
            return X
        X = X.copy()
        X[:, [self.feature_names_.index(name) for name in data.categories]] = 0.0
        return X

    def _take_averaged(self, found: Averaged) -> None:
        self.coef_, self.covariance_ = found.weights, found.covariance
        self.thresholds_, self.prior_shares_ = found.thresholds, found.shares

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
        state = {name: getattr(self, f"{name}_") for name in LEARNED}
        state |= {"today_column": self.today_.column, "today_sign": self.today_.sign}
        return state | ({} if self.today_model_ is None else {"today_model": self.today_model_})

    def _saved_params(self) -> dict[str, Any]:
        # a model is saved with what was learned
        return super()._saved_params() | ({} if self.today_model_ is None else {"today": None})

    def _take_saved_model(self, state: dict[str, Any]) -> None:
        """Take over the model that is today's ranking, if one is."""
        model = state.get("today_model")
        if model is None:
            return
        if not isinstance(model, Ranker):
            raise DataError(f"expected a ranker as today_model: got {type(model).__name__}")
        self.today = self.today_model_ = model
        places_in(model, self.feature_names_ if self.has_names_ else None, self.categories_)
        self.record_params()

    def _take_anchor(self, state: dict[str, Any], n_moves: int) -> None:
        n_features, column, sign = len(self._weighed_names), state["today_column"], state["today_sign"]
        if state["covariance"].shape != (n_moves, n_moves):
            raise DataError(f"expected {n_moves} x {n_moves} covariances: got {state['covariance'].shape}")
        model = self.today_model_
        known = (column, sign) == (n_features - 1, 1) if model is not None else 0 <= column < n_features
        if not known or sign not in (1, -1):
            raise DataError(f"expected today's ranking among {n_features} columns, and a sign: got {column} and {sign}")
        for name in LEARNED:
            setattr(self, f"{name}_", state[name])
        self.today_ = Today(self.feature_names_[column], column, sign) if model is None else TodayModel(model, column)

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy; a model that is today's ranking stays fitted, for it is where learning starts."""
        made: Self = super().__sklearn_clone__()
        if isinstance(self.today, Ranker):
            made.today = self.today
        return made
