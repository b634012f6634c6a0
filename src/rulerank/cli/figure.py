"""rulerank figure: draw what a model has learned."""

from __future__ import annotations

from typing import Annotated

import typer

from rulerank.cli.options import AsJson, DataFormat, DocidColumn, FeatureColumns, GradeColumn, QidColumn, columns
from rulerank.errors import DataError

KINDS = ("effects",)


def figure(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"What to draw: {', '.join(KINDS)}.")],
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    source: Annotated[str, typer.Argument(metavar="DATA", help="Documents in any format, - for stdin.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The .png, .svg or .pdf file to write.")],
    format: DataFormat = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Draw a picture as PDF, SVG or PNG; the same bytes every time.

    effects: what each of the most influential features adds to the score, by its value, and below how many documents
    have it.

    Example:

    \b
        rulerank figure effects model.rulerank test.txt -o curves.svg
    """
    from rulerank.cli.output import report
    from rulerank.explain.figures import curves_figure
    from rulerank.io.outputs import write_bytes
    from rulerank.model_file import load_ranker
    from rulerank.rankers.documents import read_documents
    from rulerank.render.figures import check_figure_file, check_matplotlib, figure_bytes

    if kind not in KINDS:
        raise DataError(f"unknown figure {kind!r}; choose from {', '.join(KINDS)}")
    target = check_figure_file(out)
    check_matplotlib()
    ranker = load_ranker(model)
    names = ranker.feature_names_
    read = read_documents(source, format, columns(qid, docid, grade, features), wanted=names)
    data = read.with_features(names)
    drawn = curves_figure(ranker.curves(data))
    write_bytes(target, figure_bytes(drawn, target.suffix))
    payload: dict[str, object] = {"figure": out, "kind": kind, "rows": len(data)}
    report(payload, f"{out}: {kind} of {len(data):,} documents", as_json=as_json, target=out)
