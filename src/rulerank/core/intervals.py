"""Intervals between cuts, in words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from rulerank.core.arrays import Array
from rulerank.core.words import NEXT_TO_NOTHING, as_date

SCALES = {  # what features are put on by query, and what a number on it means
    "zscore": ("z-score", "standard deviations above the query's mean"),
    "minmax": ("min-max value", "0 is the query's lowest value, 1 its highest"),
    "rank": ("rank share", "share of the query's documents with a lower value"),
}


def on_scale(text: str, name: str, scale: str | None) -> str:
    """Name the scale that the numbers of an item are on, so that nobody takes them for values of the data.

    >>> on_scale("price in [-0.74, 0.2)", "price", "zscore"), on_scale("price < 3", "price", None)
    ('price z-score in [-0.74, 0.2)', 'price < 3')
    >>> on_scale("price is missing", "price", "zscore"), on_scale("brand is Veskari", "brand", "zscore")
    ('price is missing', 'brand is Veskari')
    """
    rest = text.removeprefix(name)
    if scale is None or rest.startswith((" is ", ":")):
        return text
    return f"{name} {SCALES[scale][0]}{rest}"


def written_cuts(cuts: Array, *, dates: bool = False) -> list[str]:
    """Write ascending cuts as numbers, or as dates where they are days since 1970-01-01.

    Cuts half-way between whole days are written as the next day, the first that lies above them.

    >>> import numpy as np
    >>> written_cuts(np.array([20774.5, 20776.0]), dates=True), written_cuts(np.array([20774.5, 20776.25]), dates=True)
    (['2026-11-18', '2026-11-19'], ['2026-11-17 12:00', '2026-11-19 06:00'])
    >>> written_cuts(np.array([20774.5006, 20774.5014]), dates=True)
    ['2026-11-17 12:01', '2026-11-17 12:02']
    """
    if not dates:
        return shorten(cuts)
    days = [float(cut) for cut in cuts]
    if all((2 * day).is_integer() for day in days):
        return [as_date(math.ceil(day)) for day in days]
    shown = [as_date(day) for day in days]
    return shown if len({*shown}) == len(shown) else [as_date(day, minutes=1) for day in days]


def in_words(name: str, bin: int, shown: Sequence[str]) -> str:
    """Say what it means that a value has this bin, given the cuts as they are written.

    >>> [in_words("tf", bin, ["2", "3"]) for bin in range(4)]
    ['tf < 2', 'tf in [2, 3)', 'tf >= 3', 'tf is missing']
    """
    if bin == len(shown) + 1:
        return f"{name} is missing"
    if not shown:
        return f"{name} is present"
    if bin == 0:
        return f"{name} < {shown[0]}"
    if bin == len(shown):
        return f"{name} >= {shown[-1]}"
    return f"{name} in [{shown[bin - 1]}, {shown[bin]})"


def shorten(cuts: Sequence[float] | Array) -> list[str]:
    """Write ascending numbers with three digits, or as many more as tell them apart.

    >>> import numpy as np
    >>> shorten(np.array([0.3600000143, 0.55, 1234.5]))
    ['0.36', '0.55', '1234']
    >>> shorten(np.array([0.12341, 0.12349]))
    ['0.1234', '0.1235']
    >>> shorten(np.array([-0.0402, 4.33e-15, 0.2]))  # what is left over from rounding is 0
    ['-0.0402', '0', '0.2']
    """
    shown: list[str] = []
    cuts = [float(cut) for cut in cuts]
    least = NEXT_TO_NOTHING * min(1.0, max(map(abs, cuts), default=0.0))
    tiny = [place for place, cut in enumerate(cuts) if abs(cut) < least]
    if len(tiny) == 1:
        cuts[tiny[0]] = 0.0
    for digits in range(3, 18):
        shown = [_write(cut, digits) for cut in cuts]
        if all(float(low) < float(high) for low, high in itertools.pairwise(shown)):
            break
    return shown


def _write(number: float, digits: int) -> str:
    text = f"{number + 0.0:.{digits}g}"  # + 0.0 turns -0.0 into 0.0
    return f"{number:.0f}" if "e+" in text and abs(number) < 1e6 else text  # 1235, not 1.23e+03
