"""A linear ranker with intercepts for every query, so that differences between queries do not bias the coefficients.

`WeightedSum` is the base of all linear rankers, `Coefficients` the printed table of coefficients.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from rulerank._util.estimator import check_is_fitted
from rulerank._util.loops import in_blocks, one_blas_thread
from rulerank._util.parameters import Number, Parameter, Whole, Word
from rulerank.dataset import Array, Dataset, check_column, query_index
from rulerank.errors import DataError
from rulerank.normalize import ColumnSums, check_present, fill_missing
from rulerank.rankers.base import Ranker
from rulerank.rankers.clicks.click_rows import ClickRows, check_clicks, weighed
from rulerank.rankers.clicks.likelihood import ClickLikelihood, fit_clicks
from rulerank.rankers.clicks.positions import PositionEffects, find_positions
from rulerank.rankers.linear.likelihood import BlockedLikelihood, QueryLikelihood, blocks_of, summed
from rulerank.rankers.linear.newton import Minimum, minimise
from rulerank.rankers.rows import Labelled, check_weights, dense_scores
from rulerank.render.text import plain_table
from rulerank.rules.additive import AdditiveTables, Contributions

MISSING = ("error", "mean")
ROWS_PER_THREAD = 20_000
HEADER = ("feature", "coefficient", "std. error", "z", "p", "effect")
L2_GRID = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # worth trying; choose by cross-validation by query
# attributes that a model file holds as they are
DIAGNOSTICS = ("loss", "gradient_norm", "n_iter", "n_comparisons", "n_informative")
LEARNED = ("standard_errors", "scale", "intercepts", *DIAGNOSTICS)


class WeightedSum(Ranker):
    """Base of rankers whose score is a weighted sum of features, `X @ coef_`, however the weights are found."""

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "missing": Word(MISSING, meaning="what to do with NaN: an error, or the mean of the training rows in its place")
    }

    base_text: ClassVar[str] = "the base score (0 for linear models)"

    missing: str

    coef_: Array  # (n_features,)
    fill_: Array | None  # what stands for a missing value of each feature
    n_missing_: int

    def as_tables(self) -> AdditiveTables:
        """Return the fitted model as weights alone."""
        return AdditiveTables(0.0, (), self._weighed_names, weights=self.coef_, fill=self.fill_)

    def checked_contributions(self, X: Any, queries: Array | None = None) -> Contributions:
        """Return weight times value of each feature, nothing missing."""
        return super().checked_contributions(self._present(X), queries)

    def _score(self, X: Any) -> Array:
        X = self._present(X)
        scores = np.empty(X.shape[0])

        def work(start: int, stop: int) -> None:
            dense_scores(X[start:stop], self.coef_, scores[start:stop])

        in_blocks(work, scores.size, self.n_jobs, min_block=ROWS_PER_THREAD)
        return scores

    def take_missing(self, sums: ColumnSums) -> None:
        """Find what stands for missing values, given sums over all rows."""
        # as float32, in which rows may come: a missing value then counts the same whatever the type of X
        self.fill_ = sums.means().astype(np.float32).astype(np.float64) if self.missing == "mean" else None
        self.n_missing_ = int(sums.n_missing.sum())

    def _present(self, X: Any) -> Any:
        """Return X without missing values."""
        if self.fill_ is not None:
            return fill_missing(X, self.fill_)
        check_present(X, self._weighed_names)
        return X

    @property
    def _weighed_names(self) -> tuple[str, ...]:
        """The names of the columns that have weights."""
        return self.feature_names_

    def _learned_state(self) -> dict[str, Any]:
        return {"coef": self.coef_, "fill": self.fill_, "n_missing": self.n_missing_}

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._check_shapes(state, "coef", "fill")
        self.coef_, self.fill_, self.n_missing_ = state["coef"], state["fill"], state["n_missing"]

    def _check_shapes(self, state: dict[str, Any], *names: str) -> None:
        shape = (len(self._weighed_names),)
        for name in names:
            if state[name] is not None and state[name].shape != shape:
                raise DataError(f"expected {shape[0]} numbers as {name}, one per feature: got {state[name].shape}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags


@dataclass(eq=False, repr=False)
class QueryIntercepts(WeightedSum):
    """Rank documents by a weighted sum of their features, learned by logistic regression with query intercepts.

    With grades 0 and 1: P(grade 1) = 1 / (1 + exp(intercept - w.x)). Every query has its own intercept, so only
    documents of the same query are compared. The score of a new document is w.x. With more grades there is an intercept
    per query and grade: first, is the grade the highest one? Of the other documents, is it the next one? And so on.
    A query whose documents all have the same grade is ignored.

    Parameters
    ----------
    l2: ridge penalty: l2 / 2 times the sum of squared coefficients of standardised features (by their standard
        deviation within queries) is added to the loss. `L2_GRID` lists values worth trying.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    missing: what to do with NaN: "error", or "mean" to replace it by the mean of the training rows.
    max_iter: maximum number of Newton steps; about five are needed unless the grades are separable.
    n_jobs: threads; all cores by default. The coefficients do not depend on it.
    document_spread: clicks only: variance, in log-odds, of the relevance that no feature explains. Because impressions
        of one document share it, 1,000 impressions of one document count less than one each of 1,000 documents.
        0: impressions are independent.

    Attributes
    ----------
    coef_: weight of each feature, per unit of the feature. It is 0 for a feature that is constant within every query;
        for linearly dependent features it is the solution of smallest norm.
    intercepts_: one row per query, one column per grade 1, 2, ...: inf if no document has that grade or more, -inf if
        all have, NaN if no document is compared. Row i belongs to query_ids_[i] and, if fit had raters, to
        rater_ids_[i].
    standard_errors_: of coef_; NaN if the data do not determine a coefficient by itself.
    position_effects_: clicks only: the effect of each position, with standard errors; `positions()` is the same.
    loss_, gradient_norm_, n_iter_: negative log-likelihood, norm of the gradient at the end, number of Newton steps.

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
        "max_iter": Whole(1, meaning="maximum number of Newton steps"),
        "document_spread": Number(0, meaning="clicks only: variance of relevance that no feature explains"),
    }
    former_parameters: ClassVar[frozenset[str]] = frozenset(("link", "position_shape", "order", "leave_after_click"))
    _weighs_rows: ClassVar[bool] = True
    # of clicks: a feature whose coefficient is not shrunken, the baseline ranking
    _free_column: int | None = field(default=None, init=False)
    position_effects_: PositionEffects | None = field(init=False)
    _rater: Any = field(default=None, init=False)  # while it learns
    _clicks: tuple[ClickRows, Any] | None = field(default=None, init=False)  # the same; with propensities

    l2: float = 0.0
    normalize: str | None = None
    missing: str = "error"
    max_iter: int = 100
    n_jobs: int | None = None
    document_spread: float = 1.0

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        rater: Any = None,
        *,
        group: Any = None,
        sample_weight: Any = None,
        position: Any = None,
        impressions: Any = None,
        propensities: Any = None,
        **unknown: Any,
    ) -> Self:
        """Learn from grades y of rows X that belong to the queries qid (all one query when not given), or from clicks.

        rater: the rater of each grade; every pair of query and rater then has its own intercepts.
        group: instead of qid, the number of rows of each query, one query after the other, as in LightGBM.
        sample_weight: weight of each row in the likelihood, at least 0.
        position: the position at which each row was shown, from 1 (the top). y is then the number of clicks among
            `impressions` (default: 1 each). Position effects are estimated and are not part of the scores. A Dataset
            with clicks and without grades provides all three.
        propensities: examination probability of each position, {1: 1.0, 2: 0.6, ...}, if known.
        """
        y, clicks = self._take_clicks(X, y, position, impressions, propensities)
        if sample_weight is not None and (clicks is not None or rater is not None):  # rows of weight 0 are left out
            weights = check_weights(sample_weight, n_rows(X))
            own = np.flatnonzero(weights > 0)
            rater = None if rater is None else check_column("rater", rater, n_rows(X))[own]
            if clicks is not None:
                rows, weights = clicks[own], weights[own]
                clicks = replace(rows, shown=rows.shown * weights, clicks=rows.clicks * weights)
        self._rater, self._clicks = rater, None if clicks is None else (clicks, propensities)
        try:
            return super().fit(X, y, qid, group=group, sample_weight=sample_weight, **unknown)
        finally:
            for name in ("_rater", "_clicks"):
                self.__dict__.pop(name, None)  # the labelled rows of a pool are fitted to by a call of its own

    def positions(self) -> PositionEffects:
        """Return the estimated position effects on clicks, for a ranker that was fitted with position."""
        effects = getattr(self, "position_effects_", None)
        if effects is None:
            raise DataError(
                "this ranker was not fitted with position, so it has no position effects: give position to fit"
            )
        return effects

    def check_contrast(self, data: Labelled) -> None:
        """Check grades; clicks need no contrast, because every query with clicks is informative."""
        if self._clicks is None:
            super().check_contrast(data)

    def on_one_scale(self, X: Array, queries: Array, how: str) -> Array:
        """Return rows normalised by query, in which a document counts once however many positions it was shown at."""
        if self._clicks is None:
            return super().on_one_scale(X, queries, how)
        documents = replace(self._clicks[0], docs=None).documents(X, queries)
        _, first = np.unique(documents, return_index=True)
        return super().on_one_scale(X[first], queries[first], how)[documents]

    def _take_clicks(
        self, X: Any, y: Any, position: Any, impressions: Any, propensities: Any
    ) -> tuple[Any, ClickRows | None]:
        """Return y as grades, and the clicks; y stays as it is and there are none where no position is given."""
        if isinstance(X, Dataset) and X.impressions is not None and y is None:
            position = X.impressions.position if position is None else position
            impressions = X.impressions.count if impressions is None else impressions
            y = X.impressions.clicks
        if position is None:
            for name, value in (("impressions", impressions), ("propensities", propensities)):
                if value is not None:
                    raise DataError(
                        f"{name} belong to clicks: give position too, the position at which each row was shown"
                    )
            return y, None
        if y is None:
            raise DataError(
                "requires y to be passed, but the target y is None: with position, y is how often each row was clicked"
            )
        rows = check_clicks(y, position, impressions, n_rows(X), getattr(X, "docid", None))
        return (rows.clicks > 0).astype(np.int64), rows

    def coefficients(self) -> Coefficients:
        """Return the coefficients with their standard errors, the largest effect first."""
        check_is_fitted(self)
        l2 = self.params_["l2"]
        penalty = f", l2 = {l2:g}" if l2 else ""
        note = (
            f"{self.n_comparisons_:,} {'comparisons' if self.position_effects_ is None else 'impressions'} in "
            f"{self.n_informative_:,} of {len(self.intercepts_):,} "
            f"{'queries' if self.rater_ids_ is None else 'pairs of query and rater'}; loss {self.loss_:.6g}, "
            f"gradient {self.gradient_norm_:.1e} after {self.n_iter_} steps{penalty}\n"
            "effect: coefficient times deviation within queries"
        )
        return Coefficients.of(self.feature_names_, self.coef_, self.standard_errors_, self.scale_, note)

    def _learn(self, data: Labelled) -> None:
        groups, query_ids, rater_ids = _groups(data, self._rater)
        own = data._replace(queries=groups, query_ids=query_ids)
        if self._clicks is None:
            blocks, n_grades = blocks_of(own), int(own.grades.max()) + 1
            self.take_missing(summed([block and ColumnSums.of(block.X) for block in blocks]))
            likelihoods = [block and self.likelihood_of(n_grades)(block) for block in blocks]
            self.learn_likelihood(BlockedLikelihood(likelihoods, self.l2), query_ids)
        else:
            self._learn_clicks(own, data.queries, *self._clicks)
        self.rater_ids_ = rater_ids

    def _learn_clicks(self, data: Labelled, queries: Array, rows: ClickRows, propensities: Any) -> None:
        self.take_missing(ColumnSums.of(data.X))
        documents = rows.documents(data.X, queries)
        effects = find_positions(rows, documents, propensities)
        l2 = np.full(data.X.shape[1], float(self.l2))
        if self._free_column is not None:
            l2[self._free_column] = 0.0
        X, seen = self._present(data.X), weighed(rows, documents, self.document_spread)
        likelihood, found = fit_clicks(X, seen, data.queries, effects.effects, l2, self.max_iter)
        self._take_minimum(found, likelihood, l2)
        self.position_effects_ = effects
        self.intercepts_, self.query_ids_ = likelihood.query_intercepts(found.x)[:, None], data.query_ids
        n_clicks, n_shown = (np.bincount(data.queries, values) for values in (rows.clicks, rows.shown))
        self.n_comparisons_ = round(n_shown.sum())
        self.n_informative_ = int(((n_clicks > 0) & (n_clicks < n_shown)).sum())
        if not self.n_informative_:
            _warn("no query has both clicks and impressions without one: there is nothing to learn from")
        elif not found.converged:
            _warn(f"no minimum after max_iter={self.max_iter} steps; raise max_iter, or give l2 > 0")

    def likelihood_of(self, n_grades: int) -> Callable[[Labelled], QueryLikelihood]:
        """Return what makes the likelihood of a block of rows, without a penalty."""
        return partial(_likelihood, self.fill_, self.feature_names_, n_grades, self.n_jobs)

    def learn_likelihood(self, likelihood: BlockedLikelihood, query_ids: Array) -> None:
        """Learn the coefficients of the largest likelihood."""
        with one_blas_thread():
            found = minimise(likelihood, likelihood.scale.size, self.max_iter)
        self._take_minimum(found, likelihood, self.l2)
        self.intercepts_ = likelihood.intercepts()
        self.query_ids_, self.rater_ids_, self.position_effects_ = query_ids, None, None
        self.n_comparisons_, self.n_informative_ = int(likelihood.n_comparisons), likelihood.n_informative
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

    def _take_minimum(self, found: Minimum, likelihood: BlockedLikelihood | ClickLikelihood, l2: Any) -> None:
        """Keep the coefficients, in the units of the features, with their standard errors."""
        n = likelihood.factors.size
        x, self.scale_ = found.x[:n], likelihood.scale
        self.coef_ = x * likelihood.factors
        errors = np.sqrt(np.diagonal(found.covariance)[:n].clip(0)) * likelihood.factors
        self.standard_errors_ = np.where(found.flat[:n] | (self.scale_ == 0), math.nan, errors)
        self.loss_ = found.value - 0.5 * float(x @ (l2 * x))
        self.gradient_norm_, self.n_iter_ = found.gradient_norm, found.n_iter

    def _learned_state(self) -> dict[str, Any]:
        ids = {"query_ids": self.query_ids_, "rater_ids": self.rater_ids_}
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
        self.rater_ids_ = None if state["rater_ids"] is None else _id_array(state["rater_ids"])
        effects = state.get("position_effects")  # models of before had none
        self.position_effects_ = None if effects is None else PositionEffects.from_state(effects)


@dataclass(frozen=True, slots=True)
class Coefficient:
    """What one feature counts for.

    >>> bm25 = Coefficient("bm25", value=0.5, error=0.125, deviation=3.0)
    >>> bm25.effect, bm25.z, round(bm25.p, 5)
    (1.5, 4.0, 6e-05)
    """

    feature: str
    value: float  # per unit of the feature
    error: float  # standard error, NaN when the data do not determine this coefficient alone
    deviation: float  # standard deviation of the feature within queries

    @property
    def effect(self) -> float:
        """What one standard deviation of the feature adds to the score: comparable between features."""
        return self.value * self.deviation

    @property
    def z(self) -> float:
        return self.value / self.error if self.error else math.nan

    @property
    def p(self) -> float:
        """The chance of so large a z if the true coefficient were 0."""
        return math.erfc(abs(self.z) / math.sqrt(2))


@dataclass(frozen=True)
class Coefficients:
    """A linear ranker's coefficients, the largest effect first."""

    rows: tuple[Coefficient, ...]
    note: str  # how they came about

    @classmethod
    def of(cls, names: Sequence[str], values: Array, errors: Array, deviations: Array, note: str) -> Coefficients:
        """Put them in order."""
        columns = names, values.tolist(), errors.tolist(), deviations.tolist()
        rows = [Coefficient(*row) for row in zip(*columns, strict=True)]
        return cls(tuple(sorted(rows, key=lambda row: -abs(row.effect))), note)

    def __repr__(self) -> str:
        return f"{plain_table(HEADER, self._cells())}\n{self.note}"

    def _cells(self) -> list[list[str]]:
        cells = []
        for row in self.rows:
            p = "<0.0001" if row.p < 1e-4 else _shown(row.p, ".4f")
            numbers = f"{row.value:.4g}", _shown(row.error, ".4g"), _shown(row.z, ".2f"), p, f"{row.effect:.4f}"
            cells.append([row.feature, *numbers])
        return cells


def n_rows(X: Any) -> int:
    return len(X) if isinstance(X, Dataset) else int(np.shape(X)[0])


def _shown(number: float, form: str) -> str:
    return "-" if math.isnan(number) else format(number, form)


def _groups(data: Labelled, rater: Any) -> tuple[Array, Array, Array | None]:
    """Number the rows' queries, or pairs of query and rater; return their query ids and raters, too."""
    if rater is None:
        return data.queries, data.query_ids, None
    raters, rater_ids = query_index(check_column("rater", rater, data.queries.size))
    groups, pairs = query_index(data.queries * rater_ids.size + raters)
    return groups, data.query_ids[pairs // rater_ids.size], rater_ids[pairs % rater_ids.size]


def _likelihood(
    fill: Array | None, names: tuple[str, ...], n_grades: int, n_jobs: int | None, data: Labelled
) -> QueryLikelihood:
    """Return the likelihood of a block of rows."""
    if fill is None:
        check_present(data.X, names)
    X = data.X if fill is None else fill_missing(data.X, fill)
    return QueryLikelihood(X, data.grades, data.queries, 0.0, n_jobs, data.weights, n_grades)


def _warn(message: str) -> None:
    from sklearn.exceptions import ConvergenceWarning  # slow to load

    warnings.warn(message, ConvergenceWarning, stacklevel=6)  # where fit was called


def _plain_ids(ids: Array) -> list[str | int | float]:
    """Return ids as a file can hold them: those that are neither text nor numbers as text."""
    return [id if isinstance(id, str | int | float) else str(id) for id in ids.tolist()]


def _id_array(ids: list[Any]) -> Array:
    return np.array([*ids, None], dtype=object)[:-1]  # None: ids that are all numbers stay what they are
