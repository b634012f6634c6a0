"""Items and rules: what a person reads."""

from __future__ import annotations

from dataclasses import dataclass


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
