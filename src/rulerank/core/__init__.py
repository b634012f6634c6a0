"""What everything stands on and that knows nothing of ranking; imported file by file.

`parameters.py` names the type of our arrays, looks at numbers, and is the one table of parameters a class has;
`compiled.py` marks compiled loops and sorts inside them, `threads.py` runs them over all cores and keeps matrix
products to one thread; `progress.py` is the one progress bar, and `words.py` makes phrases. `surface`, below, is what
packages offer that load when used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def surface(package: str, names: Mapping[str, Sequence[str]]) -> tuple[list[str], Callable[[str], Any]]:
    """Return `__all__` and `__getattr__` of a package, from the names that each of its modules offers.

    >>> everything, find = surface("rulerank.core", {"words": ["counted"]})
    >>> everything, find("counted")(2, "row")
    (['counted'], '2 rows')
    """
    home = {name: module for module, offered in names.items() for name in offered}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; it has {', '.join(home)}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return list(home), find
