"""Words: numbers, names and intervals in a sentence, the public names of packages, and the names of version 0.1."""

from __future__ import annotations

import datetime
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

DIGITS = 6  # of a cut that people read
NEXT_TO_NOTHING = 1e-12  # what is smaller is left over from rounding
MOST_DAYS = 700_000  # from 1970, either way, that a calendar has
LEAST_DECIMAL = 1e-6  # smaller numbers have a power of ten
SCALES = {  # what features are put on by query, and what a number on it means
    "zscore": ("z-score", "standard deviations above the query's mean"),
    "minmax": ("min-max value", "0 is the query's lowest value, 1 its highest"),
    "rank": ("rank share", "share of the query's documents with a lower value"),
}


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
    """Return names as a list in a sentence.

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
    """Return a share in percent.

    >>> percent(0.5), percent(0.043)
    ('50 %', '4 %')
    """
    return f"{100 * share:.0f} %"


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


def written_cuts(cuts: Iterable[float], *, dates: bool = False) -> list[str]:
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


def shorten(cuts: Iterable[float]) -> list[str]:
    """Write ascending numbers with three digits, and up to six where neighbours would else look alike.

    >>> import numpy as np
    >>> shorten(np.array([0.3600000143, 0.55, 1234.5]))
    ['0.36', '0.55', '1234']
    >>> shorten(np.array([0.12341, 0.12349]))
    ['0.1234', '0.1235']
    >>> shorten(np.array([-0.0402, 4.33e-15, 0.2]))  # what is left over from rounding is 0
    ['-0.0402', '0', '0.2']
    """
    cuts = [float(cut) for cut in cuts]
    least = NEXT_TO_NOTHING * min(1.0, max(map(abs, cuts), default=0.0))
    tiny = [place for place, cut in enumerate(cuts) if abs(cut) < least]
    if len(tiny) == 1:
        cuts[tiny[0]] = 0.0
    needed = [3] * len(cuts)
    for place, (low, high) in enumerate(itertools.pairwise(cuts)):
        apart = (n for n in range(3, DIGITS) if float(_write(low, n)) < float(_write(high, n)))
        digits = next(apart, DIGITS)
        needed[place], needed[place + 1] = max(needed[place], digits), digits
    return [_write(cut, digits) for cut, digits in zip(cuts, needed, strict=True)]


def _write(number: float, digits: int) -> str:
    text = f"{number + 0.0:.{digits}g}"  # + 0.0 turns -0.0 into 0.0
    return f"{number:.0f}" if "e+" in text and abs(number) < 1e6 else text  # 1235, not 1.23e+03


def surface(package: str, names: Mapping[str, Sequence[str]]) -> tuple[list[str], Callable[[str], Any]]:
    """Return `__all__` and `__getattr__` of a package, from the names that each of its modules offers.

    A module is one of the package, or with a dot in front one beside the package. `dir` lists the names, too.

    >>> everything, find = surface("rulerank._util", {"words": ["counted"]})
    >>> everything, find("counted")(2, "row")
    (['counted'], '2 rows')
    """
    home = {name: module for module, offered in names.items() for name in offered}

    def find(name: str) -> Any:
        if name not in home:
            missing = f"module {package!r} has no attribute {name!r}; it has {', '.join(home)}"
            raise AttributeError(missing, name=name, obj=sys.modules[package])  # Python then adds "Did you mean"
        value = getattr(import_module(f".{home[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    vars(sys.modules[package]).setdefault("__dir__", lambda: list(home))
    return list(home), find


@cache
def old_names(kind: str) -> dict[str, str]:
    """Return names in files of version 0.1, and what they are now.

    >>> old_names("classes of models")
    {'AnchoredRules': 'Anchored'}
    """
    found: dict[str, dict[str, str]] = json.loads(files("rulerank._util").joinpath("old_names.json").read_text())
    return found[kind]


def by_new_names(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a model file holds by the names of now, where version 0.1 wrote it."""
    new = old_names("states of models")
    return {new.get(name, name): value for name, value in state.items()}
