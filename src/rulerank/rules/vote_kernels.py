"""The loops that turn the counts of cells into what they vote; the arrays are those of `kernels.py`."""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array

N_METRICS = 7
NEARLY_NONE = 1e-6  # stands for 0 below a fraction


@compiled
def signed_theta(metric: int, hits: float, covered: float, of_grade: float, n_rows: float) -> float:
    """Return theta as the papers define it, signed; the metrics are numbered as in `metrics.METRICS`."""
    confidence = hits / covered
    share = of_grade / n_rows
    if metric == 0:
        return confidence - share
    if metric == 1:
        return (confidence - share) / (1.0 - share) if of_grade < n_rows else 0.0
    if metric == 2:
        return confidence
    if metric == 3:
        against = (covered - hits) / (n_rows - of_grade) if of_grade < n_rows else 0.0
        return hits / of_grade * confidence / max(against, NEARLY_NONE)
    if metric == 6:
        return (confidence - share) * (covered / n_rows)
    along = hits * (n_rows - covered - of_grade + hits)
    across = (covered - hits) * (of_grade - hits)
    if metric == 5:
        along, across = np.sqrt(along), np.sqrt(across)
    return (along - across) / (along + across) if along + across > 0.0 else 0.0


@compiled
def mapped_theta(metric: int, hits: float, covered: float, of_grade: float, n_rows: float) -> float:
    """Return what a rule votes with; the metrics, by their number, are those of `metrics.METRICS`, then unmapped."""
    if metric >= N_METRICS:
        return signed_theta(metric - N_METRICS, hits, covered, of_grade, n_rows)
    confidence = hits / covered
    share = of_grade / n_rows
    if metric == 2:
        return confidence
    if metric == 3:
        return hits / of_grade * confidence / ((covered - hits + 1.0) / (n_rows - of_grade + 1.0))
    theta = 0.0
    if metric == 0:
        theta = confidence - share
    elif metric == 1:
        if confidence >= share:
            theta = (confidence - share) / (1.0 - share) if of_grade < n_rows else 0.0
        else:
            theta = (confidence - share) / share
    elif metric == 6:
        theta = 4.0 * (confidence - share) * (covered / n_rows)
    else:
        along = hits * (n_rows - covered - of_grade + hits)
        across = (covered - hits) * (of_grade - hits)
        if metric == 5:
            along, across = np.sqrt(along), np.sqrt(across)
        if along + across > 0.0:
            theta = (along - across) / (along + across)
    return (theta + 1.0) / 2.0


@compiled
def mean_votes(
    counts: Array,
    min_hits: int,
    metrics: Array,
    n_by_grade: Array,
    offsets: Array,
    first: int,
    last: int,
    votes: Array,
) -> None:
    """Vote with the strength of each rule by each metric, and count the rules, per grade.

    metrics     int64[n_metrics]    their numbers in `metrics.METRICS`; 7 more where they vote unmapped
    n_by_grade  int64[n_grades]     training rows of each grade
    votes       float64[n_cells, (n_metrics + 1) * n_grades]    grades by metric, then the rules per grade
    """
    n_grades = counts.shape[1]
    n_thetas = metrics.size * n_grades
    n_rows = 0.0
    for r in range(n_grades):
        n_rows += n_by_grade[r]
    for cell in range(offsets[first], offsets[last]):
        covered = 0.0
        for r in range(n_grades):
            covered += counts[cell, r]
        for r in range(n_grades):
            exists = counts[cell, r] >= min_hits
            votes[cell, n_thetas + r] = 1.0 if exists else 0.0
            for m in range(metrics.size):
                votes[cell, m * n_grades + r] = 0.0
                if exists:
                    votes[cell, m * n_grades + r] = mapped_theta(
                        metrics[m], float(counts[cell, r]), covered, float(n_by_grade[r]), n_rows
                    )


@compiled
def lift_votes(
    counts: Array,
    sums: Array,
    unit: float,
    shrink: float,
    min_covered: int,
    set_weights: Array,
    offsets: Array,
    first: int,
    last: int,
    votes: Array,
) -> None:
    """Vote with the shrunken difference to what the cells' queries expect, weighed by set, and add up the weights."""
    for s in range(first, last):
        for cell in range(offsets[s], offsets[s + 1]):
            covered = 0
            total = 0
            for r in range(counts.shape[1]):
                covered += counts[cell, r]
                total += r * counts[cell, r]
            if covered < min_covered:
                votes[cell, 0] = 0.0
                votes[cell, 1] = 0.0
                continue
            votes[cell, 0] = set_weights[s] * ((total - sums[cell] * unit) / (covered + shrink))
            votes[cell, 1] = set_weights[s]
