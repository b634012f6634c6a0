"""Numbers and names as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Sequence


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
