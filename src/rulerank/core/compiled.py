"""How loops are compiled, a word to the user while that happens for the first time, and sorting inside them.

np.sort and np.argsort inside loops that are kept on disk have crashed when several such loops ran in one process, so
the loops that must sort use `sort_places`.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from functools import cache
from typing import TypeVar, cast

from numba import njit
from numba.core import event

from rulerank.core.parameters import Array
from rulerank.core.progress import somebody_looks

Loop = TypeVar("Loop", bound=Callable[..., object])
MESSAGE = "compiling rulerank's loops for this machine: once, some seconds each the first time they are used ..."
NO_CACHE = (
    "no folder to keep compiled code in can be written (tried the package's folder and the home folder), so that every "
    "process compiles again, some seconds for each loop: set NUMBA_CACHE_DIR to a folder that can be written"
)


def compiled(loop: Loop) -> Loop:
    """Compile a loop over arrays, keep the result for later processes, and let other threads run meanwhile.

    Where nothing can be kept, as in a container whose folders are read-only, one warning says so.
    """
    try:
        return cast(Loop, njit(cache=True, nogil=True)(loop))
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
    warn_of_no_cache()
    return cast(Loop, njit(nogil=True)(loop))


@cache
def warn_of_no_cache() -> None:
    """Warn once per process."""
    warnings.warn(NO_CACHE, RuntimeWarning, stacklevel=2)


class FirstTime(event.Listener):
    """Says once per process that loops are being compiled; what lies in the cache raises no event."""

    def __init__(self) -> None:
        self.told = False

    def on_start(self, event: object) -> None:
        if not self.told:
            self.told = True
            logging.getLogger("rulerank").info(MESSAGE)
            if somebody_looks():
                print(MESSAGE, file=sys.stderr)

    def on_end(self, event: object) -> None:
        """Nothing to say."""


event.register("numba:compile", FirstTime())  # type: ignore[no-untyped-call]  # numba leaves this one untyped


@compiled
def sort_places(values: Array, places: Array) -> None:
    """Write into places, int64[n], the places of values in rising order (a heap sort: equal values in any order)."""
    n = places.size
    for i in range(n):
        places[i] = i
    for start in range(n // 2 - 1, -1, -1):
        sift(values, places, start, n)
    for last in range(n - 1, 0, -1):
        places[0], places[last] = places[last], places[0]
        sift(values, places, 0, last)


@compiled
def sift(values: Array, places: Array, root: int, n: int) -> None:
    """Let a place sink until neither of the two below it has a larger value."""
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and values[places[child]] < values[places[child + 1]]:
            child += 1
        if values[places[root]] >= values[places[child]]:
            return
        places[root], places[child] = places[child], places[root]
        root = child
