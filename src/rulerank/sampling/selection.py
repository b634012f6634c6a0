"""Which row to label next, given the labels so far: the state behind `SSAR.select` and the judging page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from typing import Any, Self

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.dataset import MAX_GRADE, Array
from rulerank.errors import DataError
from rulerank.sampling.group_run import GroupRun
from rulerank.sampling.replay import can_replay, replay

MANY = 64  # labels that are cheaper to learn together than one by one


class Selection:
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
        self._runs = runs
        self._at_work = 0
        self._grades: dict[int, int] = {}
        self._n_rules: list[int] = []
        self._next: int | None = None
        self._settle()

    @property
    def order(self) -> Array:
        """The labelled rows in the order they were added, int64."""
        return np.array([*self._grades], dtype=np.int64)

    @property
    def grades(self) -> Array:
        """The grade of each row of `order`, int16."""
        return np.array([*self._grades.values()], dtype=np.int16)

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
        twin = copy(self)
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
