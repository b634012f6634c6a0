"""What the rankers that count rules share: from raw features to counted rows, and from cells back to readable rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.ballots import BinForm
from rulerank.core.arrays import unmasked
from rulerank.core.checks import is_whole
from rulerank.core.intervals import in_words, on_scale, written_cuts
from rulerank.core.parameters import Number, Parameter, Whole
from rulerank.dataset import Array
from rulerank.discretize import (
    DISCRETIZER,
    Discretizer,
    WithCategories,
    bin_limits,
    bins_by,
    discretizer_from_state,
    make_discretizer,
)
from rulerank.errors import DataError
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.parts import Facts, OnePart, TrainingParts
from rulerank.rules.any_size import Total, largest_size
from rulerank.rules.engine import Engine
from rulerank.rules.layout import FeatureSets, Layout, check_work
from rulerank.rules.rule import Rule
from rulerank.rules.rule_book import describe_items
from rulerank.rules.strength import BinCounts, without_weakest
from rulerank.rules.tables import Counts, Rows, hide_unseen, rows_needed
from rulerank.rules.votes import Training

AnyEngine = TypeVar("AnyEngine", bound=Engine)


class Prepared(NamedTuple):
    """Training rows in bins, and what is to be counted of them."""

    rows: Rows
    layout: Layout
    training: Training


class PreparedParts(NamedTuple):
    """Parts of training rows in bins, and what is to be counted of them."""

    rows: TrainingParts  # of Rows
    layout: Layout
    training: Training


def binned_rows(discretizer: Any, n_grades: int, data: Labelled) -> Rows:
    """Return rows in bins by a fitted discretiser."""
    return Rows.of(bins_by(discretizer, data.X), data.grades, data.queries, n_grades)


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

    def _prepare(self, data: Labelled) -> Prepared:
        """Put training data into bins and lay out the feature sets to count."""
        rows, layout, training = self._prepare_parts(OnePart.of(data, self), binned_rows)
        return Prepared(rows.whole("rows"), layout, training)

    def _prepare_parts(self, parts: TrainingParts, rows_of: Callable[[Any, int, Labelled], Rows]) -> PreparedParts:
        """Put parts of training data into bins, as `rows_of` does, and lay out the feature sets to count."""
        facts = parts.facts
        self.discretizer_ = make_discretizer(self.discretizer, self.n_jobs)
        if self.discretizer_ is not None and facts.categories:
            kinds = {facts.feature_names.index(name): names for name, names in facts.categories.items()}
            self.discretizer_ = WithCategories(self.discretizer_, kinds)
        if self.discretizer_ is not None:
            self.discretizer_ = parts.fitted(self.discretizer_)
        rows = parts.mapped(partial(rows_of, self.discretizer_, facts.n_grades))
        return self._lay_out_parts(rows, bin_limits(self.discretizer_, len(facts.feature_names)))

    def _lay_out(self, rows: Rows) -> Prepared:
        """Decide which feature sets of training rows in bins are to be counted."""
        facts = Facts(self.feature_names_, rows.n_rows, 1, rows.n_grades)
        # the rows' own limits: those of a file may lie outside the discretiser's
        _, layout, training = self._lay_out_parts(OnePart(rows, facts), rows.bins.max(axis=1).astype(np.int32) + 1)
        return Prepared(rows, layout, training)

    def _lay_out_parts(self, rows: TrainingParts, widths: Array) -> PreparedParts:
        counts: BinCounts = rows.total(partial(BinCounts.of, widths=widths, n_jobs=self.n_jobs))
        return PreparedParts(rows, *self._lay_out_counts(counts, rows.total))

    def _lay_out_counts(self, counts: BinCounts, total: Total) -> tuple[Layout, Training]:
        """Decide which feature sets are to be counted, given what was counted of each feature by itself.

        total: sums up what a function makes of the rows in bins, for rules of any size.
        """
        self.n_bins_ = counts.n_bins()
        strength = counts.strength(self.n_bins_)
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

    def _learn_engine(self, engine: type[AnyEngine], prepared: PreparedParts, scheme: Any) -> AnyEngine:
        """Count all parts, or keep the rows where the tables would not fit the budget."""
        rows, layout, training = prepared
        need, budget = layout.n_cells * engine.cell_bytes(scheme, training), self.memory_budget * 2**20
        if need > budget:
            why = (
                f"the tables of all {layout.n_sets:,} feature sets take {need / 2**20:,.0f} MiB, more than "
                f"memory_budget={self.memory_budget:g}; raise it, or lower max_size. Without them all rows are kept"
            )
            return engine(layout, scheme, training, self.n_jobs, rows.whole(why), None, None)
        counts = rows.total(partial(engine.count, layout=layout, scheme=scheme, n_jobs=self.n_jobs))
        return engine.from_counts(layout, scheme, training, counts, n_jobs=self.n_jobs)

    def _known_bins(self, X: Array) -> Array:
        """Put documents into bins uint8 (n_features, n_rows), 255 where training saw none."""
        return hide_unseen(bins_by(self.discretizer_, X), self.n_bins_)

    def _score(self, X: Array) -> Array:
        return self._score_bins(self._known_bins(X))

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
        bins = self._known_bins(self.check_rows(rows, np.zeros(len(rows))))
        return np.ascontiguousarray(bins[:, number])

    def bin_form(self) -> BinForm:
        """Return the fitted model as a function of bins."""
        cuts = getattr(self.discretizer_, "cuts_", None)
        bins = partial(bins_by, self.discretizer_)
        return BinForm(
            self.feature_names_, self.engine_, cuts, bins, self._known_bins, self._score_bins, self._item_text
        )

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

    def _item_text(self, feature: int, bin: int) -> str:
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
