"""Columns of documents that are no words: numbers, years, dates, categories and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.features.fields import READ

SKEWED = 50  # the highest value is so many times the median: a few documents have nearly all of it


def as_texts(values: Sequence[Any]) -> list[str | list[str] | None]:
    """Return the values of a searched field as texts; a number is written out."""
    return [
        value if value is None or isinstance(value, str) else [str(item) for item in value] if isinstance(value, list)
        else f"{value:g}" if isinstance(value, float) else str(value)
        for value in values
    ]  # fmt: skip


def as_numbers(kind: str, values: Sequence[Any]) -> Array:
    """Return numbers, years, or dates as days since 1970; NaN where there is none."""
    read = READ[kind]
    numbers = (None if value is None else read(value) for value in values)
    return np.array([np.nan if one is None else one for one in numbers], dtype=np.float64)


def is_skewed(values: Array) -> bool:
    """Tell whether the logarithm says more: counts and sums of money, where a few documents have nearly all.

    >>> is_skewed(np.array([0.0, 1.0, 2.0, 5000.0])), is_skewed(np.array([1.0, 2.0, 3.0]))
    (True, False)
    """
    known = values[~np.isnan(values)]
    return bool(known.size and known.min() >= 0 and known.max() > SKEWED * np.median(known))


def as_codes(values: Sequence[Any], kinds: Sequence[str]) -> Array:
    """Return the place of each value among the kinds; NaN where there is none, or another one."""
    code = {kind: place for place, kind in enumerate(kinds)}
    return np.array([code.get(_kind(value), np.nan) for value in values], dtype=np.float64)


def kinds_of(values: Sequence[Any]) -> tuple[str, ...]:
    """Return the different values of a category, in order of the alphabet."""
    return tuple(sorted({_kind(value) for value in values if value is not None}))


def as_vectors(name: str, values: Sequence[Any], size: int | None = None) -> Array:
    """Return vectors of one size as float32 rows; a row of zeros where there is none."""
    filled = [value for value in values if value is not None]
    if any(not isinstance(value, list) or any(isinstance(item, str) for item in value) for value in filled):
        raise DataError(f"field {name!r} must hold a list of numbers in every document")
    sizes = {len(value) for value in filled} | ({size} if size is not None else set())
    if len(sizes) > 1:
        raise DataError(f"vectors of field {name!r} must all be of one size: got {', '.join(map(str, sorted(sizes)))}")
    rows = np.zeros((len(values), max(sizes, default=0)), dtype=np.float32)
    for row, value in enumerate(values):
        if value is not None:
            rows[row] = value
    return rows


def _kind(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).strip()
