"""One page model (sentences, tables, bars, pictures, sections) and its renderers: terminal, Markdown, LaTeX, HTML.

`document.py` defines the model, `text.py` renders aligned text and Markdown, `latex.py` the tables, `html.py` (with
`page.css` and `sort.js`) HTML, also for notebooks; `figures.py` puts Matplotlib figures into pages and files. All other
folders may import this one; nothing here depends on ranking.
"""
