"""rulerank clicks: add up a click log, join it with a pool, and say what it holds."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from rulerank.cli.options import (
    AsJson,
    DocidColumn,
    FeatureColumns,
    GradeColumn,
    LogColumns,
    QidColumn,
    columns,
    named_columns,
)
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.render.document import Page


def clicks(
    log: Annotated[
        str,
        typer.Argument(metavar="LOG", help="csv, tsv, jsonl or Parquet, a folder or a pattern of them, - for stdin."),
    ],
    pool: Annotated[str | None, typer.Argument(metavar="POOL", help="The documents with their features.")] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="The table to write: POOL's rows with what was clicked."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="id|text", help="How LOG names queries: POOL's ids, or their texts [what finds more]."),
    ] = None,
    first_position: Annotated[int, typer.Option(help="What LOG calls the top: 1 or 0.")] = 1,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out rows that cannot be right, and count them.")
    ] = False,
    log_columns: LogColumns = None,
    log_format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="Format of LOG [by its name].")
    ] = None,
    format: Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="Format of FILE [by its name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Add up a click log, join it with a pool, say what it holds.

    A row of LOG is one impression of a document (query, doc, position, clicked), or a sum of them (impressions and
    clicks). Large logs need not fit in memory. What is printed: queries, impressions, the click rate by position, what
    the pool knows, and how many documents were seen at more than one position, without which a position's part in a
    click cannot be told from the documents'. The joined table has one row per query, document and position.

    Example:
        rulerank clicks log.parquet pool.csv -o pool-with-clicks.parquet
        rulerank clicks 'logs/*.jsonl' pool.csv --columns query=term,doc=sku -o clicked.parquet
    """
    from rulerank.clicks.reading import read_clicks
    from rulerank.clicks.summary import summarise_clicks
    from rulerank.io.formats import output_format, read_any, write_any
    from rulerank.io.tables import TABLE_FORMATS

    if pool is None and out:
        raise DataError("-o needs the documents: rulerank clicks LOG POOL -o FILE")
    if out is not None:
        kind = output_format(out, format or ("csv" if out == "-" else None))
        if kind not in TABLE_FORMATS:
            raise DataError(f"-o writes a table, {', '.join(TABLE_FORMATS)}: {kind} cannot carry it")
    counts = read_clicks(
        log,
        columns=named_columns(log_columns),
        first_position=first_position,
        skip_bad=skip_bad,
        format=log_format,
    )
    written: dict[str, str] = {}
    if pool is None:
        summary = summarise_clicks(counts)
    else:
        data = read_any(pool, **columns(qid, docid, grade, features))
        match = counts.match(data, by=by)
        summary = summarise_clicks(counts, match, n_pool=len(data))
        joined = match.joined(data)
        if out is not None:
            write_any(joined, out, format)
            written[out] = repr(joined)
    to = sys.stderr if "-" in written else sys.stdout
    if as_json:
        print(json.dumps(summary.to_dict() | {"written": written}, indent=2), file=to)
        return
    show(summary.page(), to)
    for file, what in written.items():
        print(f"{file}: {what}", file=to)


def show(page: Page, to: TextIO) -> None:
    """Print a page: drawn on a terminal, as aligned text in a pipe."""
    from rulerank.render.text import render_text, rich_page

    if to.isatty() and (to.encoding or "").startswith("utf"):
        from rich.console import Console

        Console(file=to).print(rich_page(page))
    else:
        print(render_text(page), end="\n\n", file=to)
