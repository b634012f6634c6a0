"""Items and rules: what a person reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rulerank.core.arrays import Array

if TYPE_CHECKING:
    from rulerank.rules.engine import Engine

ItemText = Callable[[int, int], str]  # (feature, bin) -> what a person reads


@dataclass(frozen=True, slots=True)
class Item:
    """One feature lies in one bin.

    >>> print(Item(0, 2, "BM25 in [0.36, 0.55)"))
    BM25 in [0.36, 0.55)
    >>> print(Item(3, 1))
    f4=1
    """

    feature: int
    bin: int
    text: str = ""

    def __str__(self) -> str:
        return self.text or f"f{self.feature + 1}={self.bin}"


@dataclass(frozen=True, slots=True)
class Rule:
    """If every item holds, the document has this grade.

    >>> rule = Rule((Item(0, 2, "BM25 in [0.36, 0.55)"), Item(1, 0, "tf < 0.28")), grade=0, hits=17, covered=20)
    >>> print(rule)
    BM25 in [0.36, 0.55) & tf < 0.28 -> 0 (17 of 20)
    >>> rule.confidence
    0.85
    """

    items: tuple[Item, ...]
    grade: int
    hits: int  # training rows where the items and the grade hold
    covered: int  # training rows where the items hold

    @property
    def confidence(self) -> float:
        return self.hits / self.covered

    def __str__(self) -> str:
        return f"{' & '.join(map(str, self.items))} -> {self.grade} ({self.hits} of {self.covered})"


class RuleBook(Sequence[Rule]):
    """The rules of an engine, made when looked at: smaller antecedents first, then by features, bins and grade."""

    def __init__(self, engine: Engine, item_text: ItemText) -> None:
        self._counts = engine.counts.grades
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
