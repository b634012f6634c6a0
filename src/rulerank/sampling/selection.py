"""Which row to label next, given the labels so far: the state behind `select` of the samplers and behind judging.

A `Selection` asks for one label after the other; each of its groups of features is a `GroupRun`. `Chooser` serves
people, whose labels arrive in any order and may be withdrawn: the one place where a sampler unlearns.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from rulerank._util.parameters import HasParameters, is_whole
from rulerank.dataset import MAX_GRADE, Array, Dataset
from rulerank.errors import DataError
from rulerank.sampling.rule_counts import RuleCounts


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
        if budget is not None and not is_whole(budget, 0):
            raise DataError(f"budget must be a whole number from 0, or None for no limit: got {budget!r}")
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
        for row, grade in grades.items():
            if row not in self._told:
                self.add(row, grade)

    @property
    def closeness(self) -> float:
        """How near the stop is, from 0 to 1."""
        return float(self._selection.closeness)
