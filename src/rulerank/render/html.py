"""Pages as self-contained HTML: inline styles, no fonts or other files, and only one script, which sorts tables.

A block outside of a section has its own heading; the parts of a section are cards. Notebooks show the same tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape

from rulerank.render.document import Bar, Block, Cell, Content, Page, Picture, Section, Sentences, Table
from rulerank.render.text import text_table

LONG = 30  # letters; longer texts get room
WHOLE = """body { margin: 0; }
@media print { @page { size: A4; margin: 14mm 12mm; } html { font-size: 9.5pt; } }
"""  # only for a whole page


def render_html(page: Page) -> str:
    """Write a page as a whole HTML file."""
    script = f"<script>\n{_file('sort.js')}</script>\n" if page.sortable else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(page.title)}</title>\n<style>\n{_file('page.css')}{WHOLE}</style>\n</head>\n"
        f'<body class="{_kind(page)}">\n<main>\n{_body(page)}\n</main>\n{script}</body>\n</html>\n'
    )


def render_fragment(page: Page) -> str:
    """Write a page as an HTML fragment, for notebooks."""
    return f'<div class="{_kind(page)}"><style>\n{_file("page.css")}</style><main>\n{_body(page)}\n</main></div>'


@cache
def _file(name: str) -> str:
    from importlib.resources import files  # slow to load, and only HTML needs it

    return (files("rulerank.render") / name).read_text(encoding="utf-8")


def _kind(page: Page) -> str:
    return "rulerank wide" if any(isinstance(block, Section) for block in page.blocks) else "rulerank"


def _body(page: Page) -> str:
    parts = [
        *([f"<h1>{escape(page.title)}</h1>"] if page.title else []),
        *(f'<p class="lead">{escape(sentence)}</p>' for sentence in page.lead),
    ]
    if page.facts:
        facts = "\n".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in page.facts)
        parts.append(f'<dl class="facts">\n{facts}\n</dl>')
    sections = [block for block in page.blocks if isinstance(block, Section) and block.key]
    if sections:
        links = "\n".join(f'<li><a href="#{escape(one.key)}">{escape(one.title)}</a></li>' for one in sections)
        parts.append(f'<nav aria-label="Sections"><ul>\n{links}\n</ul></nav>')
    parts += [_block(block, page) for block in page.blocks]
    parts += [f"<footer>{escape(page.footer)}</footer>"] if page.footer else []
    return "\n".join(parts)


def _block(block: Block, page: Page) -> str:
    if not isinstance(block, Section):
        title = f"<h2>{escape(block.title)}</h2>\n" if block.title else ""
        return f"<section>\n{title}{_content(block, page)}\n</section>"
    about = f'<p class="about">{escape(block.about)}</p>\n' if block.about else ""
    cards = "\n".join(
        f'<div class="part">\n<h3>{escape(part.title)}</h3>\n{_content(part, page)}\n</div>' for part in block.parts
    )
    key = f' id="{escape(block.key)}"' if block.key else ""
    return f"<section{key}>\n<h2>{escape(block.title)}</h2>\n{about}{cards}\n</section>"


def _content(part: Table | Sentences | Picture, page: Page) -> str:
    if isinstance(part, Sentences):
        return f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in part.sentences)}</ul>"
    if isinstance(part, Picture):
        about = escape(part.about)
        drawing = f'<div class="scroll" role="img" aria-label="{about}">{part.svg}</div>'  # our own SVG, escaped in it
        return f"<figure>{drawing}<figcaption>{about}</figcaption></figure>"
    return _table(part, page)


def _table(table: Table, page: Page) -> str:
    marked, both = table.marked, table.diverging
    button = '<button type="button">{}</button>' if page.sortable else "{}"
    head = "".join(
        f'<th scope="col" class="{_column(table, place)}">{button.format(escape(name))}</th>'
        for place, name in enumerate(table.header)
    )
    rows = (
        "".join(_entry(table, place, one, place in marked, place in both) for place, one in enumerate(row))
        for row in table.rows
    )
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    note = f'\n<p class="note">{escape(table.note)}</p>' if table.note else ""
    kind = "scroll stack" if table.stack else "scroll"
    return (
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{escape(table.title)}">'
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{note}"
    )


def _column(table: Table, place: int) -> str:
    return "word" if table.is_words(place) else "n"


def _entry(table: Table, place: int, content: Content, marked: bool, both: bool) -> str:
    """Write one cell of a table; on a phone the name of the column is shown beside it."""
    kind, more = _column(table, place), f' data-name="{escape(table.header[place])}"'
    if isinstance(content, Bar):
        text = _bar(content, both)
        more += f' data-v="{content.value}"'
    elif isinstance(content, str):
        text = escape(content)
        kind += " any" * any(len(word) > LONG for word in content.split())  # an address may break anywhere
    else:
        text = escape(content.text)
        text = f"<span>{text}{_mark(content)}</span>" if marked else text  # one piece, wherever the line breaks
        kind += " long" * (len(content.text) > LONG) + " strong" * content.strong
        more += f' data-v="{content.value}"' if content.value is not None else ""
        more += f' title="{escape(content.about)}"' if content.about else ""
    return f'<td class="{kind}"{more}>{text}</td>'


def _mark(cell: Cell) -> str:
    way = " up" if cell.mark == "▲" else " down" if cell.mark else ""
    return f'<span class="mark{way}">{escape(cell.mark)}</span>'


def _bar(bar: Bar, both: bool) -> str:
    sign = "size" if not bar.signed else "up" if bar.value > 0 else "down" if bar.value < 0 else "size"
    start, length = bar.span(both=both)
    style = f"margin-left:{100 * start:.1f}%;width:{100 * length:.1f}%" if both else f"width:{100 * length:.1f}%"
    drawn = f'<span class="bar{" both" * both}"><i style="{style}"></i></span>'
    return f'<span class="{sign}">{escape(str(bar))}{drawn}</span>'


def table_of(header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1, note: str = "") -> Table:
    """Return rows of text as a table."""
    return Table("", tuple(header), tuple(map(tuple, rows)), n_left, note)


def html_table(*tables: Table, title: str = "") -> str:
    """Return tables as an HTML fragment for notebooks.

    >>> "<td" in html_table(table_of(["measure", "mean"], [["MAP", "0.45"]]))
    True
    """
    return render_fragment(Page(title, (), tables))


@dataclass(frozen=True, eq=False, repr=False)
class ShownTable:
    """A table that prints as aligned text, and is an HTML table in notebooks.

    >>> ShownTable(table_of(["measure", "mean"], [["MAP", "0.45"]], note="2 queries"))
    measure  mean
    MAP      0.45
    2 queries
    """

    table: Table

    def __repr__(self) -> str:
        return "\n".join([text_table(self.table), *([self.table.note] if self.table.note else [])])

    def _repr_html_(self) -> str:
        return html_table(self.table)
