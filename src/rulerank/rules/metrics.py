"""What a rule's strength is called. Confidence for now; the others read the same counts."""

from __future__ import annotations

from rulerank.errors import DataError

METRICS = ("confidence",)


def check_metric(name: str) -> str:
    """Return the name of a metric, or say which there are.

    >>> check_metric("confidence")
    'confidence'
    """
    if name not in METRICS:
        raise DataError(f"unknown metric {name!r}; choose from {', '.join(METRICS)}")
    return name
