"""Many labels at once: what adding them one by one would lead to, without counting every row after each of them."""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.sampling.bits import popcount
from rulerank.sampling.counts import ROWS_PER_THREAD
from rulerank.sampling.group_run import GroupRun
from rulerank.sampling.kernels import first_of

MAX_CELLS = 1 << 23  # pairs of items: 32 MiB; features of few bins need far less
ROWS_AT_ONCE = 1024  # whose bins and counts stay in the nearest cache


def can_replay(run: GroupRun) -> bool:
    """Tell whether rules are small enough, and their items few enough, to be looked up in a table."""
    if run.counts.max_size > 2:
        return False
    n_bins = _n_bins(run.counts.bins)
    return int(n_bins.sum() ** 2) <= 2 * MAX_CELLS


def replay(run: GroupRun, rows: Array, grades: Array) -> Array:
    """Bring a run to where adding these labels one by one, and settling after each, would bring it.

    Returns how many rules each row had when its turn came. Only the rows of a block that `settle` would look into are
    counted, from a table of the grades that every item and every pair of items was seen with; all others once, at the
    end. The caller settles after the last label.
    """
    counts = run.counts
    tables = Tables(counts.bins, pairs=counts.max_size == 2)
    for grade, known in counts.labelled.items():
        tables.mark(np.array(known, dtype=np.int64), grade)
    starts = np.cumsum([0, *(block.size for block in run.blocks)])
    n_labelled = np.array([run.labelled[block].sum() for block in run.blocks])
    found = np.zeros(rows.size, dtype=np.int64)
    run.turn = replay_labels(
        counts.bins, tables.firsts, tables.n_bins, tables.seen, tables.n_docs, counts.common,
        np.concatenate(run.blocks), starts, run.block_of, n_labelled, run.labelled, run.open,
        rows, grades, counts.max_size == 2, counts.n_rules, counts.projection, found,
    )  # fmt: skip
    for row, grade in zip(rows.tolist(), grades.tolist(), strict=True):
        counts.labelled.setdefault(grade, []).append(row)

    def count(start: int, stop: int) -> None:
        for first in range(start, stop, ROWS_AT_ONCE):
            last = min(first + ROWS_AT_ONCE, stop)
            tables.count(np.arange(first, last), counts.n_rules, counts.projection)

    in_blocks(count, counts.n_rules.size, counts.n_jobs, ROWS_PER_THREAD)
    return found


class Tables:
    """For every item, and every pair of them, the grades of the labelled rows that have it.

    firsts  int64[n_features, n_features]  where the cells of two features begin; on the diagonal those of one
    seen    uint32[n_cells]                bit g: a row of grade g has these items
    n_docs  int64[n_features, most bins]   how many labelled rows have an item

    >>> tables = Tables(np.array([[0, 0, 1], [0, 1, 2]], dtype=np.uint8), pairs=True)
    >>> tables.mark(np.array([0]), grade=1)
    >>> n_rules, projection = np.zeros(3, np.int64), np.zeros(3, np.int64)
    >>> tables.count(np.arange(3), n_rules, projection)
    >>> n_rules.tolist(), projection.tolist()
    ([3, 1, 0], [2, 1, 0])
    """

    def __init__(self, bins: Array, pairs: bool) -> None:
        self.bins, self.pairs = bins, pairs
        self.n_bins = _n_bins(bins)
        n_features = len(bins)
        self.firsts = np.zeros((n_features, n_features), dtype=np.int64)
        n_cells = 0
        for one in range(n_features):
            for other in range(one, n_features if pairs else one + 1):
                self.firsts[one, other] = n_cells
                n_cells += int(self.n_bins[one] * (1 if one == other else self.n_bins[other]))
        self.seen = np.zeros(n_cells, dtype=np.uint32)
        self.n_docs = np.zeros((n_features, int(self.n_bins.max())), dtype=np.int64)

    def mark(self, rows: Array, grade: int) -> None:
        """Note rows of a grade."""
        for row in rows:
            mark_row(self.bins, self.firsts, self.n_bins, self.seen, self.n_docs, row, grade, self.pairs)

    def count(self, rows: Array, n_rules: Array, projection: Array) -> None:
        """Write how many rules some rows have, and how many items they share with the labelled ones."""
        count_rows(self.bins, self.firsts, self.n_bins, self.seen, self.n_docs, rows, self.pairs, n_rules, projection)


def _n_bins(bins: Array) -> Array:
    return bins.max(axis=1).astype(np.int64) + 1


@compiled
def mark_row(
    bins: Array, firsts: Array, n_bins: Array, seen: Array, n_docs: Array, row: int, grade: int, pairs: bool
) -> None:
    """Note in the tables that a row has a grade."""
    bit = np.uint32(1) << np.uint32(grade)
    n_features = bins.shape[0]
    for one in range(n_features):
        own = np.int64(bins[one, row])
        n_docs[one, own] += 1
        seen[firsts[one, one] + own] |= bit
        if pairs:
            for other in range(one + 1, n_features):
                seen[firsts[one, other] + own * n_bins[other] + bins[other, row]] |= bit


@compiled
def count_rows(
    bins: Array, firsts: Array, n_bins: Array, seen: Array, n_docs: Array, rows: Array, pairs: bool,
    n_rules: Array, projection: Array,
) -> None:  # fmt: skip
    """Write the counts of some rows: pair by pair, so that the cells of one pair stay near."""
    n_features = bins.shape[0]
    own = np.empty((n_features, rows.size), np.uint8)
    for feature in range(n_features):
        for i in range(rows.size):
            own[feature, i] = bins[feature, rows[i]]
    rules = np.zeros(rows.size, np.int64)
    shared = np.zeros(rows.size, np.int64)
    for one in range(n_features):
        first = firsts[one, one]
        for i in range(rows.size):
            shared[i] += n_docs[one, own[one, i]]
            rules[i] += popcount(np.uint64(seen[first + own[one, i]]))
        if pairs:
            for other in range(one + 1, n_features):
                first = firsts[one, other]
                width = n_bins[other]
                for i in range(rows.size):
                    rules[i] += popcount(np.uint64(seen[first + own[one, i] * width + own[other, i]]))
    for i in range(rows.size):
        n_rules[rows[i]] = rules[i]
        projection[rows[i]] = shared[i]


@compiled
def replay_labels(
    bins: Array, firsts: Array, n_bins: Array, seen: Array, n_docs: Array, common: Array,
    block_rows: Array, starts: Array, block_of: Array, n_labelled: Array, labelled: Array, open: Array,
    rows: Array, grades: Array, pairs: bool, n_rules: Array, projection: Array, found: Array,
) -> int:  # fmt: skip
    """Add labels as `GroupRun.add` does, settling before each but the first; return whose turn it is.

    block_rows  int64[n_rows]    the rows of one block after the other, from starts[block] to starts[block + 1]
    n_labelled  int64[n_blocks]  labelled rows of each block
    found       int64[n_labels]  how many rules each row had when its turn came
    """
    n_blocks = starts.size - 1
    turn = 0
    for i in range(rows.size):
        # a single block is opened again by every label: nothing is kept of a look into it
        if i > 0 and n_blocks > 1:
            for step in range(n_blocks):
                block = (turn + step) % n_blocks
                if open[block]:
                    candidates = block_rows[starts[block] : starts[block + 1]]
                    count_rows(bins, firsts, n_bins, seen, n_docs, candidates, pairs, n_rules, projection)
                    if not labelled[first_of(candidates, n_rules, projection, common)]:
                        break
                    open[block] = False
        count_rows(bins, firsts, n_bins, seen, n_docs, rows[i : i + 1], pairs, n_rules, projection)
        found[i] = n_rules[rows[i]]
        mark_row(bins, firsts, n_bins, seen, n_docs, rows[i], grades[i], pairs)
        labelled[rows[i]] = True
        block = block_of[rows[i]]
        n_labelled[block] += 1
        if n_blocks == 1:
            open[0] = True
        turn = block if n_labelled[block] == 1 else (block + 1) % n_blocks
    return turn
