"""rulerank convert: go from one file format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from rulerank.cli.options import AsJson, DocidColumn, FeatureColumns, GradeColumn, QidColumn, columns
from rulerank.cli.output import report


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="The file to read, - for stdin.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The file to write, - for stdout.")],
    source_format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="Format of IN [by its name and content].")
    ] = None,
    target_format: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="Format of OUT [by its name].")
    ] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Go from one file format to another.

    Formats: letor, csv, tsv, parquet, run and qrels (TREC), quepid. Names may end in .gz. What the new
    format cannot hold is named.

    Example:
        rulerank convert train.txt train.parquet
        rulerank convert train.csv train.txt.gz --qid query --features bm25_body,pagerank
        rulerank convert train.txt - --to qrels
    """
    from rulerank.io.formats import convert

    done = convert(
        source,
        target,
        source_format=source_format,
        target_format=target_format,
        **columns(qid, docid, grade, features),
    )
    payload = {
        "rows": done.rows,
        "from": done.source,
        "to": done.target,
        "left_out": done.left_out,
        "note": done.note,
    }
    report(payload, f"{target}: {done}", as_json=as_json, target=target)
