"""A ranker for few labels: it starts from the baseline ranking and moves away only as far as the labels support.

Two models learn from the same labels and are added. One weighs features; one has a vote for each of five intervals of
each feature, with the baseline ranking as an offset: score = share * weights + (1 - share) * votes, where
share = .5 n / (n + 50) for n labels. The first gains more, the second loses less. Both work on values as they are, on a
scale that is the same for all queries (`scale.py`), so that the sum is a table for each feature: it can be exported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from rulerank._util.estimator import check_is_fitted
from rulerank._util.loops import one_blas_thread
from rulerank._util.words import by_new_names
from rulerank.baseline import SumBaseline, parts_of
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError, TooLargeError
from rulerank.normalize import check_present, fill_missing, normalize_by_query
from rulerank.rankers.anchored.anchored_ranker import SCALE, AnchoredRanker, signs_of, without_codes
from rulerank.rankers.anchored.posterior import Averaged, average
from rulerank.rankers.anchored.scale import Items, PooledScale, repeated_rows
from rulerank.rankers.base import Labelled
from rulerank.rankers.linear.query_intercepts import Coefficients
from rulerank.rules.additive import AdditiveTables, Table

MAX_ITEMS = 5_000  # four Hessians of as many rows
MAX_CELLS = 50_000_000  # items times labels: 400 MB, a few times over
HALF = 50  # labels at which the weights count for a quarter; with many labels for one half
NO_VOTES = Table((0,), (np.zeros(0),), np.zeros(2), np.zeros(2))


def share_of_weights(n_labels: int) -> float:
    """Return how much the weights count beside the votes.

    >>> share_of_weights(50), share_of_weights(0)
    (0.25, 0.0)
    """
    return 0.5 * n_labels / (n_labels + HALF)


class Anchored(AnchoredRanker):
    """Rank documents by the baseline ranking, changed where few labels support it.

    An additive model whose prior is centred on the baseline ranking. The likelihood is that of QueryIntercepts, with
    one threshold per grade level and one random effect per query. The strength of the prior is averaged by marginal
    likelihood, with a small weight for a baseline that is useless. Without labels the model is the baseline ranking;
    if all labels have the same grade, it equals the baseline up to rounding.

    A score does not depend on the other documents of the query, unless the baseline is a model or a run. Scores are
    sums of tables, so the model can be exported: feature values are quantised to about 250 steps, as trees need.

    Parameters
    ----------
    baseline: the feature that ranks the documents now: a name or a column number. The highest value comes first;
        "-name" is for lowest first. A name that ends in the word rank or position (`engine_rank`) is a rank, and
        there the lowest comes first; "+name" is for highest first.
        Or a sum of features, "bm25 + clicks": each has its share of the prior, on the scale of the pool.
        Or a fitted ranker over the same features, such as one learned from clicks: its scores are then the baseline
        ranking.
    n_jobs: threads of scoring; all cores by default.

    A missing value has its own vote. Documents without a value of the baseline feature rank last.

    Attributes
    ----------
    tables_: the model as `AdditiveTables`: a table for the baseline ranking, then one for each feature.
    coef_, standard_errors_: weight of each feature per deviation within queries, and its standard error.
    covariance_, thresholds_: of the weights; of the levels of grades.
    baseline_: which feature or model is the baseline ranking; a model's scores have the last weight.
    prior_shares_: weight of each of `posterior.PRIORS`.
    n_labels_, n_queries_: what it was trained on.

    Examples
    --------
    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=30, n_features=3, seed=0)
    >>> ranker = rr.Anchored(baseline="bm25_body").fit(data[:100])
    >>> ranker
    Anchored(baseline='bm25_body')
    >>> ranker.coefficients()
    feature     coefficient  std. error     z       p  effect
    bm25_body        0.5565      0.2494  2.23  0.0257  0.5565
    pagerank         0.3261      0.2721  1.20  0.2308  0.3261
    bm25_title       0.2575      0.2327  1.11  0.2684  0.2575
    starts from the baseline ranking (bm25_body); 100 labels of 2 queries
    """

    former_parameters: ClassVar[frozenset[str]] = frozenset(("normalize", "missing", "n_bins"))
    base_text: ClassVar[str] = "the average document"

    normalize = None  # the scale is the same for all queries

    tables_: AdditiveTables
    n_missing_ = 0  # of a weighted sum of version 0.1: values that were missing in training
    _by_query: str | None = None  # of a model of version 0.1: how features are normalised by query

    def __init__(self, baseline: Any = None, n_jobs: int | None = None) -> None:
        self.baseline = baseline
        self.n_jobs = n_jobs

    @property
    def normalize_(self) -> str | None:
        """How features are normalised by query: None, except in models of version 0.1."""
        return self._by_query

    def coefficients(self) -> Coefficients:
        """Return the weights with their standard errors, the largest first."""
        check_is_fitted(self)
        columns = self._weighed_names, self.coef_, self.standard_errors_, np.ones_like(self.coef_)
        return Coefficients.of(*columns, self._note())

    @property
    def standard_errors_(self) -> Array:
        """How unsure each weight is."""
        return np.sqrt(np.diagonal(self.covariance_).clip(0))

    def as_tables(self) -> AdditiveTables:
        """Return the fitted model as tables: `tables_`."""
        return self.tables_

    def rows_of_pool(self, pool: Dataset, queries: Array) -> tuple[Array, PooledScale]:
        """Return the rows of a pool as `fit_prepared` takes them, and their scale.

        Codes of categories are 0; the scores of a baseline that is not a feature are the last column.
        """
        found = self.baseline_among(pool.feature_names, pool.categories)
        X = without_codes(pool.X, pool.feature_names, pool.categories)
        of_features = bool(parts_of(found))
        if not of_features:
            X = np.hstack([X, normalize_by_query(found.scores(pool)[:, None], queries, SCALE)])
        return X, PooledScale.of(X, queries, signs_of(found, X.shape[1]), logged=of_features)

    def _learn(self, data: Labelled) -> None:
        self._find_baseline(data)
        self._by_query = None
        X, known = without_codes(data.X, self.feature_names_, data.categories), self._known
        n_rows, n_columns = X.shape
        if not n_rows and not isinstance(self.baseline_, SumBaseline):
            self._start()
            return
        if known is not None and known.scale is not None and known.means is not None:
            scale, means = known.scale, known.means
        else:
            rows = repeated_rows(data.weights, n_rows)
            scale = PooledScale.of(X[rows], data.queries[rows], self._signs, logged=self.baseline_model_ is None)
            means = scale.means[data.queries]
        items = Items.of(scale.cuts, X)
        self._check_size(items.features.size, n_rows)
        Z, centre = scale.standard(X, means), scale.centre
        none, n_features = np.zeros(items.features.size), n_columns - (self.baseline_model_ is not None)
        with one_blas_thread():
            weighed = average(Z, data.grades, data.queries, n_columns, centre, np.zeros(n_rows), data.weights)
            voted = average(items.hold(X), data.grades, data.queries, n_features, none, Z @ centre, data.weights)
        self._take_averaged(weighed)
        self._lay_out(scale, items, voted)

    def _start(self) -> None:
        """Become a weighted sum that has no weight but the baseline ranking's."""
        centre, none = self._signs, np.zeros(0, dtype=np.int64)
        self._take_averaged(average(np.zeros((0, centre.size)), none, none, centre.size, centre, np.zeros(0)))
        self.tables_ = self._sum((), self.coef_, -centre)

    def _sum(self, tables: Iterable[Table], weights: Array | None = None, fill: Array | None = None) -> AdditiveTables:
        columns, from_model = tuple(np.flatnonzero(self._signs).tolist()), self.baseline_model_ is not None
        names = self._weighed_names
        return AdditiveTables(
            0.0, tuple(tables), names, weights=weights, fill=fill, baseline=columns, from_model=from_model
        )

    def _check_size(self, n_items: int, n_rows: int) -> None:
        if n_items > MAX_ITEMS:
            raise TooLargeError(
                f"Anchored takes at most {MAX_ITEMS:,} intervals of features: {len(self._weighed_names):,} features "
                f"have {n_items:,}; choose features"
            )
        if n_items * n_rows > MAX_CELLS:
            raise TooLargeError(
                f"Anchored is for few labels: {n_rows:,} labels and {n_items:,} intervals of features are too many; "
                "use FittedRules"
            )

    def _lay_out(self, scale: PooledScale, items: Items, voted: Averaged) -> None:
        """Add both models up, a table for each feature."""
        share = share_of_weights(self.n_labels_)
        errors = self.standard_errors_ / scale.deviations
        slopes = (share * self.coef_ + (1 - share) * voted.start * scale.centre) / scale.deviations
        of_votes = np.sqrt(np.diagonal(voted.covariance).clip(0))
        voting = items.tables((1 - share) * voted.weights, (1 - share) * of_votes)
        own = {table.features[0]: table for table in voting}
        first: list[Table] = []  # the baseline ranking
        others: list[Table] = []
        weights = fill = None
        for feature, steps in enumerate(scale.steps[: len(scale.steps) - (self.baseline_model_ is not None)]):
            vote = own.get(feature, NO_VOTES)
            bins = steps.bins(vote.cuts[0])
            assert vote.spread is not None
            votes = slopes[feature] * steps.values + vote.votes[bins]
            votes -= steps.shares @ votes
            spread = share * errors[feature] * np.abs(steps.values - steps.shares @ steps.values) + vote.spread[bins]
            if scale.centre[feature] or votes.any():
                part = first if scale.centre[feature] else others
                part.append(Table((feature,), (steps.cuts,), votes, spread))
        if self.baseline_model_ is not None:
            weights, fill = np.append(np.zeros(slopes.size - 1), slopes[-1]), np.zeros(slopes.size)
        self.tables_ = self._sum(first + others, weights, fill).on_grid()

    def _score(self, X: Array) -> Array:
        tables = self.tables_
        if not tables.tables:  # a weighted sum
            if tables.fill is None:
                check_present(X, self._weighed_names)
            else:
                X = fill_missing(X, tables.fill)
        return tables.score(X, self.n_jobs)

    def _learned_state(self) -> dict[str, Any]:
        tables = self.tables_
        model = tables.to_state() | {"weights": tables.weights, "fill": tables.fill, "normalize": self._by_query}
        return self._anchor_state() | {"coef": self.coef_, "n_missing": self.n_missing_, "model": model}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the ranker that `to_state` described, or that version 0.1 saved."""
        return super().from_state(state if "model" in state["learned"] else _renewed(state))

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._take_saved_model(state)
        model, names, self.coef_ = state["model"], self._weighed_names, state["coef"]
        self._take_anchor(state, len(names))
        for own in (self.coef_, model["weights"], model["fill"]):
            if own is not None and own.shape != (len(names),):
                raise DataError(f"expected {len(names)} numbers, one per feature: got {own.shape}")
        self.tables_ = self._sum(AdditiveTables.from_state(model, names).tables, model["weights"], model["fill"])
        self._by_query, self.n_missing_ = model["normalize"], state["n_missing"]


def _renewed(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a model of version 0.1, Anchored or AnchoredRules, as this version has it."""
    old = by_new_names(state["learned"])
    tables: tuple[Table, ...] = ()
    if "votes" in old:
        n_columns, column = len(old["cuts"]), old["baseline_column"]
        errors = np.sqrt(np.diagonal(old["covariance"]).clip(0))
        tables = Items(tuple(old["cuts"]), old["item_features"], old["item_bins"]).tables(old["votes"], errors)
        coef, fill = np.zeros(n_columns), np.zeros(n_columns)
        coef[column], fill[column] = old["baseline_weight"], old["baseline_missing"]
        old = old | {"coef": coef, "fill": fill, "covariance": np.zeros((n_columns, n_columns)), "n_missing": 0}
    model = AdditiveTables(0.0, tables, tuple(f"f{i}" for i in range(len(old["coef"])))).to_state()
    model |= {"weights": old["coef"], "fill": old["fill"], "normalize": state["params"].get("normalize")}
    return state | {"learned": old | {"model": model}}
