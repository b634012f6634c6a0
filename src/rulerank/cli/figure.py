"""rulerank figure: draw what a model has learned."""

from __future__ import annotations

from typing import Annotated

import typer

from rulerank.cli.options import AsJson, DocidColumn, FeatureColumns, GradeColumn, QidColumn, columns
from rulerank.errors import DataError

KINDS = ("competence",)


def figure(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"What to draw: {', '.join(KINDS)}.")],
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file that `rulerank train` wrote.")],
    source: Annotated[str, typer.Argument(metavar="DATA", help="Documents with grades, - for stdin.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The .png or .svg file to write.")],
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of DATA [by name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Draw a picture of a model and write it as PNG or SVG.

    competence: which training queries of an RE-QR model judge which documents well, one panel per grade, light where
    a query's estimate lies close to the grade.

    Example:

    \b
        rulerank figure competence query.rulerank test.txt -o map.png
        rulerank figure competence query.rulerank test.txt -o map.svg
    """
    from rulerank.cli.output import report
    from rulerank.experiment.figures.competence import draw_competence_map
    from rulerank.model_file import load_ranker
    from rulerank.rankers.documents import read_documents

    if kind not in KINDS:
        raise DataError(f"unknown figure {kind!r}; choose from {', '.join(KINDS)}")
    ranker = load_ranker(model)
    data = read_documents(source, format, columns(qid, docid, grade, features)).with_features(ranker.feature_names_)
    draw_competence_map(ranker, data, out)
    report(
        {"figure": out, "rows": len(data)}, f"{out}: {kind} map of {len(data):,} documents", as_json=as_json, target=out
    )
