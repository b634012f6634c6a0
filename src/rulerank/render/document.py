"""The page model, independent of the format: sentences, tables, bars, pictures and sections.

Explanations and reports build a `Page`; `text.py`, `latex.py` and `html.py` render it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rulerank._util.words import counted

DASH = "–"  # where a number is missing


@dataclass(frozen=True, slots=True)
class Bar:
    """A number with a bar, relative to the largest of its column; signed unless it is a size."""

    value: float
    largest: float  # absolute value in the column
    signed: bool = True
    text: str = ""  # printed instead of the rounded value

    def __str__(self) -> str:
        return self.text or f"{self.value:{'+' if self.signed else ''}.{digits_for(self.largest)}f}"

    @property
    def length(self) -> float:
        """From 0 to 1."""
        return min(1.0, abs(self.value) / self.largest) if self.largest else 0.0

    def span(self, *, both: bool) -> tuple[float, float]:
        """Return start and length of the bar, from 0 to 1; both: zero is in the middle.

        >>> Bar(-2.0, 4.0).span(both=True), Bar(4.0, 4.0).span(both=True), Bar(4.0, 4.0).span(both=False)
        ((0.25, 0.25), (0.5, 0.5), (0.0, 1.0))
        """
        if not both:
            return 0.0, self.length
        return (0.5 if self.value >= 0 else 0.5 - self.length / 2), self.length / 2


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with a style, a value to sort by and a tooltip."""

    text: str
    value: float | None = None  # to sort by
    strong: bool = False
    mark: str = ""  # an arrow after the number
    about: str = ""  # tooltip in HTML

    def __str__(self) -> str:
        return f"{self.text}{' ' if self.mark else ''}{self.mark}"


Content = str | Bar | Cell  # of one cell of a table


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; the first n_left columns and those in `words` are text, the others numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Content, ...], ...]
    n_left: int = 1
    note: str = ""
    key: str = ""  # its label in LaTeX
    words: tuple[str, ...] = ()  # other columns of text
    stack: bool = False  # on a phone, show the columns of a row below each other, as in a table outside of a section

    def is_words(self, place: int) -> bool:
        """Return whether a column is text."""
        return place < self.n_left or self.header[place] in self.words

    def without(self, *places: int) -> Table:
        """Return the table without some of its columns."""
        kept = [place for place in range(len(self.header)) if place not in places]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        n_left = self.n_left - sum(place < self.n_left for place in places)
        return replace(self, header=tuple(self.header[place] for place in kept), rows=rows, n_left=n_left)

    @property
    def word_places(self) -> set[int]:
        """The columns of text."""
        return {place for place in range(len(self.header)) if self.is_words(place)}

    @property
    def marked(self) -> set[int]:
        """The columns with marks, where every cell leaves room for one."""
        cells = ((place, content) for row in self.rows for place, content in enumerate(row))
        return {place for place, content in cells if isinstance(content, Cell) and content.mark}

    @property
    def diverging(self) -> set[int]:
        """The columns with positive and negative bars."""
        cells = ((place, content) for row in self.rows for place, content in enumerate(row))
        return {place for place, content in cells if isinstance(content, Bar) and content.signed and content.value < 0}


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences under a title."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing as SVG for HTML, and what it shows in words."""

    title: str
    svg: str
    about: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, an introduction, and parts."""

    title: str
    parts: tuple[Table | Sentences | Picture, ...]
    about: str = ""
    key: str = ""  # to link to it


Block = Table | Sentences | Picture | Section


@dataclass(frozen=True, slots=True)
class Page:
    """A title, a summary of a sentence or two, and blocks."""

    title: str
    lead: tuple[str, ...]
    blocks: tuple[Block, ...]
    facts: tuple[tuple[str, str], ...] = ()  # key figures: names and values
    footer: str = ""
    sortable: bool = False  # in HTML, a click on a column's title sorts by it; that takes a script

    def in_words(self) -> Iterator[tuple[int, Table | Sentences | Section]]:
        """Yield the blocks without pictures, in order, with the heading level of each; a section before its parts.

        A section that has only pictures is left out.
        """
        for block in self.blocks:
            if not isinstance(block, Section):
                if not isinstance(block, Picture):
                    yield 2, block
                continue
            parts = [part for part in block.parts if not isinstance(part, Picture)]
            if parts:
                yield 2, block
            for part in parts:
                yield 3, part


def bars(values: Iterable[float], *, signed: bool = True) -> list[Bar]:
    """Return numbers of one column as bars.

    >>> [str(bar) for bar in bars([0.25, -0.5])]
    ['+0.250', '-0.500']
    """
    numbers = list(values)
    largest = max(map(abs, numbers), default=0.0)
    return [Bar(number, largest, signed) for number in numbers]


def summed(parts: Iterable[float], total: int, digits: int) -> list[Bar]:
    """Return the parts of a sum, rounded so that the printed parts sum exactly to the printed total.

    If the rounded parts do not, the last digit of those closest to the next value is changed by one.

    total: in units of the last digit, as `units` has it.

    >>> [str(bar) for bar in summed([1 / 3, 1 / 3, 1 / 3], units(1.0, 2), 2)]
    ['+0.34', '+0.33', '+0.33']
    """
    values = list(parts)
    printed = [units(value, digits) for value in values]
    off = total - sum(printed)
    step = 1 if off > 0 else -1
    nearest = sorted(range(len(values)), key=lambda place: step * (printed[place] - values[place] * 10**digits))
    for place in nearest[: abs(off)]:
        printed[place] += step
    largest = max(map(abs, values), default=0.0)
    return [
        Bar(value, largest, text=in_digits(own, digits, signed=True))
        for value, own in zip(values, printed, strict=True)
    ]


def summed_rows(
    parts: Sequence[tuple[tuple[Content, ...], float]], total: int, digits: int, most: int, rest: str
) -> list[tuple[Content, ...]]:
    """Return the parts of a sum as table rows, rounded by `summed`; the parts after `most` are one row.

    rest: what one of these is called.

    >>> for row in summed_rows([(("bm25",), 0.5), (("age",), 0.25), (("length",), 0.25)], 10, 1, 1, "other feature"):
    ...     print(*row)
    bm25 +0.5
    2 other features +0.5
    """
    first = list(parts if len(parts) <= most + 1 else parts[:most])
    left = parts[len(first) :]
    if left:
        name = counted(len(left), rest)
        first.append(((name, *[""] * (len(parts[0][0]) - 1)), sum(adds for _, adds in left)))
    numbers = summed((adds for _, adds in first), total, digits)
    return [(*cells, number) for (cells, _), number in zip(first, numbers, strict=True)]


def units(value: float, digits: int) -> int:
    """Return a number as it is printed, in units of its last digit.

    >>> units(0.6047, 3), units(-12.0, 2)
    (605, -1200)
    """
    return int(f"{value:.{digits}f}".replace(".", ""))


def in_digits(number: int, digits: int, *, signed: bool = False) -> str:
    """Return a number of units of the last digit as it is printed.

    >>> in_digits(605, 3), in_digits(12, 2, signed=True)
    ('0.605', '+0.12')
    """
    return f"{number / 10**digits:{'+' if signed else ''}.{digits}f}"


def sum_digits(parts: Iterable[float], *totals: float) -> int:
    """Return the number of decimals for a sum: three digits of its largest part, and two of the totals.

    At least two decimals, three below 10: there may be small parts.

    >>> sum_digits([0.5, -0.4], 0.1), sum_digits([25.0], 25.0), sum_digits([0.5, -0.4999], 0.0001)
    (3, 2, 5)
    """
    largest = max(map(abs, parts), default=0.0)
    known = [digits_for(abs(total)) - 1 for total in totals if abs(total) > 1e-6]
    return max(3 if largest < 10 else 2, digits_for(largest), *known)


def number_cell(
    value: float, digits: int = 4, *, strong: bool = False, mark: str = "", about: str = "", signed: bool = False
) -> Cell:
    """Return a number as a cell; NaN is a dash.

    >>> str(number_cell(0.45678, strong=True, mark="▲")), str(number_cell(float("nan")))
    ('0.4568 ▲', '–')
    """
    if math.isnan(value):
        return Cell(DASH, None, about=about)
    return Cell(f"{value:{'+z' if signed else ''}.{digits}f}", float(value), strong, mark, about)


def cells(*texts: str) -> tuple[Cell, ...]:
    """Return texts as cells."""
    return tuple(Cell(text) for text in texts)


def digits_for(largest: float) -> int:
    """Return the number of decimals that shows three digits of the largest number.

    >>> digits_for(0.5), digits_for(0.004), digits_for(250.0)
    (3, 5, 1)
    """
    if not largest:
        return 3
    return min(9, max(1, 2 - math.floor(math.log10(largest))))


def shown(score: float) -> str:
    """Return a score as text for a sentence.

    >>> shown(0.60412), shown(-12.3456)
    ('0.604', '-12.35')
    """
    return f"{score:.{max(2, min(3, digits_for(abs(score) or 1.0)))}f}"


def only(text: str, name: str) -> str:
    """Return a condition without the name of its feature.

    >>> only("bm25 >= 0.3", "bm25"), only("f1=2", "f1")
    ('>= 0.3', '= 2')
    """
    rest = text.removeprefix(name).strip(" :")
    return f"= {rest[1:]}" if rest.startswith("=") and rest[1:2] != " " else rest
