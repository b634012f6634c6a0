"""What a report is made of, whatever it is rendered as."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WORDS = ("learned from", "source", "reason", "in the paper")  # columns of words wherever they stand


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a table."""

    text: str
    value: float | None = None  # to sort by
    strong: bool = False
    mark: str = ""  # an arrow after the figure
    about: str = ""  # shown when pointed at

    def __str__(self) -> str:
        return f"{self.text}{' ' if self.mark else ''}{self.mark}"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of entries under a header; the note says how the figures came about."""

    key: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    note: str
    n_left: int = 1  # columns of words
    groups: tuple[str, ...] = ()  # of each row

    @property
    def marked(self) -> set[int]:
        """The columns that have marks, for which every entry leaves room."""
        return {place for row in self.rows for place, entry in enumerate(row) if entry.mark}

    def is_words(self, place: int) -> bool:
        """Tell whether a column holds words."""
        return place < self.n_left or self.header[place] in WORDS


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing as SVG, and in words what it shows."""

    key: str
    title: str
    svg: str
    about: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, some words, and what belongs under it."""

    key: str
    title: str
    about: str
    parts: tuple[Table | Picture, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All that is told about an experiment."""

    title: str
    sentence: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]


def figure_entry(
    value: float, digits: int = 4, *, strong: bool = False, mark: str = "", about: str = "", signed: bool = False
) -> Entry:
    """Return a number as an entry; NaN is a dash.

    >>> str(figure_entry(0.45678, strong=True, mark="▲")), str(figure_entry(float("nan")))
    ('0.4568 ▲', '–')
    """
    if math.isnan(value):
        return Entry("–", None, about=about)
    return Entry(f"{value:{'+z' if signed else ''}.{digits}f}", float(value), strong, mark, about)


def p_entry(p: float) -> Entry:
    """Return a p-value, strong where it is below 0.05.

    >>> p_entry(0.00002).text, p_entry(0.04).strong
    ('<0.0001', True)
    """
    if math.isnan(p):
        return Entry("–", None)
    return Entry("<0.0001" if p < 0.0001 else f"{p:.4f}", p, strong=p < 0.05)


def words(*texts: str) -> tuple[Entry, ...]:
    return tuple(Entry(text) for text in texts)


def joined(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    >>> joined(["a", "b", "c"]), joined(["a"])
    ('a, b and c', 'a')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
