"""What a ranker needs that starts from the baseline ranking: where it comes from, and its column.

The scores of a model or a run are one more column, as z-scores by query.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from rulerank._util.parameters import Parameter
from rulerank._util.words import counted
from rulerank.baseline import (
    BASELINE,
    Baseline,
    FeatureBaseline,
    ModelBaseline,
    RunBaseline,
    ScoresBaseline,
    SumBaseline,
    find_baseline,
    parts_of,
    places_in,
)
from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.io.trec import Run
from rulerank.normalize import normalize_by_query
from rulerank.rankers.anchored.posterior import Averaged
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.rows import query_numbers

if TYPE_CHECKING:
    from rulerank.rankers.anchored.scale import PooledScale

SCALE = "zscore"  # by query, of the scores of a model or a run
LEARNED = ("covariance", "thresholds", "prior_shares", "n_labels", "n_queries")  # that a model file holds as they are


def column_name(found: Baseline) -> str:
    """Return what the column of scores is called of a model or a run."""
    return f"score of {type(found.ranker).__name__}" if isinstance(found, ModelBaseline) else str(found)


def signs_of(found: Baseline, n_columns: int) -> Array:
    """Return 1 or -1 for the columns of the baseline ranking, else 0; a model or a run is the last column.

    >>> signs_of(FeatureBaseline("price", 1, -1), 3).tolist()
    [0.0, -1.0, 0.0]
    """
    signs = np.zeros(n_columns)
    for part in parts_of(found):
        signs[part.column] = part.sign
    if not signs.any():
        signs[-1] = 1.0
    return signs


def model_column(found: Baseline, X: Array, queries: Array, how: str, names: Sequence[str] | None = None,
                 categories: Mapping[str, tuple[str, ...]] | None = None) -> Array:  # fmt: skip
    """Return the scores of raw rows by a model, on one scale by query, float64 (n_rows, 1).

    names: of the columns; None: they have none.
    """
    assert isinstance(found, ModelBaseline)
    places, kind = places_in(found.ranker, names, categories or {}), type(found.ranker).__name__
    if max(places, default=-1) >= X.shape[1]:
        raise DataError(f"baseline: this {kind} was trained on {len(places)} features: the data has {X.shape[1]}")
    own = copy(found.ranker)
    own.__dict__.pop("feature_names_in_", None)  # columns were matched before, so a frame's names are not asked for
    scores = np.asarray(own.predict_codes(X[:, places], qid=queries), dtype=np.float64)
    if not np.isfinite(scores).all():
        raise DataError(f"baseline: the scores of this {kind} are not all finite")
    return normalize_by_query(scores[:, None], queries, how)


def without_codes(X: Array, names: Sequence[str], categories: Collection[str]) -> Array:
    """Return rows with 0 in the place of the codes of categories."""
    if not categories:
        return X
    X = X.copy()
    X[:, [names.index(name) for name in categories]] = 0.0
    return X


class Known(NamedTuple):
    """What `fit_prepared` knows beside the rows: X comes without names, and the scale was found on more rows."""

    names: tuple[str, ...]
    scale: PooledScale | None
    means: Array | None  # (n_rows, n_columns) of the columns, over all documents of each row's query in the pool


class AnchoredRanker(Ranker):
    """Base of rankers whose score is the baseline ranking plus what labels move.

    A subclass stores `baseline` and has, after `_learn`, `coef_`, `covariance_`, `thresholds_` and `prior_shares_`.
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {"baseline": BASELINE}
    _weighs_rows: ClassVar[bool] = True
    _without_contrast = "the model is the baseline ranking, or hardly differs from it"
    _why_not_additive: ClassVar[str] = "it starts from scores that are normalised by query"

    baseline: Any  # as `find_baseline` takes it

    baseline_: Baseline
    baseline_model_: Baseline | None = None  # a model or a run, as it was when fitted: a column of its own
    coef_: Array  # (n_moves,)
    covariance_: Array  # (n_moves, n_moves)
    thresholds_: Array  # (n_levels,)
    prior_shares_: Array
    n_labels_: int
    n_queries_: int

    _known: Known | None = None

    _leaves_categories_out: ClassVar[bool] = True

    def start(self, pool: Dataset) -> Self:
        """Become the baseline ranking of a pool, as it is before the first label.

        >>> import rulerank as rr
        >>> data = rr.datasets.make_ranking(n_queries=5, seed=0)
        >>> ranker = rr.Anchored(baseline="bm25_body").start(data)
        >>> bool(ranker.predict(data).argmax() == data.X[:, 0].argmax())
        True
        """
        self.check_parameters()
        self.feature_names_, self.n_features_in_ = pool.feature_names, len(pool.feature_names)
        self.has_names_, self.categories_ = True, dict(pool.categories)
        self._take_model(pool.feature_names)
        if isinstance(self.baseline_model_, ModelBaseline):
            self.categories_ |= self.baseline_model_.ranker.categories_
            places_in(self.baseline_model_.ranker, pool.feature_names, self.categories_)
        X, scale = self.rows_of_pool(pool, query_index(pool.qid)[0])
        nothing = np.zeros(0, dtype=np.int64)
        self._known = Known(pool.feature_names, scale, scale.means[:0])
        try:
            self._learn(Labelled(X[:0], nothing, nothing, nothing, categories=pool.categories))
        finally:
            del self._known
        self.record_params()
        return self

    def fit_prepared(
        self, X: Array, y: Any, qid: Any, *, like: Dataset, scale: Any = None, means: Any = None, **more: Any
    ) -> Self:
        """Learn from rows of a pool; see `Ranker.fit_prepared`.

        X: what `rows_of_pool` gives, the scores of a model or a run among it.
        scale, means: a `PooledScale` of all rows of the pool, and the means of the rows' queries.
        """
        self._known = Known(like.feature_names, scale, means)
        try:
            super().fit_prepared(X, y, qid, like=like, **more)
        finally:
            del self._known
        self.n_features_in_ = len(like.feature_names)
        if isinstance(self.baseline_model_, ModelBaseline):  # new rows come to it by these codes
            self.categories_ |= self.baseline_model_.ranker.categories_
        return self

    def baseline_among(self, names: Sequence[str], categories: Mapping[str, tuple[str, ...]]) -> Baseline:
        """Return the baseline ranking among features of these names."""
        if self.baseline is None:
            kind = type(self).__name__
            raise DataError(
                f"{kind} starts from the baseline ranking: name the feature that ranks the documents now, such as "
                f"{kind}(baseline='bm25')"
            )
        return find_baseline(names, self.baseline, categories)

    def needs_the_query(self) -> bool:
        """Tell whether a score depends on the query's other documents: where the baseline is a model or a run."""
        return self.baseline_model_ is not None or super().needs_the_query()

    def on_one_scale(self, X: Array, queries: Array, how: str) -> Array:
        """Return rows normalised by query, as version 0.1 did, the scores of a baseline model last.

        `check_rows` adds those of a run, which needs ids.
        """
        out = super().on_one_scale(X, queries, how)
        out[:, [self.feature_names_.index(name) for name in self.categories_]] = 0.0  # as in training
        if self.baseline_model_ is None or isinstance(self.baseline_model_, RunBaseline):
            return out
        names = self.feature_names_ if self.has_names_ else None
        return np.hstack([out, model_column(self.baseline_model_, X, queries, how, names, self.categories_)])

    def check_rows(self, X: Any, qid: Any) -> Array:
        """Return rows as the ranker scores them; the scores of a model or a run are the last column."""
        rows, found, how = super().check_rows(X, qid), self.baseline_model_, self.normalize_ or SCALE
        if isinstance(found, RunBaseline):
            if not isinstance(X, Dataset):
                raise DataError(f"the baseline of this model, {found}, matches documents by id: give a Dataset")
            return np.hstack([rows, normalize_by_query(found.scores(X)[:, None], query_index(X.qid)[0], how)])
        if found is None or self.normalize_ is not None:  # `on_one_scale` added the column of a model of version 0.1
            return rows
        qid = X.qid if qid is None and isinstance(X, Dataset) else qid
        if qid is None:
            raise DataError(
                f"the baseline of this model is {found}, whose scores are normalised by query: give the query of each "
                "row, predict(X, qid=qid)"
            )
        return self._with_scores(rows, query_numbers(qid, len(rows))[0])

    def _check_training(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> Labelled:
        self.baseline_model_ = None  # of an earlier fit
        data = super()._check_training(X, y, qid, sample_weight)
        self._take_model(self.feature_names_ if self._known is None else self._known.names)
        found = self.baseline_model_
        if found is None or self._known is not None:
            return data
        if not isinstance(found, RunBaseline):
            return data._replace(X=self._with_scores(data.X, data.queries))
        if not isinstance(X, Dataset) or sample_weight is not None:
            raise DataError(f"baseline: {found} matches documents by id: give a Dataset, without weights")
        column = normalize_by_query(found.scores(X)[:, None], data.queries, SCALE)
        return data._replace(X=np.hstack([data.X, column]))

    def _with_scores(self, X: Array, queries: Array) -> Array:
        """Return raw rows with the scores of a model, as z-scores by query."""
        assert self.baseline_model_ is not None
        names = self.feature_names_ if self.has_names_ else None
        return np.hstack([X, model_column(self.baseline_model_, X, queries, SCALE, names, self.categories_)])

    def _take_model(self, names: Sequence[str]) -> None:
        """Keep a model or a run as it is now, whatever is fitted later."""
        found = None if self.baseline is None else find_baseline(names, self.baseline)
        self.baseline_model_ = None
        if found is None or parts_of(found):
            return
        if isinstance(found, ScoresBaseline):
            raise DataError(
                f"{type(self).__name__} needs a baseline that can rank new documents, which an array of scores cannot: "
                "give a Run, which has ids, or add the scores to the data as a feature and name it"
            )
        self.baseline_model_ = (
            ModelBaseline(copy(found.ranker), found.path) if isinstance(found, ModelBaseline) else found
        )

    @property
    def _weighed_names(self) -> tuple[str, ...]:
        """The names of the columns of checked rows: the features, and a model that is the baseline ranking."""
        names = self.feature_names_ if self._known is None else self._known.names
        return tuple(names) if self.baseline_model_ is None else (*names, column_name(self.baseline_model_))

    @property
    def _signs(self) -> Array:
        """Of each column 1 in the baseline ranking, -1 if its lowest value comes first, or 0."""
        return signs_of(self.baseline_, len(self._weighed_names))

    def _find_baseline(self, data: Labelled) -> None:
        """Find the baseline ranking among the features."""
        names = self.feature_names_ if self._known is None else self._known.names
        self.baseline_ = self.baseline_model_ or self.baseline_among(names, data.categories)
        self.n_labels_ = len(data.grades) if data.weights is None else round(float(data.weights.sum()))
        self.n_queries_ = int(np.unique(data.queries).size)

    def _take_averaged(self, found: Averaged) -> None:
        self.coef_, self.covariance_ = found.weights, found.covariance
        self.thresholds_, self.prior_shares_ = found.thresholds, found.shares

    def _words_for_categories(self, names: str) -> str:
        return (
            f"{type(self).__name__} ignores {names}: few labels are not enough for categorical features; "
            "FittedRules, GlobalRules, StableRules and QueryRules read them"
        )

    def _note(self) -> str:
        """Say where it started and what it learned from."""
        labels = f"{counted(self.n_labels_, 'label')} of {counted(self.n_queries_, 'query', 'queries')}"
        return f"starts from the baseline ranking ({self.baseline_}); {labels}"

    def _anchor_state(self) -> dict[str, Any]:
        state = {name: getattr(self, f"{name}_") for name in LEARNED}
        first = int(np.flatnonzero(self._signs)[0])
        state["baseline_column"], state["baseline_sign"] = first, int(self._signs[first])
        if isinstance(self.baseline_model_, ModelBaseline):
            state["baseline_model"] = self.baseline_model_.ranker
        elif isinstance(self.baseline_model_, RunBaseline):
            run = self.baseline_model_.run
            ids = {"qid": [*map(str, run.qid.tolist())], "docid": [*map(str, run.docid.tolist())]}
            state["baseline_run"] = ids | {"score": run.score, "path": self.baseline_model_.path}
        return state

    def _saved_params(self) -> dict[str, Any]:
        # a model or a run is saved with what was learned
        params, of_features = super()._saved_params(), bool(parts_of(self.baseline_))
        if of_features and isinstance(params["baseline"], str | int):
            return params
        return params | {"baseline": self.baseline_.option if of_features else None}

    def _take_saved_model(self, state: dict[str, Any]) -> None:
        """Take over the baseline ranking, where it is a model or a run."""
        model, run = state.get("baseline_model"), state.get("baseline_run")
        if model is not None:
            if not isinstance(model, Ranker):
                raise DataError(f"expected a ranker as baseline_model: got {type(model).__name__}")
            places_in(model, self.feature_names_ if self.has_names_ else None, self.categories_)
            self.baseline, self.baseline_model_ = model, ModelBaseline(model)
        elif run is not None:
            table = Run(run["qid"], run["docid"], run["score"], np.array(["run"] * len(run["qid"])))
            self.baseline = self.baseline_model_ = RunBaseline(table, run["path"])
        self.record_params()

    def _take_anchor(self, state: dict[str, Any], n_moves: int) -> None:
        n_features, column, sign = len(self._weighed_names), state["baseline_column"], state["baseline_sign"]
        if state["covariance"].shape != (n_moves, n_moves):
            raise DataError(f"expected {n_moves} x {n_moves} covariances: got {state['covariance'].shape}")
        model = self.baseline_model_
        known = (column, sign) == (n_features - 1, 1) if model is not None else 0 <= column < n_features
        if not known or sign not in (1, -1):
            raise DataError(
                f"expected the baseline ranking among {n_features} columns, and a sign: got {column} and {sign}"
            )
        for name in LEARNED:
            setattr(self, f"{name}_", state[name])
        self.baseline_ = model or FeatureBaseline(self.feature_names_[column], column, sign)
        named = find_baseline(self.feature_names_, self.baseline) if isinstance(self.baseline, str) else None
        if isinstance(named, SumBaseline):
            self.baseline_ = named

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy; a model as the baseline stays fitted: learning starts from it."""
        made: Self = super().__sklearn_clone__()
        if not isinstance(self.baseline, str):
            made.baseline = self.baseline
        return made
