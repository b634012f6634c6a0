"""Scores of the training rows by the rules of all other queries, without counting anything twice.

What the other queries hold in a cell is what all hold minus what the row's own query holds: one pass over the sets.

bins      uint8[n_features, n_rows]   rows sorted by query
grades    int64[n_rows]
starts    int64[n_queries + 1]        first row of each query
counts    int32[n_cells, n_grades]    training rows of all queries per cell and grade
others    int64[n_queries, n_grades]  training rows of all other queries per grade
min_hits  int64[n_queries]            rows a rule must hold in, among those of all other queries
sums      float64[n_rows, (n_metrics + 1) * n_grades]   added to: grades by metric, then the rules per grade
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.rules.by_query.counts import ByQuery
from rulerank.rules.layout import FeatureSets
from rulerank.rules.tables import Counter, rows_needed
from rulerank.rules.vote_kernels import mapped_theta
from rulerank.rules.votes import MeanVotes, Training

PASS_CELLS = 1 << 16  # counted between two looks at the rows


def scores_without_own_query(
    by_query: ByQuery, scheme: MeanVotes, training: Training, min_support: float = 0.0
) -> Array:
    """Score each training row by each metric with the rules of all other queries, (n_rows, n_metrics).

    >>> from rulerank.rules.layout import Layout
    >>> from rulerank.rules.tables import Rows
    >>> rows = Rows.of([[0, 1, 0, 1]], [0, 1, 1, 0], [0, 0, 1, 1])
    >>> by_query = ByQuery(rows, np.array([0, 0, 1, 1]), Layout.over(rows.n_bins(), 1))
    >>> training = Training.of(rows, 1, np.ones(1))
    >>> scores_without_own_query(by_query, MeanVotes(("confidence",)), training).ravel().tolist()
    [1.0, 0.0, 0.0, 1.0]
    """
    n_bins, n_grades = by_query.layout.n_bins, training.n_grades
    codes = by_query.queries * n_grades + by_query.grades
    own = np.bincount(codes, minlength=by_query.n_queries * n_grades).reshape(-1, n_grades)
    others = training.n_by_grade - own
    min_hits = rows_needed(min_support, others.sum(axis=1))
    sums = np.zeros((by_query.rows.n_rows, scheme.width(training)))
    counter = Counter(by_query.rows, n_bins, expected=False, n_jobs=by_query.n_jobs)
    for part in by_query.layout.parts(PASS_CELLS):
        counts = counter.count(part).grades

        def work(first: int, last: int, part: FeatureSets = part, counts: Array = counts) -> None:
            add_votes_of_others(
                by_query.bins, by_query.grades, by_query.starts, part.features, n_bins, part.offsets,
                counts, others, min_hits, scheme.numbers, first, last, sums,
            )  # fmt: skip

        in_blocks(work, by_query.n_queries, by_query.n_jobs)
    scores = scheme.scores_by_metric(sums, replace(training, mean_grade=np.nan))
    # no rule: what the other queries' documents have on average
    mean_of_others = others @ np.arange(n_grades) / np.maximum(others.sum(axis=1), 1)
    scores = np.where(np.isnan(scores), mean_of_others[by_query.queries, None], scores)
    in_order = np.empty_like(scores)
    in_order[by_query.order] = scores
    return in_order


@compiled
def add_votes_of_others(
    bins: Array,
    grades: Array,
    starts: Array,
    sets: Array,
    n_bins: Array,
    offsets: Array,
    counts: Array,
    others: Array,
    min_hits: Array,
    metrics: Array,
    first: int,
    last: int,
    sums: Array,
) -> None:
    """Add the votes of all other queries' rules to the rows of the queries first..last-1."""
    n_grades = counts.shape[1]
    width = sums.shape[1]
    widest = 0
    for s in range(sets.shape[0]):
        widest = max(widest, offsets[s + 1] - offsets[s])
    longest = 0
    for q in range(first, last):
        longest = max(longest, starts[q + 1] - starts[q])
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
        for s in range(sets.shape[0]):
            for i in range(n_docs):
                cell = 0
                for j in range(sets.shape[1]):
                    feature = sets[s, j]
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
                            votes[cell, m * n_grades + r] = (
                                mapped_theta(metrics[m], float(hits), covered, float(others[q, r]), n_rows)
                                if exists
                                else 0.0
                            )
                for c in range(width):
                    sums[start + i, c] += votes[cell, c]
            for i in range(n_docs):
                voted[cells[i]] = False
                for r in range(n_grades):
                    own[cells[i], r] = 0
