"""SSAR and SSARP: say which document to label next, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from rulerank.core.arrays import unmasked
from rulerank.core.checks import is_whole
from rulerank.core.parameters import Flag, HasParameters, Parameter, Threads, Whole
from rulerank.dataset import Array, Dataset, check_column, query_index
from rulerank.discretize import DISCRETIZER, bins_by, make_discretizer
from rulerank.errors import DataError
from rulerank.normalize import NORMALIZE, normalize_by_query
from rulerank.sampling.group_run import GroupRun
from rulerank.sampling.partitions import deal_features
from rulerank.sampling.selection import Selection, labels_of

MAX_BIN = 254


class SSAR(HasParameters, BaseEstimator):
    """Choose which documents to label, one at a time (Silva, Goncalves and Veloso, 2011).

    The first is the one whose items, the bins of its features, are the most common in the pool. Then always the one
    for which the labels so far hold the fewest rules: distinct pairs of a grade and at most max_size of its items that
    some labelled document of that grade has. Ties go to the fewest items shared with the labelled documents, then to
    the most common items, then to the lowest row. It stops by itself when that document is labelled already.

    Parameters
    ----------
    max_size: most items of a rule.
    partitions: more than 1 is SSARP: the features are dealt into this many groups, each chooses from no labels on, and
        a grade that one group asked for serves the others. The paper has 5, of about 12 features each.
    per_query: visit the queries in turn and choose among the documents of that query, with the rules of all labels so
        far; a query whose choice is labelled already is closed. The first visit takes two documents: one label alone
        says nothing of an order.
    discretizer: a name, an object with fit and transform, or None when X holds bin numbers already.
    normalize: "zscore", "minmax" or "rank" put features on one scale by query before they are put into bins.
    n_jobs: number of threads; all cores unless given. The choice does not depend on it.

    After `select`: `order_`, the rows in the order they were asked for; `grades_`; `n_rules_`, how many rules each had
    when it was chosen; `stop_`, "natural", "budget", or "interrupted" when ask raised an error.

    >>> X, grades = [[0.1, 3], [0.2, 3], [0.9, 5], [0.1, 3], [0.9, 5]], [0, 0, 1, 0, 1]
    >>> ssar = SSAR()
    >>> ssar.select(X, ask=lambda row: grades[row]).tolist()
    [0, 2, 1]
    >>> ssar.stop_, ssar.n_rules_.tolist()
    ('natural', [0, 0, 1])
    """

    order_: Array
    grades_: Array
    n_rules_: Array
    stop_: str

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "max_size": Whole(1, meaning="items of a rule at most"),
        "partitions": Whole(1, meaning="groups of features, each of which chooses for itself"),
        "per_query": Flag(meaning="visit the queries in turn"),
        "discretizer": DISCRETIZER,
        "normalize": NORMALIZE,
        "n_jobs": Threads(meaning="number of threads"),
    }

    def __init__(
        self,
        max_size: int = 2,
        partitions: int = 1,
        per_query: bool = False,
        discretizer: Any = "tube",
        normalize: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_size = max_size
        self.partitions = partitions
        self.per_query = per_query
        self.discretizer = discretizer
        self.normalize = normalize
        self.n_jobs = n_jobs

    def select(
        self,
        X: Any,
        ask: Callable[[int], Any],
        qid: Any = None,
        *,
        budget: int | None = None,
        start: Any = None,
    ) -> Array:
        """Ask for one grade after the other and return the labelled rows in order, those of start first.

        ask(row) returns the grade of a row of X. budget is the most grades to ask for. start holds labels that are
        there already, {row: grade} or (rows, grades) in the order they were given; what follows is what would have
        followed without the break. When ask raises an error, order_, grades_ and n_rules_ keep what it answered.
        """
        selection = self.begin(X, qid, start)
        self.stop_ = "interrupted"
        try:
            self.stop_ = ask_all(selection, ask, budget)
        finally:
            self.order_, self.grades_, self.n_rules_ = selection.order, selection.grades, selection.n_rules
        return self.order_

    def begin(self, X: Any, qid: Any = None, start: Any = None) -> Selection:
        """Return the state that names one row after the other, for callers who cannot wait for a grade."""
        self.check_parameters()
        if isinstance(X, Dataset):
            qid = X.qid if qid is None else qid
            X = X.X
        if len(np.shape(X)) == 2 and not np.shape(X)[0]:
            raise DataError("expected documents to choose from: there are none")
        values = validate_data(self, unmasked(X), dtype=(np.float64, np.float32), order="C", ensure_all_finite=False)
        bins = self._bins(values if self.normalize is None else self._on_one_scale(values, qid))
        n_features, n_rows = bins.shape
        if self.partitions > n_features:
            raise DataError(f"partitions must be at most the number of features, {n_features}: got {self.partitions}")
        blocks = self._blocks(qid, n_rows)
        groups = deal_features(bins, self.partitions, self.n_jobs) if self.partitions > 1 else [np.arange(n_features)]
        selection = Selection([GroupRun(bins[group], blocks, self.max_size, self.n_jobs) for group in groups])
        selection.add_all(labels_of(start))
        return selection

    def _blocks(self, qid: Any, n_rows: int) -> list[Array]:
        if not self.per_query:
            return [np.arange(n_rows)]
        if qid is None:
            raise DataError("per_query=True visits the queries in turn: give the query of each row, qid=qid")
        numbers, ids = query_index(check_column("qid", qid, n_rows))
        order = np.argsort(numbers, kind="stable")
        return np.split(order, np.searchsorted(numbers[order], np.arange(1, len(ids))))

    def _on_one_scale(self, X: Array, qid: Any) -> Array:
        if qid is None:
            raise DataError(
                f"normalize={self.normalize!r} puts features on one scale by query: give the query of each row, qid=qid"
            )
        for row, column in np.argwhere(np.isinf(X))[:1]:
            raise DataError(f"X must be finite or NaN (missing): row {row}, column {column} is infinity")
        queries = query_index(check_column("qid", qid, len(X)))[0]
        return normalize_by_query(X, queries, str(self.normalize), self.n_jobs)

    def _bins(self, X: Array) -> Array:
        """Return the bin of each value, uint8 (n_features, n_rows)."""
        discretizer = make_discretizer(self.discretizer, self.n_jobs)
        if discretizer is not None:
            discretizer.fit(X)
        bins = bins_by(discretizer, X, most=MAX_BIN, such_as="tube")
        return np.ascontiguousarray(bins, dtype=np.uint8)


def ask_all(selection: Any, ask: Callable[[int], Any], budget: int | None) -> str:
    """Ask for the grades of the rows that a selection names, until it stops or the budget is used up; say which."""
    if budget is not None and not is_whole(budget, 0):
        raise DataError(f"budget must be a whole number from 0, or None for no limit: got {budget!r}")
    if not callable(ask):
        raise DataError(f"ask must be a function that takes a row and returns its grade: got {ask!r}")
    n_asked = 0
    while (row := selection.next()) is not None and n_asked != budget:
        selection.add(row, ask(row))
        n_asked += 1
    return "natural" if row is None else "budget"
