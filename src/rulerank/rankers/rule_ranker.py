"""What the rankers that count rules share: from raw features to counted rows, and from cells back to readable rules."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rulerank.dataset import Array
from rulerank.discretize import Discretizer, discretizer_from_state, make_discretizer
from rulerank.errors import DataError
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.rule_book import describe_items
from rulerank.rules.layout import MAX_BINS, FeatureSets, Layout, check_work
from rulerank.rules.rule import Rule
from rulerank.rules.strength import feature_strength, without_weakest
from rulerank.rules.tables import Counts, Rows, hide_unseen
from rulerank.rules.votes import Training


class Prepared(NamedTuple):
    """Training rows in bins, and what is to be counted of them."""

    rows: Rows
    layout: Layout
    training: Training


class RuleRanker(Ranker):
    """Base of the rankers that count rules over the bins of a discretiser."""

    max_size: int
    min_support: float
    discretizer: Any
    drop_weakest: float | None
    work_limit: float | None

    n_bins_: Array  # table width of each feature; training bins lie below it

    def _prepare(self, data: Labelled) -> Prepared:
        """Put training data into bins and lay out the feature sets to count."""
        self._check_parameters()
        self.discretizer_ = make_discretizer(self.discretizer)
        if self.discretizer_ is not None:
            self.discretizer_.fit(data.X, data.grades)
        rows = Rows.of(self._bins(data.X), data.grades, data.queries)
        self.n_bins_ = rows.n_bins()
        strength = feature_strength(rows, self.n_bins_, self.n_jobs)
        used = without_weakest(strength, self.n_bins_, self._drop_share())
        check_work(self.n_bins_[used], self.max_size, rows.n_rows, self.work_limit)
        training = Training(
            n_grades=rows.n_grades,
            mean_grade=float(rows.grades.mean(dtype=np.float64)),
            # rounded first: 0.1 * 30 is a little more than 3 in floating point
            min_rows=max(1, math.ceil(round(self.min_support * rows.n_rows, 9))),
            strength=strength,
        )
        return Prepared(rows, Layout.over(self.n_bins_, self.max_size, used), training)

    def _known_bins(self, X: Array) -> Array:
        """Put documents into bins uint8 (n_features, n_rows), 255 where training saw none."""
        return hide_unseen(self._bins(X), self.n_bins_)

    def _one_document(self, x: Any) -> Array:
        """Return the bins of one document, a row of raw features."""
        return np.ascontiguousarray(self._known_bins(self._check_rows(np.asarray(x).reshape(1, -1), np.zeros(1)))[:, 0])

    def _rules(self, row_bins: Array, blocks: tuple[FeatureSets, ...], counts: Counts, min_rows: int) -> list[Rule]:
        """Make the rules of one document from the counts of its cells, one per feature set."""
        members = [members for block in blocks for members in block.features]
        rules = []
        for cell, grade in zip(*np.nonzero(counts.grades >= min_rows), strict=True):
            by_grade, features = counts.grades[cell], members[cell]
            items = describe_items(features, row_bins[features], self._item_text)
            rules.append(Rule(items, int(grade), int(by_grade[grade]), int(by_grade.sum())))
        return rules

    def _plain_params(self) -> dict[str, Any]:
        params = super()._plain_params()
        if not isinstance(self.discretizer, str | None):  # an object is saved with what it learned
            params["discretizer"] = None
        return params

    def _discretizer_state(self) -> dict[str, Any]:
        if not isinstance(self.discretizer_, Discretizer | None):
            raise DataError(
                "a model can be saved only with a discretizer of this library: "
                f"got {type(self.discretizer_).__name__}; choose one by name, "
                "or put X into bins first and train with discretizer=None"
            )
        return {
            "discretizer": None if self.discretizer_ is None else self.discretizer_.to_state(),
            "discretizer_by_name": isinstance(self.discretizer, str | None),
            "n_bins": self.n_bins_,
        }

    def _take_discretizer(self, state: dict[str, Any]) -> None:
        saved = state["discretizer"]
        self.discretizer_ = None if saved is None else discretizer_from_state(saved)
        if not state["discretizer_by_name"]:
            self.discretizer = make_discretizer(self.discretizer_)
        self.n_bins_ = state["n_bins"]

    def _item_text(self, feature: int, bin: int) -> str:
        name = self.feature_names_[feature]
        describe = getattr(self.discretizer_, "describe", None)
        return describe(feature, bin, name) if describe else f"{name}={bin}"

    def _bins(self, X: Array) -> Array:
        """Discretise: bins as (n_features, n_rows)."""
        if self.discretizer_ is None:
            return _given_bins(X)
        if hasattr(self.discretizer_, "bins_of"):
            return self.discretizer_.bins_of(X)
        return np.asarray(self.discretizer_.transform(X)).T

    def _drop_share(self) -> float:
        return self.drop_weakest or 0.0

    def _check_parameters(self) -> None:
        if not isinstance(self.max_size, int | np.integer) or self.max_size < 1:
            raise DataError(f"max_size must be a whole number from 1: got {self.max_size!r}")
        if not 0 <= self.min_support <= 1:
            raise DataError(f"min_support is a share of the rows, from 0 to 1: got {self.min_support}")
        if not 0 <= self._drop_share() < 1:
            raise DataError(f"drop_weakest is a share of the features, from 0 to below 1: got {self.drop_weakest}")


def _given_bins(X: Array) -> Array:
    whole = np.isfinite(X) & (np.floor(X) == X) & (X >= 0)
    if not whole.all():
        row, column = (int(i[0]) for i in np.nonzero(~whole))
        raise DataError(
            f"with discretizer=None, X must hold bin numbers (whole numbers from 0): row {row}, column {column} "
            f"is {X[row, column]}; name a discretizer such as 'mdlp' to have values put into bins"
        )
    return np.minimum(X, MAX_BINS).astype(np.int64).T
