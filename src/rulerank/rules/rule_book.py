"""All rules of a model, made one by one when looked at: there may be millions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from rulerank.dataset import Array
from rulerank.rules.engine import Engine
from rulerank.rules.rule import Item, Rule

ItemText = Callable[[int, int], str]  # (feature, bin) -> what a person reads


class RuleBook(Sequence[Rule]):
    """The rules of an engine, smaller antecedents first, then by features, bins and grade."""

    def __init__(self, engine: Engine, item_text: ItemText) -> None:
        self._counts = engine.all_counts().grades
        self._layout = engine.layout
        self._item_text = item_text
        self._cells, self._grades = np.nonzero(self._counts >= engine.training.min_rows)

    def __len__(self) -> int:
        return int(self._cells.size)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> list[Rule]: ...
    def __getitem__(self, index: Any) -> Rule | list[Rule]:
        if isinstance(index, slice):
            return [self._rule(i) for i in range(*index.indices(len(self)))]
        return self._rule(range(len(self))[index])

    def __iter__(self) -> Iterator[Rule]:
        return map(self._rule, range(len(self)))

    def __repr__(self) -> str:
        return f"RuleBook({len(self):,} rules)"

    def _rule(self, number: int) -> Rule:
        cell, grade = int(self._cells[number]), int(self._grades[number])
        by_grade = self._counts[cell]
        block = next(block for block in self._layout.sets if cell < block.offsets[-1])
        row = int(np.searchsorted(block.offsets, cell, side="right")) - 1
        members = block.features[row]
        bins = np.unravel_index(cell - int(block.offsets[row]), self._layout.n_bins[members])
        items = describe_items(members, np.array(bins), self._item_text)
        return Rule(items, grade, int(by_grade[grade]), int(by_grade.sum()))


def describe_items(features: Array, bins: Array, item_text: ItemText) -> tuple[Item, ...]:
    """Make the items of an antecedent."""
    return tuple(Item(int(f), int(b), item_text(int(f), int(b))) for f, b in zip(features, bins, strict=True))
