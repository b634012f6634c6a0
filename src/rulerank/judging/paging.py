"""Long tables a page at a time: which rows a page has, and how many pages there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

Row = TypeVar("Row")


class Page(NamedTuple, Generic[Row]):
    """Some of the rows of a table."""

    rows: Sequence[Row]
    found: int  # rows in all
    page: int  # from 1
    pages: int


def page_of(rows: Sequence[Row], page: int, rows_per_page: int) -> Page[Row]:
    """Return a page of rows; one beyond the last is the last, and a table without rows has one page.

    >>> page_of("abcde", 2, 2)
    Page(rows='cd', found=5, page=2, pages=3)
    >>> page_of("abcde", 9, 2).rows, page_of("", 1, 2).pages
    ('e', 1)
    """
    pages = max(1, -(-len(rows) // rows_per_page))
    page = min(max(1, page), pages)
    return Page(rows[(page - 1) * rows_per_page : page * rows_per_page], len(rows), page, pages)
