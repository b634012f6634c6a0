"""rulerank clicks: add up a click log, join it with a pool, and say what it holds."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from rulerank.cli.options import AsJson, DocidColumn, FeatureColumns, GradeColumn, QidColumn, columns
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
    figure: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the click rate by position as .svg, .png or .pdf.")
    ] = None,
    grades: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write clicks as grades of one more judge (csv, tsv, parquet).")
    ] = None,
    highest: Annotated[
        int | None, typer.Option("--highest-grade", help="The best of these grades [the best in POOL, or 2].")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="id|text", help="How LOG names queries: POOL's ids, or their texts [what finds more]."),
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only from this time on (UTC).")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only before this time (UTC).")] = None,
    first_position: Annotated[int, typer.Option(help="What LOG calls the top: 1 or 0.")] = 1,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out rows that cannot be right, and count them.")
    ] = False,
    query_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="LOG's column of the query [query, qid, ...].")
    ] = None,
    doc_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="LOG's column of the document [doc, docid, ...].")
    ] = None,
    position_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="LOG's column of the position [position, rank, ...].")
    ] = None,
    clicked_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="LOG's column of 0 or 1 [clicked, click, ...].")
    ] = None,
    impressions_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="LOG's column of impressions, where rows are sums.")
    ] = None,
    clicks_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="LOG's column of clicks, where rows are sums.")
    ] = None,
    time_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="LOG's column of the time [time, timestamp, ...].")
    ] = None,
    device_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="LOG's column of the device: count devices apart.")
    ] = None,
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

    --grades writes how often documents were clicked against what their positions lead one to expect, cut into grades,
    which `rulerank labels --import` takes in beside those of people.

    Example:
        rulerank clicks log.parquet pool.csv -o pool-with-clicks.parquet
        rulerank clicks log.csv --figure rates.svg
        rulerank clicks 'logs/*.jsonl' pool.csv --since 2026-11-01 --grades clicks.csv -o clicked.parquet
    """
    from rulerank.clicks.grades import grade_by_clicks
    from rulerank.clicks.reading import read_clicks
    from rulerank.clicks.summary import rates_figure, summarise_clicks
    from rulerank.io.formats import read_any, write_any
    from rulerank.io.outputs import write_bytes
    from rulerank.io.tables import write_frame
    from rulerank.render.figures import check_figure_file, check_matplotlib, figure_bytes

    if pool is None and (out or grades):
        raise DataError("-o and --grades need the documents: rulerank clicks LOG POOL -o FILE")
    check_outputs(out, grades, figure, format)
    drawn = None
    if figure is not None:
        drawn = check_figure_file(figure)
        check_matplotlib()
    counts = read_clicks(
        log,
        query=query_column,
        doc=doc_column,
        position=position_column,
        clicked=clicked_column,
        impressions=impressions_column,
        clicks=clicks_column,
        time=time_column,
        device=device_column,
        since=since,
        until=until,
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
        if grades is not None:
            found = grade_by_clicks(joined, highest)
            write_frame(found.table(joined), grades, format="csv" if grades == "-" else None)
            written[grades] = found.sentence()
    if drawn is not None:
        write_bytes(drawn, figure_bytes(rates_figure(summary.positions), drawn.suffix))
        written[str(drawn)] = "the click rate by position"
    to = sys.stderr if "-" in written else sys.stdout
    if as_json:
        print(json.dumps(summary.to_dict() | {"written": written}, indent=2), file=to)
        return
    show(summary.page(), to)
    for file, what in written.items():
        print(f"{file}: {what}", file=to)


def check_outputs(out: str | None, grades: str | None, figure: str | None, format: str | None) -> None:
    """Complain before the work about what cannot be written."""
    from rulerank.io.formats import output_format
    from rulerank.io.tables import TABLE_FORMATS

    given = [name for name in (out, grades, figure) if name is not None]
    if len(set(given)) < len(given):
        raise DataError(f"-o, --grades and --figure write different things: {given[0]!r} is there twice")
    for option, target, named in (("-o", out, format), ("--grades", grades, None)):
        if target is None:
            continue
        found = output_format(target, named or ("csv" if target == "-" else None))
        if found not in TABLE_FORMATS:
            raise DataError(f"{option} writes a table, {', '.join(TABLE_FORMATS)}: {found} cannot carry it")


def show(page: Page, to: TextIO) -> None:
    """Print a page: drawn on a terminal, as aligned text in a pipe."""
    from rulerank.render import render_text, rich_page

    if to.isatty() and (to.encoding or "").startswith("utf"):
        from rich.console import Console

        Console(file=to).print(rich_page(page))
    else:
        print(render_text(page), end="\n\n", file=to)
