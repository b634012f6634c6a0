"""Parameters that must be numbers: look before they are used."""

from __future__ import annotations

from numbers import Integral, Real

from rulerank.errors import DataError


def is_whole(value: object, low: int, high: int | None = None) -> bool:
    """Tell whether a value is a whole number within bounds; True and False are not.

    >>> is_whole(3, 1), is_whole(True, 0), is_whole(2.0, 1)
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return low <= int(value) and (high is None or int(value) <= high)


def check_number(name: str, value: object, low: float, high: float, what: str) -> None:
    """Raise an error unless a parameter is a number from low to high; `what` says what it stands for.

    >>> check_number("min_support", 0.1, 0, 1, "a share of the rows")
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= float(value) <= high:
        raise DataError(f"{name} must be {what}, a number from {low:g} to {high:g}: got {str(value)[:40]!r}")
