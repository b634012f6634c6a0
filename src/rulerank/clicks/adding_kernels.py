"""The loops that add rows up by their keys: a table that grows, whose rows are found by hashing.

A key is two words of 64 bits. A row of the table holds a key and its two sums; a slot holds the number of a row.
"""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array

FREE = -1  # a slot without a row
SPREADS = np.uint64(0x9E3779B97F4A7C15)  # an odd number whose bits are well mixed


@compiled
def slot_of(slots: Array, table: Array, first: np.uint64, second: np.uint64) -> np.uint64:
    """Return the slot of a key, or the free one where it belongs; the number of slots is a power of two."""
    spread = (first * SPREADS) ^ second
    spread = (spread ^ (spread >> np.uint64(29))) * SPREADS
    last = np.uint64(slots.size - 1)
    at = (spread >> np.uint64(32)) & last
    while True:
        row = slots[at]
        if row == FREE or (table[row, 0] == first and table[row, 1] == second):
            return at
        at = (at + np.uint64(1)) & last


@compiled
def add_rows(
    slots: Array,
    table: Array,
    seen: Array,
    n: int,
    first: Array,
    second: Array,
    amounts: tuple[Array, Array],
    start: int,
) -> tuple[int, int]:
    """Add the amounts of keys from a row on; return how many keys the table holds, and the first row not added.

    `seen` takes the row where a key came first. Where the table is full and another key comes, its row is not added.
    """
    for row in range(start, first.size):
        at = slot_of(slots, table, first[row], second[row])
        found = slots[at]
        if found == FREE:
            if n == table.shape[0]:
                return n, row
            found = n
            slots[at] = n
            n += 1
            seen[found] = row
            table[found, 0] = first[row]
            table[found, 1] = second[row]
            table[found, 2] = 0
            table[found, 3] = 0
        table[found, 2] += amounts[0][row]
        table[found, 3] += amounts[1][row]
    return n, first.size


@compiled
def fill_slots(slots: Array, table: Array, n: int) -> None:
    """Give the first n rows their slots."""
    for row in range(n):
        slots[slot_of(slots, table, table[row, 0], table[row, 1])] = row
