"""Learn from the few labelled rows of a pool; what needs no grades is learned from all of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rulerank._util.estimator import clone
from rulerank.dataset import UNLABELLED, Array, Dataset, check_contrast, query_index
from rulerank.discretize import Discretizer, make_discretizer
from rulerank.errors import DataError
from rulerank.normalize import normalize_by_query
from rulerank.rankers.anchored.anchored import Anchored
from rulerank.rankers.anchored.scale import PooledScale
from rulerank.rankers.base import Ranker

Grades = Mapping[int, int]  # grade of each labelled row


def fit_to_labelled(ranker: Ranker, pool: Dataset) -> None:
    """Fit a ranker to the labelled rows of a pool; the others, of grade -1, show the distribution of the features.

    Features are normalised by query with all of a query's documents, and bins that need no grades are found on
    all rows. Fitted to the labelled rows alone, both would rest on a handful of documents.
    """
    rows = np.flatnonzero(pool.y != UNLABELLED)
    if not rows.size and isinstance(ranker, Anchored):
        ranker.start(pool)  # the baseline ranking, until labels say otherwise
        return
    if not rows.size:
        raise DataError("no document of the pool has a grade, so there is nothing to learn from: label some first")
    if not isinstance(ranker, Anchored):
        check_contrast(pool.y[rows], query_index(pool.qid)[0][rows])
    PoolLearner(ranker, pool).fit_to(ranker, rows, pool.y[rows])


class PoolLearner:
    """Prepares a pool once (scales, bins), then fits a ranker to any labelled rows of it."""

    def __init__(self, ranker: Ranker, pool: Dataset) -> None:
        self.ranker = ranker
        self.pool = pool
        self.query = query_index(pool.qid)[0]
        normalize: str | None = getattr(ranker, "normalize", None)
        codes = [pool.feature_names.index(name) for name in pool.categories]
        self.X = pool.X if normalize is None else normalize_by_query(pool.X, self.query, normalize, codes=codes)
        self.bins = _bins_without_grades(getattr(ranker, "discretizer", None), self.X)
        self.scale: PooledScale | None = None
        if isinstance(ranker, Anchored):
            self.X, self.scale = ranker.rows_of_pool(pool, self.query)

    def fit(self, rows: Array, grades: ArrayLike, **more: Any) -> Ranker:
        """Return a copy of the ranker fitted to these rows, whatever grades the pool has for them; rows may repeat.

        more: what else `fit` accepts, such as the rater of each grade.
        """
        return self.fit_to(clone(self.ranker), rows, grades, **more)

    def fit_to(self, ranker: Ranker, rows: Array, grades: ArrayLike, **more: Any) -> Ranker:
        """Fit this ranker, which is set as the learner's is, to these rows."""
        known: dict[str, Any] = {"discretizer": self.bins}
        if self.scale is not None:
            known = {"scale": self.scale, "means": self.scale.means[self.query[rows]]}
        return ranker.fit_prepared(self.X[rows], grades, self.query[rows], like=self.pool, **known, **more)

    def standard(self, rows: Array) -> Array:
        """Return some rows on the pooled scale of `Anchored`, as its weights take them."""
        assert self.scale is not None
        return self.scale.standard(self.X[rows], self.scale.means[self.query[rows]])

    def scores(self, ranker: Ranker, rows: Array) -> Array:
        """Return a fitted ranker's scores of some rows, each seen among all documents of its query."""
        whole = np.flatnonzero(np.isin(self.query, self.query[rows]))
        scores = np.empty(len(self.query))
        scores[whole] = ranker.predict(self.pool[whole])
        return scores[rows]


def _bins_without_grades(choice: Any, X: Array) -> Discretizer | None:
    """Return a discretiser that needs no grades fitted to all rows, None for any other."""
    made = make_discretizer(choice)
    return None if made is None or made.needs_grades else made.fit(X)
