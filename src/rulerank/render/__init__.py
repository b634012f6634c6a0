"""One page model (sentences, tables, bars, pictures, sections) and its renderers: terminal, Markdown, LaTeX, HTML.

`document.py` says what a page is made of; `text.py` lays rows of text out and renders for the terminal and Markdown,
`latex.py` LaTeX, `html.py` (with `page.css` and `sort.js`) HTML, for notebooks too; `figures.py` puts figures of
Matplotlib into pages and files. Evaluation, rankers, clicks, judging and experiments build pages as
explanations do, so that this stands below all of them; nothing here knows of ranking.
"""

from rulerank.render.document import Bar, Block, Cell, Content, Page, Picture, Section, Sentences, Table
from rulerank.render.html import render_fragment, render_html
from rulerank.render.latex import render_latex
from rulerank.render.text import render_markdown, render_text, rich_page

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
