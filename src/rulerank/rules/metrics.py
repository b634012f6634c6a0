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

Signed metrics must not vote as they are: scores are divided by the sum of votes, which would lie near zero. Certainty
goes down to -p / (1 - p), below -1 for a common grade, and relative confidence stays within 1/4: each is scaled to
-1 .. 1 first. Strength has no upper bound; the ones added keep it finite.
"""

from __future__ import annotations

from rulerank.errors import DataError

METRICS = ("added_value", "certainty", "confidence", "strength", "yule_q", "yule_y", "relative_confidence")


def check_metric(name: str) -> str:
    """Return the name of a metric, or say which there are.

    >>> check_metric("yule_q")
    'yule_q'
    """
    if name not in METRICS:
        raise DataError(f"unknown metric {name!r}; choose from {', '.join(METRICS)}")
    return name
