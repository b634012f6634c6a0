"""What the rankers that count rules share: from raw features to counted rows, and from cells back to readable rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.core.arrays import unmasked
from rulerank.core.checks import is_whole
from rulerank.core.intervals import in_words, on_scale, written_cuts
from rulerank.core.parameters import Number, Parameter, Whole
from rulerank.dataset import Array
from rulerank.discretize import (
    DISCRETIZER,
    Discretizer,
    WithCategories,
    bins_by,
    discretizer_from_state,
    make_discretizer,
)
from rulerank.errors import DataError, ModelFileError
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rules.engine import Engine
from rulerank.rules.layout import FeatureSets, Layout, check_work
from rulerank.rules.rule import Rule, describe_items
from rulerank.rules.tables import (
    BinCounts,
    Counts,
    Rows,
    Total,
    Training,
    hide_unseen,
    largest_size,
    rows_needed,
    without_weakest,
)
from rulerank.rules.votes import Votes


class Prepared(NamedTuple):
    """Training rows in bins, and what is to be counted of them."""

    rows: Rows
    layout: Layout
    training: Training


class RuleRanker(Ranker):
    """Base of the rankers that count rules over the bins of a discretiser."""

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "max_size": Whole(1, meaning="items of a rule at most", none="as many as hold in min_support rows"),
        "min_support": Number(0, 1, "a share of the rows", meaning="share of the rows a rule must hold in"),
        "discretizer": DISCRETIZER,
        "drop_weakest": Number(
            0,
            1,
            "a share of the features",
            meaning="share of the features to leave out, the weakest",
            none="0.25, or 0 for the votes of the paper",
        ),
        "memory_budget": Number(0, math.inf, "MiB for the tables", meaning="MiB the tables may take", of_machine=True),
        "work_limit": Number(
            0,
            math.inf,
            "steps, or None",
            meaning="refuse to start more steps than this",
            none="no limit",
            of_machine=True,
        ),
    }

    _knows_categories: ClassVar[bool] = True
    _counts_rows_together: ClassVar[bool] = True  # support is a share of all rows, not of those of single queries

    max_size: int | None
    min_support: float
    discretizer: Any
    drop_weakest: float | None
    memory_budget: float
    work_limit: float | None

    engine_: Engine
    n_bins_: Array  # table width of each feature; training bins lie below it

    @staticmethod
    def rows_of(discretizer: Any, n_grades: int, data: Labelled) -> Rows:
        """Return training rows in bins by a fitted discretiser, as they are counted."""
        return Rows.of(bins_by(discretizer, data.X), data.grades, data.queries, n_grades)

    def _prepare(self, data: Labelled) -> Prepared:
        """Put training data into bins and lay out the feature sets to count."""
        self.discretizer_ = self.new_discretizer(data.categories)
        if self.discretizer_ is not None:
            self.discretizer_.fit(data.X, data.grades)
        return self._lay_out(self.rows_of(self.discretizer_, int(data.grades.max()) + 1, data))

    def new_discretizer(self, categories: Mapping[str, tuple[str, ...]]) -> Any:
        """Return the discretiser that was asked for, not fitted yet; None where X holds bins."""
        made = make_discretizer(self.discretizer, self.n_jobs)
        if made is None or not categories:
            return made
        return WithCategories(made, {self.feature_names_.index(name): names for name, names in categories.items()})

    def _lay_out(self, rows: Rows) -> Prepared:
        """Decide which feature sets of training rows in bins are to be counted."""
        # the rows' own limits: those of a file may lie outside the discretiser's
        counts = BinCounts.of(rows, n_jobs=self.n_jobs)
        return Prepared(rows, *self.lay_out_counts(counts, lambda look: look(rows)))

    def _prepared_from(self, saved: dict[str, Any]) -> Prepared:
        """Lay out training rows of a file, as `ByQuery.to_state` has them."""
        n_bins, numbers = self.n_bins_, np.unique(saved["queries"])
        prepared = self._lay_out(Rows.of(saved["bins"], saved["grades"], saved["queries"]))
        if not np.array_equal(self.n_bins_, n_bins) or not np.array_equal(numbers, np.arange(numbers.size)):
            raise ModelFileError("its training rows do not fit its bins, or its queries")
        return prepared

    def lay_out_counts(self, counts: BinCounts, total: Total) -> tuple[Layout, Training]:
        """Decide which feature sets are to be counted, given what was counted of each feature by itself.

        total: sums up what a function makes of the rows in bins, for rules of any size.
        """
        self.n_bins_ = counts.n_bins
        strength = counts.strength()
        used = without_weakest(strength, self.n_bins_, self.drop_share)
        n_rows = int(counts.n_by_grade.sum())
        min_rows = int(rows_needed(self.min_support, n_rows))
        max_size = self.max_size
        if max_size is None:
            least = min_rows if self._counts_rows_together else 1
            max_size = largest_size(total, n_rows, self.n_bins_, used, least, self.work_limit, self.n_jobs)
        else:
            check_work(self.n_bins_[used], max_size, n_rows, self.work_limit)
        return Layout.over(self.n_bins_, max_size, used), counts.training(min_rows, strength)

    def _count(self, prepared: Prepared, scheme: Votes) -> Engine:
        """Count the rows, or keep them where the tables would not fit the budget."""
        budget = self.memory_budget * 2**20
        return Engine.learn(*prepared[:2], scheme, prepared.training, memory_budget=budget, n_jobs=self.n_jobs)

    def known_bins(self, X: Array) -> Array:
        """Put documents into bins uint8 (n_features, n_rows), 255 where training saw none."""
        return hide_unseen(bins_by(self.discretizer_, X), self.n_bins_)

    def _score(self, X: Array) -> Array:
        return self._score_bins(self.known_bins(X))

    def _score_bins(self, bins: Array) -> Array:
        """Score documents given as bins uint8 (n_features, n_documents)."""
        return self.engine_.score(bins)

    def _one_document(self, x: Any, row: int | None) -> Array:
        """Return the bins of one document, given alone or as a row among all documents of its query."""
        check_is_fitted(self)
        rows = np.atleast_2d(np.asarray(unmasked(x)))
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
        bins = self.known_bins(self.check_rows(rows, np.zeros(len(rows))))
        return np.ascontiguousarray(bins[:, number])

    def _rules(self, row_bins: Array, blocks: tuple[FeatureSets, ...], counts: Counts, min_rows: int) -> list[Rule]:
        """Make the rules of one document from the counts of its cells, one per feature set."""
        members = [members for block in blocks for members in block.features]
        rules = []
        for cell, grade in zip(*np.nonzero(counts.grades >= min_rows), strict=True):
            by_grade, features = counts.grades[cell], members[cell]
            items = describe_items(features, row_bins[features], self.item_text)
            rules.append(Rule(items, int(grade), int(by_grade[grade]), int(by_grade.sum())))
        return rules

    def _saved_params(self) -> dict[str, Any]:
        # an object is saved with what it learned
        return self.params_ if self._discretizer_by_name() else self.params_ | {"discretizer": None}

    def _discretizer_by_name(self) -> bool:
        return isinstance(self.params_["discretizer"], str | None)

    def _discretizer_state(self) -> dict[str, Any]:
        inner = self.discretizer_.inner if isinstance(self.discretizer_, WithCategories) else self.discretizer_
        if not isinstance(inner, Discretizer | None):
            raise DataError(
                "a model can be saved only with a discretizer of this library: "
                f"got {type(inner).__name__}; choose one by name, "
                "or put X into bins first and train with discretizer=None"
            )
        return {
            "discretizer": None if self.discretizer_ is None else self.discretizer_.to_state(),
            "discretizer_by_name": self._discretizer_by_name(),
            "n_bins": self.n_bins_,
        }

    def _take_discretizer(self, state: dict[str, Any]) -> None:
        saved = state["discretizer"]
        self.discretizer_ = None if saved is None else discretizer_from_state(saved)
        if not state["discretizer_by_name"]:
            found = self.discretizer_
            self.discretizer = make_discretizer(found.inner if isinstance(found, WithCategories) else found)
            self.record_params()
        self.n_bins_ = state["n_bins"]

    def item_text(self, feature: int, bin: int) -> str:
        """Return an item, a feature with one of its bins, in words."""
        name = self.feature_names_[feature]
        describe = getattr(self.discretizer_, "describe", None)
        if name in self.dates_ and self.normalize_ is None and hasattr(self.discretizer_, "cuts_"):
            return in_words(name, bin, written_cuts(self.discretizer_.cuts_[feature], dates=True))
        return on_scale(describe(feature, bin, name) if describe else f"{name}={bin}", name, self.normalize_)

    @property
    def drop_share(self) -> float:
        """The share of the features that fit leaves out: drop_weakest, or what it stands for when it is None."""
        if self.drop_weakest is not None:
            return self.drop_weakest
        return 0.0 if self._votes_as_in_the_paper() else 0.25

    def stood_for(self) -> dict[str, Any]:
        """Return the parameters whose default depends on others, as they are used."""
        return {"drop_weakest": self.drop_share}

    def _votes_as_in_the_paper(self) -> bool:
        """Tell whether the literal method is asked for, which leaves no feature out."""
        return bool(getattr(self, "literal", False))
