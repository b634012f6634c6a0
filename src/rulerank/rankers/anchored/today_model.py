"""A model as today's ranking: its score is one more column, on one scale by query as the features are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rulerank.core.parameters import Checked, shown
from rulerank.core.words import listed
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.normalize import normalize_by_query
from rulerank.rankers.base import Ranker
from rulerank.rankers.linear.linear_ranker import WeightedSum
from rulerank.today import TODAY, Today, check_no_category, check_today, find_today


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
    scores = np.asarray(without_columns(model).predict_codes(X[:, places], qid=queries), dtype=np.float64)
    if not np.isfinite(scores).all():
        raise DataError(f"today: the scores of this {type(model).__name__} are not all finite")
    return normalize_by_query(scores[:, None], queries, how)


def without_columns(model: Ranker) -> Ranker:
    """Return a copy that takes arrays alone: columns were matched before, so a frame's names are not asked for."""
    own = copy(model)
    own.__dict__.pop("feature_names_in_", None)
    return own


START = Checked(
    check_start,
    f"{TODAY.what}; or a fitted ranker",
    meaning="the feature, or the model, that ranks the documents now",
    none=TODAY.none,
)
