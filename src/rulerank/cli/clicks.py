"""rulerank clicks: add up a click log, join it with a pool, and say what it holds."""

from __future__ import annotations

import json
import sys
from typing import Annotated

from rulerank.cli.options import AsJson, LogColumns, argument, flag, log_columns, option
from rulerank.errors import DataError


def clicks(
    log: Annotated[str, argument("LOG", "csv, tsv, jsonl, Parquet, a folder or pattern of them, - for stdin.")],
    pool: Annotated[str | None, argument("[POOL]", "The documents with their features.")] = None,
    out: Annotated[str | None, option("FILE", "POOL's rows with what was clicked.", "--out", "-o")] = None,
    first_position: Annotated[int, flag("What LOG calls the top: 1 or 0.")] = 1,
    skip_bad: Annotated[bool, flag("Leave out and count rows that cannot be right.", "--skip-bad")] = False,
    columns: LogColumns = None,
    as_json: AsJson = False,
) -> None:
    """Add up a click log, join it with a pool, say what it holds.

    A row of LOG is one impression of a document (query, doc, position, clicked), or a sum of them (impressions and
    clicks). Large logs need not fit in memory. What is printed: queries, impressions, the click rate by position, what
    the pool knows, and how many documents were seen at more than one position, without which a position's part in a
    click cannot be told from the documents'. The joined table has one row per query, document and position.

    Example:
        rulerank clicks log.parquet pool.csv -o pool-with-clicks.parquet
        rulerank clicks 'logs/*.jsonl' pool.csv --columns query=query,doc=doc -o clicked.parquet
    """
    from rulerank.cli.output import print_page
    from rulerank.clicks.reading import read_clicks
    from rulerank.clicks.summary import summarise_clicks
    from rulerank.io.formats import output_format, read_any, write_any
    from rulerank.io.tables import TABLE_FORMATS

    if pool is None and out:
        raise DataError("-o needs the documents: rulerank clicks LOG POOL -o FILE")
    kind = None if out is None else "csv" if out == "-" else output_format(out)
    if kind is not None and kind not in TABLE_FORMATS:
        raise DataError(f"-o writes a table, {', '.join(TABLE_FORMATS)}: {kind} cannot carry it")
    counts = read_clicks(log, columns=log_columns(columns), first_position=first_position, skip_bad=skip_bad)
    written: dict[str, str] = {}
    if pool is None:
        summary = summarise_clicks(counts)
    else:
        data = read_any(pool)
        match = counts.match(data)
        summary = summarise_clicks(counts, match, n_pool=len(data))
        if out is not None:
            joined = match.joined(data)
            write_any(joined, out, kind)
            written[out] = repr(joined)
    to = sys.stderr if out == "-" else sys.stdout
    if as_json:
        print(json.dumps(summary.to_dict() | {"written": written}, indent=2), file=to)
        return
    print_page(summary.page(), to)
    print("".join(f"\n{file}: {what}" for file, what in written.items()), file=to)
