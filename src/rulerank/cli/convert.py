"""rulerank convert: convert between file formats."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from rulerank.cli.options import AsJson, Docid, Features, Grade, Qid, argument, columns, option
from rulerank.cli.output import report
from rulerank.errors import DataError


def convert(
    source: Annotated[str, argument("IN", "Input file, - for stdin; for logs also a pattern of files.")],
    target: Annotated[str, argument("OUT", "Output file, - for stdout.")],
    source_format: Annotated[
        str | None, option("FORMAT", "Format of IN.  [default: by name and content]", "--from")
    ] = None,
    target_format: Annotated[str | None, option("FORMAT", "Format of OUT.  [default: by name]", "--to")] = None,
    qrels: Annotated[
        str | None, option("FILE", "Judgements to join; relevant documents not in IN count as missed.")
    ] = None,
    qid: Qid = None,
    docid: Docid = None,
    grade: Grade = None,
    features: Features = None,
    as_json: AsJson = False,
) -> None:
    """Convert between file formats.

    Formats: letor, csv, tsv, parquet, run and qrels (TREC), quepid, and logs (input only). Names may end in .gz. Prints
    what the new format cannot hold.

    logs: JSON responses of OpenSearch or Elasticsearch with logged features (an sltr query and ext.ltr_log) or of Solr
    (fl=id,score,[features]; --docid names the id field). Either one response per file, named after its query (q7.json),
    one per line, or a multi-search response; several in one file as {"query_id": ..., "response": ...}.

    Example:
        # LETOR text to Parquet
        rulerank convert train.txt train.parquet
        # choose columns, write gzipped LETOR text
        rulerank convert train.csv train.txt.gz --qid query --features bm25_body,pagerank
        # logged features of a search engine, joined with judgements
        rulerank convert q7.json pool.parquet --from logs --qrels judged.qrels
    """
    from rulerank.io.engine_logs import join_labels, read_logs
    from rulerank.io.files import check_output, is_many
    from rulerank.io.formats import convert, output_format, read_data_file, write_any
    from rulerank.io.trec import read_qrels
    from rulerank.scale.part import document_files

    named = columns(qid, docid, grade, features)
    if qrels is None and not is_many(source):
        done = convert(source, target, source_format=source_format, target_format=target_format, **named)
    else:
        output_format(target, target_format)  # before the work
        check_output(target, [source, qrels])
        if is_many(source):
            if source_format != "logs":
                raise DataError(
                    f"{source} names several files, supported only for logs of a search engine: add --from logs"
                )
            data, found = read_logs(document_files(source), key=docid or "id"), "logs"
        else:
            data, _, found = read_data_file(source, source_format, **named)
        done = write_any(data if qrels is None else join_labels(data, read_qrels(qrels)), target, target_format)
        done = replace(done, source=found)
    payload = {"rows": done.rows, "from": done.source, "to": done.target, "left_out": done.left_out, "note": done.note}
    report(payload, f"{target}: {done}", as_json=as_json, target=target)
