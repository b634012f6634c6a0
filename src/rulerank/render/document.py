"""What there is to show, in no format yet: sentences, tables, figures, and sections of them.

The terminal, Markdown, LaTeX and HTML render a `Page`; explanations and reports build one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rulerank._util.words import counted

DASH = "–"  # where a number is missing


@dataclass(frozen=True, slots=True)
class Bar:
    """A number among others, with its sign unless it is a size: shown with a bar where there is room for one."""

    value: float
    largest: float  # of all such numbers, without sign
    signed: bool = True
    text: str = ""  # as it is printed, where that is not its own rounding

    def __str__(self) -> str:
        return self.text or f"{self.value:{'+' if self.signed else ''}.{digits_for(self.largest)}f}"

    @property
    def length(self) -> float:
        """From 0 to 1."""
        return min(1.0, abs(self.value) / self.largest) if self.largest else 0.0

    def span(self, *, both: bool) -> tuple[float, float]:
        """Return where the bar begins and how long it is, from 0 to 1; both: zero is in the middle.

        >>> Bar(-2.0, 4.0).span(both=True), Bar(4.0, 4.0).span(both=True), Bar(4.0, 4.0).span(both=False)
        ((0.25, 0.25), (0.5, 0.5), (0.0, 1.0))
        """
        if not both:
            return 0.0, self.length
        return (0.5 if self.value >= 0 else 0.5 - self.length / 2), self.length / 2


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with more to it than its letters."""

    text: str
    value: float | None = None  # to sort by
    strong: bool = False
    mark: str = ""  # an arrow after the figure
    about: str = ""  # shown when pointed at

    def __str__(self) -> str:
        return f"{self.text}{' ' if self.mark else ''}{self.mark}"


Content = str | Bar | Cell  # of one place in a table


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; the first n_left columns hold words, the others numbers, except where `words` names them."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Content, ...], ...]
    n_left: int = 1
    note: str = ""
    key: str = ""  # names it among others
    words: tuple[str, ...] = ()  # columns further right that hold words
    stack: bool = False  # on a phone, show the columns of a row below each other, as in a table outside of a section

    def is_words(self, place: int) -> bool:
        """Tell whether a column holds words."""
        return place < self.n_left or self.header[place] in self.words

    def without(self, *places: int) -> Table:
        """Return the table without some of its columns."""
        kept = [place for place in range(len(self.header)) if place not in places]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        n_left = self.n_left - sum(place < self.n_left for place in places)
        return replace(self, header=tuple(self.header[place] for place in kept), rows=rows, n_left=n_left)

    @property
    def word_places(self) -> set[int]:
        """The columns that hold words."""
        return {place for place in range(len(self.header)) if self.is_words(place)}

    @property
    def marked(self) -> set[int]:
        """The columns that have marks, for which every cell leaves room."""
        cells = ((place, content) for row in self.rows for place, content in enumerate(row))
        return {place for place, content in cells if isinstance(content, Cell) and content.mark}

    @property
    def diverging(self) -> set[int]:
        """The columns whose bars go both ways from zero."""
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
    """A heading, some words, and what belongs under it."""

    title: str
    parts: tuple[Table | Sentences | Picture, ...]
    about: str = ""
    key: str = ""  # to link to it


Block = Table | Sentences | Picture | Section


@dataclass(frozen=True, slots=True)
class Page:
    """A title, what matters most in a sentence or two, and the rest."""

    title: str
    lead: tuple[str, ...]
    blocks: tuple[Block, ...]
    facts: tuple[tuple[str, str], ...] = ()  # names and values at a glance
    footer: str = ""
    sortable: bool = False  # in HTML, a click on a column's title sorts by it; that takes a script

    def in_words(self) -> Iterator[tuple[int, Table | Sentences | Section]]:
        """Yield what formats without pictures show, in order, with the depth of each heading; sections come first.

        A section of nothing but pictures is left out.
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
    """Return numbers that are shown side by side.

    >>> [str(bar) for bar in bars([0.25, -0.5])]
    ['+0.250', '-0.500']
    """
    numbers = list(values)
    largest = max(map(abs, numbers), default=0.0)
    return [Bar(number, largest, signed) for number in numbers]


def summed(parts: Iterable[float], total: int, digits: int) -> list[Bar]:
    """Return the parts of a sum, printed such that they add up to the printed total exactly.

    Where the rounded parts do not, the last digit of those nearest to the other side is one more or one less.

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
    """Return the parts of a sum as rows that end in their numbers, as `summed` has them; the last of many as one.

    rest: what one of the others is called.

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
    """Return with how many decimals a sum is printed: three digits of its largest part, and two of what they make up.

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
