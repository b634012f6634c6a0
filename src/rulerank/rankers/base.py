"""What every ranker is: fit and predict; `checked.py` holds how it looks at its data, `facade.py` explain and save."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError
from rulerank.rankers.checked import ChecksData
from rulerank.rankers.checked import Labelled as Labelled
from rulerank.rankers.facade import Facade, contributions_by_document
from rulerank.rankers.importances import Sample, importances_of, sample_of
from rulerank.rankers.rows import query_numbers, query_of_each
from rulerank.rules.additive import AdditiveTables, Contributions

if TYPE_CHECKING:
    from rulerank.discretize import Discretizer


class Ranker(ChecksData, Facade, ABC):
    """Base of our rankers. X is an array, a data frame, or a whole Dataset, which brings y, qid and names along.

    A Dataset and a data frame are matched by feature name: columns may come in any order, others may come along, none
    may be missing. An array goes by position, and so does a frame where the ranker was fitted to an array.

    `explain`, `explain_query`, `what_if`, `overview`, `curves` and `save` are a facade (`facade.py`): folders that lie
    above this one do the work. They read a fitted ranker by these names: `feature_names_`, `check_rows` (rows as it
    scores them), `needs_the_query` (does a score depend on the other documents?), `as_tables` (the model as a sum of
    tables and weighted values; None where it is none) and `contributions` (what each term adds to a score).

    What comes after fit reads `params_`, the parameters as fitted: set_params changes nothing that was learned.
    """

    _why_not_additive: ClassVar[str] = "its score is not a sum of votes and weighted values"
    base_text: ClassVar[str] = "the mean grade in training"  # where scores start, in words
    discretizer_: Any  # of those that take one

    # scikit-learn hands the queries over without being told so in every script
    __metadata_request__fit: ClassVar[dict[str, bool | str]] = {"qid": True, "sample_weight": True, "group": UNUSED}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    def fit(self, X: Any, y: Any = None, qid: Any = None, *, sample_weight: Any = None, group: Any = None) -> Self:
        """Learn from grades y of rows X that belong to the queries qid (all one query when not given).

        sample_weight: what each row counts. FittedRules and QueryIntercepts take any numbers from 0; the others count
            rows, and take whole numbers, which are the same as that many equal rows.
        group: instead of qid, how many rows each query has, one query after the other, as LightGBM takes it.

        A Dataset may have rows without a grade (-1): grades are learned from the labelled rows, scales by query and
        bins that need no grades from all of them.
        """
        self.check_parameters()
        plain = y is None and qid is None and sample_weight is None and getattr(self, "_judge", None) is None
        if plain and isinstance(X, Dataset) and X.shown is None and (X.y == UNLABELLED).any():
            from rulerank.rankers.pool import fit_to_labelled  # it knows rankers that start from a baseline

            fit_to_labelled(self, X)
            return self
        qid = query_of_each(X, qid, group)
        data = self._check_training(X, y, qid, sample_weight)
        self.check_contrast(data)
        with self.learning():
            self._learn(data)
        self._sample = sample_of(data.X, data.queries)
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
        """Return one score per row, in the rows' order; qid is needed only when the ranker normalises by query.

        A Dask data frame gives a Dask series, whose partitions are scored where they are; qid then names a column.
        """
        check_is_fitted(self)
        if type(X).__module__.startswith("dask"):
            from rulerank.scale.score import predict_frame

            return predict_frame(self, X, qid)
        self.check_names(X)
        return self.predict_codes(X, qid)

    def predict_codes(self, X: Any, qid: Any = None) -> Array:
        """Return the scores of rows, as `predict` does; in an array categories are the codes of this ranker."""
        return self._score(self.check_rows(X, qid))

    def score(self, X: Any, y: Any = None, qid: Any = None) -> float:
        """Return NDCG@10, the mean over queries: the gain is the grade, tied documents count with their mean.

        It is what `evaluate` gives; `scorer` makes any other measure a scorer for scikit-learn.

        >>> import rulerank as rr
        >>> fold = rr.make_folds(rr.make_ranking(n_queries=50, seed=0))[0]
        >>> ranker = rr.GlobalRules().fit(fold.train)
        >>> ranker.score(fold.test) == rr.evaluate(fold.test, ranker.predict(fold.test)).means["NDCG@10"]
        True
        """
        from rulerank.evaluation import evaluate

        if isinstance(X, Dataset) and y is None and qid is None:
            return evaluate(X, self.predict(X), measures="NDCG@10", n_jobs=self.n_jobs).means["NDCG@10"]
        if isinstance(X, Dataset):
            y, qid = X.y if y is None else y, X.qid if qid is None else qid
        if y is None:
            raise DataError("a score needs one grade per row: score(X, y, qid=qid), or score(data) with a Dataset")
        scores = self.predict(X, qid=qid)
        if qid is None:
            warnings.warn(
                "score was given no qid, so all rows count as one query; give the query of each row, "
                "score(X, y, qid=qid), or rr.with_queries(ranker, qid) to scikit-learn's tools",
                stacklevel=2,
            )
            qid = np.zeros(len(scores))
        return evaluate(y, scores, qid, "NDCG@10", n_jobs=self.n_jobs).means["NDCG@10"]

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
        if self._sample is None:  # an AttributeError: hasattr then says that it is not there
            raise AttributeError(
                f"this {type(self).__name__} has no training rows with it (it was loaded from a model file, learned "
                "from parts, or rows were added or removed): call importances(data) with documents of your choice"
            )
        return importances_of(self, self._sample)

    def importances(self, X: Any, qid: Any = None) -> Array:
        """Return how much each feature matters for the order of given documents, as `feature_importances_` has it."""
        check_is_fitted(self)
        if isinstance(X, Dataset):
            qid = X.qid if qid is None else qid
        if qid is None:
            raise DataError("importances needs the query of each row: importances(X, qid=qid), or a Dataset")
        rows = self.check_rows(X, qid)
        return importances_of(self, Sample(rows, query_numbers(qid, rows.shape[0])[0]))

    def contributions(self, X: Any, qid: Any = None) -> Contributions:
        """Return what each term adds to each score: a base and a matrix whose rows add up to `predict`.

        A term is a feature, features together, or the baseline ranking; for linear rankers weight times value, for
        rules what the rules over the same features add. Nothing is estimated. X and qid are those of `predict`.

        >>> import rulerank as rr
        >>> data = rr.make_ranking(n_queries=20, n_features=3, seed=0)
        >>> ranker = rr.FittedRules().fit(data)
        >>> found = ranker.contributions(data)
        >>> found.terms[:2], found.values.shape == (len(data), len(found.terms))
        (('bm25_body', 'bm25_title'), True)
        >>> bool((found.base + found.values.sum(axis=1) == ranker.predict(data)).all())
        True
        """
        check_is_fitted(self)
        self.check_names(X)
        if qid is None and isinstance(X, Dataset):
            qid = X.qid
        rows = self.check_rows(X, qid)
        return self.checked_contributions(rows, None if qid is None else query_numbers(qid, rows.shape[0])[0])

    def checked_scores(self, X: Any) -> Array:
        """Return the scores of checked rows."""
        return self._score(X)

    def checked_contributions(self, X: Any, queries: Array | None = None) -> Contributions:
        """Return the contributions to the scores of checked rows, with the numbers of their queries."""
        tables = self.as_tables()
        return contributions_by_document(self, X, queries) if tables is None else tables.contributions(X)

    def fit_prepared(
        self,
        X: Array,
        y: Any,
        qid: Any,
        *,
        feature_names: tuple[str, ...],
        discretizer: Discretizer | None = None,
        categories: Mapping[str, tuple[str, ...]] | None = None,
        **more: Any,
    ) -> Self:
        """Learn from rows that are on the scale that `normalize` asks for, with bins that were found before.

        For whoever knows more rows than are labelled: scale and bins then rest on all of them (`rankers/pool.py`). The
        fitted ranker is the one that was asked for; it normalises and discretises new rows by itself.
        categories: what the codes in X stand for, by which new rows are matched; they are learned from as numbers.
        more: what else `fit` takes.
        """
        done = {"normalize": None} | ({} if discretizer is None else {"discretizer": _Found(discretizer)})
        asked = {name: value for name, value in self.get_params(deep=False).items() if name in done}
        self.of_a_part = True  # whoever knows more rows says whether these are enough
        try:
            self.set_params(**{name: done[name] for name in asked}).fit(X, y, qid=qid, **more)
        finally:
            self.set_params(**asked)
            del self.of_a_part
        self.feature_names_, self.has_names_ = feature_names, True
        self.categories_ = dict(categories or {})
        if discretizer is not None:
            self.discretizer_ = discretizer
        self.record_params()  # what was asked for counts as fitted
        return self

    def to_state(self) -> dict[str, Any]:
        """Return all that was learned as plain values and arrays, for a model file."""
        check_is_fitted(self)
        return (
            {
                "params": self._saved_params(),
                "feature_names": list(self.feature_names_),
                "named_columns": hasattr(self, "feature_names_in_"),
                "has_names": self.has_names_,
                "learned": self._learned_state(),
            }
            | (
                {"categories": {name: list(kinds) for name, kinds in self.categories_.items()}}
                if self.categories_
                else {}
            )
            | ({"dates": list(self.dates_)} if self.dates_ else {})
        )

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the ranker that `to_state` described, bit for bit."""
        made = cls.from_params(state["params"])
        made.feature_names_ = tuple(state["feature_names"])
        made.has_names_ = bool(state.get("has_names", True))  # models of before had names or went by position
        made.n_features_in_ = len(made.feature_names_)
        made.categories_ = {name: tuple(kinds) for name, kinds in state.get("categories", {}).items()}
        made.dates_ = tuple(state.get("dates", ()))
        if state["named_columns"]:
            made.feature_names_in_ = np.array(made.feature_names_, dtype=object)
        made._take_learned(state["learned"])
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
        """Return the fitted model as a base plus tables of votes plus weights, or say why it is no such sum.

        Over features as the ranker scores them: on one scale by query, where it normalises.

        >>> import rulerank as rr
        >>> world = rr.make_ranking(n_queries=30, n_features=3, seed=0)
        >>> ranker = rr.GlobalRules().fit(world)
        >>> tables = ranker.additive()
        >>> len(tables.tables), bool(abs(tables.score(world.X) - ranker.predict(world)).max() < 1e-12)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.__sklearn_is_fitted__():
            # it gives numbers, which is all that partial_dependence asks; a regressor would learn from any numbers
            tags.estimator_type = "regressor"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "params_")


class _Found:
    """A discretiser that keeps the bins it has whatever it is fitted to."""

    def __init__(self, found: Discretizer) -> None:
        self.bins_of, self.transform, self.describe = found.bins_of, found.transform, found.describe

    def fit(self, X: Any, y: Any = None) -> Self:
        return self
