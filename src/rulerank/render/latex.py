"""LaTeX (package booktabs): tables to be put into a paper. Bold is bold, an arrow up or down is a (double) dagger."""

from __future__ import annotations

from rulerank.render.document import Cell, Content, Page, Section, Table

PREAMBLE = r"""\documentclass{article}
\usepackage[margin=1.5cm]{geometry}
\usepackage{array,booktabs}
\begin{document}
"""
LONG = 34  # characters; a column of longer texts breaks its lines
_LATEX = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",
    "▲": r"$\dagger$", "▼": r"$\ddagger$", "–": "--", "—": "---", "±": r"$\pm$", "−": "$-$", "×": r"$\times$",
    "≥": r"$\geq$", "≤": r"$\leq$", "…": r"\dots{}", "’": "'", "‘": "`", "“": "``", "”": "''",
}  # fmt: skip
LAST_LATIN = "\u017f"  # up to here LaTeX knows every letter


def render_latex(page: Page) -> str:
    r"""Write the tables of a page, each with a caption and a label, as a file that compiles by itself.

    >>> table = Table("All", ("ranker", "MAP"), (("RE_GR", Cell("0.45", strong=True)),), note="5 folds.", key="means")
    >>> print(render_latex(Page("Two", (), (table,))).partition("{document}")[2])
    <BLANKLINE>
    \begin{table}
    \centering\footnotesize\setlength{\tabcolsep}{3pt}
    \caption{All. 5 folds.}
    \label{tab:means}
    \begin{tabular}{lr}
    \toprule
    ranker & MAP \\
    \midrule
    RE\_GR & \textbf{0.45} \\
    \bottomrule
    \end{tabular}
    \end{table}
    \end{document}
    <BLANKLINE>
    """
    parts = [part for block in page.blocks for part in (block.parts if isinstance(block, Section) else (block,))]
    tables = [
        "\n".join(
            [
                r"\begin{table}",
                r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
                rf"\caption{{{latex_text(f'{table.title}. {table.note}'.strip())}}}",
                rf"\label{{tab:{table.key}}}",
                latex_table(table),
                r"\end{table}",
            ]
        )
        for table in parts
        if isinstance(table, Table)
    ]
    return "\n".join([PREAMBLE + "\n\n".join(tables), "\\end{document}\n"])


def latex_table(table: Table) -> str:
    r"""Write a table as a tabular.

    >>> print(latex_table(Table("", ("ranker", "MAP"), (("RE_GR", Cell("0.45", mark="▲")),))))
    \begin{tabular}{lr}
    \toprule
    ranker & MAP \\
    \midrule
    RE\_GR & 0.45\rlap{$\dagger$} \\
    \bottomrule
    \end{tabular}
    """
    columns = ""
    for place in range(len(table.header)):
        long = table.is_words(place) and any(len(str(row[place])) > LONG for row in table.rows)
        columns += r">{\raggedright\arraybackslash}p{4cm}" if long else "l" if table.is_words(place) else "r"
    lines = [" & ".join(map(_entry, cells)) + r" \\" for cells in (table.header, *table.rows)]
    body = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}"])


def _entry(content: Content) -> str:
    if not isinstance(content, Cell):
        return latex_text(str(content))
    text = rf"\textbf{{{latex_text(content.text)}}}" if content.strong else latex_text(content.text)
    return text + (rf"\rlap{{{latex_text(content.mark)}}}" if content.mark else "")  # digits stay below each other


def latex_text(text: str) -> str:
    r"""Escape text for LaTeX; characters that LaTeX does not know are written as their numbers.

    >>> print(latex_text("50 % of a_b ▲ 字"))
    50 \% of a\_b $\dagger$ [U+5B57]
    """
    return "".join(
        _LATEX.get(char) or (char if char <= LAST_LATIN and char.isprintable() else _by_number(char)) for char in text
    )


def _by_number(char: str) -> str:
    return " " if char.isspace() else f"[U+{ord(char):04X}]"
