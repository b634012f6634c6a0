"""The report of an experiment: one content, rendered as a page, Markdown, LaTeX and csv.

`content.py` says what a report is made of, `sections.py` puts it together from the tables of `tables.py` and the
pictures of `pictures.py`, and `writing.py` renders it.
"""
