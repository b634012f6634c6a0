"""What csv cannot say of a column is written behind its name: `title:text`, `brand:category(lg|sony)`, `added:date`.

Parquet and data frames say it by their types. A mark is written only where it is needed: on every category and date,
and on a text that might be taken for numbers. `author:field`, in all tables, is a field of documents for people to
read: its values are texts and no feature.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import polars as pl

from rulerank.errors import DataError
from rulerank.io.frame_columns import is_date, parsed

MARK = re.compile(r"(.+):(text|category|date)(?:\((.*)\))?", re.S)
FIELD = ":field"


class TextOrMarked(Collection[str]):
    """The columns that are read as they are written: those given, and those with a mark."""

    def __init__(self, text: Collection[str]) -> None:
        self.text = text

    def __contains__(self, name: object) -> bool:
        return name in self.text or (
            isinstance(name, str) and (name.endswith(FIELD) or MARK.fullmatch(name) is not None)
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.text)

    def __len__(self) -> int:
        return len(self.text)


def with_marks(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with marks where a csv would lose what a column is.

    >>> with_marks(pl.DataFrame({"title": ["1984"], "x": [1.0]})).columns
    ['title:text', 'x']
    """
    names = {}
    for column in frame:
        if column.dtype == pl.Enum:
            kinds = "|".join(map(_escaped, column.dtype.categories))  # type: ignore[attr-defined]
            names[column.name] = f"{column.name}:category({kinds})"
        elif column.dtype == pl.String and not _is_text(column.name) and _numeric(column):
            names[column.name] = f"{column.name}:text"
        elif is_date(column.dtype):
            names[column.name] = f"{column.name}:date"
    return frame.with_columns(pl.col(pl.Enum).cast(pl.String)).rename(names)


def without_marks(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with the types that its marks name.

    >>> without_marks(pl.DataFrame({"brand:category(lg|sony)": ["sony", None]})).schema["brand"]
    Enum(categories=['lg', 'sony'])
    """
    names = [MARK.sub(r"\1", name) if MARK.fullmatch(name) else name for name in frame.columns]
    if names == frame.columns:
        return frame
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"column names must differ: {twice!r} is there twice, once with a mark such as :text")
    columns = []
    for column in frame:
        marked = MARK.fullmatch(column.name)
        if marked is None or column.dtype != pl.String:
            columns.append(column)
            continue
        name, what, kinds = marked.groups()
        column = column.rename(name)
        if what == "category":
            column = column.set(column == "", None)
            known = column.drop_nulls().unique().sort().to_list() if kinds is None else _kinds(kinds)
            column = column.cast(pl.Enum([*known, *sorted({*column.drop_nulls()} - {*known})]))
        if what == "date":
            dates = parsed(column)
            if not is_date(dates.dtype) and (column.fill_null("") != "").any():
                raise DataError(f"column {name!r} must hold dates such as 2026-11-18, or nothing where one is missing")
            column = dates if is_date(dates.dtype) else pl.Series(name, [None] * len(column), dtype=pl.Date)
        columns.append(column)
    return pl.DataFrame(columns)


def _is_text(name: str) -> bool:
    """Whether a column is read as text whatever it holds."""
    return name in ("qid", "docid", "comment") or name.endswith(FIELD)


def _numeric(column: pl.Series) -> bool:
    """Whether some text of a column looks like a number."""
    return bool(column.cast(pl.Float64, strict=False).is_not_null().any())


def _escaped(kind: str) -> str:
    return kind.replace("%", "%25").replace("|", "%7C").replace("\n", "%0A")


def _kinds(written: str) -> list[str]:
    parts = written.split("|") if written else []
    return [part.replace("%0A", "\n").replace("%7C", "|").replace("%25", "%") for part in parts]
