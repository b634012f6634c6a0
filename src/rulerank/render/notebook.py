"""What notebooks show of values that print as text elsewhere: tables, words to the left and numbers to the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rulerank.render.document import Page, Table
from rulerank.render.html import render_fragment
from rulerank.render.terminal import text_table


def table_of(header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1, note: str = "") -> Table:
    """Return rows of text as a table."""
    return Table("", tuple(header), tuple(map(tuple, rows)), n_left, note)


def html_table(*tables: Table, title: str = "") -> str:
    """Return tables as a part of a notebook's page.

    >>> "<td" in html_table(table_of(["measure", "mean"], [["MAP", "0.45"]]))
    True
    """
    return render_fragment(Page(title, (), tables))


@dataclass(frozen=True, eq=False, repr=False)
class ShownTable:
    """A table that prints as aligned text, and that a notebook shows as one.

    >>> ShownTable(table_of(["measure", "mean"], [["MAP", "0.45"]], note="2 queries"))
    measure  mean
    MAP      0.45
    2 queries
    """

    table: Table

    def __repr__(self) -> str:
        return "\n".join([text_table(self.table), *([self.table.note] if self.table.note else [])])

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return html_table(self.table)
