"""Pages as LaTeX: tables and figures to be put into a paper, each with its caption and label, in a file that compiles.

Bold is bold, and an arrow up or down is a dagger or a double dagger, in tables and captions alike.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from rulerank.render.document import Cell, Content, Page, Picture, Section, Sentences, Table
from rulerank.render.text import latex_text

PREAMBLE = r"""\documentclass[a4paper]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{array}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage{graphicx}
\setlength{\belowcaptionskip}{6pt}
\setlength{\LTcapwidth}{\textwidth}
\setcounter{totalnumber}{8}
\renewcommand{\topfraction}{0.95}
\renewcommand{\textfraction}{0.05}
\renewcommand{\floatpagefraction}{0.6}
\sloppy
"""
HEAD = 12  # letters of a title in one line
TEXT_INCHES = 6.6  # how wide the text of the page is
LONG = 34  # letters; a column with longer texts breaks its lines
LONG_CM = 4.2  # how wide such a column is
LETTERS = 26  # in a line of it, at the smallest size
MOST_LINES = 45  # of a table that stands on one page
SIZES = ((72, r"\small", "6pt"), (96, r"\footnotesize", "4pt"), (10**9, r"\scriptsize", "3pt"))  # by letters of a line


def render_latex(page: Page, figures: str | None = None) -> str:
    r"""Write a page as a LaTeX file that compiles by itself; its tables and figures can be copied into another one.

    figures: the folder beside the file that has the pictures as PDF; without it they are left out.

    >>> table = Table("All", ("ranker", "MAP"), (("RE-GR", Cell("0.45", strong=True)),))
    >>> print(render_latex(Page("Two", ("RE-GR wins.",), (table,))).split("maketitle")[1])
    <BLANKLINE>
    RE-GR wins.
    <BLANKLINE>
    \begin{table}[htbp]
    \centering\small\setlength{\tabcolsep}{6pt}
    \caption[All]{All.}
    \label{tab:all}
    \begin{tabular}{@{}lr@{}}
    \toprule
    ranker & MAP \\
    \midrule
    RE-GR & \textbf{0.45} \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    \end{document}
    <BLANKLINE>
    """
    title = f"\\title{{{latex_text(page.title)}}}\n\\author{{}}\n\\date{{}}\n"
    parts = [f"{PREAMBLE}{title}\\begin{{document}}\n\\maketitle", *map(latex_text, page.lead)]
    if page.facts:
        parts.append("; ".join(f"{latex_text(name)}: {latex_text(value)}" for name, value in page.facts) + ".")
    labels: set[str] = set()
    for block in page.blocks:
        parts += _section(block, labels, figures) if isinstance(block, Section) else _part(block, labels, figures)
    return "\n\n".join([*parts, "\\end{document}"]) + "\n"


def _label(given: set[str], kind: str, name: str) -> str:
    """Return a label that no other part of the document has."""
    base = f"{kind}:{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') or 'untitled'}"
    label = next(one for n in range(1, len(given) + 2) if (one := base if n == 1 else f"{base}-{n}") not in given)
    given.add(label)
    return label


def _section(section: Section, labels: set[str], figures: str | None) -> list[str]:
    parts = [one for part in section.parts for one in _part(part, labels, figures)]
    if not parts:
        return []
    head = [f"\\section{{{latex_text(section.title)}}}"]
    return [*head, *([latex_text(section.about)] if section.about else []), *parts, r"\clearpage"]


def _part(part: Table | Sentences | Picture, labels: set[str], figures: str | None) -> list[str]:
    if isinstance(part, Table):
        return [_table(part, _label(labels, "tab", part.key or part.title))]
    if isinstance(part, Picture):
        return [] if figures is None or part.draw is None else [_figure(part, _label(labels, "fig", part.key), figures)]
    items = "\n".join(f"\\item {latex_text(sentence)}" for sentence in part.sentences)
    return [f"\\subsection*{{{latex_text(part.title)}}}\n\\begin{{itemize}}\n{items}\n\\end{{itemize}}"]


def _figure(picture: Picture, label: str, figures: str) -> str:
    width = f"{picture.inches}in" if 0 < picture.inches < TEXT_INCHES else r"\linewidth"
    size = rf"width={width},height=0.8\textheight,keepaspectratio"
    picked = rf"\includegraphics[{size}]{{{figures}/{picture.key}.pdf}}"
    lines = [r"\begin{figure}[htbp]", r"\centering", picked, _caption(picture.title, picture.about)]
    return "\n".join([*lines, rf"\label{{{label}}}", r"\end{figure}"])


def _table(table: Table, label: str) -> str:
    columns, width = _columns(table)
    size, gap = next((size, gap) for most, size, gap in SIZES if width <= most)
    head = " & ".join(_heading(table, place) for place in range(len(table.header))) + r" \\"
    look = rf"\centering{size}\setlength{{\tabcolsep}}{{{gap}}}"
    caption, mark = _caption(table.title, table.note), rf"\label{{{label}}}"
    body = list(_lines(table))
    if len(table.rows) <= MOST_LINES:
        return "\n".join(
            [
                r"\begin{table}[htbp]", look, caption, mark, rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", r"\toprule",
                head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}", r"\end{table}",
            ]
        )  # fmt: skip
    return "\n".join(
        [
            rf"{{{look}", rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}", caption, mark + r" \\", r"\toprule", head,
            r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot",
            *body, r"\end{longtable}}",
        ]
    )  # fmt: skip


def _caption(title: str, about: str) -> str:
    short = latex_text(title)
    whole = f"{short}. {latex_text(about)}" if about else f"{short}."
    return rf"\caption[{short}]{{{whole}}}"


def _columns(table: Table) -> tuple[str, int]:
    """Return how the columns are set, and about how many letters a line has."""
    kinds, width = [], 0
    for place in range(len(table.header)):
        words = textwrap.wrap(table.header[place], HEAD, break_long_words=False)
        longest = max([*map(len, words), *(len(str(row[place])) for row in table.rows)], default=0)
        if table.is_words(place) and longest > LONG:
            kinds.append(rf">{{\raggedright\arraybackslash}}p{{{LONG_CM}cm}}")
            width += LETTERS
        else:
            kinds.append("l" if table.is_words(place) else "r")
            width += longest + 2
    return "".join(kinds), width


def _heading(table: Table, place: int) -> str:
    """Write a column's title; a long one stands in several lines, so that numbers keep together."""
    name = table.header[place]
    if table.is_words(place) or len(name) <= HEAD or " " not in name:
        return latex_text(name)
    lines = r" \\ ".join(latex_text(line) for line in textwrap.wrap(name, HEAD, break_long_words=False))
    return rf"\shortstack[r]{{{lines}}}"


def _lines(table: Table) -> Iterator[str]:
    for number, row in enumerate(table.rows):
        if number and table.groups and table.groups[number] != table.groups[number - 1]:
            yield r"\addlinespace"
        yield " & ".join(_entry(table, place, content) for place, content in enumerate(row)) + r" \\"


def _entry(table: Table, place: int, content: Content) -> str:
    if not isinstance(content, Cell):
        return latex_text(str(content))
    text = latex_text(content.text)
    if content.strong:
        text = rf"\textbf{{{text}}}"
    if not content.mark:
        return text
    mark = f"$^{{{latex_text(content.mark).strip('$')}}}$"
    return text + (mark if table.is_words(place) else rf"\rlap{{{mark}}}")  # so that digits stand below each other
