"""Sets of items as bits of 64-bit words. Everything is unsigned: a document of 64 features fills the sign bit, too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

WORD = 64
ZERO, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
_TWO, _FOUR, _LAST_BYTE = np.uint64(2), np.uint64(4), np.uint64(56)
_ODD = np.uint64(0x5555555555555555)
_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


def popcount(word: Any) -> int:
    """Return how many bits are set.

    >>> popcount(np.uint64(2**63 + 5))
    3
    """
    return int(word).bit_count()


@overload(popcount)
def _compiled_popcount(word: Any) -> Any:
    def count(word: Any) -> Any:  # LLVM knows these lines and makes them one instruction
        word = word - ((word >> ONE) & _ODD)
        word = (word & _PAIRS) + ((word >> _TWO) & _PAIRS)
        word = (word + (word >> _FOUR)) & _NIBBLES
        return np.int64((word * _BYTES) >> _LAST_BYTE)

    return count
