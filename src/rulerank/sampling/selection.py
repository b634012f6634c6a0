"""Which row to label next, given the labels so far: the state behind `select` of the samplers and behind judging.

A `Selection` asks for one label after the other; each of its groups of features is a `GroupRun`. Many labels at once
are replayed: what adding them one by one would lead to, without counting every row after each of them. `Chooser` serves
people, whose labels arrive in any order and may be withdrawn: the one place where a sampler unlearns.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from rulerank._util.estimator import Estimator
from rulerank._util.loops import compiled, in_blocks
from rulerank._util.parameters import HasParameters, is_whole
from rulerank.dataset import MAX_GRADE, Array, Dataset
from rulerank.errors import DataError
from rulerank.sampling.rule_counts import ROWS_PER_THREAD, RuleCounts, popcount

MANY = 64  # labels that are cheaper to learn together than one by one
MAX_CELLS = 1 << 23  # pairs of items: 32 MiB; features of few bins need far less
ROWS_AT_ONCE = 1024  # whose bins and counts stay in the nearest cache


class Sampler(HasParameters, Estimator):
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

        ask(row) returns the grade of a row of X. budget: maximum number of grades to ask for. start: labels that exist
        already, {row: grade} in the order in which they were given; the selection continues as if it had not been
        interrupted. If ask raises an error, order_ and grades_ keep the answers so far.
        """
        if budget is not None and not is_whole(budget, 0):
            raise DataError(f"budget must be an integer of at least 0, or None for no limit: got {budget!r}")
        if not callable(ask):
            raise DataError(f"ask must be a function that takes a row and returns its grade: got {ask!r}")
        selection = self.begin(X, qid, start)
        self.stop_, n_asked = "interrupted", 0
        try:
            while (row := selection.next()) is not None and n_asked != budget:
                selection.add(row, ask(row))
                n_asked += 1
            self.stop_ = "natural" if row is None else "budget"
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

    @abstractmethod
    def add(self, row: int, grade: Any) -> None:
        """Learn the grade of a row, whether or not `next` named it."""

    def add_all(self, labels: Collection[tuple[Any, Any]]) -> None:
        """Learn many labels, with the same outcome as adding them in this order."""
        for row, grade in labels:
            self.add(row, grade)


def check_label(row: Any, grade: Any, n_rows: int, known: Mapping[int, int]) -> tuple[int, int]:
    """Return the row and the grade of a new label as plain numbers, or say what is wrong with them."""
    if not is_whole(row, 0, n_rows - 1):
        raise DataError(f"a row must be an integer from 0 to {n_rows - 1}: got {row!r}")
    row = int(row)
    if row in known:
        raise DataError(f"row {row} is labelled already, with grade {known[row]}")
    try:
        number = float(grade)
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if not (number.is_integer() and 0 <= number <= MAX_GRADE):
        raise DataError(f"a grade must be an integer from 0 to {MAX_GRADE}: got {grade!r} for row {row}")
    return row, int(number)


def labels_of(start: Any) -> list[tuple[Any, Any]]:
    """Return labels given as {row: grade} as pairs, in order."""
    if start is not None and not isinstance(start, Mapping):
        raise DataError(f"start must be a dict, {{row: grade}}: got {str(start)[:60]}")
    return [*(start or {}).items()]


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

    def add(self, row: int, grade: int) -> None:
        """Learn one label; the turn goes on to the next block once the row's has two: one compares nothing."""
        self.counts.add(row, grade)
        self.labelled[row] = True
        if len(self.blocks) == 1:
            self.open[0] = True  # a label that nobody named may bring another row to the front
            return
        block = int(self.block_of[row])
        alone = self.labelled[self.blocks[block]].sum() == 1
        self.turn = block if alone else (block + 1) % len(self.blocks)

    def settle(self) -> int | None:
        """Close the blocks that are through and return the row to label next, None when the run is over."""
        for block in self._in_turn():
            row = self.counts.pick(self.blocks[block])
            if not self.labelled[row]:
                self.turn = block
                return row
            self.open[block] = False
        return None

    def pick(self, skipped: Array) -> int | None:
        """Return the row to label next if these rows, bool (n_rows,), were not there; nothing changes."""
        for block in self._in_turn():
            rows = self.blocks[block]
            rows = rows[~skipped[rows]]
            if rows.size and not self.labelled[row := self.counts.pick(rows)]:
                return row
        return None

    def _in_turn(self) -> Iterator[int]:
        """Yield the open blocks, from the one whose turn it is."""
        n_blocks, turn = len(self.blocks), self.turn
        return (block for step in range(n_blocks) if self.open[block := (turn + step) % n_blocks])

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
        if len(labels) < MANY or len(self._runs) > 1 or not can_look_up(run.counts):
            super().add_all(labels)
            return
        known = dict(self._grades)
        for row, grade in labels:
            row, grade = check_label(row, grade, run.labelled.size, known)
            known[row] = grade
        counts, tables = run.counts, GradeTables(run.counts)
        run.counts = tables
        for place, (row, grade) in enumerate(islice(known.items(), len(self._grades), None)):
            if place and len(run.blocks) > 1:  # a single block is opened again by every label
                run.settle()
            tables.count(np.array([row]))
            self._n_rules.append(int(counts.n_rules[row]))
            run.add(row, grade)
        tables.count_all()
        run.counts, self._grades, self._at_work = counts, known, 0
        self._settle()

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
                ahead = copy.deepcopy(run) if ahead is run else ahead
                ahead.add(row, self._grades[row])
        return None


class Chooser:
    """Say which row to judge next, given all labels there are.

    A sampler cannot unlearn: when labels are withdrawn, all others are learned anew. A grade that is revised later is
    not told again: the order was made for the first one.

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
        self._begun = sampler.begin(data)
        self._selection = copy.deepcopy(self._begun)
        self._told: dict[int, int] = {}

    def next(self, skip: Collection[int] = ()) -> int | None:
        """Return the row to judge next, never one in skip; None when the sampler stops or all is skipped."""
        row = self._selection.next(skip)
        return None if row is None else int(row)

    def add(self, row: int, grade: int) -> None:
        """Learn the grade of a row that has none yet."""
        self._selection.add(row, grade)
        self._told[row] = grade

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
            self._told, self._selection = {}, copy.deepcopy(self._begun)
        new = {row: grade for row, grade in grades.items() if row not in self._told}
        if isinstance(self._selection, LabelledRows):
            self._selection.add_all(new.items())
        else:  # of a custom sampler
            for row, grade in new.items():
                self._selection.add(row, grade)
        self._told |= new

    @property
    def closeness(self) -> float:
        """How near the stop is, from 0 to 1."""
        return float(self._selection.closeness)


def can_look_up(counts: RuleCounts) -> bool:
    """Tell whether rules are small enough, and their items few enough, to be looked up in a table."""
    return counts.max_size <= 2 and int(_n_bins(counts.bins).sum() ** 2) <= 2 * MAX_CELLS


class GradeTables(RuleCounts):
    """Stands in for counts, whose arrays it shares, while many labels are learned: only rows looked at are counted.

    firsts  int64[n_features, n_features]  where the cells of two features begin; on the diagonal those of one
    seen    uint32[n_cells]                bit g: a row of grade g has these items, one or two
    n_docs  int64[n_features, most bins]   how many labelled rows have an item
    """

    def __init__(self, counts: RuleCounts) -> None:
        self.__dict__.update(vars(counts))
        self.pairs = self.max_size == 2
        n_bins = _n_bins(self.bins)
        n_features = len(n_bins)
        firsts = np.zeros((n_features, n_features), dtype=np.int64)
        n_cells = 0
        for one in range(n_features):
            for other in range(one, n_features if self.pairs else one + 1):
                firsts[one, other] = n_cells
                n_cells += int(n_bins[one] * (1 if one == other else n_bins[other]))
        n_docs = np.zeros((n_features, int(n_bins.max())), dtype=np.int64)
        self.tables = (self.bins, firsts, n_bins, np.zeros(n_cells, dtype=np.uint32), n_docs)
        for grade, rows in self.labelled.items():
            for row in rows:
                mark_row(*self.tables, row, grade, self.pairs)

    def add(self, row: int, grade: int) -> None:
        mark_row(*self.tables, row, grade, self.pairs)
        self.labelled.setdefault(grade, []).append(row)

    def pick(self, rows: Array) -> int:
        self.count(rows)
        return super().pick(rows)

    def count(self, rows: Array) -> None:
        """Bring the counts of some rows up to date."""
        count_rows(*self.tables, rows, self.pairs, self.n_rules, self.projection)

    def count_all(self) -> None:
        """Bring the counts of all rows up to date."""

        def work(start: int, stop: int) -> None:
            for first in range(start, stop, ROWS_AT_ONCE):
                self.count(np.arange(first, min(first + ROWS_AT_ONCE, stop)))

        in_blocks(work, self.n_rules.size, self.n_jobs, ROWS_PER_THREAD)


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
