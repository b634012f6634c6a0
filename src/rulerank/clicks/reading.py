"""Click logs into counts: impressions added up, and what cannot be right counted and named."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import polars as pl

from rulerank.clicks.counts import COUNTS, KEYS, ClickCounts
from rulerank.clicks.log import Log, LogFile, find_columns, naming, text, whole, zero_or_one
from rulerank.core.parameters import is_whole
from rulerank.core.words import counted, listed
from rulerank.dataset import LOWEST, MOST, check_total
from rulerank.errors import DataError

ABOVE_THE_TOP = "whose position is above the top"
KINDS = {  # what may be wrong with a row, in the order in which it is looked for, as SQL
    "without a query": "query IS NULL",
    "without a document": "doc IS NULL",
    "whose position is no whole number": "position IS NULL",
    ABOVE_THE_TOP: "position < 1",
    f"whose position is larger than {LOWEST:,}": f"position > {LOWEST}",
    f"where clicked is neither 0 nor 1, or impressions or clicks are no whole numbers from 0 to {MOST:,}": (
        f"coalesce(impressions NOT BETWEEN 0 AND {MOST} OR clicks NOT BETWEEN 0 AND {MOST}, true)"
    ),
    "with more clicks than impressions": "clicks > impressions",
}
WRONG = f"CASE {' '.join(f'WHEN {test} THEN {kind}' for kind, test in enumerate(KINDS.values()))} END"


def read_clicks(
    sources: Any,
    *,
    columns: Mapping[str, str] | None = None,
    first_position: int = 1,
    skip_bad: bool = False,
    format: str | None = None,
) -> ClickCounts:
    """Read a click log and add it up: how often each document of a query was shown at each position, and clicked.

    The log is a csv, tsv, jsonl or Parquet file (compressed ones, too), a folder or pattern of them, a data frame, or
    several. A row is one impression with `clicked` 0 or 1, or a sum with `impressions` and `clicks`. Columns are known
    by common names (qid, docid, rank, ...), or named here. DuckDB adds the log up: it need not fit in memory.

    Parameters
    ----------
    sources: the log.
    columns: names of the columns query, doc, position, clicked, impressions or clicks, where they do not tell:
        {"query": "search term", "doc": "sku"}.
    first_position: what the log calls the position at the top, 1 or 0.
    skip_bad: leave out rows that cannot be right, with a warning that counts them, instead of an error.
    format: csv, tsv, jsonl or parquet, where the name does not tell.

    >>> import io
    >>> read_clicks(io.StringIO("qid,docid,rank,clicked\\nq1,a,1,1\\nq1,b,2,0\\nq1,a,1,0\\n")).table.rows()
    [('q1', 'a', 1, 2, 1), ('q1', 'b', 2, 1, 0)]
    """
    if not is_whole(first_position, 0, 1):
        raise DataError(f"first_position must be 1, or 0 where the log counts from 0: got {first_position!r}")
    with Log(sources, format) as log:
        rows = [_rows(file, columns, first_position) for file in log.files]
        keys = ", ".join(f"CASE WHEN wrong IS NULL THEN {name} END AS {name}" for name in KEYS)
        sums = ", ".join(f"CAST(sum({name}) AS DOUBLE) AS {name}" for name in COUNTS)
        every = " UNION ALL ".join(f"SELECT * FROM ({one})" for one in rows)
        found = log.fetch(f"SELECT {keys}, wrong, {sums}, count(*) AS n_rows FROM ({every}) GROUP BY ALL")
        if found["wrong"].count():
            _complain(log, rows, found, skip_bad, first_position)
        name = log.name
    found = found.filter(pl.col("wrong").is_null() & (pl.col("impressions") > 0)).drop("wrong", "n_rows")
    if not len(found):
        raise DataError(f"{name}: the log holds no impression")
    check_total(float(found["impressions"].sum()))
    typed = found.with_columns(pl.col("position").cast(pl.Int32), pl.col(*COUNTS).cast(pl.Int64))
    return ClickCounts(typed.select(*KEYS, *COUNTS).sort(KEYS))


def _rows(file: LogFile, named: Mapping[str, str] | None, first_position: int) -> str:
    """Return SQL of one file's rows as they are added up; `wrong` is the number of what cannot be right, or NULL."""
    columns = find_columns(file, named, (*KEYS, "clicked", *COUNTS), KEYS)
    shift = f" + {1 - first_position}" if first_position != 1 else ""
    cells = {role: text(columns[role], file) for role in ("query", "doc")}
    cells["position"] = whole(columns["position"], file) + shift
    if _has_sums(columns, file):
        cells |= {role: whole(columns[role], file) for role in COUNTS}
    else:
        cells |= {"impressions": "CAST(1 AS BIGINT)", "clicks": zero_or_one(columns["clicked"], file)}
    scan = f"SELECT {', '.join(f'{cell} AS {role}' for role, cell in cells.items())} FROM {file.scan}"
    return f"SELECT *, {WRONG} AS wrong FROM ({scan})"


def _has_sums(columns: Mapping[str, str], file: LogFile) -> bool:
    """Tell whether rows are sums; else each is one impression."""
    sums = [role for role in COUNTS if role in columns]
    if "clicked" in columns and sums:
        file.fail(
            f"is each row one impression ({columns['clicked']!r}) or a sum ({columns[sums[0]]!r})? "
            "Take away the column that does not count"
        )
    if "clicked" in columns:
        return False
    if len(sums) < len(COUNTS):
        file.fail(
            f"expected a column that says whether it was clicked (0 or 1), or impressions and clicks: the columns are "
            f"{listed([*file.columns])}; name it{naming('clicked')}"
        )
    return True


def _complain(log: Log, rows: list[str], found: pl.DataFrame, skip_bad: bool, first_position: int) -> None:
    """Refuse rows that cannot be right, or warn how many there are."""
    wrong = found.drop_nulls("wrong").group_by("wrong").agg(pl.col("n_rows").sum()).sort("wrong")
    kinds = [*KINDS]
    n_wrong, n_rows = int(wrong["n_rows"].sum()), int(found["n_rows"].sum())
    parts = ", ".join(f"{n:,} {kinds[kind]}" for kind, n in wrong.rows())
    share = f"{log.name}: {n_wrong:,} of {counted(n_rows, 'row')} cannot be right: {parts}"
    if skip_bad:
        warnings.warn(f"{share}; left out", stacklevel=3)
        return
    hint = "skip_bad=True (on the command line --skip-bad) leaves them out"
    if kinds.index(ABOVE_THE_TOP) in wrong["wrong"] and first_position == 1:
        hint = f"where the log counts positions from 0, say first_position=0 (--first-position 0); else {hint}"
    for file, own in zip(log.files, rows, strict=True):
        numbered = f"SELECT row_number() OVER () AS row, wrong FROM ({own})"
        row = log.fetch(f"SELECT min(row) AS row FROM ({numbered}) WHERE wrong IS NOT NULL").item()
        if row is not None:
            first = f"row {row:,}" + (f" of {file.name}" if len(log.files) > 1 else "")
            raise DataError(f"{share}; the first is {first}; {hint}")
