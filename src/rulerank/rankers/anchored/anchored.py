"""Rankers for few labels: they start from the baseline ranking and move away only as far as the labels say.

`Anchored` weighs features. `AnchoredRules` adds a vote for each interval of each feature: the margin of a document is
start * baseline + the votes of its items, one of each feature. Votes have the prior N(0, 1 / (strength * number of
features)): before any label the sum of a document's votes moves its score by about 1 / sqrt(strength), however many
features there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.core.parameters import Parameter, Whole
from rulerank.core.threads import one_blas_thread
from rulerank.dataset import Array
from rulerank.discretize import EqualFrequency
from rulerank.discretize.base import MAX_BINS
from rulerank.errors import DataError, TooLargeError
from rulerank.rankers.anchored.baseline import StartsFromToday
from rulerank.rankers.anchored.posterior import average
from rulerank.rankers.base import Labelled, Ranker
from rulerank.rankers.linear.linear_ranker import Coefficients, ColumnSums, WeightedSum
from rulerank.render.html import ShownTable, table_of
from rulerank.rules.additive import AdditiveTables, Table

MAX_FEATURES = 2_000  # four Hessians of as many rows
HEADER = ("if", "vote", "std. error", "labels")
MAX_ITEMS = 2_500  # four Hessians of as many rows
MAX_CELLS = 50_000_000  # items times labels: 400 MB, a few times over


class Anchored(StartsFromToday, WeightedSum):
    """Rank documents by today's ranking, corrected by what few labels say: never far from it without good reason.

    The likelihood is that of QueryIntercepts, with one threshold per level and one effect per query that a prior
    holds. A second prior pulls the weights towards today's ranking instead of towards 0; how strongly is averaged over
    by the evidence, with a small share for a today's ranking that is of no use. Without labels, or when all labels
    have one grade, it is today's ranking.

    Parameters
    ----------
    today: the feature that ranks the documents now: a name or a column number. The highest value comes first;
        "-name" is for lowest first. A name that ends in the word rank or position (`engine_rank`) counts places, and
        there the lowest comes first; "+name" says that it does not.
        Or a fitted ranker over the same features, such as one learned from clicks: its scores are then today's ranking.
    normalize: how features are put on one scale by query. The priors are made for z-scores; None is for features that
        are on such a scale already.
    missing: "mean" puts the mean of the training rows in the place of NaN, "error" refuses it. Documents that lack
        today's feature count as a little worse than any labelled one.
    n_jobs: threads of scoring; all cores by default.

    Attributes
    ----------
    coef_, standard_errors_: weight of each feature on its scale by query, and how unsure it is.
    covariance_, thresholds_: of the weights; of the levels of grades.
    today_: which feature or model is today's ranking; a model's scores have the last weight.
    prior_shares_: how much each of `priors.PRIORS` counts.
    n_labels_, n_queries_: what it was trained on.

    Examples
    --------
    >>> import rulerank as rr
    >>> data = rr.make_ranking(n_queries=30, n_features=3, seed=0)
    >>> ranker = rr.Anchored(today="bm25_body").fit(data[:100])
    >>> ranker
    Anchored(today='bm25_body')
    >>> ranker.coefficients()
    feature     coefficient  std. error     z       p  effect
    bm25_body        0.4998      0.2702  1.85  0.0643  0.4998
    pagerank         0.4332      0.2583  1.68  0.0935  0.4332
    bm25_title       0.3057      0.2746  1.11  0.2656  0.3057
    starts from today's ranking (bm25_body); 100 labels of 2 queries
    """

    def __init__(
        self,
        today: str | int | Ranker | None = None,
        normalize: str | None = "zscore",
        missing: str = "mean",
        n_jobs: int | None = None,
    ) -> None:
        self.today = today
        self.normalize = normalize
        self.missing = missing
        self.n_jobs = n_jobs

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
        """Return the fitted model as weights alone, the baseline ranking's among them."""
        return replace(super().as_tables(), baseline=self.today_.column, from_model=self.today_model_ is not None)

    def weighed_rows(self, X: Any, qid: Any = None) -> Array:
        """Return rows as the weights `coef_` take them: on one scale, nothing missing, a model's scores last."""
        return np.asarray(self._present(self.check_rows(X, qid)), dtype=np.float64)

    def _learn(self, data: Labelled) -> None:
        n_features = data.X.shape[1]
        if n_features > MAX_FEATURES:
            raise TooLargeError(f"Anchored takes at most {MAX_FEATURES:,} features: got {n_features:,}")
        self._find_today(data)
        X = self._amounts(data)
        self._learn_missing(X)
        Z = np.asarray(self._present(X), dtype=np.float64)
        centre = np.zeros(Z.shape[1])
        centre[self.today_.column] = self.today_.sign
        with one_blas_thread():
            found = average(Z, data.grades, data.queries, Z.shape[1], centre, np.zeros(len(Z)), data.weights)
        self._take_averaged(found)

    def _learn_missing(self, X: Any) -> None:
        super()._learn_missing(X)
        if self.fill_ is not None:
            self.fill_ = ColumnSums.of(X).means()
            self.fill_[self.today_.column] = self._stands_for_missing(X)

    def _learned_state(self) -> dict[str, Any]:
        return super()._learned_state() | self._anchor_state()

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._take_saved_model(state)
        super()._take_learned(state)
        self._take_anchor(state, len(self._weighed_names))


class ItemVote(NamedTuple):
    """If the item holds of a document, its score moves by the vote.

    >>> print(ItemVote("bm25_title >= 0.8", 0.21, 0.11, 19))
    bm25_title >= 0.8 -> +0.21 (std. error 0.11, 19 labels)
    """

    item: str
    vote: float
    error: float
    labels: int  # labelled documents of which it holds

    def __str__(self) -> str:
        return f"{self.item} -> {self.vote:+.4g} (std. error {self.error:.2g}, {self.labels:,} labels)"


class Items(NamedTuple):
    """Which bins of which features have a vote: all intervals, and missing where training saw that."""

    cuts: tuple[Array, ...]  # of each feature
    features: Array  # int (n_items,) ascending
    bins: Array  # int (n_items,) ascending within a feature

    @classmethod
    def of(cls, cuts: Sequence[Array], X: Array) -> Items:
        """List them; a feature that is the same everywhere has none.

        >>> X = np.array([[1.0, 5.0, 7.0], [2.0, np.nan, 7.0]])
        >>> items = Items.of([np.array([1.5]), np.zeros(0), np.zeros(0)], X)
        >>> items.features.tolist(), items.bins.tolist()
        ([0, 0, 1, 1], [0, 1, 0, 1])
        """
        pairs = []
        for feature, own in enumerate(cuts):
            n_bins = len(own) + 1 + bool(np.isnan(X[:, feature]).any())
            pairs += [(feature, bin) for bin in range(n_bins) if n_bins > 1]
        found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return cls(tuple(cuts), found[:, 0], found[:, 1])

    def hold(self, X: Array) -> Array:
        """Tell which items hold of each row: 1 or 0, float64 (n_rows, n_items).

        >>> Items((np.array([2.0]),), np.array([0, 0]), np.array([0, 1])).hold(np.array([[1.0], [2.0]])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        held = np.zeros((len(X), self.features.size))
        for feature in np.unique(self.features).tolist():
            cuts, values = self.cuts[feature], X[:, feature]
            bins = np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right"))
            own = np.flatnonzero(self.features == feature)
            held[:, own] = bins[:, None] == self.bins[own][None, :]
        return held

    def tables(self, votes: Array, errors: Array) -> tuple[Table, ...]:
        """Return the votes as a table of each feature; a bin that has no item votes 0."""
        made = []
        for feature in np.unique(self.features).tolist():
            own = np.flatnonzero(self.features == feature)
            cuts = self.cuts[feature]
            by_bin, spread = np.zeros(len(cuts) + 2), np.zeros(len(cuts) + 2)
            by_bin[self.bins[own]], spread[self.bins[own]] = votes[own], errors[own]
            made.append(Table((feature,), (cuts,), by_bin, spread))
        return tuple(made)


class AnchoredRules(StartsFromToday):
    """Rank documents by today's ranking, corrected by rules that few labels vote for: seldom far, hardly ever worse.

    A rule says: if a feature lies in this interval, the score moves by so much. Every feature has five intervals that
    hold equally many documents. The likelihood is that of `Anchored`; a prior pulls every vote towards 0, how strongly
    is averaged over by the evidence, with a small share for a today's ranking that is of no use. Without labels, or
    when all labels have one grade, it is today's ranking. It gains less than `Anchored`, and loses less.

    Parameters
    ----------
    today: the feature that ranks the documents now: a name or a column number. The highest value comes first;
        "-name" is for lowest first. A name that ends in the word rank or position (`engine_rank`) counts places, and
        there the lowest comes first; "+name" says that it does not.
        Or a fitted ranker over the same features, such as one learned from clicks: its scores are then today's ranking.
    n_bins: intervals of each feature at most. A missing value has a rule of its own.
    normalize: how features are put on one scale by query. The prior is made for z-scores of today's ranking; None is
        for features that are on such a scale already.
    n_jobs: threads of scoring; all cores by default.

    Attributes
    ----------
    tables_: the model as `AdditiveTables`: a weight of today's ranking and a table of votes of each feature.
    coef_, covariance_: votes of the items, feature by feature, and how unsure they are. thresholds_: of the levels.
    today_: which feature or model is today's ranking. prior_shares_: how much each of `priors.PRIORS` counts.
    n_labels_, n_queries_: what it was trained on.

    Examples
    --------
    >>> import rulerank as rr
    >>> data = rr.make_ranking(n_queries=30, n_features=3, seed=0)
    >>> ranker = rr.AnchoredRules(today="bm25_body", n_bins=2).fit(data[:100])
    >>> ranker.rules()
    if                               vote  std. error  labels
    pagerank z-score < -0.366     -0.1403      0.2486      50
    bm25_body z-score >= -0.118   -0.1329      0.2459      50
    pagerank z-score >= -0.366    +0.1248      0.2458      50
    bm25_body z-score < -0.118    +0.1174      0.2447      50
    bm25_title z-score < -0.447   -0.1031      0.2497      50
    bm25_title z-score >= -0.447  +0.0876      0.2465      50
    starts from today's ranking (bm25_body); 100 labels of 2 queries
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "n_bins": Whole(2, MAX_BINS, meaning="intervals of each feature at most")
    }
    base_text: ClassVar[str] = "where every sum starts"
    _weighs_rows: ClassVar[bool] = False  # intervals hold equally many rows

    items_: Items
    tables_: AdditiveTables

    def __init__(
        self,
        today: str | int | Ranker | None = None,
        n_bins: int = 5,
        normalize: str | None = "zscore",
        n_jobs: int | None = None,
    ) -> None:
        self.today = today
        self.n_bins = n_bins
        self.normalize = normalize
        self.n_jobs = n_jobs

    @property
    def discretizer(self) -> EqualFrequency:
        """What finds the intervals: it needs no grades, so a whole pool says where they lie."""
        return EqualFrequency(n_bins=self.n_bins, n_jobs=self.n_jobs)

    @property
    def rules_(self) -> tuple[ItemVote, ...]:
        """The rules with their votes, the largest first."""
        check_is_fitted(self)
        texts = [
            self.tables_.item_text(t, 0, bin, self.normalize_, self.dates_)
            for t, table in enumerate(self.tables_.tables)
            for bin in self.items_.bins[self.items_.features == table.features[0]].tolist()
        ]
        errors = np.sqrt(np.diagonal(self.covariance_).clip(0))
        columns = (texts, self.coef_.tolist(), errors.tolist(), self.counts_.tolist())
        return tuple(sorted((ItemVote(*row) for row in zip(*columns, strict=True)), key=lambda row: -abs(row.vote)))

    def rules(self) -> ShownTable:
        """Return the rules with their votes as a table to be read, the largest first."""
        cells = [[row.item, f"{row.vote:+.4f}", f"{row.error:.4f}", f"{row.labels:,}"] for row in self.rules_]
        return ShownTable(table_of(HEADER, cells, note=self._note()))

    def as_tables(self) -> AdditiveTables:
        """Return the fitted model as a weight of the baseline ranking and tables of votes: `tables_`."""
        return self.tables_

    def _learn(self, data: Labelled) -> None:
        self._find_today(data)
        X = self._amounts(data)
        n_rows, n_features = X.shape
        if self._known is not None and self._known.bins is not None:
            cuts = self._known.bins.cuts_
        elif n_rows:
            cuts = self.discretizer.fit(X).cuts_
        else:
            cuts = [np.zeros(0)] * n_features
        if self.today_model_ is not None:  # rules are of features
            n_features -= 1
            cuts = [*cuts[:n_features], np.zeros(0)]
        self.items_ = Items.of(cuts, X)
        n_items = self.items_.features.size
        if n_items > MAX_ITEMS:
            raise TooLargeError(
                f"AnchoredRules takes at most {MAX_ITEMS:,} rules: {n_features:,} features have {n_items:,}; "
                "choose features, or give a smaller n_bins"
            )
        if n_items * n_rows > MAX_CELLS:
            raise TooLargeError(
                f"AnchoredRules is for few labels: {n_rows:,} of them and {n_items:,} rules are too many; "
                "use FittedRules"
            )
        column, sign, missing = self.today_.column, self.today_.sign, self._stands_for_missing(X)
        today = np.asarray(X[:, column], dtype=np.float64)
        today = np.where(np.isnan(today), missing, today)
        held = self.items_.hold(X)
        with one_blas_thread():
            centre = np.zeros(n_items)
            found = average(held, data.grades, data.queries, n_features, centre, sign * today)
        self._take_averaged(found)
        self.counts_ = held.sum(axis=0).astype(np.int64)
        self._lay_out(sign * found.start, missing)

    def _lay_out(self, today_weight: float, today_missing: float) -> None:
        column, n_columns = self.today_.column, len(self._weighed_names)
        weights, fill = np.zeros(n_columns), np.zeros(n_columns)
        weights[column], fill[column] = today_weight, today_missing
        tables = self.items_.tables(self.coef_, np.sqrt(np.diagonal(self.covariance_).clip(0)))
        self.tables_ = AdditiveTables(
            0.0, tables, self._weighed_names, weights=weights, fill=fill, baseline=column,
            from_model=self.today_model_ is not None,
        )  # fmt: skip

    def _score(self, X: Array) -> Array:
        return self.tables_.score(X, self.n_jobs)

    def _learned_state(self) -> dict[str, Any]:
        tables, column = self.tables_, self.today_.column
        assert tables.weights is not None
        assert tables.fill is not None
        return self._anchor_state() | {
            "cuts": list(self.items_.cuts),
            "item_features": self.items_.features,
            "item_bins": self.items_.bins,
            "votes": self.coef_,
            "counts": self.counts_,
            "today_weight": float(tables.weights[column]),
            "today_missing": float(tables.fill[column]),
        }

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._take_saved_model(state)
        n_features, n_items = len(self._weighed_names), len(state["votes"])
        self._take_anchor(state, n_items)
        cuts = tuple(np.asarray(own, dtype=np.float64) for own in state["cuts"])
        features, bins = state["item_features"], state["item_bins"]
        if not (
            len(cuts) == n_features
            and len(features) == len(bins) == len(state["counts"]) == n_items
            and (np.diff(features) >= 0).all()
            and all(0 <= f < n_features and 0 <= b <= len(cuts[f]) + 1 for f, b in zip(features, bins, strict=True))
        ):
            raise DataError(f"expected votes of the bins that cuts of {n_features} features make, in order")
        self.items_ = Items(cuts, features, bins)
        self.coef_, self.counts_ = state["votes"], state["counts"]
        self._lay_out(state["today_weight"], state["today_missing"])
