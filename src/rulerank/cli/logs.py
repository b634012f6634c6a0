"""rulerank logs: feature logs of a search engine to a pool."""

from __future__ import annotations

from typing import Annotated

import typer

from rulerank.cli.options import AsJson, Unjudged
from rulerank.cli.output import print_table, report
from rulerank.errors import DataError


def logs(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Answers of the engine as JSON, - for stdin.")],
    out: Annotated[str, typer.Option("-o", "--out", metavar="OUT", help="The file to write, - for stdout.")],
    qrels: Annotated[str | None, typer.Option(metavar="FILE", help="Labels: TREC qrels.")] = None,
    unjudged: Unjudged = None,
    ids: Annotated[
        str | None, typer.Option(metavar="FILE", help="The query ids, one a line, in the order of the answers.")
    ] = None,
    key: Annotated[str, typer.Option(metavar="FIELD", help="The field of the document id in Solr's answers.")] = "id",
    missing_as_zero: Annotated[
        bool, typer.Option("--missing-as-zero", help="Read features without a value as 0 instead of missing.")
    ] = False,
    format: Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="Format of OUT [by its name].")] = None,
    as_json: AsJson = False,
) -> None:
    """Turn feature logs of a search engine into a pool.

    Takes answers of OpenSearch or Elasticsearch with logged features (an sltr query and ext.ltr_log) or of Solr
    (fl=id,score,[features]), as JSON: one a file, named after its query (q7.json), several in a list, one a line, or
    what a multi-search returns. Several in a file need query ids: {"query_id": ..., "response": ...} each, or --ids.

    Example:
        rulerank logs answers.jsonl -o pool.csv
        rulerank logs q7.json --qrels judged.qrels -o pool.parquet
    """
    from rulerank.io.engine_logs import read_ids, read_logs
    from rulerank.io.formats import output_format, write_any
    from rulerank.io.trec import read_qrels

    if qrels is None and unjudged is not None:
        raise DataError("--unjudged is for judgements: add --qrels FILE")
    output_format(out, format)  # before the work
    data = read_logs(
        files,
        qrels=None if qrels is None else read_qrels(qrels),
        ids=None if ids is None else read_ids(ids),
        key=key,
        missing_as_zero=missing_as_zero,
        unjudged=unjudged,
    )
    done = write_any(data, out, format)
    shares = (data.X != data.X).mean(axis=0).tolist()
    missing = dict(zip(data.feature_names, shares, strict=True))
    payload = {
        "file": out,
        "rows": done.rows,
        "queries": len(set(data.qid)),
        "labelled": int((data.y >= 0).sum()),
        "note": done.note,
        "missing": missing,
    }
    note = f"; not carried: {done.note}" if done.note else ""
    report(payload, f"{out}: {data!r}{note}", as_json=as_json, target=out)
    if not as_json and out != "-":
        print_table(["feature", "missing"], [[name, f"{100 * share:.0f} %"] for name, share in missing.items()])
