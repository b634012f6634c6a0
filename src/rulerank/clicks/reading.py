"""Click logs into counts: impressions added up in a stream, and what cannot be right counted and named."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import polars as pl

from rulerank.clicks.adding import Sums
from rulerank.clicks.counts import COUNTS, ClickCounts
from rulerank.clicks.log_columns import Fail, find_columns, limit, moment, naming, text, whole, zero_or_one
from rulerank.clicks.log_files import FRAME, LogFile, collected, names_of, open_logs, portions
from rulerank.core.checks import is_whole
from rulerank.core.words import counted, listed
from rulerank.errors import DataError
from rulerank.shown import LOWEST, MOST, check_total

When = str | float | datetime.date
NUMBER = "row number"
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
    by common names (qid, docid, rank, ...), or named here. Files are read in portions: the memory depends on how many
    different rows of counts there are, not on how long the log is.

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
    texts = ["query", "doc", *(["device"] if device else [])]
    found, some_wrong, n_impressions = _added_up(files, how, texts)
    if some_wrong:
        _complain(files, how, skip_bad)
    found = found.filter(pl.col("impressions") > 0)
    if not len(found):
        within = " in that time" if since is not None or until is not None else ""
        raise DataError(f"{names_of(files)}: the log holds no impression{within}")
    check_total(n_impressions)
    return ClickCounts.from_checked(found)


def _added_up(files: list[LogFile], how: _Reading, texts: list[str]) -> tuple[pl.DataFrame, bool, float]:
    """Return the sums of all files by texts and position, whether rows are wrong and left out, and all impressions."""
    sums = Sums(texts)
    some_wrong, n_impressions = False, 0.0
    with ThreadPoolExecutor(1) as beside:  # while the next portion is read
        adding: Future[None] | None = None
        for portion in portions(files):
            rows = pl.concat([_rows(file, how) for file in portion])
            if portion[0].format == FRAME:  # one portion, however large it is
                rows = rows.group_by(*texts, "position", "wrong").agg(pl.col(*COUNTS).sum())
            found = collected(portion, rows.select(*sums.cells(), "wrong"))
            right = found.filter(pl.col("wrong").is_null()) if found["wrong"].count() else found
            some_wrong |= len(right) < len(found)
            n_impressions += float(right["impressions"].sum())
            if adding is not None:
                adding.result()
            adding = beside.submit(sums.add, right)
        if adding is not None:
            adding.result()
    return sums.frame(), some_wrong, n_impressions


def _wrong_rows(files: list[LogFile], how: _Reading) -> tuple[dict[int, int], int]:
    """Return how many rows are wrong, by kind, and how many there are."""
    n_rows = pl.len().cast(pl.Int64).alias("n_rows")
    found = pl.concat(
        collected(portion, pl.concat([_rows(file, how) for file in portion]).group_by("wrong").agg(n_rows))
        for portion in portions(files)
    )
    by_kind = found.drop_nulls("wrong").group_by("wrong").agg(pl.col("n_rows").sum()).sort("wrong")
    return dict(by_kind.rows()), int(found["n_rows"].sum())


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

    made = [cell(text, "query"), cell(text, "doc"), cell(whole, "position") + (1 - how.first_position)]
    made += [cell(text, "device").fill_null("")] if "device" in columns else []
    if _has_sums(columns, [*types], file):
        made += [cell(whole, "impressions"), cell(whole, "clicks")]
    else:
        made += [pl.lit(1, dtype=pl.Int64).alias("impressions"), cell(zero_or_one, "clicked").alias("clicks")]
    made += [cell(moment, "time")] if limits else []
    scan = file.scan(list(dict.fromkeys(columns.values())))
    scan = scan.with_row_index(NUMBER).select(NUMBER, *made) if numbered else scan.select(made)
    if limits:
        numbers = types[columns["time"]].is_numeric()
        bounds = {name: limit(name, value, numbers) for name, value in limits.items()}
        when = pl.col("time")
        scan = scan.filter((when >= bounds["since"]).fill_null(True)) if "since" in bounds else scan
        scan = scan.filter((when < bounds["until"]).fill_null(True)) if "until" in bounds else scan
    rows = scan.with_columns(_wrong(with_time=bool(limits)).alias("wrong"))  # cells are read once, and then looked at
    return rows.drop("time") if limits else rows


def _wrong(*, with_time: bool) -> pl.Expr:
    """Return the number of what cannot be right in a row, or null."""
    position, impressions, clicks = pl.col("position"), pl.col("impressions"), pl.col("clicks")
    found = [
        pl.col("query").is_null(),
        pl.col("doc").is_null(),
        position.is_null(),
        position < 1,
        position > LOWEST,
        ~(impressions.is_between(0, MOST) & clicks.is_between(0, MOST)).fill_null(False),
        clicks > impressions,
        *([pl.col("time").is_null()] if with_time else []),
    ]
    return pl.coalesce(pl.when(one).then(pl.lit(kind, dtype=pl.Int8)) for kind, one in enumerate(found))


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


def _complain(files: list[LogFile], how: _Reading, skip_bad: bool) -> None:
    """Refuse rows that cannot be right, or say how many there are."""
    wrong, n_rows = _wrong_rows(files, how)
    said = ", ".join(f"{n:,} {KINDS[kind]}" for kind, n in wrong.items())
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
        n_before = 0
        for part in file.parts():
            rows = _rows(part, how, numbered=True).filter(pl.col("wrong").is_not_null())
            found = rows.select(NUMBER).head(1).collect(engine="streaming")
            if len(found):
                return f"row {n_before + found.item() + 1:,}" + (f" of {file.name}" if len(files) > 1 else "")
            n_before += part.n_rows()
    raise AssertionError("no row is wrong")
