"""How many rules each document of the pool has, kept up to date label by label, and the loops that do it.

A label changes the counts by its document's new rules: the sets of at most max_size of its items that no earlier
document of the same grade had. Which of them a candidate has is told by the items it shares with the document.

bins    uint8[n_features, n_rows]   bin of each feature and row
shared  uint64[n_words, n_rows]     the items a row shares with the new document: bit f % 64 of word f // 64
fresh   uint64[n_nodes, n_words]    for a set of items: which greater item makes it a new rule
alive   uint64[n_nodes, n_words]    for a set of items that is no new rule: with which greater item to look further

A node is a set of fewer than max_size items i1 < i2 < ...: the sets of each size follow one another, the empty one
first, and within a size the set has the number choose[i1, 1] + choose[i2, 2] + ...

firsts  int64[max_size + 1]         the first node of each size
choose  int64[n + 1, max_size + 1]  binomial coefficients, for n = the number of features
sums    int64[n + 1, max_size + 1]  their sums: the sets of at most so many out of so many
"""

from __future__ import annotations

from functools import partial
from math import comb
from typing import Any

import numpy as np
from numba.extending import overload

from rulerank.core.compiled import compiled
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.errors import TooLargeError

MAX_NODES = 1 << 24  # words of each of the two tables: 128 MiB
ROWS_PER_THREAD = 2000
ROWS_AT_ONCE = 2048  # a tile of masks stays in the nearest cache while every feature is compared
MEMO = 1 << 13  # candidates that share the same items are counted once, as long as this many kinds take turns
STEP, LOW = np.uint64(13), np.uint64(MEMO - 1)  # MEMO = 2 ** STEP

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
    the counts, and tables of 16 bytes per 64 features for each set of fewer than max_size features, 256 MiB at most.

    >>> counts = RuleCounts(np.array([[0, 0, 1], [0, 1, 2]], dtype=np.uint8), max_size=2)
    >>> counts.add(0, grade=1)
    >>> counts.n_rules.tolist(), counts.projection.tolist()
    ([3, 1, 0], [2, 1, 0])
    """

    def __init__(self, bins: Array, max_size: int, n_jobs: int | None = None) -> None:
        n_features, n_rows = bins.shape
        self.bins = bins
        self.max_size = min(max_size, n_features)
        self.n_jobs = n_jobs
        self.n_rules = np.zeros(n_rows, dtype=np.int64)
        self.projection = np.zeros(n_rows, dtype=np.int64)
        self.common = np.zeros(n_rows, dtype=np.int64)  # how many items the row shares with all rows
        for feature in bins:
            self.common += np.bincount(feature)[feature]
        self.labelled: dict[int, list[int]] = {}  # grade -> rows
        n_nodes = [comb(n_features, size) for size in range(self.max_size)]
        n_words = -(-n_features // WORD)
        if sum(n_nodes) * n_words > MAX_NODES:
            raise TooLargeError(
                f"rules of up to {max_size} items out of {n_features} features need tables of {sum(n_nodes):,} sets, "
                f"more than {MAX_NODES // n_words:,}; lower max_size, or use more partitions"
            )
        sizes = range(self.max_size + 1)
        self.firsts = np.cumsum([0, *n_nodes])
        self.choose = np.array([[comb(n, k) for k in sizes] for n in range(n_features + 1)])
        self.sums = np.cumsum(self.choose, axis=1)
        self.shared = np.empty((n_words, n_rows), dtype=np.uint64)
        self.fresh = np.empty((sum(n_nodes), n_words), dtype=np.uint64)
        self.alive = np.empty_like(self.fresh)

    def add(self, row: int, grade: int) -> None:
        """Count the rules that the label of one more row brings."""
        rows = self.labelled.setdefault(grade, [])
        n_rows = self.n_rules.size

        in_blocks(partial(share_items, self.bins, row, self.shared), n_rows, self.n_jobs, ROWS_PER_THREAD)
        self.fresh[:] = 0
        earlier = np.unique(self.shared[:, rows].T, axis=0)
        mark_seen(np.ascontiguousarray(earlier), self.max_size, self.firsts, self.choose, self.fresh)
        find_fresh(self.max_size, self.firsts, self.choose, self.bins.shape[0], self.fresh, self.alive)
        out = self.n_rules, self.projection
        if self.max_size == 2:
            count = partial(add_pairs, self.shared, self.fresh, *out)
        else:
            nodes = self.firsts, self.choose, self.sums, self.fresh, self.alive
            count = partial(add_rules, self.shared, self.max_size, *nodes, *out)
        in_blocks(count, n_rows, self.n_jobs, ROWS_PER_THREAD)
        rows.append(row)

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
def next_item(words: Array) -> int:
    """Take the lowest item out of a set and return it, -1 when there is none."""
    for word in range(words.size):
        bits = words[word]
        if bits:
            rest = bits & (bits - ONE)
            words[word] = rest
            return word * WORD + popcount((bits ^ rest) - ONE)
    return -1


@compiled
def above(item: int, word: int) -> np.uint64:
    """Return the bits of a word that stand for items greater than this one (-1: for all)."""
    if item < word * WORD:
        return ALL
    if item >= (word + 1) * WORD:
        return ZERO
    return (ALL << np.uint64(item % WORD)) << ONE  # one shift of 64 would do nothing


@compiled
def mark_seen(earlier: Array, max_size: int, firsts: Array, choose: Array, seen: Array) -> None:
    """Add to seen[node] the items of every earlier document, uint64[n, n_words], that has the node's."""
    n_words = earlier.shape[1]
    todo = np.zeros((max_size, n_words), np.uint64)  # the items still to be added to the set of this size
    nodes = np.zeros(max_size, np.int64)
    for i in range(earlier.shape[0]):
        size = 0
        nodes[0] = 0
        for word in range(n_words):
            seen[0, word] |= earlier[i, word]
            todo[0, word] = earlier[i, word] if max_size > 1 else ZERO
        while size >= 0:
            item = next_item(todo[size])
            if item < 0:
                size -= 1
                continue
            node = firsts[size + 1] + (nodes[size] - firsts[size]) + choose[item, size + 1]
            for word in range(n_words):
                seen[node, word] |= earlier[i, word]
            if size + 2 < max_size:
                size += 1
                nodes[size] = node
                for word in range(n_words):
                    todo[size, word] = earlier[i, word] & above(item, word)


@compiled
def find_fresh(max_size: int, firsts: Array, choose: Array, n_features: int, fresh: Array, alive: Array) -> None:
    """Turn what was seen, held in fresh, into what is fresh, and find where to go on."""
    n_words = fresh.shape[1]
    items = np.zeros(max_size + 1, np.int64)
    for node in range(firsts[max_size]):
        for word in range(n_words):
            alive[node, word] = ZERO
    for size in range(max_size - 1, 0, -1):
        for i in range(size):
            items[i] = i
        items[size] = n_features
        for node in range(firsts[size], firsts[size + 1]):
            item = items[size - 1]
            any_left = False
            for word in range(n_words):
                fresh[node, word] = (fresh[node, word] ^ ALL) & above(item, word) & (above(n_features - 1, word) ^ ALL)
                any_left |= fresh[node, word] | alive[node, word] != ZERO
            if any_left:
                parent = firsts[size - 1] + (node - firsts[size]) - choose[item, size]
                alive[parent, item // WORD] |= ONE << np.uint64(item % WORD)
            i = 0  # the next set of this size, in the order of the nodes
            while i < size - 1 and items[i] + 1 == items[i + 1]:
                items[i] = i
                i += 1
            items[i] += 1
    for word in range(n_words):
        fresh[0, word] ^= ALL
    for node in range(firsts[max_size]):
        for word in range(n_words):
            alive[node, word] &= fresh[node, word] ^ ALL  # all rules beyond a fresh one are fresh


@compiled
def count_fresh(
    items: Array, max_size: int, firsts: Array, choose: Array, sums: Array, fresh: Array, alive: Array,
    todo: Array, nodes: Array,
) -> int:  # fmt: skip
    """Return how many fresh rules a set of items, uint64[n_words], has.

    Scratch for each size: todo, uint64[max_size, n_words], the items to go on with; nodes, int64[max_size].
    """
    n_words = items.size
    total = 0
    size = 0
    nodes[0] = 0
    entering = True
    while size >= 0:
        node = nodes[size]
        if entering:
            for word in range(n_words):
                bits = items[word] & fresh[node, word]
                if size == max_size - 1:
                    total += popcount(bits)
                    continue
                todo[size, word] = items[word] & alive[node, word]
                while bits:
                    rest = bits & (bits - ONE)
                    item = word * WORD + popcount((bits ^ rest) - ONE)
                    bits = rest
                    n_above = 0
                    for other in range(word, n_words):
                        n_above += popcount(items[other] & above(item, other))
                    total += sums[n_above, max_size - 1 - size]
            if size == max_size - 1:
                size -= 1
                entering = False
                continue
        item = next_item(todo[size])
        if item < 0:
            size -= 1
            entering = False
        else:
            nodes[size + 1] = firsts[size + 1] + (node - firsts[size]) + choose[item, size + 1]
            size += 1
            entering = True
    return total


@compiled
def add_rules(
    shared: Array, max_size: int, firsts: Array, choose: Array, sums: Array, fresh: Array, alive: Array,
    n_rules: Array, projection: Array, first: int, last: int,
) -> None:  # fmt: skip
    """Add the fresh rules of a new document to the counts of the rows first .. last - 1."""
    n_words = shared.shape[0]
    memo = np.zeros((MEMO, n_words), np.uint64)
    counts = np.zeros(MEMO, np.int64)
    items = np.zeros(n_words, np.uint64)
    todo = np.zeros((max_size, n_words), np.uint64)
    nodes = np.zeros(max_size, np.int64)
    for row in range(first, last):
        key = ZERO
        n_shared = 0
        for word in range(n_words):
            items[word] = shared[word, row]
            n_shared += popcount(items[word])
            key = (key << ONE) ^ items[word]
        if n_shared == 0:
            continue
        projection[row] += n_shared
        while key > LOW:  # fold the bits that are too many onto the others
            key = (key >> STEP) ^ (key & LOW)
        slot = np.int64(key)
        same = True
        for word in range(n_words):
            same &= memo[slot, word] == items[word]
        if not same:
            for word in range(n_words):
                memo[slot, word] = items[word]
            counts[slot] = count_fresh(items, max_size, firsts, choose, sums, fresh, alive, todo, nodes)
        n_rules[row] += counts[slot]


@compiled
def add_pairs(shared: Array, fresh: Array, n_rules: Array, projection: Array, first: int, last: int) -> None:
    """Do what `add_rules` does where rules have at most two items: each of a row's items asks for its greater ones."""
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
