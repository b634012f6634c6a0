"""DC3A and QC3A: which metric reads the rules best for which documents, learned as rules X -> metric."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from rulerank.aggregate.leave_query_out import scores_without_own_query
from rulerank.ballots import Ballot, BinForm
from rulerank.ballots.mixture_cases import Mix, mixture_of_metrics
from rulerank.dataset import Array
from rulerank.discretize import bins_by
from rulerank.errors import ModelFileError
from rulerank.rankers.base import Labelled
from rulerank.rankers.rule_ranker import Prepared, RuleRanker
from rulerank.rules.by_query.counts import ByQuery
from rulerank.rules.by_query.labels import SHARE, Labels
from rulerank.rules.by_query.most_competent import most_competent
from rulerank.rules.engine import Engine
from rulerank.rules.tables import Rows
from rulerank.rules.votes import MeanVotes


class MemberRules(RuleRanker):
    """Rules in bins of their own: scores by each metric, and rules X -> member that say who is competent for whom."""

    _counts_rows_together: ClassVar[bool] = False
    normalize = None
    drop_weakest = 0.0
    memory_budget = 1024.0
    work_limit = 5e12

    def __init__(
        self,
        metrics: tuple[str, ...] = (),
        max_size: int | None = 2,
        min_support: float = 0.0,
        discretizer: Any = "mdlp",
        n_jobs: int | None = None,
        mapped: bool = True,
    ) -> None:
        self.metrics = metrics
        self.max_size = max_size
        self.min_support = min_support
        self.discretizer = discretizer
        self.n_jobs = n_jobs
        self.mapped = mapped

    def _learn(self, data: Labelled) -> None:
        self._labels: Labels | None = None
        self._take_rows(self._prepare(data), data.queries)

    def _take_rows(self, prepared: Prepared, queries: Array) -> None:
        rows, layout, self._training = prepared
        self._by_query = ByQuery(rows, queries, layout, self.n_jobs)
        if self.metrics:
            budget = self.memory_budget * 2**20
            self._scheme = MeanVotes(tuple(self.metrics), self.mapped)
            self._engine = Engine.learn(
                rows, layout, self._scheme, self._training, memory_budget=budget, n_jobs=self.n_jobs
            )

    def left_out_scores(self) -> Array:
        """Return the training rows' scores by each metric with the rules of all other queries, (n_rows, n_metrics)."""
        return scores_without_own_query(self._by_query, self._scheme, self._training, self.min_support)

    def scores_by_metric(self, X: Array) -> Array:
        """Score documents by each metric, (n_rows, n_metrics)."""
        return self._scores_of_bins(self._known_bins(X))

    def _scores_of_bins(self, bins: Array) -> Array:
        return self._scheme.scores_by_metric(self._engine.sums(bins), self._training)

    def metric_ballot(self, mix: Mix, X: Array, row: int) -> Ballot:
        """Return the ballot of one document that the metrics score together."""
        return mixture_of_metrics(mix, self._engine, self._bins_of(X, row))

    def item_text(self, feature: int, bin: int) -> str:
        """Return an item in words."""
        return self._item_text(feature, bin)

    def picking_form(self, names: tuple[str, ...]) -> BinForm:
        """Return, as a function of bins, the score by the metric that is chosen for a document."""
        cuts = getattr(self.discretizer_, "cuts_", None)

        def score(bins: Array) -> Array:
            return picked(self._scores_of_bins(bins), self._weights_of_bins(bins, len(self.metrics)))

        bins_of = partial(bins_by, self.discretizer_)
        return BinForm(names, self._engine, cuts, bins_of, self._known_bins, score, self._item_text)

    def learn_members(self, distance: Array, queries: Array, centric: str, ties: str) -> None:
        """Label each training row with the member that is closest to its grade, or closest for most of its query.

        distance: |score - grade|, (n_rows, n_members).
        """
        self._labels = most_competent([(0, distance.T)], len(distance), ties)
        if centric == "query":
            self._labels = most_frequent(self._labels, queries, distance.shape[1], ties)

    def member_weights(self, X: Array, n_members: int) -> Array:
        """Return p(member | d) of each document, (n_rows, n_members): mean confidence of the rules, normalised.

        A document that no rule covers has the members' shares of all training documents.
        """
        return self._weights_of_bins(self._known_bins(X), n_members)

    def _weights_of_bins(self, bins: Array, n_members: int) -> Array:
        labels = self._labels
        assert labels is not None
        strengths = self._by_query.label_strengths(bins, labels, 0, n_members, min_support=self.min_support).T
        shares = np.bincount(labels.queries, labels.shares, n_members)
        strengths = np.where(strengths.any(axis=1, keepdims=True), strengths, shares)
        return np.ascontiguousarray(strengths / strengths.sum(axis=1, keepdims=True))

    def _score(self, X: Array) -> Array:
        return self.scores_by_metric(X)[:, 0]

    def _learned_state(self) -> dict[str, Any]:
        rows, labels = self._by_query.rows, self._labels
        queries = np.empty(rows.n_rows, dtype=np.int64)
        queries[self._by_query.order] = self._by_query.queries
        return self._discretizer_state() | {
            "training_rows": {"bins": rows.bins, "grades": rows.grades, "queries": queries},
            "labels": None if labels is None else {"rows": labels.rows, "members": labels.queries},
        }

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._take_discretizer(state)
        saved, n_bins = state["training_rows"], self.n_bins_
        prepared = self._lay_out(Rows.of(saved["bins"], saved["grades"], saved["queries"]))
        numbers = np.unique(saved["queries"])
        if not np.array_equal(self.n_bins_, n_bins) or not np.array_equal(numbers, np.arange(numbers.size)):
            raise ModelFileError("its training rows do not fit its bins, or its queries")
        self._take_rows(prepared, saved["queries"])
        self._labels = None
        if state["labels"] is not None:
            rows, members = state["labels"]["rows"], state["labels"]["members"]
            if not rows.size or rows.min() < 0 or rows.max() >= prepared.rows.n_rows or rows.size != members.size:
                raise ModelFileError("its labels name rows that it does not have")
            self._labels = Labels.of(rows, members)

    def check_labels(self, n_members: int) -> None:
        """Refuse labels that name members which there are not."""
        if self._labels is None or self._labels.queries.min() < 0 or self._labels.queries.max() >= n_members:
            raise ModelFileError("its labels name members that it does not have")


def picked(values: Array, weights: Array) -> Array:
    """Return each row's value of the member with the greatest weight; of equals the first.

    >>> picked(np.array([[1.0, 2.0]]), np.array([[0.25, 0.75]])).tolist()
    [2.0]
    """
    return np.take_along_axis(values, np.argmax(weights, axis=1)[:, None], axis=1)[:, 0]


def most_frequent(labels: Labels, queries: Array, n_members: int, ties: str) -> Labels:
    """Give all documents of a query the member that is the most competent for most of them.

    >>> labels = Labels.of([0, 1, 2, 3], [1, 0, 1, 0])
    >>> found = most_frequent(labels, np.array([0, 0, 0, 1]), 2, "first")
    >>> found.rows.tolist(), found.queries.tolist()
    ([3, 0, 1, 2], [0, 1, 1, 1])
    """
    codes = queries[labels.rows] * n_members + labels.queries
    wins = np.bincount(codes, labels.shares / SHARE, (queries.max() + 1) * n_members).reshape(-1, n_members)
    winners = most_competent([(0, (wins.max() - wins).T)], len(wins), ties)
    of_query = np.zeros(wins.shape, dtype=bool)
    of_query[winners.rows, winners.queries] = True
    rows, members = np.nonzero(of_query[queries])
    return Labels.of(rows, members)
