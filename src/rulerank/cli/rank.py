"""rulerank rank: score documents with a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rulerank.cli.options import AsJson, DocidColumn, FeatureColumns, QidColumn, columns
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.dataset import Array, Dataset

FORMATS = ("scores", "run", "csv")


def rank(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file that `rulerank train` wrote.")],
    source: Annotated[str, typer.Argument(metavar="DATA", help="The documents to score, - for stdin.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The file to write, - for stdout.")] = "-",
    target_format: Annotated[
        str, typer.Option("--to", "--format", metavar="FORMAT", help="scores (one per line), run (TREC) or csv.")
    ] = "scores",
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of DATA [by name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Score documents with a model; the higher the score, the higher the document ranks within its query.

    Scores and csv keep the order of the documents; a run has them best first. The data must have all features of the
    model, by name; others may come along.

    Example:

    \b
        rulerank rank model.rulerank test.txt
        rulerank rank model.rulerank test.txt -o model.run --format run
        rulerank rank model.rulerank test.txt --format csv
    """
    from rulerank.cli.documents import read_documents
    from rulerank.cli.output import report
    from rulerank.model_file import load

    if target_format not in FORMATS:
        raise DataError(f"unknown format {target_format!r}; choose from {', '.join(FORMATS)}")
    ranker = load(model)
    data = read_documents(source, format, columns(qid, docid, None, features)).with_features(ranker.feature_names_)
    write_scores(data, ranker.predict(data), out, target_format)
    if out != "-" or as_json:
        report(
            {"rows": len(data), "format": target_format}, f"{out}: {len(data):,} scores", as_json=as_json, target=out
        )


def write_scores(data: Dataset, scores: Array, target: str, format: str) -> None:
    """Write the scores of documents: one per line, as a TREC run, or as a table beside their ids."""
    import polars as pl

    from rulerank.io.streams import write_bytes
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
