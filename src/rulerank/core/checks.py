"""Parameters that must be numbers: look before they are used."""

from __future__ import annotations

from numbers import Integral, Real
from typing import cast

from rulerank.errors import DataError


def is_whole(value: object, low: int, high: int | None = None) -> bool:
    """Tell whether a value is a whole number within bounds; True and False are not.

    >>> is_whole(3, 1), is_whole(True, 0), is_whole(2.0, 1)
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return low <= int(value) and (high is None or int(value) <= high)


def is_number(value: object, low: float, high: float) -> bool:
    """Tell whether a value is a number within bounds; NaN, True and False are not.

    >>> is_number(0.5, 0, 1), is_number(float("nan"), 0, 1), is_number(True, 0, 1)
    (True, False, False)
    """
    return not isinstance(value, bool) and isinstance(value, Real) and low <= cast(float, value) <= high


def check_number(name: str, value: object, low: float, high: float, what: str) -> None:
    """Raise an error unless a parameter is a number from low to high; `what` says what it stands for.

    >>> check_number("min_support", 0.1, 0, 1, "a share of the rows")
    """
    if not is_number(value, low, high):
        raise DataError(f"{name} must be {what}, a number from {low:g} to {high:g}: got {str(value)[:40]!r}")
