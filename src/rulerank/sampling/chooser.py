"""The sampler's order as labels come and go: the one place where a sampler unlearns."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

from rulerank.dataset import Dataset
from rulerank.sampling.selection import MANY, Selection

STEP = 16  # labels between two snapshots
KEPT = 3  # snapshots, the one without labels among them


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
