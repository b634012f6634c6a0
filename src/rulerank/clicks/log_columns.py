"""The columns of a click log: which is which by its name, and what a cell of each must hold."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

import polars as pl

from rulerank.core.words import joined, listed
from rulerank.errors import DataError

ROLES = {  # what a column is, and the names that it is known by
    "query": ("query", "qid", "query_id", "query_text", "search_query", "keywords"),
    "doc": ("doc", "docid", "doc_id", "document", "document_id", "item", "item_id", "product_id", "url"),
    "position": ("position", "pos", "rank"),
    "clicked": ("clicked", "click", "is_click", "is_clicked"),
    "impressions": ("impressions", "impression_count", "n_impressions"),
    "clicks": ("clicks", "click_count", "n_clicks"),
    "time": ("time", "timestamp", "datetime", "date"),
    "session": ("session", "session_id", "impression_id", "request_id", "key"),
    "device": ("device", "device_type", "platform"),
    "team": ("team", "source", "ranker"),
}
Fail = Callable[[str], NoReturn]
ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?(Z|\+00:00)?$"


def find_columns(there: Sequence[str], named: Mapping[str, str], wanted: Sequence[str], fail: Fail) -> dict[str, str]:
    """Return the column of each wanted role that is there: as it is named, or by the names it is known by.

    >>> find_columns(["qid", "docid", "rank"], {"position": "rank"}, ["query", "doc", "position", "time"], print)
    {'query': 'qid', 'doc': 'docid', 'position': 'rank'}
    """
    columns = {}
    for role in wanted:
        if role in named:
            if named[role] not in there:
                fail(f"there is no column {named[role]!r}; the columns are {listed(there)}")
            columns[role] = named[role]
            continue
        taken = set(named.values())
        found = [name for name in there if name.lower() in ROLES[role] and name not in taken]
        if len(found) > 1:
            fail(f"{joined([repr(name) for name in found])} may be the {role}: name the one that is ({naming(role)})")
        columns |= {role: found[0]} if found else {}
    return columns


def naming(role: str) -> str:
    """Return how a column is named in Python and on the command line.

    >>> naming("doc")
    'doc=..., on the command line --doc-column ...'
    """
    return f"{role}=..., on the command line --{role}-column ..."


def text(column: str, dtype: pl.DataType, fail: Fail) -> pl.Expr:
    """Return ids or texts as text; null where there is none. Whole numbers are written in decimal."""
    cell = pl.col(column)
    if dtype == pl.String:
        return pl.when(cell != "").then(cell)
    if dtype.is_float():  # pandas has no empty integers
        return pl.when(cell % 1 == 0).then(cell).cast(pl.Int64, strict=False).cast(pl.String)
    if not (dtype.is_integer() or dtype in (pl.Categorical, pl.Enum, pl.Null)):
        fail(f"column {column!r} must hold text or whole numbers: it holds {dtype}")
    written = cell.cast(pl.String)
    return pl.when(written != "").then(written)


def whole(column: str, dtype: pl.DataType, fail: Fail) -> pl.Expr:
    """Return whole numbers; null where there is something else."""
    cell = pl.col(column)
    if dtype == pl.String:
        cell = cell.str.strip_chars()
        exact = cell.cast(pl.Int64, strict=False)
        return exact.fill_null(_whole_floats(cell.cast(pl.Float64, strict=False)))  # 3.0, as pandas writes it
    if dtype.is_float():
        return _whole_floats(cell)
    if not (dtype.is_integer() or dtype == pl.Null):
        fail(f"column {column!r} must hold whole numbers: it holds {dtype}")
    return cell.cast(pl.Int64, strict=False)


def zero_or_one(column: str, dtype: pl.DataType, fail: Fail) -> pl.Expr:
    """Return whether there was a click as 0 or 1; null where there is something else."""
    cell = pl.col(column)
    if dtype == pl.Boolean:
        return cell.cast(pl.Int64)
    if dtype == pl.String:
        word = cell.str.strip_chars().str.to_lowercase()
        yes, no = word.is_in(["1", "true", "1.0"]), word.is_in(["0", "false", "0.0"])
        return pl.when(yes).then(pl.lit(1, pl.Int64)).when(no).then(pl.lit(0, pl.Int64))
    number = whole(column, dtype, fail)
    return pl.when(number.is_between(0, 1)).then(number)


def moment(column: str, dtype: pl.DataType, fail: Fail) -> pl.Expr:
    """Return times in an order in which they can be compared: numbers as they are, dates as text in UTC."""
    cell = pl.col(column)
    if dtype.is_numeric():
        return cell.cast(pl.Float64)
    if isinstance(dtype, pl.Datetime):
        cell = cell.dt.convert_time_zone("UTC") if dtype.time_zone else cell
        return cell.dt.strftime("%Y-%m-%d %H:%M:%S")
    if dtype == pl.Date:
        return cell.dt.strftime("%Y-%m-%d 00:00:00")
    if dtype != pl.String:
        fail(f"column {column!r} must hold times: it holds {dtype}")
    padded = cell.str.replace("T", " ").str.slice(0, 19).str.strip_chars_end("Z+")
    full = pl.when(padded.str.len_bytes() == 10).then(padded + " 00:00:00").otherwise(padded)
    full = pl.when(full.str.len_bytes() == 16).then(full + ":00").otherwise(full)
    is_day = full.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False).is_not_null()
    return pl.when(cell.str.contains(ISO) & is_day).then(full)


def limit(name: str, given: str | float | datetime.date, numbers: bool) -> str | float:
    """Return a bound of time as `moment` writes the times of the column.

    >>> limit("since", "2026-11-17", False), limit("until", "2026-11-17T09:30", False), limit("since", "5", True)
    ('2026-11-17 00:00:00', '2026-11-17 09:30:00', 5.0)
    """
    if numbers:
        try:
            return float(given)  # type: ignore[arg-type]  # a date is refused below, by what float says of it
        except (TypeError, ValueError):
            raise DataError(f"the log's times are numbers, so {name} must be one: got {str(given)!r}") from None
    written = given.isoformat() if isinstance(given, datetime.date) else str(given)
    if not re.match(ISO, written):
        raise DataError(
            f"{name} must be a date or a time in UTC, such as 2026-11-17 or 2026-11-17T09:30: got {written!r}"
        )
    try:
        found = datetime.datetime.fromisoformat(written)
    except ValueError:
        raise DataError(f"{name} must be a day that there is: got {written!r}") from None
    return found.strftime("%Y-%m-%d %H:%M:%S")


def _whole_floats(numbers: pl.Expr) -> pl.Expr:
    return pl.when(numbers % 1 == 0).then(numbers).cast(pl.Int64, strict=False)
