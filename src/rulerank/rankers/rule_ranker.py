"""What the rankers that count rules share: from raw features to counted rows, and from cells back to readable rules."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from rulerank.ballots import BinForm
from rulerank.core.checks import check_number, is_whole
from rulerank.core.threads import n_threads
from rulerank.dataset import Array
from rulerank.discretize import Discretizer, discretizer_from_state, make_discretizer
from rulerank.errors import DataError
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rules.engine import Engine
from rulerank.rules.layout import MAX_BINS, FeatureSets, Layout, check_work
from rulerank.rules.rule import Rule
from rulerank.rules.rule_book import describe_items
from rulerank.rules.strength import feature_strength, without_weakest
from rulerank.rules.tables import Counts, Rows, hide_unseen, rows_needed
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
    memory_budget: float
    work_limit: float | None

    engine_: Engine
    n_bins_: Array  # table width of each feature; training bins lie below it

    def _prepare(self, data: Labelled) -> Prepared:
        """Put training data into bins and lay out the feature sets to count."""
        self._check_parameters()
        self.discretizer_ = make_discretizer(self.discretizer)
        if isinstance(self.discretizer, str):
            self.discretizer_.set_params(n_jobs=self.n_jobs)
        if self.discretizer_ is not None:
            self.discretizer_.fit(data.X, data.grades)
        return self._lay_out(Rows.of(self._bins(data.X), data.grades, data.queries))

    def _lay_out(self, rows: Rows) -> Prepared:
        """Decide which feature sets of training rows in bins are to be counted."""
        self.n_bins_ = rows.n_bins()
        strength = feature_strength(rows, self.n_bins_, self.n_jobs)
        used = without_weakest(strength, self.n_bins_, self._drop_share())
        check_work(self.n_bins_[used], self.max_size, rows.n_rows, self.work_limit)
        training = Training.of(rows, int(rows_needed(self.min_support, rows.n_rows)), strength)
        return Prepared(rows, Layout.over(self.n_bins_, self.max_size, used), training)

    def _known_bins(self, X: Array) -> Array:
        """Put documents into bins uint8 (n_features, n_rows), 255 where training saw none."""
        return hide_unseen(self._bins(X), self.n_bins_)

    def _score(self, X: Array) -> Array:
        return self._score_bins(self._known_bins(X))

    def _score_bins(self, bins: Array) -> Array:
        """Score documents given as bins uint8 (n_features, n_documents)."""
        return self.engine_.score(bins)

    def _one_document(self, x: Any, row: int | None) -> Array:
        """Return the bins of one document, given alone or as a row among all documents of its query."""
        check_is_fitted(self)
        rows = np.atleast_2d(np.asarray(x))
        if row is None and (len(rows) > 1 or self.normalize_ is not None):
            raise DataError(
                "this ranker normalises features by query: give all documents of the query and say which is meant, "
                "rules_for(X_of_the_query, row=3)"
                if self.normalize_ is not None
                else f"expected one document: got {len(rows)}; say which is meant, rules_for(X, row=3)"
            )
        number = 0 if row is None else row
        if not is_whole(number, 0, len(rows) - 1):
            raise DataError(f"row must be a whole number from 0 to {len(rows) - 1}: got {row!r}")
        bins = self._known_bins(self.check_rows(rows, np.zeros(len(rows))))
        return np.ascontiguousarray(bins[:, number])

    def bin_form(self) -> BinForm:
        """Return the fitted model as a function of bins."""
        cuts = getattr(self.discretizer_, "cuts_", None)
        bins, known = self._bins, self._known_bins
        return BinForm(self.feature_names_, self.engine_, cuts, bins, known, self._score_bins, self._item_text)

    def _bins_of(self, X: Array, row: int) -> Array:
        """Return the bins of one of the checked rows."""
        return np.ascontiguousarray(self._known_bins(X[row : row + 1])[:, 0])

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
            return _whole_bins(X, "with discretizer=None, X must hold bin numbers")
        if hasattr(self.discretizer_, "bins_of"):
            return self.discretizer_.bins_of(X)
        bins = self.discretizer_.transform(X)
        if issparse(bins) or np.shape(bins) != X.shape:
            raise DataError(
                f"the discretizer must give one bin number per row and feature, shape {X.shape}: "
                f"got {type(bins).__name__} of shape {np.shape(bins)}"
            )
        return _whole_bins(np.asarray(bins), "the discretizer must give bin numbers")

    def _drop_share(self) -> float:
        return self.drop_weakest or 0.0

    def _check_parameters(self) -> None:
        if not is_whole(self.max_size, 1):
            raise DataError(f"max_size must be a whole number from 1: got {self.max_size!r}")
        check_number("min_support", self.min_support, 0, 1, "a share of the rows")
        check_number("memory_budget", self.memory_budget, 0, math.inf, "MiB for the tables")
        if self.work_limit is not None:
            check_number("work_limit", self.work_limit, 0, math.inf, "steps, or None")
        if self.drop_weakest is not None:
            check_number("drop_weakest", self.drop_weakest, 0, 1, "a share of the features")
        n_threads(self.n_jobs)


def _whole_bins(bins: Array, expected: str) -> Array:
    whole = np.isfinite(bins) & (np.floor(bins) == bins) & (bins >= 0)
    if not whole.all():
        row, column = (int(i[0]) for i in np.nonzero(~whole))
        raise DataError(
            f"{expected} (whole numbers from 0): row {row}, column {column} is {bins[row, column]}; "
            "name a discretizer such as 'mdlp' to have values put into bins"
        )
    return np.minimum(bins, MAX_BINS).astype(np.int64).T
