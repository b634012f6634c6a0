"""What there is to show, in no format yet: sentences and tables, which the terminal, Markdown and HTML render."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bar:
    """A number among others, with its sign unless it is a size: shown with a bar where there is room for one."""

    value: float
    largest: float  # of all such numbers, without sign
    signed: bool = True

    def __str__(self) -> str:
        return f"{self.value:{'+' if self.signed else ''}.{digits_for(self.largest)}f}"

    @property
    def length(self) -> float:
        """From 0 to 1."""
        return min(1.0, abs(self.value) / self.largest) if self.largest else 0.0


Cell = str | Bar


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; the first n_left columns hold words, the others numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_left: int = 1
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences under a title."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A title, what matters most in a sentence or two, and the rest."""

    title: str
    lead: tuple[str, ...]
    blocks: tuple[Table | Sentences, ...]


def bars(values: Iterable[float], *, signed: bool = True) -> list[Bar]:
    """Return numbers that are shown side by side.

    >>> [str(bar) for bar in bars([0.25, -0.5])]
    ['+0.250', '-0.500']
    """
    numbers = list(values)
    largest = max(map(abs, numbers), default=0.0)
    return [Bar(number, largest, signed) for number in numbers]


def digits_for(largest: float) -> int:
    """Return how many decimals show three digits of the largest number, and at least two of small ones.

    >>> digits_for(0.5), digits_for(0.004), digits_for(250.0)
    (3, 5, 1)
    """
    if not largest:
        return 3
    return min(9, max(1, 2 - math.floor(math.log10(largest))))


def shown(score: float) -> str:
    """Return a score as it stands in a sentence.

    >>> shown(0.60412), shown(-12.3456)
    ('0.604', '-12.35')
    """
    return f"{score:.{max(2, min(3, digits_for(abs(score) or 1.0)))}f}"


def only(text: str, name: str) -> str:
    """Return what a text says beyond the feature's name.

    >>> only("bm25 >= 0.3", "bm25"), only("f1=2", "f1")
    ('>= 0.3', '= 2')
    """
    rest = text.removeprefix(name).strip(" :")
    return f"= {rest[1:]}" if rest.startswith("=") and rest[1:2] != " " else rest
