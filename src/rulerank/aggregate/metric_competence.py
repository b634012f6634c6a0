"""DC3A and QC3A: which metric reads the rules best for which documents, learned as rules X -> metric."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulerank.aggregate.leave_query_out import scores_without_own_query
from rulerank.ballots import Ballot
from rulerank.ballots.mixture_cases import Mix, mixture_of_metrics
from rulerank.dataset import Array
from rulerank.rankers.base import Labelled
from rulerank.rankers.rule_ranker import RuleRanker
from rulerank.rules.by_query.counts import SHARE, ByQuery, Labels
from rulerank.rules.by_query.most_competent import most_competent
from rulerank.rules.engine import Engine
from rulerank.rules.votes import MeanVotes


class MemberRules(RuleRanker):
    """Rules in bins of their own: scores by each metric, and rules X -> member that say who is competent for whom."""

    normalize = None
    drop_weakest = 0.0
    memory_budget = 1024.0
    work_limit = 5e12

    def __init__(
        self,
        metrics: tuple[str, ...] = (),
        max_size: int = 2,
        min_support: float = 0.0,
        discretizer: Any = "mdlp",
        n_jobs: int | None = None,
    ) -> None:
        self.metrics = metrics
        self.max_size = max_size
        self.min_support = min_support
        self.discretizer = discretizer
        self.n_jobs = n_jobs

    def _learn(self, data: Labelled) -> None:
        rows, layout, self._training = self._prepare(data)
        self._by_query = ByQuery(rows, data.queries, layout, self.n_jobs)
        if self.metrics:
            budget = self.memory_budget * 2**20
            self._scheme = MeanVotes(self.metrics)
            self._engine = Engine.learn(
                rows, layout, self._scheme, self._training, memory_budget=budget, n_jobs=self.n_jobs
            )

    def left_out_scores(self) -> Array:
        """Return the training rows' scores by each metric with the rules of all other queries, (n_rows, n_metrics)."""
        return scores_without_own_query(self._by_query, self._scheme, self._training, self.min_support)

    def scores_by_metric(self, X: Array) -> Array:
        """Score documents by each metric, (n_rows, n_metrics)."""
        return self._scheme.scores_by_metric(self._engine.sums(self._known_bins(X)), self._training)

    def metric_ballot(self, mix: Mix, X: Array, row: int) -> Ballot:
        """Return the ballot of one document that the metrics score together."""
        return mixture_of_metrics(mix, self._engine, self._bins_of(X, row))

    def item_text(self, feature: int, bin: int) -> str:
        """Return an item in words."""
        return self._item_text(feature, bin)

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
        labels = self._labels
        strengths = self._by_query.label_strengths(
            self._known_bins(X), labels, 0, n_members, min_support=self.min_support
        ).T
        shares = np.bincount(labels.queries, labels.shares, n_members)
        strengths = np.where(strengths.any(axis=1, keepdims=True), strengths, shares)
        return np.ascontiguousarray(strengths / strengths.sum(axis=1, keepdims=True))

    def _score(self, X: Array) -> Array:
        return self.scores_by_metric(X)[:, 0]

    def _learned_state(self) -> dict[str, Any]:
        return {}

    def _take_learned(self, state: dict[str, Any]) -> None:
        """Nothing is saved alone: a Competence holds it."""


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
