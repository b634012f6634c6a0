"""Numbers and names as they stand in a sentence."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence

NEXT_TO_NOTHING = 1e-12  # what is smaller is left over from rounding
MOST_DAYS = 700_000  # from 1970, either way, that a calendar has
LEAST_DECIMAL = 1e-6  # smaller numbers have a power of ten


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a number and its noun.

    >>> counted(1, "row"), counted(4037, "query", "queries")
    ('1 row', '4,037 queries')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 30) -> str:
    """Return names in a row, of many only the first and the last.

    >>> listed(["a", "b", "c"]), listed([f"f{i}" for i in range(1, 47)])
    ('a, b, c', 'f1, f2, f3, ... f46')
    """
    shown = [*names[:3], f"... {names[-1]}"] if len(names) > most else names
    return ", ".join(shown)


def joined(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    >>> joined(["a", "b", "c"]), joined(["a"])
    ('a, b and c', 'a')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def decimal(number: float, digits: int = 3) -> str:
    """Return a number as people write it: some digits, two decimals of what is above 1, no power of ten.

    >>> [decimal(one) for one in (6.4812, 1999.0, 177.99, 1234567.25, 0.0371, -0.5, 4.33e-15)]
    ['6.48', '1999', '177.99', '1234567.25', '0.0371', '-0.5', '0']
    >>> decimal(6.4812, 4), decimal(3.21e-8), decimal(2e20), decimal(math.nan)
    ('6.481', '3.21e-08', '2e+20', 'missing')
    """
    if math.isnan(number):
        return "missing"
    size = abs(number)
    if size < NEXT_TO_NOTHING:
        return "0"
    if size < LEAST_DECIMAL or size >= 1e15:
        return f"{number:.{digits}g}"
    decimals = digits - 1 - math.floor(math.log10(size))
    decimals = max(decimals, 2) if size >= 1 else decimals
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def as_date(days: float, minutes: int = 5) -> str:
    """Return days since 1970-01-01 as a date, with the time where they are not whole.

    minutes: what times are rounded to; float32 holds days in steps of three minutes.

    >>> as_date(20775.0), as_date(20775.5), as_date(math.nan), as_date(1e9)
    ('2026-11-18', '2026-11-18 12:00', 'missing', '1000000000')
    >>> as_date(20775.428), as_date(20775.428, minutes=1)
    ('2026-11-18 10:15', '2026-11-18 10:16')
    """
    if math.isnan(days) or abs(days) > MOST_DAYS:
        return decimal(days)
    found = datetime.datetime(1970, 1, 1) + datetime.timedelta(minutes=minutes * round(days * 24 * 60 / minutes))
    return found.strftime("%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M").zfill(10)


def percent(share: float) -> str:
    """Return a share in percent, as a sentence has it.

    >>> percent(0.5), percent(0.043)
    ('50 %', '4 %')
    """
    return f"{100 * share:.0f} %"


def lasting(seconds: float) -> str:
    """Return a time as people say it.

    >>> [lasting(one) for one in (0.02, 0.9, 45.2, 400, 9000)]
    ['less than a second', '1 second', '45 seconds', '7 minutes', '2.5 hours']
    """
    if seconds < 0.5:
        return "less than a second"
    if seconds < 100:
        return counted(round(seconds), "second")
    return f"{seconds / 60:.0f} minutes" if seconds < 100 * 60 else f"{seconds / 3600:.1f} hours"
