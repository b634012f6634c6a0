"""DC3A and QC3A: which metric reads the rules best for which documents, learned as rules X -> metric.

Training rows are scored by the rules of all other queries without counting anything twice: what the other queries hold
in a cell is what all hold minus what the row's own query holds, in one pass over the sets (`add_votes_of_others`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from rulerank._util.loops import compiled, in_blocks
from rulerank.dataset import Array
from rulerank.errors import ModelFileError
from rulerank.rankers.base import Labelled
from rulerank.rankers.rule_ranker import Prepared, RuleRanker
from rulerank.rules.additive import Contributions
from rulerank.rules.by_query import SHARE, ByQuery, Labels, most_competent
from rulerank.rules.layout import FeatureSets
from rulerank.rules.metrics import mapped_theta
from rulerank.rules.tables import Counter, Training, rows_needed, widest_of
from rulerank.rules.votes import MeanVotes

PASS_CELLS = 1 << 16  # counted between two looks at the rows


@dataclass(eq=False, repr=False)
class MemberRules(RuleRanker):
    """Rules in bins of their own: scores by each metric, and rules X -> member: which member is competent where."""

    former_parameters: ClassVar[frozenset[str]] = RuleRanker.former_parameters | {"mapped"}

    metrics: tuple[str, ...] = ()
    drop_weakest: float | None = 0.0

    def _learn(self, data: Labelled) -> None:
        self._labels: Labels | None = None
        self._take_rows(self._prepare(data), data.queries)

    def _take_rows(self, prepared: Prepared, queries: Array) -> None:
        rows, layout, self._training = prepared
        self._by_query = ByQuery(rows, queries, layout, self.n_jobs)
        if self.metrics:
            self._scheme = MeanVotes(tuple(self.metrics))
            self.engine_ = self._count(prepared, self._scheme)

    def left_out_scores(self) -> Array:
        """Return the training rows' scores by each metric with the rules of all other queries, (n_rows, n_metrics)."""
        return scores_without_own_query(self._by_query, self._scheme, self._training, self.min_support)

    def scores_by_metric(self, X: Array) -> Array:
        """Score documents by each metric, (n_rows, n_metrics)."""
        return self._scheme.scores_by_metric(self.engine_.sums(self.known_bins(X)), self._training)

    def contributions_by_metric(self, X: Array) -> list[Contributions]:
        """Return what rules over the same features add to documents' scores by each metric."""
        bins, training, n_metrics = self.known_bins(X), self._training, len(self.metrics)
        values = np.empty((n_metrics, bins.shape[1], self.engine_.layout.n_sets))
        for row, votes in enumerate(self.engine_.votes_of_each(bins)):
            for metric in range(n_metrics):
                values[metric, row] = self._scheme.adds(votes, training, metric)
        return [self._contributions(own) for own in values]

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
        labels, bins = self._labels, self.known_bins(X)
        assert labels is not None
        strengths = self._by_query.label_strengths(bins, labels, 0, n_members, min_support=self.min_support).T
        shares = np.bincount(labels.queries, labels.shares, n_members)
        strengths = np.where(strengths.any(axis=1, keepdims=True), strengths, shares)
        return np.ascontiguousarray(strengths / strengths.sum(axis=1, keepdims=True))

    def _score(self, X: Array) -> Array:
        return self.scores_by_metric(X)[:, 0]

    def _learned_state(self) -> dict[str, Any]:
        labels = self._labels
        return self._discretizer_state() | {
            "training_rows": self._by_query.to_state(),
            "labels": None if labels is None else {"rows": labels.rows, "members": labels.queries},
        }

    def _take_learned(self, state: dict[str, Any]) -> None:
        self._take_discretizer(state)
        prepared = self._prepared_from(state["training_rows"])
        self._take_rows(prepared, state["training_rows"]["queries"])
        self._labels = None
        if state["labels"] is not None:
            rows, members = state["labels"]["rows"], state["labels"]["members"]
            if not rows.size or rows.min() < 0 or rows.max() >= prepared.rows.n_rows or rows.size != members.size:
                raise ModelFileError("inconsistent model file (its labels name missing rows); train again")
            self._labels = Labels.of(rows, members)

    def check_labels(self, n_members: int) -> None:
        """Refuse labels that name members which there are not."""
        if self._labels is None or self._labels.queries.min() < 0 or self._labels.queries.max() >= n_members:
            raise ModelFileError("inconsistent model file (its labels name missing members); train again")


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


def scores_without_own_query(
    by_query: ByQuery, scheme: MeanVotes, training: Training, min_support: float = 0.0
) -> Array:
    """Score each training row by each metric with the rules of all other queries, (n_rows, n_metrics).

    >>> from rulerank.rules.layout import Layout
    >>> from rulerank.rules.tables import BinCounts, Rows
    >>> rows = Rows.of([[0, 1, 0, 1]], [0, 1, 1, 0], [0, 0, 1, 1])
    >>> by_query = ByQuery(rows, np.array([0, 0, 1, 1]), Layout.over([2], 1))
    >>> training = BinCounts.of(rows).training(1)
    >>> scores_without_own_query(by_query, MeanVotes(("confidence",)), training).ravel().tolist()
    [1.0, 0.0, 0.0, 1.0]
    """
    n_grades = training.n_grades
    codes = by_query.queries * n_grades + by_query.grades
    own = np.bincount(codes, minlength=by_query.n_queries * n_grades).reshape(-1, n_grades)
    others = training.n_by_grade - own
    min_hits = rows_needed(min_support, others.sum(axis=1))
    sums = np.zeros((by_query.rows.n_rows, scheme.width(training)))
    counter = Counter(by_query.rows, expected=False, n_jobs=by_query.n_jobs)
    rows = by_query.bins, by_query.grades, by_query.starts
    for part in by_query.layout.parts(PASS_CELLS):
        counts = counter.count(part).grades
        add = partial(add_votes_of_others, *rows, part, counts, others, min_hits, scheme.numbers, sums)
        in_blocks(add, by_query.n_queries, by_query.n_jobs)
    scores = scheme.scores_by_metric(sums, replace(training, mean_grade=np.nan))
    # no rule: what the other queries' documents have on average
    mean_of_others = others @ np.arange(n_grades) / np.maximum(others.sum(axis=1), 1)
    scores = np.where(np.isnan(scores), mean_of_others[by_query.queries, None], scores)
    in_order = np.empty_like(scores)
    in_order[by_query.order] = scores
    return in_order


@compiled
def add_votes_of_others(
    bins: Array, grades: Array, starts: Array, sets: FeatureSets, counts: Array, others: Array, min_hits: Array,
    metrics: Array, sums: Array, first: int, last: int,
) -> None:  # fmt: skip
    """Add the votes of all other queries' rules to the rows of the queries first..last-1.

    bins      uint8[n_features, n_rows]   rows sorted by query
    grades    int64[n_rows]
    starts    int64[n_queries + 1]        first row of each query
    counts    int32[n_cells, n_grades]    training rows of all queries per cell and grade
    others    int64[n_queries, n_grades]  training rows of all other queries per grade
    min_hits  int64[n_queries]            rows a rule must hold in, among those of all other queries
    sums      float64[n_rows, (n_metrics + 1) * n_grades]   added to: grades by metric, then the rules per grade
    """
    features, offsets, n_bins = sets
    n_grades = counts.shape[1]
    width = sums.shape[1]
    widest = widest_of(offsets, 0, features.shape[0])
    longest = widest_of(starts, first, last)
    cells = np.zeros(longest, dtype=np.int64)
    own = np.zeros((widest, n_grades), dtype=np.int64)
    votes = np.zeros((widest, width))
    voted = np.zeros(widest, dtype=np.bool_)  # documents of a query share cells: each votes once per query
    for q in range(first, last):
        start = starts[q]
        n_docs = starts[q + 1] - start
        n_rows = 0.0
        for r in range(n_grades):
            n_rows += others[q, r]
        for s in range(features.shape[0]):
            for i in range(n_docs):
                cell = 0
                for j in range(features.shape[1]):
                    feature = features[s, j]
                    cell = cell * n_bins[feature] + bins[feature, start + i]
                cells[i] = cell
                own[cell, grades[start + i]] += 1
            for i in range(n_docs):
                cell = cells[i]
                if not voted[cell]:
                    voted[cell] = True
                    covered = 0.0
                    for r in range(n_grades):
                        covered += counts[offsets[s] + cell, r] - own[cell, r]
                    for r in range(n_grades):
                        hits = counts[offsets[s] + cell, r] - own[cell, r]
                        exists = hits >= min_hits[q]
                        votes[cell, metrics.size * n_grades + r] = 1.0 if exists else 0.0
                        for m in range(metrics.size):
                            column = m * n_grades + r
                            votes[cell, column] = 0.0
                            if exists:
                                of_grade = float(others[q, r])
                                votes[cell, column] = mapped_theta(metrics[m], float(hits), covered, of_grade, n_rows)
                for c in range(width):
                    sums[start + i, c] += votes[cell, c]
            for i in range(n_docs):
                voted[cells[i]] = False
                for r in range(n_grades):
                    own[cells[i], r] = 0
