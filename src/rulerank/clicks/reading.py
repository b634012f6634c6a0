"""Click logs into counts: impressions added up in a stream, and what cannot be right counted and named."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from rulerank.clicks.counts import COUNTS, ClickCounts
from rulerank.clicks.log_columns import Fail, find_columns, limit, moment, naming, text, whole, zero_or_one
from rulerank.clicks.log_files import PORTION, LogFile, collected, names_of, open_logs, portions
from rulerank.core.checks import is_whole
from rulerank.core.words import counted, listed
from rulerank.errors import DataError
from rulerank.shown import LOWEST, MOST, check_total

When = str | float | datetime.date
ABOVE_THE_TOP = "whose position is above the top"
KINDS = (  # what may be wrong with a row, in the order in which it is looked for
    "without a query",
    "without a document",
    "whose position is no whole number",
    ABOVE_THE_TOP,
    f"whose position is larger than {LOWEST:,}",
    f"where clicked is neither 0 nor 1, or impressions or clicks are no whole numbers from 0 to {MOST:,}",
    "with more clicks than impressions",
    "whose time cannot be read",
)


@dataclass(frozen=True)
class _Reading:
    """How the rows of a log are read."""

    named: Mapping[str, str]
    first_position: int
    since: When | None
    until: When | None


def read_clicks(
    sources: Any,
    *,
    query: str | None = None,
    doc: str | None = None,
    position: str | None = None,
    clicked: str | None = None,
    impressions: str | None = None,
    clicks: str | None = None,
    time: str | None = None,
    device: str | None = None,
    since: When | None = None,
    until: When | None = None,
    first_position: int = 1,
    skip_bad: bool = False,
    format: str | None = None,
) -> ClickCounts:
    """Read a click log and add it up: how often each document of a query was shown at each position, and clicked.

    The log is a csv, tsv, jsonl or Parquet file (compressed ones, too), a folder or pattern of them, a data frame, or
    several. A row is one impression with `clicked` 0 or 1, or a sum with `impressions` and `clicks`. Columns are known
    by common names (qid, docid, rank, ...), or named here. Parquet and plain text are streamed: the memory depends on
    how many different rows of counts there are, not on how long the log is.

    Parameters
    ----------
    sources: the log.
    query, doc, position, clicked, impressions, clicks, time: the columns, where their names do not tell.
    device: the column of the device; where it is named, devices are counted apart.
    since, until: only impressions from this time on, and before that one: dates or times in UTC, or numbers where the
        log's times are numbers.
    first_position: what the log calls the position at the top, 1 or 0.
    skip_bad: leave out rows that cannot be right, with a warning that counts them, instead of an error.
    format: csv, tsv, jsonl or parquet, where the name does not tell.

    >>> import io
    >>> read_clicks(io.StringIO("qid,docid,rank,clicked\\nq1,a,1,1\\nq1,b,2,0\\nq1,a,1,0\\n")).table.rows()
    [('q1', 'a', 1, 2, 1), ('q1', 'b', 2, 1, 0)]
    """
    if not is_whole(first_position, 0, 1):
        raise DataError(f"first_position must be 1, or 0 where the log counts from 0: got {first_position!r}")
    given = {"query": query, "doc": doc, "position": position, "clicked": clicked, "impressions": impressions}
    given |= {"clicks": clicks, "time": time, "device": device}
    how = _Reading({role: name for role, name in given.items() if name}, first_position, since, until)
    files = open_logs(sources, format)
    keys = ["query", "doc", "position", *(["device"] if device else [])]
    found = _added_up(files, how, keys)
    if found["n_wrong"].sum():
        _complain(_added_up(files, how, ["wrong"]), files, how, skip_bad)
        found = _added_up(files, how, keys, pl.col("wrong").is_null())
    found = found.filter(pl.col("impressions") > 0)
    if not len(found):
        within = " in that time" if since is not None or until is not None else ""
        raise DataError(f"{names_of(files)}: the log holds no impression{within}")
    check_total(float(found["impressions"].cast(pl.Float64).sum()))
    return ClickCounts.from_checked(found)


def _added_up(files: list[LogFile], how: _Reading, keys: list[str], only: pl.Expr | None = None) -> pl.DataFrame:
    """Return the sums of all files by keys, and how many rows are wrong; held are sums and one portion's work."""
    again = [pl.col(*COUNTS, "n_wrong", "n_rows").sum()]
    first = [pl.col(*COUNTS).sum(), pl.col("wrong").count().cast(pl.Int64).alias("n_wrong")]
    kept: list[pl.DataFrame] = []
    for portion in portions(files):
        rows = pl.concat([_rows(file, how) for file in portion])
        rows = rows if only is None else rows.filter(only)
        kept.append(collected(portion, rows.group_by(keys).agg(*first, pl.len().cast(pl.Int64).alias("n_rows"))))
        if sum(map(len, kept[1:])) > max(len(kept[0]), PORTION // 4):
            kept = [pl.concat(kept).group_by(keys).agg(again)]
    return pl.concat(kept).group_by(keys).agg(again) if len(kept) > 1 else kept[0]


def _rows(file: LogFile, how: _Reading, *, numbered: bool = False) -> pl.LazyFrame:
    """Return one file's rows as they are added up; `wrong` is the number of what cannot be right, or null."""
    types = file.columns()
    limits = {name: value for name, value in (("since", how.since), ("until", how.until)) if value is not None}
    wanted = ["query", "doc", "position", "clicked", *COUNTS]
    wanted += ["time"] if limits or "time" in how.named else []
    wanted += ["device"] if "device" in how.named else []
    columns = find_columns([*types], how.named, wanted, file.fail)
    needed = ["query", "doc", "position", *(["time"] if limits else [])]
    for role in needed:
        if role not in columns:
            there = f"the columns are {listed([*types])}"
            file.fail(f"no column is known to be the {role}: {there}; name it ({naming(role)})")

    def cell(read: Callable[[str, pl.DataType, Fail], pl.Expr], role: str) -> pl.Expr:
        return read(columns[role], types[columns[role]], file.fail).alias(role)

    query, doc, position = cell(text, "query"), cell(text, "doc"), cell(whole, "position") + (1 - how.first_position)
    made = [query, doc, position]
    made += [cell(text, "device").fill_null("")] if "device" in columns else []
    wrong = [query.is_null(), doc.is_null(), position.is_null(), position < 1, position > LOWEST]
    if _has_sums(columns, [*types], file):
        shown, clicks = cell(whole, "impressions"), cell(whole, "clicks")
        unknown = ~(shown.is_between(0, MOST) & clicks.is_between(0, MOST)).fill_null(False)
    else:
        shown, clicks = pl.lit(1, dtype=pl.Int64).alias("impressions"), cell(zero_or_one, "clicked").alias("clicks")
        unknown = clicks.is_null()
    wrong += [unknown, clicks > shown]
    scan = file.scan(list(dict.fromkeys(columns.values())))
    scan = scan.with_row_index("row number") if numbered else scan
    if limits:
        when = cell(moment, "time")
        numbers = types[columns["time"]].is_numeric()
        bounds = {name: limit(name, value, numbers) for name, value in limits.items()}
        scan = scan.filter((when >= bounds["since"]).fill_null(True)) if "since" in bounds else scan
        scan = scan.filter((when < bounds["until"]).fill_null(True)) if "until" in bounds else scan
        wrong.append(when.is_null())
    kinds = [pl.when(one).then(pl.lit(kind, dtype=pl.Int8)) for kind, one in enumerate(wrong)]
    return scan.select(*(["row number"] if numbered else []), *made, shown, clicks, pl.coalesce(kinds).alias("wrong"))


def _has_sums(columns: Mapping[str, str], there: Sequence[str], file: LogFile) -> bool:
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
            f"{listed(there)}; name it ({naming('clicked')})"
        )
    return True


def _complain(found: pl.DataFrame, files: list[LogFile], how: _Reading, skip_bad: bool) -> None:
    """Refuse rows that cannot be right, or say how many there are."""
    wrong = dict(found.drop_nulls("wrong").sort("wrong").select("wrong", "n_rows").rows())
    said = ", ".join(f"{n:,} {KINDS[kind]}" for kind, n in wrong.items())
    n_rows = int(found["n_rows"].sum())
    share = f"{names_of(files)}: {sum(wrong.values()):,} of {counted(n_rows, 'row')} cannot be right: {said}"
    if skip_bad:
        warnings.warn(f"{share}; left out", stacklevel=3)
        return
    hint = "skip_bad=True (on the command line --skip-bad) leaves them out"
    if KINDS.index(ABOVE_THE_TOP) in wrong and how.first_position == 1:
        hint = f"where the log counts positions from 0, say first_position=0 (--first-position 0); else {hint}"
    raise DataError(f"{share}; the first is {_first(files, how)}; {hint}")


def _first(files: list[LogFile], how: _Reading) -> str:
    """Return where the first row is that cannot be right."""
    for file in files:
        rows = _rows(file, how, numbered=True).filter(pl.col("wrong").is_not_null())
        found = rows.select("row number").head(1).collect(engine="streaming")
        if len(found):
            return f"row {found.item() + 1:,}" + (f" of {file.name}" if len(files) > 1 else "")
    raise AssertionError("no row is wrong")
