"""How loops are compiled, and a word to the user while that happens for the first time."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit
from numba.core import event

Loop = TypeVar("Loop", bound=Callable[..., object])


def compiled(loop: Loop) -> Loop:
    """Compile a loop over arrays, keep the result for later processes, and let other threads run meanwhile.

    >>> @compiled
    ... def add_up(values, out):
    ...     for i in range(values.size):
    ...         out[0] += values[i]
    """
    return cast(Loop, njit(cache=True, nogil=True)(loop))


class FirstTime(event.Listener):
    """Says once per process that loops are being compiled; what lies in the cache raises no event."""

    told = False

    def on_start(self, event: object) -> None:
        if self.told:
            return
        self.told = True
        message = "compiling rulerank's loops for this machine; this happens once and takes some seconds ..."
        logging.getLogger("rulerank").info(message)
        if sys.stderr.isatty() and os.environ.get("RULERANK_PROGRESS", "").lower() not in ("off", "0", "no"):
            print(message, file=sys.stderr)

    def on_end(self, event: object) -> None:
        """Nothing to say."""


event.register("numba:compile", FirstTime())  # type: ignore[no-untyped-call]  # numba leaves this one untyped
