"""rulerank rank: score documents with a model."""

from __future__ import annotations

import sys
from typing import Annotated

from rulerank.cli.options import AsJson, Docid, Qid, argument, columns, option
from rulerank.errors import DataError


def rank(
    source: Annotated[str, argument("DATA", "The documents to score, - for stdin.")],
    model: Annotated[str, argument("MODEL", "A model file that `rulerank train` wrote.")],
    out: Annotated[str, option("FILE", "A .run (TREC), a .csv, or else scores, one a line.", "--out", "-o")] = "-",
    qid: Qid = None,
    docid: Docid = None,
    as_json: AsJson = False,
) -> None:
    """Score documents with a model.

    The higher the score, the higher the document ranks within its query. Scores and csv keep the order of the
    documents, as stdout does; a run has them best first. The data must have all features of the model, by name; others
    may come along. A LETOR file leaves out features that are 0: those it lacks at the end are taken as 0, with a note
    on stderr. Documents without ids have the keys by which `rulerank sample` and `rulerank judge` label them.

    Example:

    \b
        rulerank rank test.txt model.rulerank
        rulerank rank test.txt model.rulerank -o model.run
    """
    from rulerank.cli.output import print_json, print_table
    from rulerank.core.words import counted
    from rulerank.io.doc_names import doc_keys
    from rulerank.io.streams import is_many
    from rulerank.io.trec import SCORE_FORMATS, score_format, write_scores
    from rulerank.model_file import load_beside_data
    from rulerank.rankers.documents import read_documents

    ranker = load_beside_data(model, source)
    if is_many(source):
        raise DataError(f"{source} stands for many files: rank them one after the other, into a file each")
    read = read_documents(source, None, columns(qid, docid), wanted=ranker.feature_names_)
    chosen = score_format("csv" if out == "-" else None, out)
    if chosen == "run" and read.data.shown is not None:
        raise DataError(
            f"{source} has a row for each position that a document was shown at, and a run has each document once: "
            "rank the pool that the log was joined with"
        )
    scores = ranker.predict(read.with_features(ranker.feature_names_))
    ranked = read.data
    if chosen == "run" and ranked.base is not None and ranked.base.extra.any():
        own = ~ranked.base.extra  # what no search has found must not be in a run
        n_extra = counted(int((~own).sum()), "document")
        print(f"{n_extra} left out: in {source} only because they are judged", file=sys.stderr)
        ranked, scores = ranked[own], scores[own]
    if as_json:
        print_json({"rows": len(ranked), "format": chosen} | ({"scores": scores.tolist()} if out == "-" else {}))
    elif out == "-" and sys.stdout.isatty():
        rows = zip(map(str, ranked.qid), doc_keys(ranked), (f"{score:.4f}" for score in scores), strict=True)
        print_table(["qid", "docid", "score"], [*map(list, rows)], n_left=2)
    if out != "-" or not (as_json or sys.stdout.isatty()):
        write_scores(ranked, scores, out, chosen)
    if out != "-" and not as_json:
        print(f"{out}: {counted(len(ranked), 'score')}, {SCORE_FORMATS[chosen]}")
