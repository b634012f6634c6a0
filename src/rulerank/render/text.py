"""Rows of text as tables (aligned, Markdown, csv), and pages for the terminal and as Markdown."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rulerank.render.document import Bar, Cell, Content, Page, Section, Sentences, Table

WIDTH = 100  # of sentences and tables
NAME = 28  # letters of a first column that is broken last
EDGE = 3  # between columns that Rich draws
GAP = 2  # between columns
BAR = 12  # characters
LINE = "\N{BOX DRAWINGS HEAVY HORIZONTAL}"


def plain_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1, words: Collection[int] = ()
) -> str:
    """Align columns with spaces: the first n_left and those in words to the left, the others to the right.

    >>> print(plain_table(["measure", "mean"], [["MAP", "0.4453"], ["NDCG@10", "0.4480"]]))
    measure    mean
    MAP      0.4453
    NDCG@10  0.4480
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for cells in [header, *rows]:
        placed = [
            cell.ljust(width) if place < n_left or place in words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join(placed).rstrip())
    return "\n".join(lines)


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1, words: Collection[int] = ()
) -> str:
    """Write a Markdown table.

    >>> print(markdown_table(["measure", "mean"], [["MAP", "0.4453"]]))
    | measure | mean |
    | --- | ---: |
    | MAP | 0.4453 |
    """
    rule = ["---" if place < n_left or place in words else "---:" for place in range(len(header))]
    escaped = [[cell.replace("|", "\\|") for cell in cells] for cells in [header, *rows]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [escaped[0], rule, *escaped[1:]])


def _guarded(cell: object) -> object:
    """Return a cell that no spreadsheet executes as a formula, as io/frames.py does for tables that are read back."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def csv_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write csv, numbers with all digits.

    >>> csv_table(["qid", "AP"], [["a,b", 0.5]])
    'qid,AP\\n"a,b",0.5\\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_guarded(cell) for cell in row] for row in rows)
    return out.getvalue()


def render_text(page: Page, width: int = WIDTH) -> str:
    """Write a page as aligned text, no wider than a terminal if possible.

    >>> print(render_text(Page("Why", ("Because.",), (Table("Parts", ("feature", "adds"), (("bm25", "+0.2"),)),))))
    Why
    <BLANKLINE>
    Because.
    <BLANKLINE>
    Parts
    feature  adds
    bm25     +0.2
    """
    return _plain(rich_page(page, width), width)


def text_table(block: Table, width: int = WIDTH) -> str:
    """Write a table as aligned text.

    >>> print(text_table(Table("", ("a", "n", "why"), (("x", "10", "so"), ("yy", "9", "because")), words=("why",))))
    a    n  why
    x   10  so
    yy   9  because
    """
    return _plain(rich_table(block, width), width)


def _plain(drawing: Any, width: int) -> str:
    from rich.console import Console

    out = io.StringIO()
    # in a notebook Rich would display the text in addition to the HTML
    Console(file=out, width=width, color_system=None, force_jupyter=False).print(drawing)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).rstrip()


def widths_of(block: Table, width: int, gap: int, least: list[int]) -> list[int]:
    """Return the widths of columns: numbers on one line, the widest text columns are narrowed until the table fits.

    least: minimum width of each column; words are not broken either.
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


def rich_page(page: Page, width: int | None = None) -> Any:
    """Draw a page with Rich; width: of plain text, without bars and lines."""
    from rich.console import Group
    from rich.text import Text

    margin = "  " if width is None else ""
    facts = [Text(f"{margin}{name}: {value}", style="dim") for name, value in page.facts]
    gap = [] if width is None else [Text("")]
    parts: list[Any] = [Text(page.title, style="bold"), *gap, *(Text(sentence) for sentence in page.lead)]
    parts += [*(gap if facts else []), *facts, Text("")]
    for depth, block in page.in_words():
        parts.append(Text(block.title, style="bold cyan" if depth == 2 else "cyan"))
        if isinstance(block, Table):
            parts += [rich_table(block, width), *([Text(f"{margin}{block.note}", style="dim")] if block.note else [])]
        else:
            sentences = block.sentences if isinstance(block, Sentences) else (block.about,) if block.about else ()
            parts += [Text(f"{margin}{sentence}") for sentence in sentences]
        parts.append(Text(""))
    return Group(*parts)


def rich_table(block: Table, text_width: int | None = None) -> Any:
    """Draw a table with Rich; text_width: of plain text, without bars and lines."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    width = text_width or shutil.get_terminal_size((WIDTH, 50)).columns
    barred = text_width is None and width >= WIDTH and any(isinstance(row[-1], Bar) for row in block.rows)
    least = [max(map(len, name.split()), default=0) for name in block.header]
    if text_width is None:
        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        widths = widths_of(block, width - EDGE - (BAR + EDGE if barred else 0), EDGE, least)
    else:
        table = RichTable(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
        widths = widths_of(block, width, GAP, [len(name) for name in block.header])
    for place, name in enumerate(block.header):
        justify: Any = "left" if block.is_words(place) else "right"
        table.add_column(Text(name), justify=justify, width=widths[place], overflow="fold")
    if barred:
        table.add_column("", min_width=BAR)
    both = len(block.header) - 1 in block.diverging
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


def render_markdown(page: Page) -> str:
    """Write a page as Markdown.

    >>> print(render_markdown(Page("Why", ("Because.",), (Sentences("More", ("a < b.",)),))))
    # Why
    <BLANKLINE>
    Because.
    <BLANKLINE>
    ## More
    <BLANKLINE>
    - a \\< b.
    <BLANKLINE>
    """
    parts = [f"# {_escaped(page.title)}", *map(_escaped, page.lead)]
    if page.facts:
        parts.append("\n".join(f"- {_escaped(name)}: {_escaped(value)}" for name, value in page.facts))
    for depth, block in page.in_words():
        parts.append(f"{'#' * depth} {_escaped(block.title)}")
        if isinstance(block, Section):
            parts += [_escaped(block.about)] if block.about else []
        elif isinstance(block, Sentences):
            parts.append("\n".join(f"- {_escaped(sentence)}" for sentence in block.sentences))
        else:
            rows = [[_content(content) for content in row] for row in block.rows]
            parts.append(
                markdown_table([_escaped(name) for name in block.header], rows, block.n_left, block.word_places)
            )
            parts += [_escaped(block.note)] if block.note else []
    return "\n\n".join(parts) + "\n"


def _content(content: Content) -> str:
    if isinstance(content, Cell) and content.strong:
        return f"**{_escaped(content.text)}** {content.mark}".strip()
    return _escaped(str(content))


def _escaped(text: str) -> str:
    """Escape Markdown and HTML."""
    for char in "\\`*_[]<>":
        text = text.replace(char, f"\\{char}")
    return text
