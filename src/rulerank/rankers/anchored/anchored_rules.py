"""Rules from the first label: today's ranking, moved by one vote for each interval of each feature.

The margin of a document is start * today + the votes of its items, one of each feature. Votes have the prior
N(0, 1 / (strength * number of features)): before any label the sum of a document's votes moves its score by about
1 / sqrt(strength), however many features there are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.core.parameters import Parameter, Whole
from rulerank.core.threads import one_blas_thread
from rulerank.dataset import Array
from rulerank.discretize import EqualFrequency
from rulerank.discretize.base import MAX_BINS
from rulerank.errors import DataError, TooLargeError
from rulerank.rankers.anchored.posterior import PRIORS, Averaged, Prior, find_posterior, mixed, what_says_something
from rulerank.rankers.anchored.starts_from_today import StartsFromToday
from rulerank.rankers.base import Labelled, Ranker
from rulerank.render.text import markdown_table, plain_table
from rulerank.rules.additive import AdditiveTables, Table

HEADER = ("if", "vote", "std. error", "labels")
MAX_ITEMS = 2_500  # four Hessians of as many rows
MAX_CELLS = 50_000_000  # items times labels: 400 MB, a few times over


@dataclass(frozen=True, slots=True)
class ItemVote:
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


@dataclass(frozen=True)
class VoteTable:
    """Rules and their votes, the largest first."""

    rows: tuple[ItemVote, ...]
    note: str  # how they came about

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"{plain_table(HEADER, self._cells())}\n{self.note}"

    def to_markdown(self) -> str:
        return f"{markdown_table(HEADER, self._cells())}\n\n{self.note}\n"

    def to_json(self) -> str:
        """Return all digits."""
        rows = [
            {"if": row.item, "vote": row.vote, "standard_error": row.error, "labels": row.labels} for row in self.rows
        ]
        return json.dumps({"rules": rows, "note": self.note}, indent=2)

    def _cells(self) -> list[list[str]]:
        return [[row.item, f"{row.vote:+.4f}", f"{row.error:.4f}", f"{row.labels:,}"] for row in self.rows]


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

    def rules(self) -> VoteTable:
        """Return the rules with their votes, the largest first."""
        check_is_fitted(self)
        texts = [
            self.tables_.item_text(t, 0, bin, self.normalize_, self.dates_)
            for t, table in enumerate(self.tables_.tables)
            for bin in self.items_.bins[self.items_.features == table.features[0]].tolist()
        ]
        errors = np.sqrt(np.diagonal(self.covariance_).clip(0))
        columns = (texts, self.coef_.tolist(), errors.tolist(), self.counts_.tolist())
        rows = [ItemVote(*row) for row in zip(*columns, strict=True)]
        return VoteTable(tuple(sorted(rows, key=lambda row: -abs(row.vote))), self._note())

    @property
    def rules_(self) -> tuple[ItemVote, ...]:
        """The rules, the one with the largest vote first."""
        return self.rules().rows

    def as_tables(self) -> AdditiveTables:
        """Return the fitted model as a weight of the baseline ranking and tables of votes: `tables_`."""
        return self.tables_

    @property
    def _today_weight(self) -> float:
        assert self.tables_.weights is not None
        return float(self.tables_.weights[self.today_.column])

    def _today_of(self, X: Array) -> Array:
        """Return the feature of today's ranking, with something behind all others where it is missing."""
        assert self.tables_.fill is not None
        values = np.asarray(X[:, self.today_.column], dtype=np.float64)
        return np.where(np.isnan(values), self.tables_.fill[self.today_.column], values)

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
        weights, fill = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        column, sign = self.today_.column, self.today_.sign
        fill[column] = self._stands_for_missing(X)
        self._take_tables((), weights, fill)
        held = self.items_.hold(X)
        with one_blas_thread():
            counts, found = average_votes(held, sign * self._today_of(X), n_features, data.grades, data.queries)
        weights[column] = sign * counts
        self.coef_, self.covariance_ = found.weights, found.covariance
        self.thresholds_, self.prior_shares_ = found.thresholds, found.shares
        self.counts_ = held.sum(axis=0).astype(np.int64)
        self._lay_out(weights, fill)

    def _lay_out(self, weights: Array, fill: Array) -> None:
        errors = np.sqrt(np.diagonal(self.covariance_).clip(0))
        tables: tuple[Table, ...] = self.items_.tables(self.coef_, errors)
        self._take_tables(tables, weights, fill)

    def _take_tables(self, tables: tuple[Table, ...], weights: Array, fill: Array) -> None:
        column, by_model = self.today_.column, self.today_model_ is not None
        self.tables_ = AdditiveTables(
            0.0, tables, self._weighed_names, weights=weights, fill=fill, baseline=column, from_model=by_model
        )

    def _score(self, X: Array) -> Array:
        return self.tables_.score(X, self.n_jobs)

    def _learned_state(self) -> dict[str, Any]:
        assert self.tables_.fill is not None
        return self._anchor_state() | {
            "cuts": list(self.items_.cuts),
            "item_features": self.items_.features,
            "item_bins": self.items_.bins,
            "votes": self.coef_,
            "counts": self.counts_,
            "today_weight": self._today_weight,
            "today_missing": float(self.tables_.fill[self.today_.column]),
        }

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._take_saved_model(state)
        n_features, n_items = len(self._weighed_names), len(state["votes"])
        self._take_anchor(state, n_items)
        cuts = tuple(np.asarray(own, dtype=np.float64) for own in state["cuts"])
        features, bins = state["item_features"], state["item_bins"]
        alike = {len(features), len(bins), len(state["counts"]), n_items}
        if len(cuts) != n_features or len(alike) > 1:
            raise DataError(f"expected cuts of {n_features} features and as many items as votes, {n_items}")
        if n_items and not (features.min() >= 0 and features.max() < n_features and (np.diff(features) >= 0).all()):
            raise DataError(f"expected items of features 0 to {n_features - 1}, in order")
        if any(not 0 <= bin <= len(cuts[f]) + 1 for f, bin in zip(features.tolist(), bins.tolist(), strict=True)):
            raise DataError("expected items of bins that the cuts make")
        self.items_ = Items(cuts, features, bins)
        self.coef_, self.counts_ = state["votes"], state["counts"]
        weights, fill = np.zeros(n_features), np.zeros(n_features)
        weights[self.today_.column], fill[self.today_.column] = state["today_weight"], state["today_missing"]
        self._lay_out(weights, fill)


def average_votes(
    held: Array,
    today: Array,
    n_features: int,
    grades: Array,
    queries: Array,
    priors: Sequence[Prior] = PRIORS,
) -> tuple[float, Averaged]:
    """Return what today's ranking counts, and the votes of the items averaged over the priors.

    today: float (n_rows,) today's ranking on one scale by query, the best highest.

    >>> nothing = np.zeros(0, dtype=int)
    >>> counts, votes = average_votes(np.zeros((0, 2)), np.zeros(0), 1, nothing, nothing)
    >>> round(counts, 3), votes.weights.tolist()
    (0.693, [0.0, 0.0])
    """
    rows = np.column_stack([today, held])
    rows, grades, queries, _ = what_says_something(rows, grades, queries, None)
    today, held = rows[:, 0], np.ascontiguousarray(rows[:, 1:])
    centre = np.zeros(held.shape[1])
    found = [
        find_posterior(held, grades, queries, centre, prior.strength * n_features, offset=prior.start * today)
        for prior in priors
    ]
    averaged = mixed(found, priors)
    counts = sum(share * prior.start for share, prior in zip(averaged.shares.tolist(), priors, strict=True))
    return counts, averaged
