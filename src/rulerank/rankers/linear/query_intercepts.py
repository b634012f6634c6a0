"""A linear ranker whose every query has its own intercepts: what queries differ in cannot mislead the coefficients."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rulerank.ballots import LinearForm
from rulerank.core.blas import one_blas_thread
from rulerank.core.parameters import Number, Parameter, Steps, Word
from rulerank.dataset import Array, check_column, query_index
from rulerank.errors import TooLargeError
from rulerank.rankers.base import Labelled
from rulerank.rankers.linear.coefficients import Coefficient, Coefficients
from rulerank.rankers.linear.likelihood_in_chunks import CHUNK_ROWS, ChunkedLikelihood
from rulerank.rankers.linear.linear_ranker import ColumnSums, WeightedSum
from rulerank.rankers.linear.newton import minimise
from rulerank.rankers.parts import LearnsFromParts, OnePart, TrainingParts

L2_GRID = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # worth trying; choose by cross-validation by query
MAX_FEATURES = 10_000  # the Hessian then takes 0.8 GB, a few times over


class QueryIntercepts(LearnsFromParts, WeightedSum):
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

    Attributes
    ----------
    coef_: weight of each feature in its own units. A feature that is constant within every query has 0; features that
        are combinations of each other share their weight so that it is smallest (per deviation).
    intercepts_: (queries, levels 1, 2, ...): inf where all fail, -inf where all pass, NaN where nobody is compared.
        Row i belongs to query_ids_[i] and, when fit had judges, to judge_ids_[i].
    standard_errors_: of coef_, NaN where the data do not determine a coefficient alone.
    loss_, gradient_norm_, n_iter_: negative log-likelihood, how flat the penalised loss is at the end, Newton steps.

    Examples
    --------
    >>> from rulerank.worlds import make_world
    >>> data = make_world(n_queries=30, n_features=3, seed=0)
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
    }
    _takes_sparse: ClassVar[bool] = True
    _weighs_rows: ClassVar[bool] = True

    def __init__(
        self,
        l2: float = 0.0,
        normalize: str | None = None,
        missing: str = "error",
        max_iter: int = 100,
        n_jobs: int | None = None,
        order: str = "high",
    ) -> None:
        self.l2 = l2
        self.normalize = normalize
        self.missing = missing
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.order = order

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        judge: Any = None,
        *,
        sample_weight: Any = None,
        group: Any = None,
    ) -> Self:
        """Learn from grades y of rows X that belong to the queries qid (all one query when not given).

        judge: who gave each grade; every pair of query and judge then has its own intercepts.
        sample_weight: what each row counts in the likelihood, any numbers from 0.
        group: instead of qid, how many rows each query has, one query after the other.
        """
        if judge is not None and sample_weight is not None:  # rows of weight 0 are left out before
            judge = check_column("judge", judge, len(sample_weight))[np.asarray(sample_weight) > 0]
        self._judge = judge  # for _learn, and not kept
        try:
            return super().fit(X, y, qid, sample_weight=sample_weight, group=group)
        finally:
            del self._judge

    def coefficients(self) -> Coefficients:
        """Return the coefficients with their standard errors, the largest effect first."""
        check_is_fitted(self)
        rows = [
            Coefficient(*row)
            for row in zip(
                self.feature_names_,
                self.coef_.tolist(),
                self.standard_errors_.tolist(),
                self.scale_.tolist(),
                strict=True,
            )
        ]
        l2 = self.params_["l2"]
        penalty = f", l2 = {l2:g}" if l2 else ""
        note = (
            f"{self.n_comparisons_:,} comparisons in {self.n_informative_:,} of {len(self.intercepts_):,} "
            f"{'queries' if self.judge_ids_ is None else 'pairs of query and judge'}; loss {self.loss_:.6g}, "
            f"gradient {self.gradient_norm_:.1e} after {self.n_iter_} steps{penalty}\n"
            "effect: coefficient times deviation within queries"
        )
        return Coefficients(tuple(sorted(rows, key=lambda row: -abs(row.effect))), note)

    def linear_form(self) -> LinearForm:
        """Return the fitted model as a weighted sum of values."""
        return LinearForm(self.feature_names_, self.coef_, self.scale_, self._present, self._score)

    def _learn(self, data: Labelled) -> None:
        groups, query_ids, judge_ids = _groups(data, self._judge)
        self._learn_parts(OnePart.of(data._replace(queries=groups, query_ids=query_ids), self))
        self.judge_ids_ = judge_ids

    def _learn_parts(self, parts: TrainingParts) -> None:
        n_features = len(parts.facts.feature_names)
        _check_size(n_features)
        chunks = parts.chunked(CHUNK_ROWS)
        self._take_missing(chunks.total(_column_sums))
        if self.order == "low":  # from the highest down, with grades and scores the other way round
            chunks = chunks.mapped(partial(_turned, parts.facts.n_grades - 1))
        likelihood = ChunkedLikelihood(
            chunks, self.l2, self.fill_, parts.facts.feature_names, parts.facts.n_grades, self.n_jobs
        )
        with one_blas_thread():
            found = minimise(likelihood, n_features, self.max_iter)
            ended = likelihood.end(found.x)
        factors = likelihood.factors
        errors = np.sqrt(np.diagonal(found.covariance).clip(0)) * factors
        self.scale_ = likelihood.scale
        self.coef_ = found.x * factors * (1.0 if self.order == "high" else -1.0)
        self.standard_errors_ = np.where(found.flat | (self.scale_ == 0), math.nan, errors)
        intercepts = np.concatenate(ended.intercepts)
        self.intercepts_ = intercepts if self.order == "high" else -intercepts[:, ::-1]
        self.query_ids_, self.judge_ids_ = np.concatenate(ended.query_ids), None
        self.loss_ = found.value - 0.5 * self.l2 * float(found.x @ found.x)
        self.gradient_norm_ = found.gradient_norm
        self.n_iter_ = found.n_iter
        self.n_comparisons_ = int(ended.n_comparisons)
        self.n_informative_ = ended.n_informative
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
        return super()._learned_state() | {
            "standard_errors": self.standard_errors_,
            "scale": self.scale_,
            "intercepts": self.intercepts_,
            "query_ids": _plain_ids(self.query_ids_),
            "judge_ids": None if self.judge_ids_ is None else _plain_ids(self.judge_ids_),
            "loss": self.loss_,
            "gradient_norm": self.gradient_norm_,
            "n_iter": self.n_iter_,
            "n_comparisons": self.n_comparisons_,
            "n_informative": self.n_informative_,
        }

    def _take_learned(self, state: dict[str, Any]) -> None:
        super()._take_learned(state)
        self._check_shapes(state, "standard_errors", "scale")
        self.standard_errors_, self.scale_ = state["standard_errors"], state["scale"]
        self.intercepts_ = state["intercepts"]
        self.query_ids_ = _id_array(state["query_ids"])
        self.judge_ids_ = None if state["judge_ids"] is None else _id_array(state["judge_ids"])
        self.loss_, self.gradient_norm_ = state["loss"], state["gradient_norm"]
        self.n_iter_, self.n_comparisons_ = state["n_iter"], state["n_comparisons"]
        self.n_informative_ = state["n_informative"]


def _groups(data: Labelled, judge: Any) -> tuple[Array, Array, Array | None]:
    """Number the rows' queries, or pairs of query and judge; return their query ids and judges, too."""
    if judge is None:
        return data.queries, data.query_ids, None
    judges, judge_ids = query_index(check_column("judge", judge, data.queries.size))
    groups, pairs = query_index(data.queries * judge_ids.size + judges)
    return groups, data.query_ids[pairs // judge_ids.size], judge_ids[pairs % judge_ids.size]


def _column_sums(data: Labelled) -> ColumnSums:
    return ColumnSums.of(data.X)


def _turned(top: int, data: Labelled) -> Labelled:
    return data._replace(grades=top - data.grades)


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
