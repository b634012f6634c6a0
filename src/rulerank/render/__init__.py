"""One page model (sentences, tables, bars, pictures, sections) and its renderers: terminal, Markdown, LaTeX, HTML.

`document.py` says what a page is made of; `text.py` lays rows of text out and renders for the terminal and Markdown,
`latex.py` LaTeX, `html.py` (with `page.css` and `sort.js`) HTML, for notebooks too; `figures.py` puts figures of
Matplotlib into pages and files. Evaluation, rankers, clicks, judging and experiments build pages as
explanations do, so that this stands below all of them; nothing here knows of ranking.
"""
