"""rulerank rank: score documents with a model."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rulerank.cli.options import AsJson, DataFormat, DocidColumn, FeatureColumns, QidColumn, columns
from rulerank.errors import DataError


def rank(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file that `rulerank train` wrote.")],
    source: Annotated[str, typer.Argument(metavar="DATA", help="The documents to score, - for stdin.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The file to write, - for stdout.")] = "-",
    target_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            "--format",
            metavar="FORMAT",
            help="scores (one per line), run (TREC) or csv [by the ending of FILE: .run, .csv, else scores].",
        ),
    ] = None,
    format: DataFormat = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Score documents with a model.

    The higher the score, the higher the document ranks within its query. Scores and csv keep the order of the
    documents; a run has them best first. The data must have all features of the model, by name; others may come along.
    A LETOR file leaves out features that are 0: those it lacks at the end are taken as 0, which stderr is told.
    Documents without ids have the keys by which `rulerank sample` and `rulerank judge` label them.

    Example:

    \b
        rulerank rank model.rulerank test.txt
        rulerank rank model.rulerank test.txt -o model.run
        rulerank rank model.rulerank test.txt --format csv
    """
    from rulerank.cli.output import print_json
    from rulerank.core.words import counted
    from rulerank.io.streams import is_many
    from rulerank.io.trec import SCORE_FORMATS, score_format, write_scores
    from rulerank.model_file import load_beside_data
    from rulerank.rankers.documents import read_documents

    if out == "-" and as_json and target_format:
        raise DataError("--json prints the scores as JSON: leave out --format, or name a file for it with -o")
    chosen = score_format(target_format, out)
    ranker = load_beside_data(model, source)
    if is_many(source):
        raise DataError(f"{source} stands for many files: rank them one after the other, into a file each")
    read = read_documents(source, format, columns(qid, docid, None, features), wanted=ranker.feature_names_)
    if chosen == "run" and read.data.shown is not None:
        raise DataError(
            f"{source} has a row for each position that a document was shown at, and a run has each document once: "
            "rank the pool that the log was joined with"
        )
    data = read.with_features(ranker.feature_names_)
    scores = ranker.predict(data)
    ranked, kept = read.data, len(data)
    if chosen == "run" and ranked.base is not None and ranked.base.extra.any():
        own = ~ranked.base.extra  # what no search has found must not be in a run
        ranked, scores, kept = ranked[own], scores[own], int(own.sum())
        n_extra = counted(len(data) - kept, "document")
        print(f"{n_extra} left out: in {source} only because they are judged", file=sys.stderr)
    payload = {"rows": kept, "format": chosen}
    if out == "-" and as_json:
        print_json(payload | {"scores": scores.tolist()})
        return
    write_scores(ranked, scores, out, chosen)
    if as_json:
        print_json(payload)
    elif out != "-":
        print(f"{out}: {counted(kept, 'score')}, {SCORE_FORMATS[chosen]}")
