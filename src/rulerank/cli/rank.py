"""rulerank rank: score documents with a model."""

from __future__ import annotations

import sys
from typing import Annotated

from rulerank.cli.options import AsJson, Docid, Qid, argument, columns, option
from rulerank.errors import DataError


def rank(
    source: Annotated[str, argument("DATA", "Documents to score, - for stdin.")],
    model: Annotated[str, argument("MODEL", "Model file from `rulerank train`.")],
    out: Annotated[
        str, option("FILE", "A .run (TREC) or .csv; any other name: one score per line.", "--out", "-o")
    ] = "-",
    qid: Qid = None,
    docid: Docid = None,
    as_json: AsJson = False,
) -> None:
    """Score documents with a model.

    Higher scores rank higher within a query. Scores, csv and stdout keep the order of the documents; a run lists the
    best first. The data must have all features of the model, by name; other columns are ignored. LETOR files omit
    features that are 0: missing features at the end are read as 0, with a note on stderr. Documents without ids get the
    keys that `rulerank sample` and `rulerank judge` use.

    Example:
        # print scores
        rulerank rank test.txt model.rulerank
        # write a TREC run
        rulerank rank test.txt model.rulerank -o model.run
    """
    from rulerank._util.words import counted
    from rulerank.cli.output import print_json, print_table
    from rulerank.io.columns import doc_keys
    from rulerank.io.files import is_many
    from rulerank.io.formats import read_documents
    from rulerank.io.trec import SCORE_FORMATS, score_format, write_scores
    from rulerank.model_file import load_beside_data

    ranker = load_beside_data(model, source)
    if is_many(source):
        raise DataError(f"{source} names several files: rank them one at a time")
    read = read_documents(source, columns(qid, docid), wanted=ranker.feature_names_)
    chosen = score_format("csv" if out == "-" else None, out)
    if chosen == "run" and read.data.impressions is not None:
        raise DataError(
            f"{source} has one row per position of a document, but a run has each document once: "
            "rank the pool that the log was joined with"
        )
    ranked, data = read.data, read.with_features(ranker.feature_names_)
    if chosen == "run" and ranked.base is not None and ranked.base.extra.any():
        own = ~ranked.base.extra  # a run holds only retrieved documents
        n_extra = counted(int((~own).sum()), "document")
        print(f"{n_extra} left out: in {source} only because they have judgements", file=sys.stderr)
        ranked, data = ranked[own], data[own]
    scores = ranker.predict(data)
    if as_json:
        print_json({"rows": len(ranked), "format": chosen} | ({"scores": scores.tolist()} if out == "-" else {}))
    elif out == "-" and sys.stdout.isatty():
        rows = zip(map(str, ranked.qid), doc_keys(ranked), (f"{score:.4f}" for score in scores), strict=True)
        print_table(["qid", "docid", "score"], [*map(list, rows)], n_left=2)
    if out != "-" or not (as_json or sys.stdout.isatty()):
        write_scores(ranked, scores, out, chosen)
    if out != "-" and not as_json:
        print(f"{out}: {counted(len(ranked), 'score')}, {SCORE_FORMATS[chosen]}")
