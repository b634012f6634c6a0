"""rulerank rank: score documents with a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rulerank.cli.options import AsJson, DocidColumn, FeatureColumns, QidColumn, columns
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.dataset import Array, Dataset

FORMATS = {"scores": "one per line", "run": "as a TREC run", "csv": "as csv"}


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
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of DATA [by name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Score documents with a model.

    The higher the score, the higher the document ranks within its query. Scores and csv keep the order of the
    documents; a run has them best first. The data must have all features of the model, by name; others may come along.
    A LETOR file leaves out features that are 0: those it lacks at the end are taken as 0, which stderr is told.

    Example:

    \b
        rulerank rank model.rulerank test.txt
        rulerank rank model.rulerank test.txt -o model.run
        rulerank rank model.rulerank test.txt --format csv
    """
    from rulerank.cli.documents import read_documents
    from rulerank.cli.model_files import load_model
    from rulerank.cli.output import print_json
    from rulerank.core.words import counted

    if out == "-" and as_json and target_format:
        raise DataError("--json prints the scores as JSON: leave out --format, or name a file for it with -o")
    chosen = choose_format(target_format, out)
    ranker = load_model(model, source)
    data = read_documents(source, format, columns(qid, docid, None, features)).with_features(ranker.feature_names_)
    scores = ranker.predict(data)
    payload = {"rows": len(data), "format": chosen}
    if out == "-" and as_json:
        print_json(payload | {"scores": scores.tolist()})
        return
    write_scores(data, scores, out, chosen)
    if as_json:
        print_json(payload)
    elif out != "-":
        print(f"{out}: {counted(len(data), 'score')}, {FORMATS[chosen]}")


def choose_format(named: str | None, out: str) -> str:
    """Return the format that was named, or the one that the file's name ends in.

    >>> choose_format(None, "a.run.gz"), choose_format(None, "a.txt"), choose_format("csv", "a.txt")
    ('run', 'scores', 'csv')
    """
    from rulerank.io.streams import format_suffix

    if named is None:
        suffix = format_suffix(out).removeprefix(".")
        return suffix if suffix in FORMATS else "scores"
    if named.lower() not in FORMATS:
        raise DataError(f"unknown format {named!r}; choose from {', '.join(FORMATS)}")
    return named.lower()


def write_scores(data: Dataset, scores: Array, target: str, format: str) -> None:
    """Write the scores of documents: one per line, as a TREC run, or as a table beside their ids."""
    import polars as pl

    from rulerank.io.outputs import write_bytes
    from rulerank.io.tables import write_frame
    from rulerank.io.trec import run_from_scores, write_run

    if format == "run":
        write_run(run_from_scores(data, scores), target)
    elif format == "csv":
        ids = {"qid": data.qid} if data.docid is None else {"qid": data.qid, "docid": data.docid}
        columns = {name: [str(value) for value in values] for name, values in ids.items()}
        write_frame(pl.DataFrame(columns | {"score": scores}), target, format="csv")
    else:
        write_bytes(target, "".join(f"{score!r}\n" for score in scores.tolist()).encode())
