"""What the rankers that count rules share: from raw features to counted rows, from cells back to readable rules.

Those that learn incrementally keep their training rows in bins: rows are added or removed and all are counted again, so
that the model is what `fit` makes of the rows then, with the same bins.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from rulerank._util.estimator import check_is_fitted
from rulerank._util.parameters import Number, Parameter, Whole, is_whole, unmasked
from rulerank._util.words import counted, in_words, on_scale, written_cuts
from rulerank.dataset import Array, labelled_grades
from rulerank.discretize import (
    DISCRETIZER,
    WithCategories,
    bin_limits,
    bins_by,
    discretizer_from_state,
    make_discretizer,
)
from rulerank.errors import DataError, ModelFileError, TooLargeError
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.rows import NO_QID, columns_with, query_numbers
from rulerank.rules.additive import Contributions, features_of
from rulerank.rules.engine import Engine, Rule, describe_items
from rulerank.rules.kept_rows import KeptRows
from rulerank.rules.layout import Layout
from rulerank.rules.tables import BinCounts, Counts, Rows, Training, hide_unseen, rows_needed, without_weakest
from rulerank.rules.votes import Votes


class Prepared(NamedTuple):
    """Training rows in bins, and what is to be counted of them."""

    rows: Rows
    layout: Layout
    training: Training


@dataclass(eq=False, repr=False)
class RuleRanker(Ranker):
    """Base of the rankers that count rules over the bins of a discretiser."""

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "max_size": Whole(1, meaning="maximum number of items in a rule", none="as many as there are features"),
        "min_support": Number(0, 1, "a share of the rows", meaning="minimum share of the rows that a rule covers"),
        "discretizer": DISCRETIZER,
        "drop_weakest": Number(
            0, 1, "a share of the features", meaning="share of features to leave out", none="0.25, or 0 as published"
        ),
        "memory_budget": Number(
            0, math.inf, "MiB for the tables", meaning="MiB for the tables; beyond, predict counts"
        ),
    }
    former_parameters: ClassVar[frozenset[str]] = frozenset({"work_limit"})

    _knows_categories: ClassVar[bool] = True

    engine_: Engine = field(init=False)
    n_bins_: Array = field(init=False)  # table width of each feature; training bins lie below it

    max_size: int | None = 2
    min_support: float = 0.0
    discretizer: Any = "mdlp"
    drop_weakest: float | None = None
    normalize: str | None = None
    memory_budget: float = 1024
    n_jobs: int | None = None

    @staticmethod
    def rows_of(discretizer: Any, n_grades: int, data: Labelled) -> Rows:
        """Return training rows in bins by a fitted discretiser, as they are counted."""
        return Rows.of(bins_by(discretizer, data.X), data.grades, data.queries, n_grades)

    def _prepare(self, data: Labelled) -> Prepared:
        """Put training data into bins and lay out the feature sets to count."""
        self.discretizer_ = self.prepared_bins or self.new_discretizer(data.categories)
        if self.discretizer_ is not None and self.prepared_bins is None:
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
        return Prepared(rows, *self.lay_out_counts(BinCounts.of(rows, n_jobs=self.n_jobs)))

    def _prepared_from(self, saved: dict[str, Any]) -> Prepared:
        """Lay out training rows of a file, as `ByQuery.to_state` has them."""
        n_bins, numbers = self.n_bins_, np.unique(saved["queries"])
        prepared = self._lay_out(Rows.of(saved["bins"], saved["grades"], saved["queries"]))
        if not np.array_equal(self.n_bins_, n_bins) or not np.array_equal(numbers, np.arange(numbers.size)):
            raise ModelFileError("inconsistent model file (rows do not match its bins or queries); train again")
        return prepared

    def lay_out_counts(self, counts: BinCounts) -> tuple[Layout, Training]:
        """Decide which feature sets are to be counted, given what was counted of each feature by itself."""
        self.n_bins_ = counts.n_bins
        strength = counts.strength()
        used = without_weakest(strength, self.n_bins_, self.drop_share)
        n_rows = int(counts.n_by_grade.sum())
        max_size = max(1, used.size) if self.max_size is None else self.max_size
        training = counts.training(int(rows_needed(self.min_support, n_rows)), strength)
        return Layout.over(self.n_bins_, max_size, used), training

    def _count(self, prepared: Prepared, scheme: Votes) -> Engine:
        """Count the rows."""
        rows, layout, training = prepared
        return Engine.learn(rows, layout, scheme, training, memory_budget=self.memory_budget, n_jobs=self.n_jobs)

    def known_bins(self, X: Array) -> Array:
        """Put documents into bins uint8 (n_features, n_rows), 255 where training saw none."""
        return hide_unseen(bins_by(self.discretizer_, X), self.n_bins_)

    def _score(self, X: Array) -> Array:
        return self._score_bins(self.known_bins(X))

    def _score_bins(self, bins: Array) -> Array:
        """Score documents given as bins uint8 (n_features, n_documents)."""
        return self.engine_.score(bins)

    def checked_contributions(self, X: Any, queries: Array | None = None) -> Contributions:
        tables = self.as_tables()
        return self._bin_contributions(self.known_bins(X)) if tables is None else tables.contributions(X)

    def _bin_contributions(self, bins: Array) -> Contributions:
        """Return what the rules over the same features add to the scores of documents given as bins."""
        engine = self.engine_
        values = np.empty((bins.shape[1], engine.layout.n_sets))
        for row, votes in enumerate(engine.votes_of_each(bins)):
            values[row] = engine.scheme.adds(votes, engine.training)
        return self._contributions(values)

    def _contributions(self, values: Array) -> Contributions:
        """Return what each feature set adds, (n_rows, n_sets), with what the sets are called."""
        base = np.full(len(values), self.engine_.training.mean_grade)
        return Contributions.of(base, values, features_of(self.engine_.layout.members), self.feature_names_)

    def _one_document(self, x: Any, row: int | None) -> Array:
        """Return the bins of one document, given alone or as a row among all documents of its query."""
        check_is_fitted(self)
        rows = np.atleast_2d(np.asarray(unmasked(x)))
        if row is None and (len(rows) > 1 or self.normalize_ is not None):
            raise DataError(
                "this ranker normalises features by query: give all documents of the query and the row of one, "
                "rules_for(X_of_the_query, row=3)"
                if self.normalize_ is not None
                else f"expected one document: got {len(rows)}; give its row, rules_for(X, row=3)"
            )
        number = 0 if row is None else row
        if not is_whole(number, 0, len(rows) - 1):
            raise DataError(f"row must be an integer from 0 to {len(rows) - 1}: got {row!r}")
        bins = self.known_bins(self.check_rows(rows, np.zeros(len(rows))))
        return np.ascontiguousarray(bins[:, number])

    def _rules(self, row_bins: Array, counts: Counts) -> list[Rule]:
        """Make the rules of one document from the counts of its cells, one per feature set."""
        members = [members for block in self.engine_.layout.sets for members in block.features]
        rules = []
        for cell, grade in zip(*np.nonzero(counts.grades >= self.engine_.training.min_rows), strict=True):
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
        return {
            "discretizer": None if self.discretizer_ is None else self.discretizer_.to_state(),
            "discretizer_by_name": self._discretizer_by_name(),
            "n_bins": self.n_bins_,
        }

    def _take_discretizer(self, state: dict[str, Any]) -> None:
        saved = state["discretizer"]
        self.discretizer_ = None if saved is None else discretizer_from_state(saved)
        if not state["discretizer_by_name"]:
            self.discretizer = make_discretizer(self.discretizer_ and self.discretizer_.inner)
            self.record_params()
        self.n_bins_ = state["n_bins"]

    def item_text(self, feature: int, bin: int) -> str:
        """Return an item, a feature with one of its bins, in words."""
        name = self.feature_names_[feature]
        if self.discretizer_ is None:
            return on_scale(f"{name}={bin}", name, self.normalize_)
        if name in self.dates_ and self.normalize_ is None:
            return in_words(name, bin, written_cuts(self.discretizer_.cuts_[feature], dates=True))
        return on_scale(self.discretizer_.describe(feature, bin, name), name, self.normalize_)

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


@dataclass(eq=False, repr=False)
class IncrementalRules(RuleRanker):
    """Base of the rankers that learn incrementally: they keep their training rows in bins and count them again."""

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "keep_rows": Number(0, math.inf, "MiB of training rows", meaning="MiB of rows to keep for partial_fit, unlearn")
    }

    _without_contrast = "add rows of other grades"
    keep_rows: float = 16
    _kept: KeptRows | None = field(default=None, init=False)  # None: partial_fit and unlearn are refused

    def scheme(self) -> Votes:
        """Return how rules vote."""
        raise NotImplementedError

    def _learn(self, data: Labelled) -> None:
        self.engine_ = self._count(self._prepare(data), self.scheme())
        self.keep(data.grades.size, lambda: rows_to_keep(self.discretizer_, data))

    def keep(self, n_rows: int, in_bins: Callable[[], KeptRows | None]) -> None:
        """Keep the rows of training, in bins, where they take at most `keep_rows` MiB."""
        kept = in_bins() if n_rows * len(self.feature_names_) <= self.keep_rows * 2**20 else None
        self._kept = None if kept is None or kept.n_rows < n_rows else kept
        if self._kept is not None and isinstance(self.engine_.kept, Rows):
            self.engine_ = replace(self.engine_, kept=self._kept.rows())  # the same file whatever the order of the rows

    def partial_fit(self, X: Any, y: Any = None, qid: Any = None) -> Self:
        """Learn from more rows: the model is then what `fit` makes of all rows with the bins it has now.

        X, y, qid: as for `fit`; a row may belong to a known query or to a new one. An unfitted ranker is fitted.

        >>> import rulerank as rr
        >>> data = rr.datasets.make_ranking(n_queries=30, seed=0)
        >>> ranker = rr.GlobalRules().fit(data[data.qid != "q7"])
        >>> str(ranker.rules_[0]), str(ranker.partial_fit(data[data.qid == "q7"]).rules_[0])
        ('bm25_body < 1.35 -> 0 (190 of 201)', 'bm25_body < 1.35 -> 0 (198 of 209)')
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, qid)
        more, old = self._in_bins(X, y, qid, "partial_fit"), self._rows_so_far("partial_fit")
        known = int(more.of_queries_in(old).sum())
        if self.normalize_ is not None and known:
            raise DataError(
                f"this ranker normalises features by query (normalize={self.normalize_!r}), so new documents change "
                f"those of their query that it has learned from: the queries of {counted(known, 'row')} are known "
                "already; remove the query's rows first and add all of them together, or fit again"
            )
        new = old + more
        if new.n_bytes > self.keep_rows * 2**20:
            raise TooLargeError(
                f"with these rows there are {new.n_rows:,}, which take {new.n_bytes / 2**20:,.1f} MiB in bins, more "
                f"than keep_rows={self.keep_rows:g}; raise it, set_params(keep_rows={math.ceil(new.n_bytes / 2**19)})"
            )
        return self._count_all(new)

    def unlearn(self, X: Any, y: Any = None, qid: Any = None) -> Self:
        """Remove rows that were learned from: the model is then what `fit` makes of the others, with the same bins.

        X, y, qid: the rows as they were given. One that was never given is an error, and then nothing is removed.
        """
        check_is_fitted(self)
        less, old = self._in_bins(X, y, qid, "unlearn"), self._rows_so_far("unlearn")
        known = old.of_queries_in(less).sum()
        if self.normalize_ is not None and known != less.n_rows:
            raise DataError(
                f"this ranker normalises features by query (normalize={self.normalize_!r}): remove whole queries; "
                f"it has learned from {known:,} rows of these queries, and got {less.n_rows:,}"
            )
        return self._count_all(old.without(less))

    def _in_bins(self, X: Any, y: Any, qid: Any, verb: str) -> KeptRows:
        """Check rows to add or remove, and put them into bins and in order."""
        self._rows_so_far(verb)
        y, qid = columns_with(X, y, qid)
        if y is None:
            raise DataError(f"give one grade per row, {verb}(X, y, qid=qid), or a Dataset: y is None")
        if qid is None and self.normalize_ is None and self._as_fitted()._uses_queries():
            warnings.warn(NO_QID.format(verb=verb), stacklevel=3)
        rows = self.check_rows(X, qid)
        if not len(rows):
            raise DataError(f"{verb} expects at least one row: got none")
        more = Labelled(rows, labelled_grades(y, len(rows)), *query_numbers(qid, len(rows)))
        found = rows_to_keep(self.discretizer_, more)
        if found is None:
            raise DataError('queries must differ in their names: two of them, such as 1 and "1", read the same')
        return found

    def _count_all(self, new: KeptRows) -> Self:
        """Count rows anew; nothing changes where that fails."""
        rows, learned = new.rows(), self._as_fitted()
        counts = BinCounts.of(rows, bin_limits(self.discretizer_, len(self.feature_names_)), self.n_jobs)
        layout, training = learned.lay_out_counts(counts)
        engine = learned._count(Prepared(rows, layout, training), self.engine_.scheme)
        self.n_bins_, self.engine_, self._kept = learned.n_bins_, engine, new
        self._sample = self._importances = self._trained_queries = None  # what was removed is gone
        self.params_ = self.params_ | {"keep_rows": self.keep_rows}  # another dictionary: a copy may share it
        return self

    def _as_fitted(self) -> Self:
        """Return a copy with the parameters of the fit, whatever `set_params` has changed since."""
        twin = copy(self)
        for name, value in self.params_.items():
            setattr(twin, name, value)
        return twin

    def _rows_so_far(self, verb: str) -> KeptRows:
        """Return the rows that the ranker has learned from, in order, or say why they are not there."""
        if self._kept is None:
            n_rows = int(self.engine_.training.n_by_grade.sum())
            need = n_rows * len(self.feature_names_) / 2**20
            raise DataError(
                f"this {type(self).__name__} has not kept the {n_rows:,} rows it has learned from, which "
                f"{verb} needs: fit it again with keep_rows={max(1, math.ceil(2 * need))} or more (MiB; they "
                f"take {need:,.1f}), or on all rows together"
            )
        return self._kept

    def _learned_state(self) -> dict[str, Any]:
        state = self._discretizer_state() | {"engine": self.engine_.to_state()}
        return state if self._kept is None else state | {"kept_rows": self._kept.to_state()}

    def _take_engine(self, state: dict[str, Any], scheme: Votes) -> None:
        """Take over what `_learned_state` gave, with the scheme that it was learned by."""
        self._take_discretizer(state)
        self.engine_ = Engine.from_state(state["engine"], scheme)
        saved = state.get("kept_rows")
        if saved is None:  # a model of before, or one of too many rows
            return
        kept = KeptRows.from_state(saved, bin_limits(self.discretizer_, len(self.feature_names_)))
        n_by_grade = self.engine_.training.n_by_grade
        if not np.array_equal(np.bincount(saved["grades"], minlength=n_by_grade.size), n_by_grade):
            raise ModelFileError("inconsistent model file (its rows are not those of its counts); train again")
        self._kept = kept


def rows_to_keep(discretizer: Any, data: Labelled) -> KeptRows | None:
    """Return training rows in bins by a fitted discretiser."""
    return KeptRows.of(bins_by(discretizer, data.X), data.grades, data.queries, data.query_ids)
