"""rulerank clicks: aggregate a click log, join it with a pool and summarise it."""

from __future__ import annotations

import json
import sys
from typing import Annotated

from rulerank.cli.options import AsJson, LogColumns, argument, flag, log_columns, option
from rulerank.errors import DataError


def clicks(
    log: Annotated[
        str, argument("LOG", "Click log: csv, tsv, jsonl or Parquet, a folder or pattern of files, - for stdin.")
    ],
    pool: Annotated[str | None, argument("[POOL]", "Documents with their features.")] = None,
    out: Annotated[
        str | None, option("FILE", "Output table: the rows of POOL with their clicks.", "--out", "-o")
    ] = None,
    first_position: Annotated[int, option("0|1", "Number of the top position in LOG: 1 or 0.")] = 1,
    skip_bad: Annotated[bool, flag("Skip and count invalid rows.", "--skip-bad")] = False,
    columns: LogColumns = None,
    as_json: AsJson = False,
) -> None:
    """Aggregate a click log and join it with a pool.

    A row of LOG is one impression of a document (query, doc, position, clicked) or counts of several (impressions and
    clicks). Logs may be larger than memory. Prints the numbers of queries and impressions, the click rate by position,
    the share of the log that the pool covers, and how many documents were shown at more than one position: without
    these the position bias cannot be estimated. The joined table has one row per query, document and position.

    Example:
        # summarise a log and join it with the pool, for rulerank train
        rulerank clicks log.parquet pool.csv -o pool-with-clicks.parquet
        # name the columns of the log
        rulerank clicks 'logs/*.jsonl' pool.csv --columns query=query,doc=doc -o clicked.parquet
    """
    from rulerank.cli.output import print_page
    from rulerank.clicks.counts import read_clicks
    from rulerank.clicks.summary import summarise_clicks
    from rulerank.io.formats import output_format, read_any, write_any
    from rulerank.io.frames import TABLE_FORMATS

    if pool is None and out:
        raise DataError("-o needs the documents to join: rulerank clicks LOG POOL -o FILE")
    kind = None if out is None else "csv" if out == "-" else output_format(out)
    if kind is not None and kind not in TABLE_FORMATS:
        raise DataError(f"-o writes a table ({', '.join(TABLE_FORMATS)}): {kind} has no columns for clicks")
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
