"""One run of SSAR over one group of features: counts that grow with each label, and the row they point to."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np

from rulerank.dataset import Array
from rulerank.sampling.counts import RuleCounts


class GroupRun:
    """The labels one group of features has seen, and which row it would label next.

    Each row belongs to a block of rows (the whole pool, or the queries in order of appearance); blocks are visited in
    turn, each with two rows at first. A block whose pick is labelled is closed, and the run is over when all are.
    """

    def __init__(self, bins: Array, blocks: Sequence[Array], max_size: int, n_jobs: int | None) -> None:
        self.counts = RuleCounts(bins, max_size, n_jobs)
        self.labelled = np.zeros(bins.shape[1], dtype=np.bool_)
        self.blocks = blocks
        self.block_of = np.empty(bins.shape[1], dtype=np.int64)
        for number, rows in enumerate(blocks):
            self.block_of[rows] = number
        self.open = np.ones(len(blocks), dtype=np.bool_)
        self.turn = 0

    def copy(self) -> Self:
        """Return a run that goes its own way from here."""
        twin = copy(self)
        twin.counts = self.counts.copy()
        twin.labelled = self.labelled.copy()
        twin.open = self.open.copy()
        return twin

    def add(self, row: int, grade: int) -> None:
        """Learn one label; the turn goes on to the next block once the row's has two: one compares nothing."""
        self.counts.add(row, grade)
        self.labelled[row] = True
        if len(self.blocks) == 1:
            self.open[0] = True  # a label that nobody named may bring another row to the front
        block = int(self.block_of[row])
        alone = self.labelled[self.blocks[block]].sum() == 1
        self.turn = block if alone else (block + 1) % len(self.blocks)

    def settle(self) -> int | None:
        """Close the blocks that are through and return the row to label next, None when the run is over."""
        n_blocks = len(self.blocks)
        for step in range(n_blocks):
            block = (self.turn + step) % n_blocks
            if self.open[block]:
                row = self.counts.pick(self.blocks[block])
                if not self.labelled[row]:
                    self.turn = block
                    return row
                self.open[block] = False
        return None

    def pick(self, skipped: Array) -> int | None:
        """Return the row to label next if these rows, bool (n_rows,), were not there; nothing changes."""
        n_blocks = len(self.blocks)
        for step in range(n_blocks):
            block = (self.turn + step) % n_blocks
            rows = self.blocks[block]
            rows = rows[~skipped[rows]]
            if self.open[block] and rows.size:
                row = self.counts.pick(rows)
                if not self.labelled[row]:
                    return row
        return None

    @property
    def closeness(self) -> float:
        """How close the stop is, from 0 to 1, in the mean over blocks: 1 for a closed one, 0 for one without labels."""
        n_blocks = len(self.blocks)
        fewest = np.full(2 * n_blocks, np.inf)  # rules of an unlabelled row, then of a labelled one
        # one index and one type: np.minimum.at is twenty times as fast
        np.minimum.at(fewest, self.labelled * n_blocks + self.block_of, self.counts.n_rules.astype(np.float64))
        # one more below: an unlabelled row with as few rules as a labelled one is still to be labelled
        share = fewest[:n_blocks] / (fewest[n_blocks:] + 1)  # 0 where nothing is labelled
        return float(np.where(self.open, np.minimum(share, 1.0), 1.0).mean())
