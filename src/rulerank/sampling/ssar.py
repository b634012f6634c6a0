"""SSAR and SSARP: say which document to label next by association rules, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rulerank._util.estimator import FLOATS, validate
from rulerank._util.parameters import Flag, Parameter, Threads, Whole, unmasked
from rulerank.dataset import Array, Dataset, check_column, query_index
from rulerank.discretize import DISCRETIZER, bins_by, make_discretizer
from rulerank.errors import DataError
from rulerank.normalize import NORMALIZE, normalize_by_query
from rulerank.sampling.selection import GroupRun, Sampler, Selection, labels_of

MAX_BIN = 254
DIGITS = 9  # statistics that agree so far count as equal, whatever rounding made of them


@dataclass(eq=False, repr=False)
class SSAR(Sampler):
    """Choose which documents to label, one at a time (Silva, Goncalves and Veloso, 2011).

    The first is the one whose items, the bins of its features, are the most common in the pool. Then always the one
    for which the labels so far hold the fewest rules: distinct pairs of a grade and at most max_size of its items that
    some labelled document of that grade has. Ties go to the fewest items shared with the labelled documents, then to
    the most common items, then to the lowest row. It stops when that document is already labelled.

    Parameters
    ----------
    max_size: maximum number of items in a rule.
    partitions: more than 1 is SSARP: the features are divided into this many groups, each chooses separately, and a
        grade that one group asked for counts for all. The paper uses 5 groups of about 12 features.
    per_query: visit the queries in turn and choose among the documents of that query, with the rules of all labels so
        far; a query whose choice is labelled already is closed. The first visit takes two documents, since one
        label alone defines no order.
    discretizer: a name, an object of `rulerank.discretize`, or None when X holds bin numbers already.
    normalize: "zscore", "minmax" or "rank" normalises features by query before binning.
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

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "max_size": Whole(1, meaning="maximum number of items per rule"),
        "partitions": Whole(1, meaning="number of feature groups that choose separately (SSARP)"),
        "per_query": Flag(meaning="visit the queries in turn"),
        "discretizer": DISCRETIZER,
        "normalize": NORMALIZE,
        "n_jobs": Threads(meaning="number of threads"),
    }

    max_size: int = 2
    partitions: int = 1
    per_query: bool = False
    discretizer: Any = "tube"
    normalize: str | None = None
    n_jobs: int | None = None

    def _take(self, selection: Any) -> None:
        super()._take(selection)
        self.n_rules_: Array = selection.n_rules

    def begin(self, X: Any, qid: Any = None, start: Any = None) -> Selection:
        self.check_parameters()
        if isinstance(X, Dataset):
            qid = X.qid if qid is None else qid
            X = X.X
        if len(np.shape(X)) == 2 and not np.shape(X)[0]:
            raise DataError("expected documents to choose from: there are none")
        values = validate(self, unmasked(X), reset=True, order="C", dtypes=FLOATS[::-1])
        bins = self._bins(values if self.normalize is None else self._on_one_scale(values, qid))
        n_features, n_rows = bins.shape
        if self.partitions > n_features:
            raise DataError(f"partitions must be at most the number of features, {n_features}: got {self.partitions}")
        blocks = self._blocks(qid, n_rows)
        groups = deal_features(bins, self.partitions) if self.partitions > 1 else [np.arange(n_features)]
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
                f"normalize={self.normalize!r} scales features by query: give the query of each row, qid=qid"
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
        bins = bins_by(discretizer, X, most=MAX_BIN)
        return np.ascontiguousarray(bins, dtype=np.uint8)


def deal_features(bins: Array, partitions: int) -> list[Array]:
    """Deal features, given by their bins uint8 (n_features, n_rows), into groups of nearly the same size.

    Without grades, the paper ranks features by how well they predict each other. For each feature, the others are put
    in order of the chi-square statistic of the two features' bins over the pool, the greatest first, and one at place
    j scores 1 / log(10 j). The paper gives the first place 1, so the logarithm is to base 10. The features are dealt
    in the order of their total scores, the lower number first when two have the same.

    >>> bins = np.array([[0, 1, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0]], dtype=np.uint8)
    >>> [group.tolist() for group in deal_features(bins, partitions=2)]
    [[0, 2], [1]]
    """
    statistic = np.round(dependence(bins), DIGITS)
    n_features = len(statistic)
    np.fill_diagonal(statistic, -1.0)  # a feature comes last in its own order, where it scores nothing
    orders = np.argsort(-statistic, axis=1, kind="stable")
    weights = [1 / math.log10(10 * place) for place in range(1, n_features)]
    scores = [
        math.fsum(weights[place] for place in np.nonzero(orders == f)[1] if place < n_features - 1)
        for f in range(n_features)
    ]
    ranked = np.argsort(-np.round(scores, DIGITS), kind="stable")
    return [np.sort(ranked[start::partitions]) for start in range(partitions)]


def dependence(bins: Array) -> Array:
    """Return the chi-square statistic of every two features per row of the pool, float64 (n_features, n_features).

    >>> dependence(np.array([[0, 1, 1, 0], [5, 3, 3, 5], [1, 1, 0, 0]], dtype=np.uint8)).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    columns = bins.astype(np.int64)
    widths = columns.max(axis=1) + 1
    statistic = np.zeros((len(bins), len(bins)))
    for one, other in zip(*np.triu_indices(len(bins), 1), strict=True):
        cells = np.bincount(columns[one] * widths[other] + columns[other], minlength=widths[one] * widths[other])
        counts = cells.reshape(widths[one], widths[other])
        expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0).astype(np.float64)
        shares = np.divide(counts**2.0, expected, out=np.zeros(counts.shape), where=expected > 0)
        statistic[one, other] = statistic[other, one] = shares.sum() - 1
    return statistic
