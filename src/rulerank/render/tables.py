"""Lay rows of text out as a table: for the terminal, Markdown, LaTeX or csv."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence

_LATEX = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",
    "▲": r"$\dagger$", "▼": r"$\ddagger$", "–": "--", "—": "---", "±": r"$\pm$", "−": "$-$", "×": r"$\times$",
    "≥": r"$\geq$", "≤": r"$\leq$", "…": r"\dots{}", "’": "'", "‘": "`", "“": "``", "”": "''",
}  # fmt: skip
LAST_LATIN = "\u017f"  # up to here LaTeX knows every letter


def plain_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1, words: Collection[int] = ()
) -> str:
    """Align columns with blanks, the first n_left and those in words to the left and the others to the right.

    >>> print(plain_table(["measure", "mean"], [["MAP", "0.4453"], ["NDCG@10", "0.4480"]]))
    measure    mean
    MAP      0.4453
    NDCG@10  0.4480
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for cells in [header, *rows]:
        placed = [
            cell.ljust(width) if place < n_left or place in words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join(placed).rstrip())
    return "\n".join(lines)


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1, words: Collection[int] = ()
) -> str:
    """Write a Markdown table.

    >>> print(markdown_table(["measure", "mean"], [["MAP", "0.4453"]]))
    | measure | mean |
    | --- | ---: |
    | MAP | 0.4453 |
    """
    rule = ["---" if place < n_left or place in words else "---:" for place in range(len(header))]
    escaped = [[cell.replace("|", "\\|") for cell in cells] for cells in [header, *rows]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [escaped[0], rule, *escaped[1:]])


def latex_table(header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1) -> str:
    r"""Write a LaTeX table; it needs the package booktabs.

    >>> print(latex_table(["ranker", "MAP"], [["RE_GR", "0.4453"]]))
    \begin{tabular}{lr}
    \toprule
    ranker & MAP \\
    \midrule
    RE\_GR & 0.4453 \\
    \bottomrule
    \end{tabular}
    """
    columns = "l" * n_left + "r" * (len(header) - n_left)
    lines = [" & ".join(latex_text(cell) for cell in cells) + r" \\" for cells in [header, *rows]]
    body = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}"])


def latex_text(text: str) -> str:
    r"""Return text as LaTeX sets it letter by letter; letters it does not know are written as their numbers.

    >>> print(latex_text("50 % of a_b ▲ 字"))
    50 \% of a\_b $\dagger$ [U+5B57]
    """
    return "".join(
        _LATEX.get(char) or (char if char <= LAST_LATIN and char.isprintable() else _by_number(char)) for char in text
    )


def _by_number(char: str) -> str:
    return " " if char.isspace() else f"[U+{ord(char):04X}]"


def _guarded(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula, as io/delimited.py guards those that are read back."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def csv_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write csv, numbers with all their digits.

    >>> csv_table(["qid", "AP"], [["a,b", 0.5]])
    'qid,AP\\n"a,b",0.5\\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_guarded(cell) for cell in row] for row in rows)
    return out.getvalue()
