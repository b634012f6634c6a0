"""Fields of a document as people read them: numbers as one would write them, everything else as it is."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

MONEY = re.compile(r"(^|[^a-z])(price|cost|amount|fee|eur|usd|gbp)([^a-z]|$)", re.IGNORECASE)
GROUPED = 10_000  # whole numbers from here on have commas; a year has none


@dataclass(frozen=True, slots=True)
class ShownField:
    """A named value of a document, as text."""

    name: str
    text: str


def field_text(name: str, value: Any) -> str | None:
    """Return a value as people write it; None: there is nothing to show.

    >>> field_text("price", 24.9), field_text("reviews", 12400.0), field_text("year", 2019), field_text("rating", 4.25)
    ('24.90', '12,400', '2019', '4.25')
    >>> field_text("in_stock", True), field_text("brand", "Aldermoor"), field_text("rating", float("nan"))
    ('yes', 'Aldermoor', None)
    >>> field_text("genres", ["Horror", "Comedy"]), field_text("genres", [])
    ('Horror, Comedy', None)
    """
    if value is None:
        return None
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number):
        return _number_text(name, float(value))
    if isinstance(value, list | tuple | np.ndarray):
        texts = (field_text(name, one) for one in value)
        return ", ".join(text for text in texts if text is not None) or None
    return str(value).strip() or None


def _number_text(name: str, value: float) -> str | None:
    if not math.isfinite(value):
        return None
    if MONEY.search(name):
        return f"{value:,.2f}"
    if value == int(value):
        return f"{value:,.0f}" if abs(value) >= GROUPED else f"{value:.0f}"
    if abs(value) < 0.001:
        return f"{value:.2g}"
    n_decimals = max(0, 2 - math.floor(math.log10(abs(value))))  # three digits that say something
    return f"{value:,.{n_decimals}f}".rstrip("0").rstrip(".") if n_decimals else f"{value:,.0f}"
