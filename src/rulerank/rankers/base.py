"""Base class of all rankers: fit, predict, checks of the data, and methods that load other folders when called."""

from __future__ import annotations

import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np

from rulerank._util.estimator import Estimator, check_is_fitted
from rulerank._util.parameters import HasParameters, Parameter, Threads
from rulerank._util.words import by_new_names, listed
from rulerank.dataset import UNLABELLED, Array, Dataset, check_contrast, has_contrast, query_index
from rulerank.errors import DataError, ModelFileError
from rulerank.io.columns import collected
from rulerank.normalize import NORMALIZE, normalize_by_query
from rulerank.rankers.rows import (
    NO_QID,
    Sample,
    by_hash,
    check_names,
    check_weights,
    columns_with,
    importances_of,
    matched_rows,
    query_numbers,
    query_of_each,
    training_rows,
    training_sample,
    unknown_argument,
    warn_of_torn_queries,
)
from rulerank.rankers.rows import Labelled as Labelled
from rulerank.rules.additive import AdditiveTables, Contributions
from rulerank.text.fields import read_names

if TYPE_CHECKING:
    from rulerank.discretize import Discretizer
    from rulerank.explain import Change, Explanation, FeatureCurves, ModelOverview, RankingExplanation, Release, Versus


class Ranker(HasParameters, Estimator, ABC):
    """Base of our rankers. X is an array, a data frame, or a whole Dataset, which brings y, qid and names along.

    Columns of a Dataset and of a data frame are matched by name: any order, more columns are ignored, a missing one is
    an error. Arrays are matched by position, and so are frames if the ranker was fitted to an array.

    `explain`, `explain_query`, `what_if`, `overview`, `curves` and `save` import code of other folders when they are
    called. It uses these names of a fitted ranker: `feature_names_`, `check_rows` (rows as the ranker scores them),
    `needs_the_query` (does a score depend on the other documents?), `as_tables` (the model as a sum of tables and
    weighted values, or None) and `contributions` (what each term adds to a score).

    Methods after fit use `params_`, the parameters at the time of fit: set_params does not change a fitted model.
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {"normalize": NORMALIZE, "n_jobs": Threads()}

    normalize: str | None
    n_jobs: int | None
    _weighs_rows: ClassVar[bool] = False  # takes any weights; else rows are repeated, as often as their weights say
    _knows_categories: ClassVar[bool] = False  # bins kinds by kind; others read their codes as numbers
    _leaves_categories_out: ClassVar[bool] = False  # or give them no weight

    _without_contrast: ClassVar[str | None] = None  # what becomes of grades that are the same; None: they are refused
    of_a_part = False  # whether it is fitted to a part of the data, which may hold no query with two grades

    feature_names_: tuple[str, ...]
    has_names_: bool  # whether the names are the data's own, and not made up for an array
    categories_: dict[str, tuple[str, ...]]  # feature: what its values 0, 1, ... stand for
    dates_: tuple[str, ...] = ()  # features whose values are days since 1970-01-01
    human_names_: Mapping[str, str] = MappingProxyType({})  # feature: what explanations call it

    _why_not_additive: ClassVar[str] = "its score is not a sum of votes and weighted values"
    base_text: ClassVar[str] = "the mean grade in training"  # where scores start, in words
    discretizer_: Any  # of those that take one
    prepared_bins: Discretizer | None = None  # fitted to more rows than are learned from

    # scikit-learn hands the queries over without being told so in every script
    routed: ClassVar[dict[str, dict[str, bool]]] = {
        "fit": {"qid": True, "sample_weight": True, "group": False},
        "predict": {"qid": True},
        "score": {"qid": True, "sample_weight": True, "group": False},
    }

    _trained_queries: tuple[Array, Array] | None = None  # ids and numbers of rows; a model file does not hold them
    _sample: Sample | None = None  # some training rows, for feature_importances_; a model file holds these alone
    _importances: Array | None = None  # once they were asked for, or from a model file

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Name a parameter that other libraries have, and say what to use instead; `__init__` stores the parameters."""
        known = inspect.signature(cls.__init__).parameters if params else {}
        for name in params:
            if name not in known:
                raise unknown_argument(cls.__name__, name, [*known][1:])
        return super().__new__(cls)

    def fit(
        self, X: Any, y: Any = None, qid: Any = None, *, group: Any = None, sample_weight: Any = None, **unknown: Any
    ) -> Self:
        """Learn from grades y of rows X that belong to the queries qid (all one query when not given).

        group: instead of qid, the number of rows of each query, one query after the other, as in LightGBM.
        sample_weight: weight of each row. FittedRules and QueryIntercepts accept any weights of at least 0; the other
            rankers count rows and need integers: weight 3 is the same as three equal rows.

        A Dataset may have rows without a grade (-1). They are used for the scales by query and for bins that need no
        grades; everything else is learned from the labelled rows.
        """
        for name in unknown:
            known = [*inspect.signature(type(self).fit).parameters][1:-1]
            raise unknown_argument(f"{type(self).__name__}.fit", name, known)
        qid = query_of_each(X, qid, group)
        self.check_parameters()
        plain = y is None and qid is None and sample_weight is None and getattr(self, "_rater", None) is None
        if plain and isinstance(X, Dataset) and X.impressions is None and (X.y == UNLABELLED).any():
            from rulerank.rankers.pool import fit_to_labelled  # it knows rankers that start from a baseline

            fit_to_labelled(self, X)
            return self
        data = self._check_training(X, y, qid, sample_weight)
        self.check_contrast(data)
        with self.learning():
            self._learn(data)
        self._sample, self._importances = training_sample(data), None
        return self

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Record the parameters; a ranker that has learned half is not fitted."""
        self.record_params()
        try:
            yield
        except BaseException:
            del self.params_
            raise

    def predict(self, X: Any, qid: Any = None) -> Array:
        """Return one score per row, in the rows' order; qid is needed only when the ranker normalises by query."""
        check_is_fitted(self)
        check_names(self, X)
        return self.predict_codes(X, qid)

    def predict_codes(self, X: Any, qid: Any = None) -> Array:
        """Return the scores of rows, as `predict` does; in an array categories are the codes of this ranker."""
        return self._score(self.check_rows(X, qid))

    def score(self, X: Any, y: Any = None, qid: Any = None, *, group: Any = None, sample_weight: Any = None) -> float:
        """Return NDCG@10, the mean over queries: the gain is the grade, tied documents count with their mean.

        It is what `evaluate` gives; `make_scorer` makes any other measure a scorer for scikit-learn.

        group: instead of qid, the number of rows of each query, as in `fit`.
        sample_weight: rows of weight 0 are left out; a query counts as much as its other rows do on average.

        >>> import rulerank as rr
        >>> fold = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=50, seed=0))[0]
        >>> ranker = rr.GlobalRules().fit(fold.train)
        >>> ranker.score(fold.test) == rr.evaluate(fold.test, ranker.predict(fold.test)).means["NDCG@10"]
        True
        """
        from rulerank.evaluation import evaluate

        y, qid = columns_with(X, y, query_of_each(X, qid, group))
        if y is None:
            raise DataError("score needs one grade per row: score(X, y, qid=qid), or score(data) with a Dataset")
        scores = self.predict(X, qid=qid)
        if qid is None:
            warnings.warn(NO_QID.format(verb="score"), stacklevel=2)
        queries, ids = query_numbers(qid, len(scores))
        warn_of_torn_queries(self, ids, queries)
        weights = np.ones(len(scores)) if sample_weight is None else check_weights(sample_weight, len(scores))
        kept = np.flatnonzero(weights)
        y = np.asarray(y)[kept] if kept.size < len(scores) else y
        found = evaluate(y, scores[kept], queries[kept], "NDCG@10", n_jobs=self.n_jobs)
        if sample_weight is None:
            return found.means["NDCG@10"]
        own = query_index(queries[kept])[0]
        of_query = np.bincount(own, weights[kept]) / np.bincount(own)
        return float(np.average(found.values[0], weights=of_query))

    @property
    def feature_importances_(self) -> Array:
        """How much each feature matters for the order within queries, on training rows; they add up to 1.

        Mean size of what the feature adds to a score, less its mean over the documents of the query, as a part of the
        sum over features; on all training rows, or up to 1,000 of evenly spaced queries. `importances` is the same on
        documents that you choose.

        >>> import rulerank as rr
        >>> X = [[0.1, 3.0], [0.9, 3.0], [0.2, 5.0], [0.7, 5.0]]
        >>> ranker = rr.QueryIntercepts(l2=1.0).fit(X, [0, 1, 0, 1], qid=["a", "a", "b", "b"])
        >>> ranker.feature_importances_.round(6).tolist()
        [1.0, 0.0]
        """
        check_is_fitted(self)
        if self._importances is None and self._sample is not None:
            self._importances = importances_of(self, self._sample)
        if self._importances is None:  # an AttributeError: hasattr then says that it is not there
            raise AttributeError(
                f"this {type(self).__name__} has no importances (rows were added or removed, or its model file is of "
                "version 0.1): call importances(data) with documents of your choice"
            )
        return self._importances.copy()

    def importances(self, X: Any, qid: Any = None) -> Array:
        """Return how much each feature matters for the order of given documents, as `feature_importances_` has it."""
        check_is_fitted(self)
        _, qid = columns_with(X, None, qid)
        if qid is None:
            raise DataError("importances needs the query of each row: importances(X, qid=qid), or a Dataset")
        rows = self.check_rows(X, qid)
        return importances_of(self, Sample(rows, by_hash(*query_numbers(qid, rows.shape[0]))))

    def contributions(self, X: Any, qid: Any = None) -> Contributions:
        """Return what each term adds to each score: a base and a matrix whose rows add up to `predict`.

        A term is a feature, features together, or the baseline ranking; for linear rankers weight times value, for
        rules what the rules over the same features add. Nothing is estimated. X and qid are those of `predict`.

        >>> import rulerank as rr
        >>> data = rr.datasets.make_ranking(n_queries=20, n_features=3, seed=0)
        >>> ranker = rr.FittedRules().fit(data)
        >>> found = ranker.contributions(data)
        >>> found.terms[:2], found.values.shape == (len(data), len(found.terms))
        (('bm25_body', 'bm25_title'), True)
        >>> bool((found.base + found.values.sum(axis=1) == ranker.predict(data)).all())
        True
        """
        check_is_fitted(self)
        check_names(self, X)
        _, qid = columns_with(X, None, qid)
        rows = self.check_rows(X, qid)
        return self.checked_contributions(rows, None if qid is None else query_numbers(qid, rows.shape[0])[0])

    def checked_scores(self, X: Any) -> Array:
        """Return the scores of checked rows."""
        return self._score(X)

    def checked_contributions(self, X: Any, queries: Array | None = None) -> Contributions:
        """Return the contributions to the scores of checked rows, with the numbers of their queries."""
        tables = self.as_tables()
        if tables is None:
            raise DataError(
                f"{type(self).__name__} gives no explanation: its score is not a sum of parts that can be read; "
                "FittedRules, GlobalRules, StableRules, QueryRules, QueryIntercepts and Competence give one"
            )
        return tables.contributions(X)

    def notes_on(self, X: Any, row: int) -> tuple[str, ...]:
        """Say in sentences what else the score of one of the checked rows of a query rests on."""
        return ()

    def fit_prepared(
        self, X: Array, y: Any, qid: Any, *, like: Dataset, discretizer: Discretizer | None = None, **more: Any
    ) -> Self:
        """Learn from rows that are on the scale that `normalize` asks for, with bins that were found before.

        For callers that know more rows than are labelled: scale and bins then rest on all of them (`rankers/pool.py`).
        The ranker normalises and discretises new rows by itself.
        like: data with the names, categories and dates of the features; the codes in X are learned from as numbers.
        more: what else `fit` takes.
        """
        asked = {name: value for name, value in self.get_params(deep=False).items() if name == "normalize"}
        self.of_a_part, self.prepared_bins = True, discretizer  # the caller knows whether these rows are enough
        try:
            self.set_params(**dict.fromkeys(asked)).fit(X, y, qid=qid, **more)
        finally:
            self.set_params(**asked)
            del self.of_a_part, self.prepared_bins
        self.feature_names_, self.has_names_, self.dates_ = like.feature_names, True, like.dates
        self.categories_, self._trained_queries = dict(like.categories), None  # qid may be numbers of queries
        self.record_params()  # what was asked for counts as fitted
        return self

    def to_state(self) -> dict[str, Any]:
        """Return all that was learned as plain values and arrays, for a model file."""
        check_is_fitted(self)
        state = {
            "params": self._saved_params(),
            "feature_names": list(self.feature_names_),
            "named_columns": hasattr(self, "feature_names_in_"),
            "has_names": self.has_names_,
            "learned": self._learned_state(),
        }
        if self.categories_:
            state["categories"] = {name: list(kinds) for name, kinds in self.categories_.items()}
        state |= {"dates": list(self.dates_)} if self.dates_ else {}
        with suppress(AttributeError, DataError):  # there are none, or the scores cannot be explained
            state["importances"] = self.feature_importances_
        return state | ({"human_names": dict(self.human_names_)} if self.human_names_ else {})

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the ranker that `to_state` described, bit for bit."""
        made = cls.from_params(by_new_names(state["params"]))
        made.feature_names_ = tuple(state["feature_names"])
        made.has_names_ = bool(state.get("has_names", True))  # models of before had names or went by position
        made.n_features_in_ = len(made.feature_names_)
        made.categories_ = {name: tuple(kinds) for name, kinds in state.get("categories", {}).items()}
        made.dates_ = tuple(state.get("dates", ()))
        if "human_names" in state:
            made.human_names_ = {str(name): str(human) for name, human in state["human_names"].items()}
        made._importances = state.get("importances")
        if made._importances is not None and made._importances.shape != (made.n_features_in_,):
            raise ModelFileError(f"expected {made.n_features_in_} importances: got {made._importances.shape}")
        if state["named_columns"]:
            made.feature_names_in_ = np.array(made.feature_names_, dtype=object)
        made._take_learned(by_new_names(state["learned"]))
        return made

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

    def as_tables(self) -> AdditiveTables | None:
        """Return the fitted model as a sum over rows as it scores them; None if it is none."""
        return None

    def additive(self) -> AdditiveTables:
        """Return the fitted model as a base plus tables of votes plus weights, or say why it is not such a sum.

        Over features as the ranker scores them: on one scale by query, where it normalises.

        >>> import rulerank as rr
        >>> data = rr.datasets.make_ranking(n_queries=30, n_features=3, seed=0)
        >>> ranker = rr.GlobalRules().fit(data)
        >>> tables = ranker.additive()
        >>> len(tables.tables), bool(abs(tables.score(data.X) - ranker.predict(data)).max() < 1e-12)
        (6, True)
        """
        check_is_fitted(self)
        tables = self.as_tables()
        if tables is not None and not tables.from_model:
            return tables
        raise DataError(
            f"{type(self).__name__} is not additive: {self._why_not_additive}; use FittedRules, GlobalRules with "
            'votes="evidence" or QueryIntercepts, which are'
        )

    def needs_the_query(self) -> bool:
        """Tell whether a document's score depends on the other documents of its query."""
        return self.normalize_ is not None

    def _saved_params(self) -> dict[str, Any]:
        """Return the parameters as fitted, as a model file holds them."""
        return self.params_

    @property
    def normalize_(self) -> str | None:
        """How features are normalised by query, as it was when fitted."""
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
        return training_rows(self, X, y, qid, sample_weight)

    def on_one_scale(self, X: Array, queries: Array, how: str) -> Array:
        """Return rows normalised by query; codes of categories stay what they are."""
        codes = [self.feature_names_.index(name) for name in self.categories_]
        return normalize_by_query(X, queries, how, self.n_jobs, codes)

    def check_rows(self, X: Any, qid: Any) -> Array:
        """Return rows as the ranker scores them: checked, columns in its order, normalised if it does that."""
        _, qid = columns_with(X, None, qid)
        rows = matched_rows(self, X)
        if self.normalize_ is None:
            return rows
        if qid is None:
            raise DataError(
                f"this ranker normalises features by query (normalize={self.normalize_!r}): "
                "give the query of each row, predict(X, qid=qid)"
            )
        return self.on_one_scale(rows, query_numbers(qid, len(rows))[0], self.normalize_)

    @overload
    def explain(self, x: Any, row: int | None = None, *, n_rules: int | None = 10) -> Explanation: ...
    @overload
    def explain(self, x: Any, row: int | None = None, *, versus: Any, n_rules: int | None = 10) -> Versus: ...
    def explain(
        self, x: Any, row: int | None = None, *, versus: Any = None, n_rules: int | None = 10
    ) -> Explanation | Versus:
        """Explain the score of a document, or why it ranks above or below another one.

        x: the document's features; or those of all documents of its query, or a Dataset, `row` saying which one is
            meant. A ranker that compares the documents of a query with each other needs all of them.
        versus: another document: its features, or its row number in x.
        n_rules: how many of the strongest rules to keep; None keeps all.

        >>> import rulerank as rr
        >>> data = rr.datasets.make_ranking(n_queries=20, seed=0)
        >>> ranker = rr.GlobalRules().fit(data)
        >>> why = ranker.explain(data, 3)
        >>> abs(why.base + sum(share.adds for share in why.features) - ranker.predict(data)[3]) < 1e-9
        np.True_
        >>> ranker.explain(data, 3, versus=7).lines()[0]
        'q1-d4 scores 0.4651 and q1-d8 0.2908: a difference of 0.1743.'
        """
        from rulerank.explain import explain_score, explain_versus

        x, versus = collected(x), collected(versus)
        if versus is None:
            return explain_score(self, x, row, n_rules)
        return explain_versus(self, x, row, versus, n_rules)

    def explain_query(
        self, data: Dataset, query: Any = None, *, baseline: Any = None, n: int = 10
    ) -> RankingExplanation:
        """Explain the whole ranking of a query: reasons for each document, and what moved against the baseline ranking.

        data: documents with this query among them; texts that it has are shown.
        query: its id; None where the data has but one.
        baseline: the ranking that users see now: a feature ("-name": lowest first), a sum of features, a fitted
            ranker, a run, or a file of these; None: a feature with a usual name, such as bm25 or engine_rank, if
            any; False: none.
        n: how many documents to show; the reasons are those against the average of all of them.

        >>> import rulerank as rr
        >>> data = rr.datasets.make_ranking(n_queries=20, seed=0)
        >>> found = rr.GlobalRules().fit(data).explain_query(data, "q1", n=3)
        >>> [(doc.rank, doc.document, doc.baseline_rank) for doc in found.documents]
        [(1, 'q1-d26', 21), (1, 'q1-d39', 5), (1, 'q1-d48', 22)]
        """
        from rulerank.explain import explain_ranking

        return explain_ranking(self, data, query, baseline, n)

    def release(self, data: Dataset, baseline: Any, *, n: int = 10, examples: int = 5) -> Release:
        """Compare this ranker with the baseline ranking on all queries: what changes in the top n, why, and for whom.

        data: the documents that both rank; with labels, metrics with intervals too.
        baseline: the ranking that users see now, as in `explain_query`.
        examples: how many queries are shown side by side.

        >>> import rulerank as rr
        >>> data = rr.datasets.make_ranking(n_queries=20, seed=0)
        >>> found = rr.GlobalRules().fit(data).release(data, "bm25_body")
        >>> found.n_changed, round(found.mean_new, 1)
        (20, 5.2)
        """
        from rulerank.explain import release_of

        return release_of(self, collected(data), baseline, n, examples)

    def name_features(self, names: Mapping[str, str] | str | PathLike[str]) -> Self:
        """Set what explanations call features, by their names in the data; a model file keeps it.

        names: a dict, or a csv file with the columns feature and name.

        Features of texts have such names of their own: "similar spelling in title" for grams(title).

        >>> import rulerank as rr
        >>> data = rr.datasets.make_ranking(n_queries=20, n_features=2, seed=0)
        >>> ranker = rr.QueryIntercepts().fit(data).name_features({"bm25_body": "match in the body"})
        >>> ranker.explain(data, 0).lines(1)[1]
        '+1.058: match in the body 1.92, lower than 61 % of 54 documents'
        """
        check_is_fitted(self)
        names = names if isinstance(names, Mapping) else read_names(str(names))
        unknown = next((name for name in names if name not in self.feature_names_), None)
        if unknown is not None:
            raise DataError(f"names: the model has no feature {unknown!r}; it has {listed(self.feature_names_)}")
        self.human_names_ = dict(names)
        return self

    def what_if(self, x: Any, row: int | None = None, *, above: float) -> tuple[Change, ...]:
        """Return the smallest change of each single feature that lifts a document above a score, smallest first.

        x and row are those of `explain`.
        """
        from rulerank.explain import what_if

        return what_if(self, collected(x), row, above)

    def overview(self, data: Dataset) -> ModelOverview:
        """Describe the model as a whole: which features matter, their curves, the strongest rules."""
        from rulerank.explain import overview_of

        return overview_of(self, data)

    def curves(self, data: Dataset | None = None, most: int = 9) -> FeatureCurves:
        """Return what each feature adds to the score by its value, the most important first.

        Where the score is a sum these are the model's own votes or weights; else means over the documents.

        data: documents that the curves are centred on and whose values are counted; without any, the training rows
            that the ranker still has with it.

        >>> import rulerank as rr
        >>> data = rr.datasets.make_ranking(n_queries=30, n_features=3, seed=0)
        >>> curve = rr.FittedRules().fit(data).curves(data).curves[0]
        >>> curve.feature, curve.counts.n_docs == len(data), bool(abs(curve.adds(data.X[:, 1]).mean()) < 1e-9)
        ('bm25_title', True, True)
        """
        from rulerank.explain import curves_of

        return curves_of(self, data, most, self._sample)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted ranker to a model file, which `rulerank.load` reads."""
        from rulerank.model_file import save

        save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        if self.__sklearn_is_fitted__():
            # it gives numbers, which is all that partial_dependence asks; a regressor would learn from any numbers
            tags.estimator_type = "regressor"
        return tags
