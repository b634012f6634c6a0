"""How strong a rule X -> r is: seven readings of the same four counts.

With a = n(X, r) rows that hold the rule, b = n(X) - a, c = n(r) - a, d = N - n(X) - c, p = n(r) / N and 0/0 = 0:

metric               theta                                    votes with
added_value          a/n(X) - p                               (theta + 1) / 2
certainty            (a/n(X) - p) / (1 - p)                   (theta + 1) / 2; below 0 first divided by p / (1 - p)
confidence           a/n(X)                                   theta
strength             a/n(r) * a/n(X) / ((b+1) / (N-n(r)+1))   theta
yule_q               (ad - bc) / (ad + bc)                    (theta + 1) / 2
yule_y               the same with square roots of ad and bc  (theta + 1) / 2
relative_confidence  (a/n(X) - p) * n(X)/N                    (4 theta + 1) / 2

Signed metrics do not vote as they are: scores are divided by the sum of votes, which would be near zero. Certainty
goes down to -p / (1 - p), below -1 for a common grade, and relative confidence stays within 1/4: each is scaled to
-1 .. 1 first. Strength has no upper bound; the ones added keep it finite. As the papers print it, strength has no ones,
and a denominator of at least 1e-6: the values in the competence paper's example are shares over 1e-6.
"""

from __future__ import annotations

import numpy as np

from rulerank._util.loops import compiled
from rulerank.errors import DataError

METRICS = ("added_value", "certainty", "confidence", "strength", "yule_q", "yule_y", "relative_confidence")
NEARLY_NONE = 1e-6  # stands for 0 below a fraction


def theta(metric: str, hits: int, covered: int, of_grade: int, n_rows: int, *, mapped: bool = False) -> float:
    """Return how strong a rule is, as the papers print it or as it votes: n(X, r), n(X), n(r), N.

    >>> [round(theta(name, 1, 4, 15, 20), 3) for name in METRICS]
    [-0.5, -2.0, 0.25, 0.028, -0.909, -0.642, -0.1]
    >>> theta("added_value", 1, 4, 15, 20, mapped=True)
    0.25
    """
    formula = mapped_theta if mapped else signed_theta
    number = METRICS.index(check_metric(metric))
    return float(formula(number, float(hits), float(covered), float(of_grade), float(n_rows)))


def check_metric(name: str) -> str:
    """Return the name of a metric, or say which there are.

    >>> check_metric("yule_q")
    'yule_q'
    """
    if name not in METRICS:
        raise DataError(f"unknown metric {name!r}; choose from {', '.join(METRICS)}")
    return name


@compiled
def signed_theta(metric: int, hits: float, covered: float, of_grade: float, n_rows: float) -> float:
    """Return theta as the papers define it, signed; the metrics are numbered as in `METRICS`."""
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
    """Return what a rule votes with; the metrics are numbered as in `METRICS`."""
    confidence = hits / covered
    share = of_grade / n_rows
    if metric == 2:
        return confidence
    if metric == 3:
        return hits / of_grade * confidence / ((covered - hits + 1.0) / (n_rows - of_grade + 1.0))
    theta = signed_theta(metric, hits, covered, of_grade, n_rows)
    if metric == 1 and confidence < share:
        theta = (confidence - share) / share
    elif metric == 6:
        theta = 4.0 * theta
    return (theta + 1.0) / 2.0
