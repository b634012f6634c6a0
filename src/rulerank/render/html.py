"""Pages as HTML that needs nothing else: styles inside, no scripts, no fonts, no other files."""

from __future__ import annotations

from html import escape

from rulerank.render.document import Bar, Cell, Page, Sentences, Table

STYLE = """
.why { --ink: #1c2127; --soft: #5b6470; --line: #dfe3e8; --paper: #ffffff; --up: #1a7f4b; --down: #b3403a;
  color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
.why main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
.why h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
.why h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.why .lead { font-size: 1.1rem; margin: 0 0 .5rem; max-width: 45rem; }
.why .scroll { overflow-x: auto; }
.why table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.why th, .why td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
.why th { color: var(--soft); font-weight: 600; font-size: .85rem; }
.why .n { text-align: right; white-space: nowrap; overflow-wrap: normal; }
.why .note, .why li { color: var(--soft); font-size: .9rem; max-width: 45rem; }
.why ul { padding-left: 1.1rem; margin: .25rem 0; }
.why .bar { display: inline-block; width: 6rem; height: .6rem; margin-left: .5rem; background: var(--line);
  border-radius: .3rem; overflow: hidden; vertical-align: middle; text-align: left; }
.why .bar i { display: block; height: 100%; border-radius: .3rem; }
.why .up { color: var(--up); } .why .down { color: var(--down); }
.why .size i { background: var(--soft); }
.why .up i { background: var(--up); } .why .down i { background: var(--down); }
@media (prefers-color-scheme: dark) {
  .why { --ink: #e6e8eb; --soft: #a2abb6; --line: #333a43; --paper: #15181c; --up: #55c78b; --down: #ee8079; }
}
@media (max-width: 40rem) {
  .why .lead { font-size: 1rem; } .why thead { display: none; }
  .why tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .why td, .why .n { display: flex; justify-content: space-between; gap: 1rem; padding: .1rem 0; border: 0;
    text-align: right; white-space: normal; }
  .why td::before { content: attr(data-name); color: var(--soft); text-align: left; flex: none; max-width: 45%; }
  .why td:first-child { font-weight: 600; text-align: left; } .why td:first-child::before { content: none; }
  .why td:empty { display: none; } .why .bar { width: 4rem; }
}
"""


def render_html(page: Page) -> str:
    """Write a page as a whole HTML file."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(page.title)}</title>\n<style>{STYLE}body {{ margin: 0; }}</style>\n</head>\n"
        f'<body class="why">\n<main>\n{_body(page)}\n</main>\n</body>\n</html>\n'
    )


def render_fragment(page: Page) -> str:
    """Write a page as a part of another one, for notebooks."""
    return f'<div class="why"><style>{STYLE}</style><main>\n{_body(page)}\n</main></div>'


def _body(page: Page) -> str:
    parts = [f"<h1>{escape(page.title)}</h1>", *(f'<p class="lead">{escape(sentence)}</p>' for sentence in page.lead)]
    for block in page.blocks:
        parts.append(f"<section>\n<h2>{escape(block.title)}</h2>")
        if isinstance(block, Sentences):
            items = "".join(f"<li>{escape(sentence)}</li>" for sentence in block.sentences)
            parts.append(f"<ul>{items}</ul>")
        else:
            parts.append(_table(block))
        parts.append("</section>")
    return "\n".join(parts)


def _table(block: Table) -> str:
    def kind(place: int) -> str:
        return "" if place < block.n_left else ' class="n"'

    head = "".join(f'<th scope="col"{kind(place)}>{escape(name)}</th>' for place, name in enumerate(block.header))
    rows = "\n".join(
        "<tr>"
        + "".join(
            f'<td{kind(place)} data-name="{escape(block.header[place])}">{_cell(cell)}</td>'  # a phone shows the name
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in block.rows
    )
    note = f'\n<p class="note">{escape(block.note)}</p>' if block.note else ""
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>{note}'


def _cell(cell: Cell) -> str:
    if not isinstance(cell, Bar):
        return escape(cell)
    sign = "size" if not cell.signed else "up" if cell.value > 0 else "down" if cell.value < 0 else "size"
    bar = f'<span class="bar"><i style="width:{100 * cell.length:.1f}%"></i></span>'
    return f'<span class="{sign}">{escape(str(cell))}{bar}</span>'
