"""One page model (sentences, tables, bars, pictures, sections) and its renderers: terminal, Markdown, LaTeX, HTML.

`document.py` says what a page is made of; `terminal.py`, `markdown.py`, `latex.py` and `html.py` (with `page.css` and
`sort.js`) render it; `tables.py` lays rows of text out, also for csv; `figures.py` puts Matplotlib figures into pages
and files. Explanations, reports and commands build pages; nothing here knows of ranking.
"""

from rulerank.render.document import Bar, Block, Cell, Content, Page, Picture, Section, Sentences, Table
from rulerank.render.html import render_fragment, render_html
from rulerank.render.latex import render_latex
from rulerank.render.markdown import render_markdown
from rulerank.render.terminal import render_text, rich_page

__all__ = [
    "Bar",
    "Block",
    "Cell",
    "Content",
    "Page",
    "Picture",
    "Section",
    "Sentences",
    "Table",
    "render_fragment",
    "render_html",
    "render_latex",
    "render_markdown",
    "render_text",
    "rich_page",
]
