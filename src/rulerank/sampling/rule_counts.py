"""How many rules each document of the pool has, kept up to date label by label, and the loops that do it.

A label changes the counts by its document's new rules: the items, and pairs of them, that no earlier document of the
same grade had. The items that a candidate shares with the document tell which of them it has. Larger rules are pairs
once more, among the rows that have their first items too.

bins    uint8[n_features, n_rows]     bin of each feature and row
shared  uint64[n_words, n_rows]       the items a row shares with the new document: bit f % 64 of word f // 64
fresh   uint64[1 + n_items, n_words]  the items that are a new rule alone; then, for each item, the greater ones that
                                      are one with it (no such rows where rules have one item)
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numba.extending import overload

from rulerank._util.loops import compiled, in_blocks
from rulerank.dataset import Array

ROWS_PER_THREAD = 2000
ROWS_AT_ONCE = 2048  # a tile of masks stays in the nearest cache while every feature is compared

# sets of items are bits of 64-bit words, all of them unsigned: a document of 64 features fills the sign bit, too
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


class RuleCounts:
    """The number of rules of every row of a pool, exact after each label.

    Memory beside the bins: 8 bytes per row and 64 features for the items shared with the new document, 24 per row for
    the counts.

    >>> counts = RuleCounts(np.array([[0, 0, 1], [0, 1, 2]], dtype=np.uint8), max_size=2)
    >>> counts.add(0, grade=1)
    >>> counts.n_rules.tolist(), counts.projection.tolist()
    ([3, 1, 0], [2, 1, 0])
    """

    def __init__(self, bins: Array, max_size: int, n_jobs: int | None = None) -> None:
        n_features, n_rows = bins.shape
        self.bins = bins
        self.max_size = max_size
        self.n_jobs = n_jobs
        self.n_rules = np.zeros(n_rows, dtype=np.int64)
        self.projection = np.zeros(n_rows, dtype=np.int64)
        self.common = np.zeros(n_rows, dtype=np.int64)  # how many items the row shares with all rows
        for feature in bins:
            self.common += np.bincount(feature)[feature]
        self.labelled: dict[int, list[int]] = {}  # grade -> rows
        n_words = -(-n_features // WORD)
        self.shared = np.empty((n_words, n_rows), dtype=np.uint64)
        self.fresh = np.empty((1 + n_features if max_size > 1 else 1, n_words), dtype=np.uint64)

    def add(self, row: int, grade: int) -> None:
        """Count the rules that the label of one more row brings."""
        rows = self.labelled.setdefault(grade, [])
        n_rows = self.n_rules.size
        in_blocks(partial(share_items, self.bins, row, self.shared), n_rows, self.n_jobs, ROWS_PER_THREAD)
        find_fresh(self.shared, np.array(rows, dtype=np.int64), self.bins.shape[0], self.fresh)
        count = partial(add_rules, self.shared, self.fresh, self.n_rules, self.projection)
        in_blocks(count, n_rows, self.n_jobs, ROWS_PER_THREAD)
        for size in range(1, self.max_size - 1):
            for first_items in combinations(range(self.bins.shape[0]), size):
                self._add_pairs_behind(first_items, row, rows)
        rows.append(row)

    def _add_pairs_behind(self, first_items: tuple[int, ...], row: int, earlier: list[int]) -> None:
        """Count the new rules of these items of a row and two greater ones."""
        features = list(first_items)
        having = np.flatnonzero((self.bins[features] == self.bins[features, row][:, None]).all(axis=0))
        shared = self.shared[:, having]
        for word, bits in enumerate(shared):
            bits &= above(first_items[-1], word)
        find_fresh(shared, np.flatnonzero(np.isin(having, earlier)), self.bins.shape[0], self.fresh)
        self.fresh[0] = 0  # with one item more they were counted before
        n_rules = np.zeros(having.size, dtype=np.int64)
        add_rules(shared, self.fresh, n_rules, np.zeros_like(n_rules), 0, having.size)
        self.n_rules[having] += n_rules

    def pick(self, rows: Array) -> int:
        """Return which of some rows has the fewest rules; ties go as `SSAR` says."""
        return int(first_of(rows, self.n_rules, self.projection, self.common))


@compiled
def share_items(bins: Array, document: int, shared: Array, first: int, last: int) -> None:
    """Write which items the rows first .. last - 1 share with a document.

    Eight features are gathered in bytes, of which a processor handles eight times as many at once as of words.
    """
    eight = np.empty(ROWS_AT_ONCE, np.uint8)
    for top in range(first, last, ROWS_AT_ONCE):
        bottom = min(top + ROWS_AT_ONCE, last)
        shared[:, top:bottom] = ZERO
        for group in range(0, bins.shape[0], 8):
            eight[:] = 0
            for feature in range(group, min(group + 8, bins.shape[0])):
                bin = bins[feature, document]
                column = bins[feature, top:bottom]
                bit = np.uint8(1 << (feature - group))
                for i in range(column.size):
                    eight[i] |= bit if column[i] == bin else np.uint8(0)
            out = shared[group // WORD, top:bottom]
            shift = np.uint64(group % WORD)
            for i in range(out.size):
                out[i] |= np.uint64(eight[i]) << shift


@compiled
def above(item: int, word: int) -> np.uint64:
    """Return the bits of a word that stand for items greater than this one (-1: for all)."""
    if item < word * WORD:
        return ALL
    if item >= (word + 1) * WORD:
        return ZERO
    return (ALL << np.uint64(item % WORD)) << ONE  # one shift of 64 would do nothing


@compiled
def find_fresh(shared: Array, earlier: Array, n_features: int, fresh: Array) -> None:
    """Find what is new beside earlier rows of the same grade: no rule that they have, and greater items only."""
    n_words = shared.shape[0]
    fresh[:] = ZERO
    for row in earlier:
        for word in range(n_words):
            bits = shared[word, row]
            fresh[0, word] |= bits
            while bits and fresh.shape[0] > 1:
                rest = bits & (bits - ONE)
                item = word * WORD + popcount((bits ^ rest) - ONE)
                bits = rest
                for other in range(word, n_words):
                    fresh[1 + item, other] |= shared[other, row]
    for node in range(fresh.shape[0]):
        for word in range(n_words):
            fresh[node, word] = (fresh[node, word] ^ ALL) & above(node - 1, word) & (above(n_features - 1, word) ^ ALL)


@compiled
def add_rules(shared: Array, fresh: Array, n_rules: Array, projection: Array, first: int, last: int) -> None:
    """Add the fresh rules of a new document to the counts of the rows first .. last - 1."""
    n_words = shared.shape[0]
    asked = np.zeros(n_words, np.uint64)  # the items that make a new rule with some greater one
    for item in range(fresh.shape[0] - 1):
        for word in range(n_words):
            if fresh[1 + item, word]:
                asked[item // WORD] |= ONE << np.uint64(item % WORD)
    if n_words == 1:  # the same without loops over words: a third less time
        own = shared[0]
        new = fresh[:, 0].copy()
        for row in range(first, last):
            items = own[row]
            total = popcount(items & new[0])
            bits = items & asked[0]
            while bits:
                rest = bits & (bits - ONE)
                total += popcount(items & new[1 + popcount((bits ^ rest) - ONE)])
                bits = rest
            projection[row] += popcount(items)
            n_rules[row] += total
        return
    for row in range(first, last):
        n_shared = 0
        total = 0
        for word in range(n_words):
            items = shared[word, row]
            n_shared += popcount(items)
            total += popcount(items & fresh[0, word])
            bits = items & asked[word]
            while bits:
                rest = bits & (bits - ONE)
                node = 1 + word * WORD + popcount((bits ^ rest) - ONE)
                bits = rest
                for other in range(word, n_words):
                    total += popcount(shared[other, row] & fresh[node, other])
        projection[row] += n_shared
        n_rules[row] += total


@compiled
def first_of(rows: Array, n_rules: Array, projection: Array, common: Array) -> int:
    """Return the row with the fewest rules; ties: smallest projection, most common items, lowest row."""
    best = rows[0]
    for row in rows[1:]:
        ahead = n_rules[best] - n_rules[row]
        if ahead == 0:
            ahead = projection[best] - projection[row]
            if ahead == 0:
                ahead = common[row] - common[best]
        if ahead > 0 or (ahead == 0 and row < best):
            best = row
    return best
