"""How many rules each document of the pool has, kept up to date label by label."""

from __future__ import annotations

from copy import copy
from math import comb
from typing import Self

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.errors import TooLargeError
from rulerank.sampling.bits import WORD
from rulerank.sampling.kernels import add_pairs, add_rules, find_fresh, first_of, mark_seen, share_items

MAX_NODES = 1 << 24  # words of each of the two tables: 128 MiB
ROWS_PER_THREAD = 2000


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

    def copy(self) -> Self:
        """Return counts that go their own way from here; the scratch tables stay shared."""
        twin = copy(self)
        twin.n_rules, twin.projection = self.n_rules.copy(), self.projection.copy()
        twin.labelled = {grade: rows.copy() for grade, rows in self.labelled.items()}
        return twin

    def add(self, row: int, grade: int) -> None:
        """Count the rules that the label of one more row brings."""
        rows = self.labelled.setdefault(grade, [])
        n_rows = self.n_rules.size

        def share(start: int, stop: int) -> None:
            share_items(self.bins, row, start, stop, self.shared)

        def count(start: int, stop: int) -> None:
            if self.max_size == 2:
                add_pairs(self.shared, self.fresh, start, stop, self.n_rules, self.projection)
                return
            add_rules(
                self.shared, self.max_size, self.firsts, self.choose, self.sums, self.fresh, self.alive,
                start, stop, self.n_rules, self.projection,
            )  # fmt: skip

        in_blocks(share, n_rows, self.n_jobs, ROWS_PER_THREAD)
        self.fresh[:] = 0
        earlier = np.unique(self.shared[:, rows].T, axis=0)
        mark_seen(np.ascontiguousarray(earlier), self.max_size, self.firsts, self.choose, self.fresh)
        find_fresh(self.max_size, self.firsts, self.choose, self.bins.shape[0], self.fresh, self.alive)
        in_blocks(count, n_rows, self.n_jobs, ROWS_PER_THREAD)
        rows.append(row)

    def pick(self, rows: Array) -> int:
        """Return which of some rows has the fewest rules; ties go as `SSAR` says."""
        return int(first_of(rows, self.n_rules, self.projection, self.common))
