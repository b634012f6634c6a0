"""Which row to label next, given the labels so far: the state behind `SSAR.select`, `Strata.select` and the judging.

A `Selection` asks for one label after the other; each of its groups of features is a `GroupRun`. Many labels at once
are replayed: what adding them one by one would lead to, without counting every row after each of them. `Chooser` serves
people, whose labels arrive in any order and may be withdrawn: the one place where a sampler unlearns.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from rulerank.core.checks import is_whole
from rulerank.core.compiled import compiled
from rulerank.core.parameters import HasParameters
from rulerank.core.threads import in_blocks
from rulerank.dataset import MAX_GRADE, Array, Dataset
from rulerank.errors import DataError
from rulerank.sampling.rule_counts import ROWS_PER_THREAD, RuleCounts, first_of, popcount

MANY = 64  # labels that are cheaper to learn together than one by one
MAX_CELLS = 1 << 23  # pairs of items: 32 MiB; features of few bins need far less
ROWS_AT_ONCE = 1024  # whose bins and counts stay in the nearest cache
STEP = 16  # labels between two snapshots
KEPT = 3  # snapshots, the one without labels among them


class Sampler(HasParameters, BaseEstimator):
    """Base of the samplers: `begin` says which rows to ask for, `select` asks."""

    order_: Array
    grades_: Array
    stop_: str

    @abstractmethod
    def begin(self, X: Any, qid: Any = None, start: Any = None) -> Any:
        """Return the state that names one row after the other, for callers who cannot wait for a grade."""

    def select(
        self, X: Any, ask: Callable[[int], Any], qid: Any = None, *, budget: int | None = None, start: Any = None
    ) -> Array:
        """Ask for one grade after the other and return the labelled rows in order, those of start first.

        ask(row) returns the grade of a row of X. budget is the most grades to ask for. start holds labels that are
        there already, {row: grade} or (rows, grades) in the order they were given; what follows is what would have
        followed without the break. When ask raises an error, order_ and grades_ keep what it answered.
        """
        selection = self.begin(X, qid, start)
        self.stop_ = "interrupted"
        try:
            self.stop_ = ask_all(selection, ask, budget)
        finally:
            self._take(selection)
        return self.order_

    def _take(self, selection: Any) -> None:
        self.order_, self.grades_ = selection.order, selection.grades


class LabelledRows:
    """The rows that were labelled, in the order they were added."""

    def __init__(self) -> None:
        self._grades: dict[int, int] = {}

    @property
    def order(self) -> Array:
        """The labelled rows in the order they were added, int64."""
        return np.array([*self._grades], dtype=np.int64)

    @property
    def grades(self) -> Array:
        """The grade of each row of `order`, int16."""
        return np.array([*self._grades.values()], dtype=np.int16)


def ask_all(selection: Any, ask: Callable[[int], Any], budget: int | None) -> str:
    """Ask for the grades of the rows that a selection names, until it stops or the budget is used up; say which."""
    if budget is not None and not is_whole(budget, 0):
        raise DataError(f"budget must be a whole number from 0, or None for no limit: got {budget!r}")
    if not callable(ask):
        raise DataError(f"ask must be a function that takes a row and returns its grade: got {ask!r}")
    n_asked = 0
    while (row := selection.next()) is not None and n_asked != budget:
        selection.add(row, ask(row))
        n_asked += 1
    return "natural" if row is None else "budget"


def check_label(row: Any, grade: Any, n_rows: int, known: Mapping[int, int]) -> tuple[int, int]:
    """Return the row and the grade of a new label as plain numbers, or say what is wrong with them."""
    if not is_whole(row, 0, n_rows - 1):
        raise DataError(f"a row must be a whole number from 0 to {n_rows - 1}: got {row!r}")
    row = int(row)
    if row in known:
        raise DataError(f"row {row} is labelled already, with grade {known[row]}")
    try:
        number = float(grade)
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if not (number.is_integer() and 0 <= number <= MAX_GRADE):
        raise DataError(f"a grade must be a whole number from 0 to {MAX_GRADE}: got {grade!r} for row {row}")
    return row, int(number)


def labels_of(start: Any) -> list[tuple[Any, Any]]:
    """Return labels given as {row: grade} or (rows, grades) as pairs in order."""
    if start is None:
        return []
    if isinstance(start, Mapping):
        return list(start.items())
    try:
        rows, grades = (np.asarray(part).tolist() for part in start)
        return list(zip(rows, grades, strict=True))
    except (TypeError, ValueError):
        raise DataError(
            f"start must be {{row: grade}}, or the rows and as many grades, (rows, grades): got {str(start)[:60]}"
        ) from None


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
        twin = copy.copy(self)
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


class Selection(LabelledRows):
    """Names one row after the other; `SSAR.begin` makes it.

    Everything follows from the labels in the order they were added, so beginning again with the same labels leads to
    the same place. The groups of features (partitions) work one after the other, each from no labels at all: a label
    goes to the group at work when it comes, and a later group takes over the grades of rows it would ask for again.

    >>> import rulerank as rr
    >>> selection = rr.SSAR(max_size=1, discretizer=None).begin([[0, 0], [0, 1], [1, 2]])
    >>> selection.next()
    0
    >>> selection.add(0, grade=1)
    >>> selection.next(), selection.next(skip=[2])
    (2, 1)
    """

    def __init__(self, runs: list[GroupRun]) -> None:
        super().__init__()
        self._runs = runs
        self._at_work = 0
        self._n_rules: list[int] = []
        self._next: int | None = None
        self._settle()

    @property
    def n_rules(self) -> Array:
        """How many rules each row of `order` had when it was added, int64."""
        return np.array(self._n_rules, dtype=np.int64)

    @property
    def closeness(self) -> float:
        """How close the natural stop is, from 0 to 1, which means reached.

        The fewest rules of an unlabelled row against one more than the fewest of a labelled one; the mean of that over
        partitions, and over queries when they are visited in turn.
        """
        return float(np.mean([run.closeness for run in self._runs]))

    def next(self, skip: Collection[int] = ()) -> int | None:
        """Return the row to label next, never one in skip; None when the stop is reached or all is skipped.

        Asking changes nothing: the same labels and the same skip give the same answer.
        """
        if self._next is None or self._next not in skip:
            return self._next
        return self._next_without(skip)

    def add(self, row: int, grade: Any) -> None:
        """Learn the grade of a row, whether or not `next` named it."""
        self._at_work = min(self._at_work, len(self._runs) - 1)
        run = self._runs[self._at_work]
        n_rows = run.labelled.size
        row, grade = check_label(row, grade, n_rows, self._grades)
        self._grades[row] = grade
        self._n_rules.append(int(run.counts.n_rules[row]))
        run.add(row, grade)
        self._settle()

    def add_all(self, labels: Collection[tuple[Any, Any]]) -> None:
        """Learn many labels, with the same outcome as adding them in this order, and much faster where they are many.

        >>> import rulerank as rr
        >>> selection = rr.SSAR(discretizer=None).begin([[0, 0], [0, 1], [1, 2]])
        >>> selection.add_all([(0, 1), (2, 0)])
        >>> selection.next(), selection.n_rules.tolist()
        (1, [0, 0])
        """
        run = self._runs[0]
        if len(labels) < MANY or len(self._runs) > 1 or not can_replay(run):
            for row, grade in labels:
                self.add(row, grade)
            return
        n_before = len(self._grades)
        known = dict(self._grades)
        for row, grade in labels:
            row, grade = check_label(row, grade, run.labelled.size, known)
            known[row] = grade
        rows, grades = (np.array([*part], dtype=np.int64)[n_before:] for part in (known, known.values()))
        self._n_rules += replay(run, rows, grades).tolist()
        self._grades = known
        self._at_work = 0
        self._settle()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a selection that goes its own way from here; it shares what never changes, such as the bins."""
        twin = copy.copy(self)
        twin._runs = [run.copy() for run in self._runs]
        twin._grades, twin._n_rules = self._grades.copy(), self._n_rules.copy()
        return twin

    def _settle(self) -> None:
        """Find the next row, on the way handing known grades to the groups that would ask for them."""
        self._next = None
        while self._at_work < len(self._runs):
            run = self._runs[self._at_work]
            row = run.settle()
            if row is None:
                self._at_work += 1
            elif row in self._grades:
                run.add(row, self._grades[row])
            else:
                self._next = row
                return

    def _next_without(self, skip: Collection[int]) -> int | None:
        """Look ahead on copies: what is skipped now may be labelled later."""
        run = self._runs[self._at_work]
        skipped = np.zeros(run.labelled.size, dtype=np.bool_)
        skipped[[row for row in skip if 0 <= row < skipped.size and row not in self._grades]] = True
        for run in self._runs[self._at_work :]:
            ahead = run
            while (row := ahead.pick(skipped)) is not None:
                if row not in self._grades:
                    return row
                ahead = run.copy() if ahead is run else ahead
                ahead.add(row, self._grades[row])
        return None


class Chooser:
    """Say which row to judge next, given all labels there are.

    A sampler cannot unlearn. Withdrawn labels are mostly among the latest, so a recent snapshot is taken up again and
    told what has come since. A grade that is revised later is not told again: the order was made for the first one.

    >>> import numpy as np, rulerank as rr
    >>> sampler = rr.SSAR(max_size=1, discretizer=None)
    >>> chooser = Chooser(sampler, Dataset([[0, 0], [0, 1], [1, 2]], y=[-1, -1, -1], qid=["q", "q", "q"]))
    >>> chooser.add(0, grade=1)
    >>> chooser.next()
    2
    >>> chooser.undo()
    0
    >>> chooser.next()
    0
    """

    def __init__(self, sampler: Any, data: Dataset) -> None:
        self._selection = sampler.begin(data)
        self._told: dict[int, int] = {}
        self._snapshots = [self._snapshot()]

    def next(self, skip: Collection[int] = ()) -> int | None:
        """Return the row to judge next, never one in skip; None when the sampler stops or all is skipped."""
        row = self._selection.next(skip)
        return None if row is None else int(row)

    def add(self, row: int, grade: int) -> None:
        """Learn the grade of a row that has none yet."""
        self._selection.add(row, grade)
        self._told[row] = grade
        if len(self._told) % STEP == 0:
            self._take_snapshot()

    def undo(self) -> int | None:
        """Forget the label that was learned last and return its row; None: there is none."""
        if not self._told:
            return None
        *kept, (row, _) = self._told.items()
        self.tell(dict(kept))
        return row

    def tell(self, grades: Mapping[int, int]) -> None:
        """Learn all labels, in the order they were given: new ones are added, and those not among them forgotten."""
        if not self._told.keys() <= grades.keys():
            while not self._snapshots[-1][0].keys() <= grades.keys():
                self._snapshots.pop()
            told, selection = self._snapshots[-1]
            self._told, self._selection = dict(told), copy.deepcopy(selection)
        n_new = len(grades) - len(self._told)
        new = islice((row for row in reversed([*grades]) if row not in self._told), n_new)  # mostly the last
        self._add_all([(row, grades[row]) for row in reversed([*new])])

    def _add_all(self, labels: list[tuple[int, int]]) -> None:
        """Add labels one by one, or where they are many all but the last together: the same snapshots are left."""
        n_together = (len(self._told) + len(labels)) // STEP * STEP - STEP - len(self._told)
        if n_together >= MANY and isinstance(self._selection, Selection):
            self._selection.add_all(labels[:n_together])
            self._told.update(labels[:n_together])
            self._take_snapshot()
            labels = labels[n_together:]
        for row, grade in labels:
            self.add(row, grade)

    def _take_snapshot(self) -> None:
        self._snapshots.append(self._snapshot())
        del self._snapshots[1 : len(self._snapshots) - KEPT + 1]

    @property
    def closeness(self) -> float:
        """How near the stop is, from 0 to 1."""
        return float(self._selection.closeness)

    def _snapshot(self) -> tuple[dict[int, int], Any]:
        return dict(self._told), copy.deepcopy(self._selection)


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
