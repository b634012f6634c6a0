"""rulerank convert: go from one file format to another."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from rulerank.cli.options import AsJson, Docid, Features, Grade, Qid, argument, columns, option
from rulerank.cli.output import report
from rulerank.errors import DataError


def convert(
    source: Annotated[str, argument("IN", "The file to read, - for stdin; logs: or a pattern of files.")],
    target: Annotated[str, argument("OUT", "The file to write, - for stdout.")],
    source_format: Annotated[str | None, option("FORMAT", "Format of IN [by name, content].", "--from")] = None,
    target_format: Annotated[str | None, option("FORMAT", "Format of OUT [by its name].", "--to")] = None,
    qrels: Annotated[str | None, option("FILE", "Judgements to join; those that IN lacks count as missed.")] = None,
    qid: Qid = None,
    docid: Docid = None,
    grade: Grade = None,
    features: Features = None,
    as_json: AsJson = False,
) -> None:
    """Go from one file format to another.

    Formats: letor, csv, tsv, parquet, run and qrels (TREC), quepid, and logs, which are only read. Names may end in
    .gz. What the new format cannot hold is named.

    logs: answers of OpenSearch or Elasticsearch with logged features (an sltr query and ext.ltr_log) or of Solr
    (fl=id,score,[features]; --docid names the field of the id), as JSON: one a file, named after its query (q7.json),
    one a line, or what a multi-search returns; several in a file as {"query_id": ..., "response": ...} each.

    Example:
        rulerank convert train.txt train.parquet
        rulerank convert train.csv train.txt.gz --qid query --features bm25_body,pagerank
        rulerank convert train.txt - --to qrels
        rulerank convert q7.json pool.parquet --from logs --qrels judged.qrels
    """
    from rulerank.io.engine_logs import join_labels, read_logs
    from rulerank.io.formats import convert, output_format, read_found, write_any
    from rulerank.io.outputs import check_output
    from rulerank.io.streams import is_many
    from rulerank.io.trec import read_qrels
    from rulerank.scale.opening import file_names

    named = columns(qid, docid, grade, features)
    if qrels is None and not is_many(source):
        done = convert(source, target, source_format=source_format, target_format=target_format, **named)
    else:
        output_format(target, target_format)  # before the work
        check_output(target, [source, qrels])
        if is_many(source):
            if source_format != "logs":
                raise DataError(f"{source} stands for many files, which only logs of an engine may: add --from logs")
            data, found = read_logs(file_names(source), key=docid or "id"), "logs"
        else:
            data, _, found = read_found(source, source_format, **named)
        done = write_any(data if qrels is None else join_labels(data, read_qrels(qrels)), target, target_format)
        done = replace(done, source=found)
    payload = {"rows": done.rows, "from": done.source, "to": done.target, "left_out": done.left_out, "note": done.note}
    report(payload, f"{target}: {done}", as_json=as_json, target=target)
