"""What every ranker shares: checked input, feature names, per-query normalisation."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, overload

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from rulerank.ballots import BinForm, Case, LinearForm, TableForm
from rulerank.ballots.linear_cases import linear_case
from rulerank.core.parameters import HasParameters, Parameter, Threads, shown
from rulerank.core.words import counted, listed
from rulerank.dataset import UNLABELLED, Array, Dataset, check_column, check_grades, query_index
from rulerank.errors import DataError
from rulerank.normalize import NORMALIZE, normalize_by_query
from rulerank.rules.additive import AdditiveTables

MOST_REPEATED = 100  # times a row may count on average where weights are repeated rows

if TYPE_CHECKING:  # explain: the facade's, see Ranker
    from rulerank.discretize import Discretizer
    from rulerank.explain import Change, Explanation, ModelOverview, Versus


class Labelled(NamedTuple):
    """Checked training data."""

    X: Array  # float (n_rows, n_features), normalised if the ranker does that
    grades: Array  # int16 (n_rows,)
    queries: Array  # int64 (n_rows,) query numbers in order of appearance
    query_ids: Array
    weights: Array | None = None  # float64 (n_rows,) what each row counts; None: one
    categories: Mapping[str, tuple[str, ...]] = {}  # feature: what its values 0, 1, ... stand for


class Ranker(HasParameters, BaseEstimator, ABC):
    """Base of our rankers. X is an array, a data frame, or a whole Dataset, which brings y, qid and names along.

    A Dataset and a data frame are matched by feature name: columns may come in any order, others may come along, none
    may be missing. An array goes by position, and so does a frame where the ranker was fitted to an array.

    `explain`, `what_if`, `overview` and `save` are a facade: they load folders that lie above this one, `explain` and
    `model_file`, when they are called. Nothing else here may, and no other file of this folder.

    Those folders read a fitted ranker by these names: `feature_names_`, `check_rows` (rows as it scores them),
    `needs_the_query` (does a score depend on the other documents?), `case` (one document taken apart), and, for what
    tries out documents that do not exist, `bin_form`, `linear_form` or `table_form` (the model as a function; None
    where it is none).

    What comes after fit reads `params_`, the parameters as fitted: set_params changes nothing that was learned.
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "normalize": NORMALIZE,
        "n_jobs": Threads(meaning="number of threads"),
    }

    normalize: str | None
    n_jobs: int | None
    _takes_sparse: ClassVar[bool] = False  # X may be a scipy sparse matrix, which then arrives as CSR
    _why_not_additive: ClassVar[str] = "its score is not a sum of votes and weighted values"
    _weighs_rows: ClassVar[bool] = False  # takes any weights; else rows are repeated, as often as their weights say

    _knows_categories: ClassVar[bool] = False  # bins kinds by kind; others read their codes as numbers

    feature_names_: tuple[str, ...]
    has_names_: bool  # whether the names are the data's own, and not made up for an array
    categories_: dict[str, tuple[str, ...]]  # feature: what its values 0, 1, ... stand for
    discretizer_: Any  # of those that take one

    # scikit-learn hands the queries over without being told so in every script
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}

    def fit(self, X: Any, y: Any = None, qid: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn from grades y of rows X that belong to the queries qid (all one query when not given).

        sample_weight: what each row counts. FittedRules and QueryIntercepts take any numbers from 0; the others count
            rows, and take whole numbers, which are the same as that many equal rows.
        """
        self.check_parameters()
        data = self._check_training(X, y, qid, sample_weight)
        self.record_params()
        try:
            self._learn(data)
        except BaseException:
            del self.params_  # half learned is not fitted
            raise
        return self

    def predict(self, X: Any, qid: Any = None) -> Array:
        """Return one score per row, in the rows' order; qid is needed only when the ranker normalises by query."""
        check_is_fitted(self)
        return self._score(self.check_rows(X, qid))

    def fit_prepared(
        self,
        X: Array,
        y: Any,
        qid: Any,
        *,
        feature_names: tuple[str, ...],
        discretizer: Discretizer | None = None,
    ) -> Self:
        """Learn from rows that are on the scale that `normalize` asks for, with bins that were found before.

        For whoever knows more rows than are labelled: scale and bins then rest on all of them (`fit_in_pool`). The
        fitted ranker is the one that was asked for; it normalises and discretises new rows by itself.
        """
        done = {"normalize": None} | ({} if discretizer is None else {"discretizer": _Found(discretizer)})
        asked = {name: value for name, value in self.get_params(deep=False).items() if name in done}
        try:
            self.set_params(**{name: done[name] for name in asked}).fit(X, y, qid=qid)
        finally:
            self.set_params(**asked)
        self.feature_names_, self.has_names_ = feature_names, True
        self.categories_ = {}
        if discretizer is not None:
            self.discretizer_ = discretizer
        self.record_params()  # what was asked for counts as fitted
        return self

    @overload
    def explain(self, x: Any, row: int | None = None, *, n_rules: int | None = 3) -> Explanation: ...
    @overload
    def explain(self, x: Any, row: int | None = None, *, versus: Any, n_rules: int | None = 3) -> Versus: ...
    def explain(
        self, x: Any, row: int | None = None, *, versus: Any = None, n_rules: int | None = 3
    ) -> Explanation | Versus:
        """Say why a document has its score, or why it stands above or below another one.

        x: the document's features; or those of all documents of its query, or a Dataset, `row` saying which one is
            meant. A ranker that compares the documents of a query with each other needs all of them.
        versus: another document: its features, or its row number in x.
        n_rules: how many rules of each group to keep; None keeps all.

        >>> import rulerank as rr
        >>> world = rr.make_world(n_queries=20, seed=0)
        >>> ranker = rr.GlobalRules().fit(world)
        >>> why = ranker.explain(world, 3)
        >>> abs(why.base + sum(share.adds for share in why.features) - ranker.predict(world)[3]) < 1e-9
        np.True_
        >>> ranker.explain(world, 3, versus=7).lines()[0]
        'q1-d4 scores 0.465 and q1-d8 0.291: 0.174 between them.'
        """
        from rulerank.explain import explain_score, explain_versus

        return explain_score(self, x, row, n_rules) if versus is None else explain_versus(self, x, row, versus, n_rules)

    def what_if(self, x: Any, row: int | None = None, *, above: float) -> tuple[Change, ...]:
        """Return the smallest change of each single feature that lifts a document above a score, smallest first.

        x and row are those of `explain`.
        """
        from rulerank.explain import what_if

        return what_if(self, x, row, above)

    def overview(self, data: Dataset) -> ModelOverview:
        """Say what the model as a whole does on documents: influential rules, effects of features, interactions."""
        from rulerank.explain import overview_of

        return overview_of(self, data)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted ranker to a model file, which `rulerank.load` reads."""
        from rulerank.model_file import save

        save(self, path)

    def to_state(self) -> dict[str, Any]:
        """Return all that was learned as plain values and arrays, for a model file."""
        check_is_fitted(self)
        return {
            "params": self._saved_params(),
            "feature_names": list(self.feature_names_),
            "named_columns": hasattr(self, "feature_names_in_"),
            "has_names": self.has_names_,
            "learned": self._learned_state(),
        } | (
            {"categories": {name: list(kinds) for name, kinds in self.categories_.items()}} if self.categories_ else {}
        )

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the ranker that `to_state` described, bit for bit."""
        made = cls.from_params(state["params"])
        made.feature_names_ = tuple(state["feature_names"])
        made.has_names_ = bool(state.get("has_names", True))  # models of before had names or went by position
        made.n_features_in_ = len(made.feature_names_)
        made.categories_ = {name: tuple(kinds) for name, kinds in state.get("categories", {}).items()}
        if state["named_columns"]:
            made.feature_names_in_ = np.array(made.feature_names_, dtype=object)
        made._take_learned(state["learned"])
        return made

    @property
    def normalize_(self) -> str | None:
        """How features are put on one scale by query, as it was when fitted."""
        found: str | None = self.params_.get("normalize")
        return found

    @abstractmethod
    def _learn(self, data: Labelled) -> None:
        """Learn from checked training data."""

    @abstractmethod
    def _score(self, X: Array) -> Array:
        """Score checked rows."""

    @abstractmethod
    def _learned_state(self) -> dict[str, Any]:
        """Return what was learned as plain values and arrays."""

    @abstractmethod
    def _take_learned(self, state: dict[str, Any]) -> None:
        """Take over what `_learned_state` gave."""

    def case(self, X: Array, row: int) -> Case:
        """Return one of the checked rows of a query with all that is needed to explain it."""
        form = self.linear_form()
        if form is None:
            raise DataError(
                f"{type(self).__name__} gives no explanation: its score is not a sum of parts that can be read; "
                "FittedRules, GlobalRules, StableRules, QueryRules, QueryIntercepts, Competence and the linear "
                "baselines give one"
            )
        return linear_case(form, X, row, f"{type(self).__name__}, linear")

    def bin_form(self) -> BinForm | None:
        """Return the fitted model as a function of bins, or None if it is none."""
        return None

    def linear_form(self) -> LinearForm | None:
        """Return the fitted model as a weighted sum of values, or None if it is none."""
        return None

    def table_form(self) -> TableForm | None:
        """Return the fitted model as a sum of tables, or None if it is none."""
        return None

    def additive(self) -> AdditiveTables:
        """Return the fitted model as a base plus tables of votes plus weights, or say why it is no such sum.

        Over features as the ranker scores them: on one scale by query, where it normalises.

        >>> import rulerank as rr
        >>> world = rr.make_world(n_queries=30, n_features=3, seed=0)
        >>> ranker = rr.GlobalRules().fit(world)
        >>> tables = ranker.additive()
        >>> len(tables.tables), bool(abs(tables.score(world.X) - ranker.predict(world)).max() < 1e-12)
        (6, True)
        """
        check_is_fitted(self)
        raise DataError(
            f"{type(self).__name__} is not additive: {self._why_not_additive}; use FittedRules, GlobalRules with "
            'votes="evidence", QueryIntercepts or a linear baseline, which are'
        )

    def needs_the_query(self) -> bool:
        """Tell whether a document's score depends on the other documents of its query."""
        return self.normalize_ is not None

    def _uses_queries(self) -> bool:
        """Tell whether it matters to which query a training row belongs."""
        return True

    def _saved_params(self) -> dict[str, Any]:
        """Return the parameters as fitted, as a model file holds them."""
        return self.params_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "params_")

    def _check_training(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> Labelled:
        names: tuple[str, ...] = ()
        categories: Mapping[str, tuple[str, ...]] = {}
        if isinstance(X, Dataset):
            names, categories = X.feature_names, X.categories
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
        self.categories_ = dict(categories)
        if categories and not self._knows_categories:
            warnings.warn(
                f"{type(self).__name__} reads the categories of {listed([*categories])} as numbers, as if they had "
                "an order; FittedRules, GlobalRules, StableRules and QueryRules treat them as what they are",
                stacklevel=3,
            )
        if qid is None and self._uses_queries():
            warnings.warn(
                "fit was given no qid, so all rows count as one query; give the query of each row, fit(X, y, qid=qid)",
                stacklevel=3,
            )
        queries, ids = _query_numbers(qid, X.shape[0])
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, X.shape[0])
            rows = np.flatnonzero(weights > 0)
            if not self._weighs_rows:
                rows = np.repeat(np.arange(weights.size), whole_weights(weights, type(self).__name__))
            X, grades, queries, ids = X[rows], grades[rows], *_renumbered(queries[rows], ids)
            weights = weights[rows] if self._weighs_rows else None
        how = self._scale_before()
        if how is not None:
            X = self.on_one_scale(X, queries, how)
        return Labelled(X, grades, queries, ids, weights, categories)

    def on_one_scale(self, X: Array, queries: Array, how: str) -> Array:
        """Return rows normalised by query; codes of categories stay what they are."""
        out = normalize_by_query(X, queries, how, self.n_jobs)
        codes = [self.feature_names_.index(name) for name in self.categories_]
        out[:, codes] = X[:, codes]
        return out

    def _scale_before(self) -> str | None:
        """Return how rows are put on one scale by query before `_learn` sees them."""
        return self.normalize

    def check_rows(self, X: Any, qid: Any) -> Array:
        """Return rows as the ranker scores them: checked, columns in its order, normalised if it does that."""
        if isinstance(X, Dataset):
            qid = X.qid if qid is None else qid
            X = _recoded(columns_of(X, self.feature_names_), X, self.feature_names_, self.categories_)
            _check_finite(X)
        elif self.has_names_ and _has_columns(X):
            X = np.asarray(self._check_columns(X))
            _check_finite(X)
        else:
            X = self._check_matrix(X, reset=False)
        if self.normalize_ is None:
            return X
        if qid is None:
            raise DataError(
                f"this ranker normalises features by query (normalize={self.normalize_!r}): "
                "give predict the rows' queries too, predict(X, qid=qid)"
            )
        return self.on_one_scale(X, _query_numbers(qid, len(X))[0], self.normalize_)

    def _check_columns(self, frame: Any) -> Any:
        """Return the columns of a data frame that the ranker knows, by name and in its order."""
        columns = [str(column) for column in frame.columns]
        twice = next((name for name in self.feature_names_ if columns.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"column names must differ: {twice!r} is there twice")
        places = _places_of(self.feature_names_, tuple(columns))
        chosen = frame[[frame.columns[place] for place in places]]
        return check_array(chosen, dtype=[np.float32, np.float64], ensure_all_finite=False, ensure_min_samples=0)

    def _check_matrix(self, X: Any, *, reset: bool) -> Any:
        X = validate_data(
            self,
            X,
            dtype=[np.float32, np.float64],
            accept_sparse="csr" if self._takes_sparse else False,
            ensure_all_finite=False,
            ensure_min_samples=1 if reset else 0,
            reset=reset,
        )
        how = self._scale_before() if reset else self.normalize_
        if issparse(X) and how is not None:
            raise DataError(
                f"normalize={how!r} would fill a sparse X with numbers: normalise it before, or give X as an array"
            )
        _check_finite(X)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._takes_sparse
        tags.target_tags.required = True
        return tags


class _Found:
    """A discretiser that keeps the bins it has whatever it is fitted to."""

    def __init__(self, found: Discretizer) -> None:
        self.bins_of, self.transform, self.describe = found.bins_of, found.transform, found.describe

    def fit(self, X: Any, y: Any = None) -> Self:
        return self


def columns_of(data: Dataset, names: tuple[str, ...]) -> Array:
    return data.X if data.feature_names == names else data.X[:, _places_of(names, data.feature_names)]


def _places_of(names: tuple[str, ...], found: tuple[str, ...]) -> list[int]:
    place = {name: i for i, name in enumerate(found)}
    missing = [name for name in names if name not in place]
    if missing:
        shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise DataError(
            f"the data lacks {len(missing)} of the {len(names)} features the model was trained on: {shown}; "
            f"it has {counted(len(place), 'feature')}"
        )
    return [place[name] for name in names]


def _has_columns(X: Any) -> bool:
    """Whether this is a data frame, of pandas or Polars, without loading either."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _recoded(X: Array, data: Dataset, names: tuple[str, ...], known: Mapping[str, tuple[str, ...]]) -> Array:
    """Return rows with the codes of training: kinds are matched by name, new ones have the code after the last."""
    changed = False
    for name, kinds in known.items():
        found = data.categories.get(name)
        if found is None or found == kinds:
            continue
        number = {kind: code for code, kind in enumerate(kinds)}
        codes = np.array([number.get(kind, len(kinds)) for kind in found], dtype=X.dtype)
        column = names.index(name)
        X = X if changed else X.copy()
        changed = True
        there = ~np.isnan(X[:, column])
        X[there, column] = codes[X[there, column].astype(np.int64)]
    return X


def _query_numbers(qid: Any, n_rows: int) -> tuple[Array, Array]:
    if qid is None:
        return np.zeros(n_rows, dtype=np.int64), np.array([0])
    return query_index(check_column("qid", qid, n_rows))


def check_weights(sample_weight: Any, n_rows: int) -> Array:
    """Return what each row counts, float64, after looking at every value.

    >>> check_weights([1, 0.5], 2).tolist()
    [1.0, 0.5]
    """
    column = check_column("sample_weight", sample_weight, n_rows)
    try:
        weights = column.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"sample_weight must be numbers from 0: got {shown(sample_weight)}") from None
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        raise DataError(f"sample_weight must be numbers from 0: got {weights[bad[0]]} at row {bad[0]}")
    if not weights.any():
        raise DataError("Sample weights must contain at least one non-zero number: all of sample_weight are 0")
    return weights


def whole_weights(weights: Array, name: str) -> Array:
    """Return weights as whole numbers, for a ranker that counts rows."""
    bad = np.flatnonzero(weights != np.floor(weights))
    if bad.size:
        raise DataError(
            f"{name} counts rows, so sample_weight must be whole numbers: got {weights[bad[0]]} at row {bad[0]}; "
            "FittedRules and QueryIntercepts take any weights"
        )
    if weights.sum() > MOST_REPEATED * max(1, weights.size):
        raise DataError(
            f"{name} counts rows as often as sample_weight says, which is {weights.sum():.3g} times in all, more than "
            f"{MOST_REPEATED} times a row: divide the weights, or use FittedRules or QueryIntercepts"
        )
    return weights.astype(np.int64)


def _renumbered(queries: Array, ids: Array) -> tuple[Array, Array]:
    """Number queries anew, in order of appearance, after rows were left out."""
    numbers, kept = query_index(queries)
    return numbers, ids[kept]


def _check_finite(X: Any) -> None:
    infinite = np.isinf(X.data if issparse(X) else X)
    if infinite.any():
        places = [place[infinite] for place in X.tocoo().coords] if issparse(X) else np.nonzero(infinite)
        row, column = (int(i[0]) for i in places)
        raise DataError(f"X must be finite or NaN (missing): row {row}, column {column} is infinity")
