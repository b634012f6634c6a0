"""Add rows to a fitted ranker or remove some: the model is what `fit` makes of the rows then, with the same bins."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.core.parameters import Number, Parameter
from rulerank.core.words import counted
from rulerank.dataset import UNLABELLED, Array, Dataset, check_grades
from rulerank.discretize import bin_limits, bins_by
from rulerank.errors import DataError, ModelFileError, TooLargeError
from rulerank.rankers.base import Labelled
from rulerank.rankers.rows import query_numbers
from rulerank.rankers.rule_ranker import RuleRanker
from rulerank.rules.engine import Engine
from rulerank.rules.kept_rows import KeptRows, LooseRows
from rulerank.rules.tables import BinCounts, Rows
from rulerank.rules.votes import Votes

NO_QUERIES = "{} was given no qid, so all rows count as one query; give the query of each row, {}(X, y, qid=qid)"


class IncrementalRules(RuleRanker):
    """Base of the rankers that learn incrementally: they keep their training rows in bins and count them again."""

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "keep_rows": Number(
            0,
            math.inf,
            "MiB of training rows",
            meaning="MiB of training rows to keep for partial_fit and unlearn; 0: none",
            of_machine=True,
        ),
    }

    _without_contrast = "add rows of other grades"
    keep_rows: float
    _kept: LooseRows | KeptRows | None = None  # None: partial_fit and unlearn are refused

    def partial_fit(self, X: Any, y: Any = None, qid: Any = None) -> Self:
        """Learn from more rows: the model is then what `fit` makes of all rows with the bins it has now.

        X, y, qid: as for `fit`; a row may belong to a known query or to a new one. An unfitted ranker is fitted.

        >>> import rulerank as rr
        >>> world = rr.make_ranking(n_queries=30, seed=0)
        >>> ranker = rr.GlobalRules().fit(world[world.qid != "q7"])
        >>> str(ranker.rules_[0]), str(ranker.partial_fit(world[world.qid == "q7"]).rules_[0])
        ('bm25_body < 1.35 -> 0 (190 of 201)', 'bm25_body < 1.35 -> 0 (198 of 209)')
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, qid)
        return self._change(X, y, qid, "partial_fit")

    def unlearn(self, X: Any, y: Any = None, qid: Any = None) -> Self:
        """Remove rows that were learned from: the model is then what `fit` makes of the others, with the same bins.

        X, y, qid: the rows as they were given. One that was never given is an error, and then nothing is removed.
        """
        check_is_fitted(self)
        return self._change(X, y, qid, "unlearn")

    def _change(self, X: Any, y: Any, qid: Any, verb: str) -> Self:
        """Check the rows, add or remove them, and count all rows again; nothing changes where that fails."""
        if isinstance(X, Dataset):
            y = X.y if y is None else y
            qid = X.qid if qid is None else qid
        if y is None:
            raise DataError(f"give one grade per row, {verb}(X, y, qid=qid), or a Dataset: y is None")
        if qid is None and self.normalize_ is not None:
            raise DataError(
                f"this ranker normalises features by query (normalize={self.normalize_!r}): "
                f"give the query of each row, {verb}(X, y, qid=qid)"
            )
        if qid is None and self._as_fitted()._uses_queries():
            warnings.warn(NO_QUERIES.format(verb, verb), stacklevel=3)
        more = self._in_bins(self.check_rows(X, qid), y, qid, verb)
        if self.normalize_ is not None:
            self._check_whole_queries(more, verb)
        old = self._rows_so_far(verb)
        new = old.with_rows(more) if verb == "partial_fit" else old.without(more)
        if new.bins.size > self.keep_rows * 2**20 and verb == "partial_fit":
            raise TooLargeError(
                f"with these rows there are {new.n_rows:,}, which take {new.bins.size / 2**20:,.1f} MiB in bins, more "
                f"than keep_rows={self.keep_rows:g}; raise it, set_params(keep_rows={math.ceil(new.bins.size / 2**19)})"
            )
        learned = self._as_fitted()
        engine = self._count_all(learned, new)
        self.n_bins_, self.engine_, self._kept = learned.n_bins_, engine, new
        self._sample = None  # what was removed is gone
        self.params_ = self.params_ | {"keep_rows": self.keep_rows}  # another dictionary: a copy may share it
        return self

    def _in_bins(self, X: Array, y: Any, qid: Any, verb: str) -> KeptRows:
        """Check rows to add or remove, and put them into bins and in order."""
        self._rows_so_far(verb)
        if not len(X):
            raise DataError(f"{verb} expects at least one row: got none")
        grades = check_grades(y, len(X))
        if (grades == UNLABELLED).any():
            raise DataError(
                f"{(grades == UNLABELLED).sum()} of {len(grades)} rows are not labelled (grade -1); "
                "leave them out, for example with data.labelled()"
            )
        numbers, ids = query_numbers(qid, len(X))
        rows = Rows.of(bins_by(self.discretizer_, X), grades, numbers)
        found = LooseRows(rows.bins, rows.grades, numbers, ids).in_order()
        if found is None:
            raise DataError('queries must differ in their names: two of them, such as 1 and "1", read the same')
        return found

    def _check_whole_queries(self, more: KeptRows, verb: str) -> None:
        """Where features are on one scale by query, a row that comes or goes changes the others of its query."""
        known = self._rows_so_far(verb).sizes_of(more.keys)
        if verb == "partial_fit" and known.any():
            raise DataError(
                f"this ranker normalises features by query (normalize={self.normalize_!r}), so new documents change "
                f"those of their query that it has learned from: {counted(int((known > 0).sum()), 'query')} of these "
                "are known already; remove the query's rows first and add all of them together, or fit again"
            )
        if verb == "unlearn" and known.sum() != more.n_rows:
            raise DataError(
                f"this ranker normalises features by query (normalize={self.normalize_!r}): remove whole queries; "
                f"it has learned from {known.sum():,} rows of these queries, and got {more.n_rows:,}"
            )

    def _count_all(self, learned: Self, new: KeptRows) -> Engine:
        """Count the rows anew."""
        rows = new.rows(new.n_grades)
        counts = BinCounts.of(rows, bin_limits(self.discretizer_, len(self.feature_names_)), self.n_jobs)
        layout, training = learned.lay_out_counts(counts, lambda look: look(rows))
        scheme, budget = self.engine_.scheme, learned.memory_budget * 2**20
        return Engine.learn(rows, layout, scheme, training, memory_budget=budget, n_jobs=self.n_jobs)

    def _as_fitted(self) -> Self:
        """Return a copy with the parameters of the fit, whatever `set_params` has changed since."""
        twin = copy(self)
        for name, value in self.params_.items():
            setattr(twin, name, value)
        return twin

    def _rows_so_far(self, verb: str) -> KeptRows:
        """Return the rows that the ranker has learned from, in order, or say why they are not there."""
        check_is_fitted(self)
        self._kept = in_order(self._kept)
        if self._kept is None:
            n_rows = int(self.engine_.training.n_by_grade.sum())
            need = n_rows * len(self.feature_names_) / 2**20
            raise DataError(
                f"this {type(self).__name__} has not kept the {n_rows:,} rows it has learned from, which "
                f"{verb} needs: fit it again with keep_rows={max(1, math.ceil(2 * need))} or more (MiB; they "
                f"take {need:,.1f}), or on all rows together"
            )
        return self._kept

    def _learn(self, data: Labelled) -> None:
        self.engine_ = self._count(self._prepare(data), self.scheme())
        self.keep(data.grades.size, lambda: loose_rows(self.discretizer_, data))

    def scheme(self) -> Votes:
        """Return how rules vote."""
        raise NotImplementedError

    def keep(self, n_rows: int, in_bins: Callable[[], LooseRows]) -> None:
        """Keep the rows of training, in bins, where they take at most `keep_rows` MiB."""
        n_bytes = n_rows * len(self.feature_names_)
        self._kept = in_bins() if n_bytes <= self.keep_rows * 2**20 else None
        if self._kept is not None and self.engine_.rows is not None:  # the same file whatever the order of the rows
            self._kept = in_order(self._kept)
            if self._kept is not None:
                self.engine_ = replace(self.engine_, rows=self._kept.rows(self.engine_.training.n_grades))

    def _kept_state(self) -> dict[str, Any]:
        self._kept = in_order(self._kept)
        return {} if self._kept is None else {"kept_rows": vars(self._kept)}

    def _take_kept(self, state: dict[str, Any]) -> None:
        saved = state.get("kept_rows")
        if saved is None:  # a model of before, or one of too many rows
            return
        kept, training = KeptRows(**saved), self.engine_.training
        kept.check(bin_limits(self.discretizer_, len(self.feature_names_)))
        by_grade = np.bincount(kept.grades, minlength=training.n_grades)
        if not np.array_equal(by_grade, training.n_by_grade):
            raise ModelFileError("it keeps other rows than it has learned from")
        self._kept = kept


def loose_rows(discretizer: Any, data: Labelled) -> LooseRows:
    """Return training rows in bins by a fitted discretiser, as they came."""
    return LooseRows(bins_by(discretizer, data.X).astype(np.uint8), data.grades, data.queries, data.query_ids)


def in_order(kept: LooseRows | KeptRows | None) -> KeptRows | None:
    """Sort rows that came as they came; what is sorted stays what it is."""
    return kept.in_order() if isinstance(kept, LooseRows) else kept
