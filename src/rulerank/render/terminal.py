"""Pages for the terminal: drawn by Rich, or as aligned text."""

from __future__ import annotations

import itertools
import shutil
import textwrap
from typing import Any

from rulerank.render.document import Bar, Cell, Page, Section, Sentences, Table
from rulerank.render.tables import plain_table

WIDTH = 100  # of sentences and tables
NAME = 28  # letters of a first column that is broken last
EDGE = 3  # between columns that Rich draws
GAP = 2  # between columns
BAR = 12  # characters
LINE = "\N{BOX DRAWINGS HEAVY HORIZONTAL}"


def render_text(page: Page, width: int = WIDTH) -> str:
    """Write a page as aligned text, no wider than a terminal where that can be.

    >>> print(render_text(Page("Why", ("Because.",), (Table("Parts", ("feature", "adds"), (("bm25", "+0.2"),)),))))
    Why
    <BLANKLINE>
    Because.
    <BLANKLINE>
    Parts
    feature  adds
    bm25     +0.2
    """
    parts = [_wrapped(page.title), "\n".join(_wrapped(sentence) for sentence in page.lead)]
    parts += ["\n".join(f"{name}: {value}" for name, value in page.facts)] if page.facts else []
    for _, block in page.in_words():
        lines = [_wrapped(block.title)]
        if isinstance(block, Section):
            lines += [_wrapped(block.about)] if block.about else []
        elif isinstance(block, Sentences):
            lines += [_wrapped(sentence) for sentence in block.sentences]
        else:
            lines.append(text_table(block, width))
            lines += [_wrapped(block.note)] if block.note else []
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def text_table(block: Table, width: int = WIDTH) -> str:
    """Write a table as aligned text, words to the left.

    >>> print(text_table(Table("", ("a", "n", "why"), (("x", "10", "so"), ("yy", "9", "because")), words=("why",))))
    a    n  why
    x   10  so
    yy   9  because
    """
    rows = [[str(cell) for cell in row] for row in block.rows]
    return plain_table(block.header, fitted(block, rows, width), block.n_left, block.word_places)


def fitted(block: Table, rows: list[list[str]], width: int) -> list[list[str]]:
    """Break the longest columns of words into lines, until a table is no wider than the terminal.

    >>> table = Table("", ("why", "n"), (("so many words that they are too long", "1"),))
    >>> fitted(table, [[str(cell) for cell in row] for row in table.rows], 28)
    [['so many words that they', '1'], ['are too long', '']]
    """
    widths = widths_of(block, width, GAP, [len(name) for name in block.header])
    lines = []
    for row in rows:
        cells = [
            textwrap.wrap(cell, widths[place], break_on_hyphens=False) or [""]
            if place in block.word_places and len(cell) > widths[place]
            else [cell]
            for place, cell in enumerate(row)
        ]
        lines += [list(line) for line in itertools.zip_longest(*cells, fillvalue="")]
    return lines


def widths_of(block: Table, width: int, gap: int, least: list[int]) -> list[int]:
    """Return how wide columns are: numbers in one line, the widest columns of words narrower until all fit.

    least: of each column; words stay whole, too.
    """
    columns = [[str(row[place]) for row in block.rows] for place in range(len(block.header))]
    widths = [max([least[place], *map(len, column)]) for place, column in enumerate(columns)]
    words = [
        max([least[place], *(len(word) for cell in column for word in cell.split())])
        for place, column in enumerate(columns)
    ]
    while sum(widths) + gap * (len(widths) - 1) > width:
        wide = [place for place in block.word_places if widths[place] > words[place]]
        if not wide:
            break
        widths[max(wide, key=lambda place: (place > 0 or widths[0] > NAME, widths[place]))] -= 1
    return widths


def rich_page(page: Page) -> Any:
    """Draw a page with Rich."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Any] = [Text(page.title, style="bold"), *(Text(sentence) for sentence in page.lead)]
    parts += [*(Text(f"  {name}: {value}", style="dim") for name, value in page.facts), Text("")]
    for depth, block in page.in_words():
        parts.append(Text(block.title, style="bold cyan" if depth == 2 else "cyan"))
        if isinstance(block, Section):
            parts += [Text(f"  {block.about}")] if block.about else []
        elif isinstance(block, Sentences):
            parts += [Text(f"  {sentence}") for sentence in block.sentences]
        else:
            parts.append(_rich_table(block))
            parts += [Text(f"  {block.note}", style="dim")] if block.note else []
        parts.append(Text(""))
    return Group(*parts)


def _rich_table(block: Table) -> Any:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    width = shutil.get_terminal_size((WIDTH, 50)).columns
    barred = width >= WIDTH and any(isinstance(row[-1], Bar) for row in block.rows)
    both = len(block.header) - 1 in block.diverging
    least = [max(map(len, name.split()), default=0) for name in block.header]
    widths = widths_of(block, width - EDGE - (BAR + EDGE if barred else 0), EDGE, least)
    for place, name in enumerate(block.header):
        justify: Any = "left" if block.is_words(place) else "right"
        table.add_column(Text(name), justify=justify, width=widths[place], overflow="fold")
    if barred:
        table.add_column("", min_width=BAR)
    for row in block.rows:
        cells = [Text(str(cell), style=_colour(cell)) for cell in row]  # Text: a name in brackets is no markup
        if barred:
            last = row[-1]
            cells.append(Text(drawn_bar(last, both) if isinstance(last, Bar) else "", style=_colour(last)))
        table.add_row(*cells)
    return table


def drawn_bar(bar: Bar, both: bool) -> str:
    """Draw a bar with characters; both: zero is in the middle.

    >>> drawn_bar(Bar(-1.0, 2.0), both=True), drawn_bar(Bar(2.0, 2.0), both=True), drawn_bar(Bar(1.0, 2.0), both=False)
    ('   ━━━│', '      │━━━━━━', '━━━━━━')
    """
    if not both:
        return LINE * round(BAR * bar.length)
    half = BAR // 2
    line = LINE * round(half * bar.length)
    return f"{'':{half}}│{line}" if bar.value >= 0 else f"{line:>{half}}│"


def _colour(cell: object) -> str:
    if isinstance(cell, Cell):
        return "bold" if cell.strong else ""
    if not isinstance(cell, Bar) or not cell.value:
        return ""
    if not cell.signed:
        return "cyan"
    return "green" if cell.value > 0 else "red"


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, WIDTH, break_long_words=False, break_on_hyphens=False)
