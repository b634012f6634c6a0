"""What rankers share that learn from clicks: what `fit` is given, and which positions it may tell apart."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from rulerank.core.parameters import Number, Parameter
from rulerank.core.words import counted, listed
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.normalize import normalize_by_query
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.clicks.click_rows import ClickRows, check_clicks, known_effects, weighed
from rulerank.rankers.clicks.likelihood import ClickFit, fit_clicks
from rulerank.rankers.clicks.moves import document_numbers, find_leaving, id_numbers, joined_positions
from rulerank.rankers.clicks.positions import ALONE, ESTIMATED, GIVEN, NONE, PositionEffects, PositionSteps, knots
from rulerank.rankers.rows import check_weights, content_keys


class PositionWarning(UserWarning):
    """The clicks cannot tell some positions apart."""


@dataclass(frozen=True, eq=False)
class Clicks:
    """What `fit` was given beside rows and queries."""

    rows: ClickRows
    propensities: Any = None
    docs: Array | None = None  # int64 (n_rows,) a number for each document's id; None: documents are known by features

    def weighted(self, weights: Array) -> Clicks:
        """Return the clicks of rows that count so much; those that count 0 are left out."""
        own = np.flatnonzero(weights > 0)
        rows, docs = self.rows[own], None if self.docs is None else self.docs[own]
        rows = replace(rows, shown=rows.shown * weights[own], clicks=rows.clicks * weights[own])
        return replace(self, rows=rows, docs=docs)


@dataclass(frozen=True, eq=False)
class PositionModel:
    """What may be found of positions from some rows, and what clicks further up take away from them."""

    steps: PositionSteps
    source: str
    n_moved: int
    documents: Array  # int64 (n_rows,) the number of each row's document
    after: Array  # float64 (n_rows,) what clicks further up take away
    leaving: float  # share of people who leave after a click
    errors: Array | None = None  # of effects that were found before

    def effects(self, rows: ClickRows, found: Array, covariance: Array) -> PositionEffects:
        """Return the effects with their standard errors, given the steps and their covariance."""
        errors = self.errors
        if errors is None:
            design = self.steps.design
            errors = np.sqrt(np.einsum("ij,jk,ik->i", design, covariance, design).clip(0))
            errors[errors == 0] = np.nan
        n = rows.positions.size
        shown, clicked = (np.bincount(rows.places, values, n) for values in (rows.shown, rows.clicks))
        return PositionEffects(
            rows.positions, self.steps.effects(found), errors, shown, clicked, self.source, self.n_moved,
            self.leaving,
        )  # fmt: skip

    def seen(self, rows: ClickRows) -> ClickRows:
        """Return rows that know what clicks further up take away."""
        return replace(rows, after=self.after) if self.leaving else rows


class LearnsFromClicks(Ranker):
    """Base of rankers whose `fit` takes clicks: position, impressions, propensities."""

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "document_spread": Number(0, meaning="with position: variance of what no feature says of a document"),
        "leave_after_click": Number(
            0, 1, meaning="with position: share of people who leave after a click", none="found from moved documents"
        ),
    }

    document_spread: float
    leave_after_click: float | None
    position_effects_: PositionEffects | None
    _clicks: Clicks | None = None  # while it learns

    def positions(self) -> PositionEffects:
        """Return what positions do to clicks, as it was found; only a ranker that was fitted with position has it."""
        found = getattr(self, "position_effects_", None)
        if found is None:
            raise DataError("this ranker was not fitted with position, so it knows of no position's effect")
        return found

    def check_contrast(self, data: Labelled) -> None:
        """Look at grades only: clicks say something of every query that has some."""
        if self._clicks is None:
            super().check_contrast(data)

    def on_one_scale(self, X: Array, queries: Array, how: str) -> Array:
        """Return rows normalised by query, in which a document counts once however many positions it was shown at."""
        if self._clicks is None:
            return super().on_one_scale(X, queries, how)
        documents = document_numbers(content_keys(X), queries)
        _, first = np.unique(documents, return_index=True)
        out = normalize_by_query(X[first], queries[first], how, self.n_jobs)[documents]
        codes = [self.feature_names_.index(name) for name in self.categories_]
        out[:, codes] = X[:, codes]
        return out

    def _take_clicks(
        self, X: Any, y: Any, position: Any, impressions: Any, propensities: Any, sample_weight: Any
    ) -> tuple[Any, Any, Clicks | None]:
        """Return X, y as grades, and the clicks; y stays as it is and there are none where no position is given."""
        if isinstance(X, Dataset) and X.shown is not None and y is None:
            position = X.shown.position if position is None else position
            impressions = X.shown.impressions if impressions is None else impressions
            y = X.shown.clicks
        if position is None:
            for name, value in (("impressions", impressions), ("propensities", propensities)):
                if value is not None:
                    raise DataError(
                        f"{name} belong to clicks: give position too, the place at which each row was shown"
                    )
            return X, y, None
        if issparse(X):
            raise DataError("clicks are learned from rows of an array: give X as one, X.toarray(), instead of sparse")
        if y is None:
            raise DataError(
                "requires y to be passed, but the target y is None: with position, y is how often each row was clicked"
            )
        n_rows = len(X) if isinstance(X, Dataset) else np.shape(X)[0]
        rows = check_clicks(y, position, impressions, n_rows)
        docs = id_numbers(X.docid) if isinstance(X, Dataset) and X.docid is not None else None
        clicks = Clicks(rows, propensities, docs)
        if sample_weight is not None:
            clicks = clicks.weighted(check_weights(sample_weight, n_rows))
        return X, (rows.clicks > 0).astype(np.int64), clicks

    def _position_model(self, X: Array, queries: Array, clicks: Clicks) -> PositionModel:
        """Say what may be found of positions from these rows, and warn of what may not."""
        rows, positions = clicks.rows, clicks.rows.positions
        documents = document_numbers(content_keys(X) if clicks.docs is None else clicks.docs, queries)

        def model(steps: PositionSteps, source: str, n_moved: int) -> PositionModel:
            given = self.leave_after_click if source in (ESTIMATED, GIVEN) else self.leave_after_click or 0.0
            left = find_leaving(rows, queries, documents, steps, given)
            found = PositionModel(steps, source, n_moved, documents, left.after, left.share)
            if source != ESTIMATED:
                return found
            known = found.effects(rows, left.found.x, left.found.covariance)
            return replace(found, steps=PositionSteps.known(known.effects), errors=known.errors)

        if clicks.propensities is not None:
            return model(PositionSteps.known(known_effects(clicks.propensities, positions)), GIVEN, 0)
        seen_at = np.unique(documents * positions.size + rows.places)
        n_moved = int((np.bincount(seen_at // positions.size) > 1).sum())
        groups = joined_positions(rows, documents)
        sizes = np.bincount(groups[rows.places], rows.shown, int(groups.max()) + 1)
        main = groups == int(sizes.argmax())
        if positions.size > 1 and main.sum() < positions.size:
            warnings.warn(_words(positions, main), PositionWarning, stacklevel=6)
        if main.sum() < 2:
            source = NONE if positions.size > 1 else ALONE
            return model(PositionSteps.known(np.zeros(positions.size)), source, n_moved)
        own = knots(positions[main])
        return model(PositionSteps.falling(own).at(own, positions), ESTIMATED, n_moved)

    def _click_state(self) -> dict[str, Any]:
        found = getattr(self, "position_effects_", None)
        return {} if found is None else {"position_effects": found.to_state()}

    def _take_click_state(self, state: Mapping[str, Any]) -> None:
        found = state.get("position_effects")  # models of before had none
        self.position_effects_ = None if found is None else PositionEffects.from_state(found)


def _words(positions: Array, main: Array) -> str:
    """Say which positions cannot be told apart."""
    if main.sum() < 2:
        return (
            f"no document was shown at two of the {counted(positions.size, 'position')}, so what a position does to "
            "clicks cannot be told apart from the documents that stand there: no effect of positions is assumed, and "
            "what was shown further up looks better than it is; show some documents at other positions, or give "
            "propensities"
        )
    others = [str(one) for one in positions[~main].tolist()]
    return (
        f"no document leads from position{'s' if len(others) > 1 else ''} {listed(others)} to the others by being "
        "shown at both, so the effects there cannot be told apart from the documents that stand there: those of the "
        "nearest positions are assumed; or give propensities"
    )


def learn_clicks(
    X: Array, groups: Array, clicks: Clicks, model: PositionModel, l2: Array, max_iter: int, spread: float
) -> tuple[ClickFit, PositionEffects]:
    """Learn from rows without missing values, whose groups are queries or pairs of query and judge.

    l2: of each feature. spread: variance of what no feature says of a document.
    """
    rows, steps = model.seen(clicks.rows), model.steps
    if steps.n_steps and spread > 0:  # all impressions tell positions, documents tell coefficients
        first = fit_clicks(X, rows, groups, steps, l2, max_iter)
        effects = model.effects(clicks.rows, first.steps, first.step_covariance)
        return fit_clicks(
            X, weighed(rows, model.documents, spread), groups, PositionSteps.known(effects.effects), l2, max_iter
        ), effects
    found = fit_clicks(X, weighed(rows, model.documents, spread), groups, steps, l2, max_iter)
    return found, model.effects(clicks.rows, found.steps, found.step_covariance)
