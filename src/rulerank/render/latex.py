"""The tables of pages as LaTeX, to be put into a paper."""

from __future__ import annotations

from rulerank.render.document import Page, Table
from rulerank.render.tables import latex_table

SYMBOLS = str.maketrans({"▲": "+", "▼": "-", "–": "--"})


def render_latex(page: Page) -> str:
    r"""Write the tables, each under its title and above its note as comments; they need the package booktabs.

    >>> print(render_latex(Page("Two", ("RE-GR wins.",), (Table("All", ("ranker", "MAP"), (("RE-GR", "–"),)),))))
    % Two
    % RE-GR wins.
    <BLANKLINE>
    % All
    \begin{tabular}{lr}
    \toprule
    ranker & MAP \\
    \midrule
    RE-GR & -- \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    parts = [_comment(line) for line in (page.title, *page.lead)]
    for _, block in page.in_words():
        if isinstance(block, Table):
            rows = [[str(content).translate(SYMBOLS) for content in row] for row in block.rows]
            parts += ["", _comment(block.title), latex_table(block.header, rows, block.n_left)]
            parts += [_comment(block.note)] if block.note else []
    return "\n".join(parts) + "\n"


def _comment(text: str) -> str:
    return f"% {' '.join(text.split())}"  # a line that breaks would end the comment
