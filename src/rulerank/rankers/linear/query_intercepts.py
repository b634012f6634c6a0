"""A linear ranker whose every query has its own intercepts: what queries differ in cannot mislead the coefficients."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rulerank.core.parameters import Number, Parameter, Steps, Word
from rulerank.core.threads import one_blas_thread
from rulerank.dataset import Array, Dataset, check_column, query_index
from rulerank.errors import DataError, TooLargeError
from rulerank.normalize import normalize_by_query
from rulerank.rankers.base import Labelled
from rulerank.rankers.chunks import Sums, chunked, in_memory
from rulerank.rankers.clicks.click_rows import ClickRows, check_clicks, weighed
from rulerank.rankers.clicks.likelihood import fit_clicks
from rulerank.rankers.clicks.positions import PositionEffects, find_positions
from rulerank.rankers.linear.likelihood import ChunkedLikelihood, prepared
from rulerank.rankers.linear.linear_ranker import Coefficients, ColumnSums, WeightedSum
from rulerank.rankers.linear.newton import minimise
from rulerank.rankers.rows import check_weights

L2_GRID = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # worth trying; choose by cross-validation by query
MAX_FEATURES = 10_000  # the Hessian then takes 0.8 GB, a few times over
LEARNED = (  # attributes that a model file holds as they are
    "standard_errors",
    "scale",
    "intercepts",
    "loss",
    "gradient_norm",
    "n_iter",
    "n_comparisons",
    "n_informative",
)


class QueryIntercepts(WeightedSum):
    """Rank documents by a weighted sum of their features, learned by logistic regression with query intercepts.

    A document of grade g passes level g of its query: P(pass) = 1 / (1 + exp(intercept - w.x)). Each is compared with
    the highest level first, and with the next lower one as long as it fails. Every query has an intercept of its own
    for each level, so that only documents of the same query are ever compared. The score of a new document is w.x.
    A query and level where all pass or all fail say nothing and are left out, and so is a query with a single document.

    Parameters
    ----------
    l2: adds l2 / 2 times the squared coefficients, each per deviation of its feature within queries, to the loss: it
        means the same whatever the units. `L2_GRID` lists values worth trying.
    normalize: put features on one scale by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    missing: what to do with NaN: "error", or "mean" to put the mean of the training rows in its place.
    max_iter: Newton steps at most; five or ten are enough unless the grades are separable.
    n_jobs: threads; all cores by default. The coefficients are the same bits whatever the number.
    order: "low" compares with the lowest level first, and with the next higher one as long as a document passes: the
        model of the paper's footnote, which it found worse.
    document_spread: of clicks, the variance in log-odds of what no feature says of a document: it is the same each time
        the document is shown, so that a thousand impressions of one document say less than one of a thousand. 0 takes
        each impression for a fact of its own.
    leave_after_click: of clicks, the share of people who leave after a click and see nothing further down: 0 nobody, 1
        all; None finds it from documents that moved.

    Attributes
    ----------
    coef_: weight of each feature in its own units. A feature that is constant within every query has 0; features that
        are combinations of each other share their weight so that it is smallest (per deviation).
    intercepts_: (queries, levels 1, 2, ...): inf where all fail, -inf where all pass, NaN where nobody is compared.
        Row i belongs to query_ids_[i] and, when fit had judges, to judge_ids_[i].
    standard_errors_: of coef_, NaN where the data do not determine a coefficient alone.
    position_effects_: of clicks, what each position takes away, with standard errors; `positions()` is the same.
    loss_, gradient_norm_, n_iter_: negative log-likelihood, how flat the penalised loss is at the end, Newton steps.

    Examples
    --------
    >>> from rulerank.datasets.ranking import make_ranking
    >>> data = make_ranking(n_queries=30, n_features=3, seed=0)
    >>> ranker = QueryIntercepts().fit(data)
    >>> ranker.coefficients()
    feature     coefficient  std. error     z        p  effect
    pagerank          2.643      0.3615  7.31  <0.0001  0.7268
    bm25_title       0.5538     0.07999  6.92  <0.0001  0.4809
    bm25_body        0.4108     0.06584  6.24  <0.0001  0.4747
    2,098 comparisons in 28 of 30 queries; loss 700.078, gradient ... after 5 steps
    effect: coefficient times deviation within queries
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "l2": Number(0, meaning="penalty on the squared coefficients"),
        "max_iter": Steps(1, meaning="Newton steps at most"),
        "order": Word(("high", "low"), meaning="which level a document is compared with first"),
        "document_spread": Number(0, meaning="with position: variance of what no feature says of a document"),
        "leave_after_click": Number(
            0, 1, meaning="with position: share of people who leave after a click", none="found from moved documents"
        ),
    }
    former_parameters: ClassVar[frozenset[str]] = frozenset(("link", "position_shape"))
    _takes_sparse: ClassVar[bool] = True
    _weighs_rows: ClassVar[bool] = True
    _free_column: int | None = None  # of clicks: a feature whose coefficient is not shrunken, the baseline ranking

    position_effects_: PositionEffects | None
    _judge: Any = None  # while it learns
    _clicks: tuple[ClickRows, Any] | None = None  # while it learns: the clicks, and propensities

    def __init__(
        self,
        l2: float = 0.0,
        normalize: str | None = None,
        missing: str = "error",
        max_iter: int = 100,
        n_jobs: int | None = None,
        order: str = "high",
        document_spread: float = 1.0,
        leave_after_click: float | None = None,
    ) -> None:
        self.l2 = l2
        self.normalize = normalize
        self.missing = missing
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.order = order
        self.document_spread = document_spread
        self.leave_after_click = leave_after_click

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        judge: Any = None,
        *,
        sample_weight: Any = None,
        position: Any = None,
        impressions: Any = None,
        propensities: Any = None,
    ) -> Self:
        """Learn from grades y of rows X that belong to the queries qid (all one query when not given), or from clicks.

        judge: who gave each grade; every pair of query and judge then has its own intercepts.
        sample_weight: what each row counts in the likelihood, any numbers from 0.
        position: where each row was shown, from 1, the top; y then is how often it was clicked of so many
            `impressions` (1 each when not given), and what positions do to clicks is found and left out of the scores.
            A Dataset that carries clicks and no grades brings all three along.
        propensities: how likely each position is looked at, {1: 1.0, 2: 0.6, ...}, where that is known.
        """
        y, clicks = self._take_clicks(X, y, position, impressions, propensities)
        if sample_weight is not None and (clicks is not None or judge is not None):  # rows of weight 0 are left out
            n_rows = len(X) if isinstance(X, Dataset) else np.shape(X)[0]
            weights = check_weights(sample_weight, n_rows)
            own = np.flatnonzero(weights > 0)
            judge = None if judge is None else check_column("judge", judge, n_rows)[own]
            if clicks is not None:
                rows = clicks[own]
                clicks = replace(rows, shown=rows.shown * weights[own], clicks=rows.clicks * weights[own])
        self._judge, self._clicks = judge, None if clicks is None else (clicks, propensities)
        try:
            return super().fit(X, y, qid, sample_weight=sample_weight)
        finally:
            for name in ("_judge", "_clicks"):
                self.__dict__.pop(name, None)  # the labelled rows of a pool are fitted to by a call of its own

    def positions(self) -> PositionEffects:
        """Return what positions do to clicks, as it was found; only a ranker that was fitted with position has it."""
        found = getattr(self, "position_effects_", None)
        if found is None:
            raise DataError("this ranker was not fitted with position, so it knows of no position's effect")
        return found

    def check_contrast(self, data: Labelled) -> None:
        """Look at grades only: clicks say something of every query that has some."""
        if self._clicks is None:
            super().check_contrast(data)

    def on_one_scale(self, X: Array, queries: Array, how: str) -> Array:
        """Return rows normalised by query, in which a document counts once however many positions it was shown at."""
        if self._clicks is None:
            return super().on_one_scale(X, queries, how)
        documents = replace(self._clicks[0], docs=None).documents(X, queries)
        _, first = np.unique(documents, return_index=True)
        out = normalize_by_query(X[first], queries[first], how, self.n_jobs)[documents]
        codes = [self.feature_names_.index(name) for name in self.categories_]
        out[:, codes] = X[:, codes]
        return out

    def _take_clicks(
        self, X: Any, y: Any, position: Any, impressions: Any, propensities: Any
    ) -> tuple[Any, ClickRows | None]:
        """Return y as grades, and the clicks; y stays as it is and there are none where no position is given."""
        if isinstance(X, Dataset) and X.shown is not None and y is None:
            position = X.shown.position if position is None else position
            impressions = X.shown.impressions if impressions is None else impressions
            y = X.shown.clicks
        if position is None:
            for name, value in (("impressions", impressions), ("propensities", propensities)):
                if value is not None:
                    raise DataError(
                        f"{name} belong to clicks: give position too, the place at which each row was shown"
                    )
            return y, None
        if issparse(X):
            raise DataError("clicks are learned from rows of an array: give X as one, X.toarray(), instead of sparse")
        if y is None:
            raise DataError(
                "requires y to be passed, but the target y is None: with position, y is how often each row was clicked"
            )
        n_rows = len(X) if isinstance(X, Dataset) else np.shape(X)[0]
        rows = check_clicks(y, position, impressions, n_rows, X.docid if isinstance(X, Dataset) else None)
        return (rows.clicks > 0).astype(np.int64), rows

    def coefficients(self) -> Coefficients:
        """Return the coefficients with their standard errors, the largest effect first."""
        check_is_fitted(self)
        l2 = self.params_["l2"]
        penalty = f", l2 = {l2:g}" if l2 else ""
        note = (
            f"{self.n_comparisons_:,} {'comparisons' if self.position_effects_ is None else 'impressions'} in "
            f"{self.n_informative_:,} of {len(self.intercepts_):,} "
            f"{'queries' if self.judge_ids_ is None else 'pairs of query and judge'}; loss {self.loss_:.6g}, "
            f"gradient {self.gradient_norm_:.1e} after {self.n_iter_} steps{penalty}\n"
            "effect: coefficient times deviation within queries"
        )
        return Coefficients.of(self.feature_names_, self.coef_, self.standard_errors_, self.scale_, note)

    def _learn(self, data: Labelled) -> None:
        groups, query_ids, judge_ids = _groups(data, self._judge)
        own = data._replace(queries=groups, query_ids=query_ids)
        if self._clicks is None:
            chunks = chunked(own)
            self.learn_chunks(partial(in_memory, chunks), len(chunks), int(own.grades.max()) + 1)
        else:
            self._learn_clicks(own, data.queries, *self._clicks)
        self.judge_ids_ = judge_ids

    def _learn_clicks(self, data: Labelled, queries: Array, rows: ClickRows, propensities: Any) -> None:
        _check_size(data.X.shape[1])
        if self.order == "low":
            raise DataError('a click has one level: leave out order="low"')
        self._learn_missing(data.X)
        documents = rows.documents(data.X, queries)
        effects, after = find_positions(rows, queries, documents, propensities, self.leave_after_click)
        l2 = np.full(data.X.shape[1], float(self.l2))
        if self._free_column is not None:
            l2[self._free_column] = 0.0
        X = self._present(data.X)
        seen = weighed(replace(rows, after=after) if effects.leaving else rows, documents, self.document_spread)
        found = fit_clicks(X, seen, data.queries, effects.effects, l2, self.max_iter)
        self.position_effects_ = effects
        self.intercepts_, self.query_ids_ = found.intercepts[:, None], data.query_ids
        self.coef_, self.standard_errors_, self.scale_ = found.coef, found.errors, found.scale
        self.loss_, self.gradient_norm_, self.n_iter_ = found.loss, found.gradient_norm, found.n_iter
        n_clicks, n_shown = (np.bincount(data.queries, values) for values in (rows.clicks, rows.shown))
        self.n_comparisons_ = round(n_shown.sum())
        self.n_informative_ = int(((n_clicks > 0) & (n_clicks < n_shown)).sum())
        if not self.n_informative_:
            _warn("no query has both clicks and impressions without one: there is nothing to learn from")
        elif not found.converged:
            _warn(f"no minimum after max_iter={self.max_iter} steps; raise max_iter, or give l2 > 0")

    def learn_chunks(self, sums: Callable[[Callable[[Labelled], Any]], Sums], n_chunks: int, n_grades: int) -> None:
        """Learn from sums over chunks of rows; `sums` takes what makes a chunk ready to be looked at."""
        self.position_effects_ = None
        n_features = len(self.feature_names_)
        _check_size(n_features)
        self._take_missing(sums(_column_sums)(lambda found, _: found, [None] * n_chunks))
        # order="low" is from the highest down, with grades and scores the other way round
        ready = partial(prepared, self.fill_, self.feature_names_, n_grades, self.order == "low", self.n_jobs)
        likelihood = ChunkedLikelihood(sums(ready), n_chunks, self.l2)
        with one_blas_thread():
            found = minimise(likelihood, n_features, self.max_iter)
        factors, facts = likelihood.factors, likelihood.facts
        errors = np.sqrt(np.diagonal(found.covariance).clip(0)) * factors
        self.scale_ = likelihood.scale
        self.coef_ = found.x * factors * (1.0 if self.order == "high" else -1.0)
        self.standard_errors_ = np.where(found.flat | (self.scale_ == 0), math.nan, errors)
        intercepts = np.concatenate(likelihood.intercepts)
        self.intercepts_ = intercepts if self.order == "high" else -intercepts[:, ::-1]
        self.query_ids_, self.judge_ids_ = np.concatenate(facts.query_ids), None
        self.loss_ = found.value - 0.5 * self.l2 * float(found.x @ found.x)
        self.gradient_norm_, self.n_iter_ = found.gradient_norm, found.n_iter
        self.n_comparisons_, self.n_informative_ = int(facts.n_comparisons), facts.n_informative
        if not self.n_comparisons_:
            _warn("no query has documents of different grades: there is nothing to learn from, and all scores are 0")
        elif self.l2 == 0 and found.diverging:
            _warn(
                "the grades are separable: some combination of features puts all documents of a query in order, and "
                "the larger its coefficients, the better they fit; give l2 > 0 (l2=1 is a good start) for "
                "coefficients that mean something"
            )
        elif not found.converged:
            _warn(f"no minimum after max_iter={self.max_iter} steps; raise max_iter")

    def _learned_state(self) -> dict[str, Any]:
        ids = {"query_ids": self.query_ids_, "judge_ids": self.judge_ids_}
        return (
            super()._learned_state()
            | {name: getattr(self, f"{name}_") for name in LEARNED}
            | {name: None if own is None else _plain_ids(own) for name, own in ids.items()}
            | ({} if self.position_effects_ is None else {"position_effects": self.position_effects_.to_state()})
        )

    def _take_learned(self, state: dict[str, Any]) -> None:
        super()._take_learned(state)
        self._check_shapes(state, "standard_errors", "scale")
        for name in LEARNED:
            setattr(self, f"{name}_", state[name])
        self.query_ids_ = _id_array(state["query_ids"])
        self.judge_ids_ = None if state["judge_ids"] is None else _id_array(state["judge_ids"])
        effects = state.get("position_effects")  # models of before had none
        self.position_effects_ = None if effects is None else PositionEffects.from_state(effects)


def _groups(data: Labelled, judge: Any) -> tuple[Array, Array, Array | None]:
    """Number the rows' queries, or pairs of query and judge; return their query ids and judges, too."""
    if judge is None:
        return data.queries, data.query_ids, None
    judges, judge_ids = query_index(check_column("judge", judge, data.queries.size))
    groups, pairs = query_index(data.queries * judge_ids.size + judges)
    return groups, data.query_ids[pairs // judge_ids.size], judge_ids[pairs % judge_ids.size]


def _column_sums(data: Labelled) -> ColumnSums:
    return ColumnSums.of(data.X)


def _check_size(n_features: int) -> None:
    if n_features > MAX_FEATURES:
        raise TooLargeError(
            f"{n_features:,} features need a Hessian of {8e-9 * n_features**2:,.0f} GB; "
            f"keep the {MAX_FEATURES:,} that occur most, or fewer"
        )


def _warn(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=6)  # where fit was called


def _plain_ids(ids: Array) -> list[str | int | float]:
    """Return ids as a file can hold them: those that are neither text nor numbers as text."""
    return [one if isinstance(one, str | int | float) else str(one) for one in ids.tolist()]


def _id_array(ids: list[Any]) -> Array:
    array = np.empty(len(ids), dtype=object)
    array[:] = ids
    return array
