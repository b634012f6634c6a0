"""The checks that every ranker makes of the data it is fitted to, and of the rows it scores."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from rulerank.core.arrays import unmasked
from rulerank.core.parameters import HasParameters, Parameter, Threads
from rulerank.core.words import listed
from rulerank.dataset import UNLABELLED, Array, Dataset, check_contrast, check_grades, has_contrast
from rulerank.errors import DataError
from rulerank.io.columns import collected, is_a_category, is_frame, numeric_frame
from rulerank.normalize import NORMALIZE, normalize_by_query
from rulerank.rankers.rows import (
    check_finite,
    check_weights,
    columns_of,
    has_columns,
    places_of,
    query_numbers,
    recoded,
    renumbered,
    whole_weights,
)


class Labelled(NamedTuple):
    """Checked training data."""

    X: Array  # float (n_rows, n_features), normalised if the ranker does that
    grades: Array  # int16 (n_rows,)
    queries: Array  # int64 (n_rows,) query numbers in order of appearance
    query_ids: Array
    weights: Array | None = None  # float64 (n_rows,) what each row counts; None: one
    categories: Mapping[str, tuple[str, ...]] = {}  # feature: what its values 0, 1, ... stand for

    def rows(self, rows: Any) -> Labelled:
        """Return some rows, or all in another order; the numbers of queries stay."""
        weights = None if self.weights is None else self.weights[rows]
        return self._replace(X=self.X[rows], grades=self.grades[rows], queries=self.queries[rows], weights=weights)

    def by_query(self) -> Labelled:
        """Put the rows of each query side by side."""
        if (np.diff(self.queries) >= 0).all():
            return self
        return self.rows(np.argsort(self.queries, kind="stable"))


class ChecksData(HasParameters, BaseEstimator):
    """What a ranker knows of the data it takes: the names of features, their categories, their scale by query."""

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "normalize": NORMALIZE,
        "n_jobs": Threads(meaning="number of threads"),
    }

    normalize: str | None
    n_jobs: int | None
    _takes_sparse: ClassVar[bool] = False  # X may be a scipy sparse matrix, which then arrives as CSR
    _weighs_rows: ClassVar[bool] = False  # takes any weights; else rows are repeated, as often as their weights say
    _knows_categories: ClassVar[bool] = False  # bins kinds by kind; others read their codes as numbers
    _leaves_categories_out: ClassVar[bool] = False  # or give them no weight

    _without_contrast: ClassVar[str | None] = None  # what becomes of grades that are the same; None: they are refused
    of_a_part = False  # whether it is fitted to a part of the data, which may hold no query with two grades

    feature_names_: tuple[str, ...]
    has_names_: bool  # whether the names are the data's own, and not made up for an array
    categories_: dict[str, tuple[str, ...]]  # feature: what its values 0, 1, ... stand for
    dates_: tuple[str, ...] = ()  # features whose values are days since 1970-01-01

    @property
    def normalize_(self) -> str | None:
        """How features are put on one scale by query, as it was when fitted."""
        found: str | None = self.params_.get("normalize")
        return found

    def scale_of(self, feature: str) -> str | None:
        """Return what a feature's values are put on by query; codes of categories stay what they are."""
        return None if feature in self.categories_ else self.normalize_

    def _uses_queries(self) -> bool:
        """Tell whether it matters to which query a training row belongs."""
        return True

    def _words_for_categories(self, names: str) -> str:
        """Say what becomes of categories in a ranker that does not know them."""
        return (
            f"{type(self).__name__} reads the categories of {names} as numbers, as if they had an order; "
            "FittedRules, GlobalRules, StableRules and QueryRules treat them as what they are"
        )

    def check_contrast(self, data: Labelled) -> None:
        """Refuse grades that are the same in every query, or warn; in a part of the data, as a fold is one, neither."""
        if self.of_a_part or has_contrast(data.grades, data.queries):
            return
        if self._without_contrast is None:
            check_contrast(data.grades, data.queries)
        warnings.warn(
            f"no query has documents of two grades, so nothing can be learned: {self._without_contrast}; grade more "
            "documents of each query",
            stacklevel=3,
        )

    def _check_training(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> Labelled:
        names: tuple[str, ...] = ()
        categories: Mapping[str, tuple[str, ...]] = {}
        dates: tuple[str, ...] = ()
        if is_frame(X):
            X, categories, dates = numeric_frame(X)
        if isinstance(X, Dataset):
            names, categories, dates = X.feature_names, X.categories, X.dates
            if y is None and X.shown is not None and (X.y == UNLABELLED).all():
                raise DataError(
                    f"{type(self).__name__} learns from grades, and these rows hold clicks: use QueryIntercepts, "
                    "which learns from clicks"
                )
            y = X.y if y is None else y
            qid = X.qid if qid is None else qid
            X = X.X
        if y is None:
            raise DataError(
                "requires y to be passed, but the target y is None: give one grade per row, fit(X, y, qid=qid), "
                "or a Dataset, which rr.from_frame makes of a data frame"
            )
        X = self._check_matrix(X, reset=True)
        grades = check_grades(y, X.shape[0])
        if (grades == UNLABELLED).any():
            raise DataError(
                f"{(grades == UNLABELLED).sum()} of {len(grades)} rows are not labelled (grade -1); "
                "leave them out, for example with data.labelled()"
            )
        self.feature_names_ = names or tuple(
            map(str, getattr(self, "feature_names_in_", [f"f{i + 1}" for i in range(X.shape[1])]))
        )
        self.has_names_ = bool(names) or hasattr(self, "feature_names_in_")
        self.categories_, self.dates_ = dict(categories), dates
        if categories and not self._knows_categories:
            warnings.warn(self._words_for_categories(listed([*categories])), stacklevel=3)
        if qid is None and self._uses_queries():
            warnings.warn(
                "fit was given no qid, so all rows count as one query; give the query of each row, fit(X, y, qid=qid)",
                stacklevel=3,
            )
        queries, ids = query_numbers(qid, X.shape[0])
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, X.shape[0])
            rows = np.flatnonzero(weights > 0)
            if not self._weighs_rows:
                rows = np.repeat(np.arange(weights.size), whole_weights(weights, type(self).__name__))
            X, grades, queries, ids = X[rows], grades[rows], *renumbered(queries[rows], ids)
            weights = weights[rows] if self._weighs_rows else None
        if self.normalize is not None:
            X = self.on_one_scale(X, queries, self.normalize)
        return Labelled(X, grades, queries, ids, weights, categories)

    def on_one_scale(self, X: Array, queries: Array, how: str) -> Array:
        """Return rows normalised by query; codes of categories stay what they are."""
        out = normalize_by_query(X, queries, how, self.n_jobs)
        codes = [self.feature_names_.index(name) for name in self.categories_]
        out[:, codes] = X[:, codes]
        return out

    def check_rows(self, X: Any, qid: Any) -> Array:
        """Return rows as the ranker scores them: checked, columns in its order, normalised if it does that."""
        X = collected(X)
        if isinstance(X, Dataset):
            qid = X.qid if qid is None else qid
            self._check_names(X)
            X = recoded(columns_of(X, self.feature_names_), X, self.feature_names_, self.categories_)
            check_finite(X)
        elif self.has_names_ and has_columns(X):
            X = np.asarray(self.frame_rows(X))
            check_finite(X)
        else:
            X = self._check_matrix(numeric_frame(X, {})[0] if is_frame(X) else X, reset=False)
        if self.normalize_ is None:
            return X
        if qid is None:
            raise DataError(
                f"this ranker normalises features by query (normalize={self.normalize_!r}): "
                "give predict the rows' queries too, predict(X, qid=qid)"
            )
        return self.on_one_scale(X, query_numbers(qid, len(X))[0], self.normalize_)

    def check_names(self, X: Any) -> None:
        """Refuse an array where the model knows names: nobody but the model knows its codes."""
        if self.categories_ and not isinstance(X, Dataset) and not is_frame(X) and not has_columns(X):
            name, names = next(iter(self.categories_.items()))
            raise DataError(f"{is_a_category(name, names)}, in a data frame or a Dataset: got an array")

    def _check_names(self, data: Dataset) -> None:
        """Refuse names where the model has learned numbers."""
        known = () if not self.has_names_ or self._leaves_categories_out else self.feature_names_
        name = next((name for name in data.categories if name in known and name not in self.categories_), None)
        if name is not None:
            raise DataError(
                f"the model reads numbers in {name!r}: the data has names there, such as {data.categories[name][:1]}"
            )

    def frame_rows(self, frame: Any) -> Any:
        """Return the columns of a data frame that the ranker knows, by name and in its order."""
        columns = [str(column) for column in frame.columns]
        twice = next((name for name in self.feature_names_ if columns.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"column names must differ: {twice!r} is there twice")
        places = places_of(self.feature_names_, tuple(columns))
        chosen = frame[[frame.columns[place] for place in places]]
        if is_frame(chosen):
            chosen = numeric_frame(chosen, self.categories_, self.dates_)[0]
        return check_array(chosen, dtype=[np.float32, np.float64], ensure_all_finite=False, ensure_min_samples=0)

    def _check_matrix(self, X: Any, *, reset: bool) -> Any:
        X = validate_data(
            self,
            unmasked(X),
            dtype=[np.float32, np.float64],
            accept_sparse="csr" if self._takes_sparse else False,
            ensure_all_finite=False,
            ensure_min_samples=1 if reset else 0,
            reset=reset,
        )
        how = self.normalize if reset else self.normalize_
        if issparse(X) and how is not None:
            raise DataError(
                f"normalize={how!r} would fill a sparse X with numbers: normalise it before, or give X as an array"
            )
        check_finite(X)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._takes_sparse
        tags.target_tags.required = True
        return tags
