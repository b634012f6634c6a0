"""rulerank figure: draw what a model has learned, or what a comparison has found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulerank.cli.options import AsJson, DocidColumn, FeatureColumns, GradeColumn, QidColumn, columns
from rulerank.errors import DataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rulerank.dataset import Dataset
    from rulerank.rankers.base import Ranker

OF_REPORTS = ("curves", "differences", "labels")  # drawn from the folder of a report
KINDS = (*OF_REPORTS, "effects")


def figure(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"What to draw: {', '.join(KINDS)}.")],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A model file, or the folder of a report; see above.")
    ],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The .png, .svg or .pdf file to write.")],
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA", help="Documents, where a model is drawn; - for stdin. Effects of fitted rules do without."
        ),
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A system to show in curves or differences; repeat it.")
    ] = None,
    measure: Annotated[str, typer.Option("--measure", "-m", metavar="NAME", help="Of the differences.")] = "MAP",
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of DATA [by name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Draw a picture as PDF, SVG or PNG; the same bytes every time.

    Of the folder that `rulerank compare` wrote: curves, precision and NDCG at the ranks 1 to 10, of the first ten
    systems unless --method names some; differences, to the system compared with, with intervals. Of the JSON that
    `rulerank curve --json` prints: labels, quality against labels.

    Of a model and DATA: effects, what each of the most influential features adds to the score, by its value, and below
    how many documents have it.

    Example:

    \b
        rulerank figure effects model.rulerank test.txt -o curves.svg
        rulerank figure curves small --method RE-GR --method QI -o curves.pdf
        rulerank figure differences small -m NDCG@10 -o differences.svg
    """
    from rulerank.cli.output import report
    from rulerank.io.outputs import write_bytes
    from rulerank.render.figures import check_figure_file, check_matplotlib, figure_bytes

    if kind not in KINDS:
        raise DataError(f"unknown figure {kind!r}; choose from {', '.join(KINDS)}")
    if kind in OF_REPORTS and data is not None:
        raise DataError(f"{kind} are drawn from SOURCE alone: leave out {data!r}")
    if method and kind not in ("curves", "differences"):
        raise DataError(f"--method chooses systems of curves and differences: {kind} has none to choose")
    target = check_figure_file(out)
    check_matplotlib()
    payload: dict[str, object] = {"figure": out, "kind": kind}
    if kind in OF_REPORTS:
        drawn, about = of_report(kind, source, measure, method or []), f"{kind} of {source}"
    else:
        drawn, n_rows = of_model(source, data, format, columns(qid, docid, grade, features))
        about = f"{kind} of {n_rows:,} documents" if data else f"{kind} without documents"
        payload["rows"] = n_rows
    write_bytes(target, figure_bytes(drawn, target.suffix))
    report(payload, f"{out}: {about}", as_json=as_json, target=out)


def of_report(kind: str, source: str, measure: str, systems: list[str]) -> Figure:
    """Draw a figure of a report."""
    from rulerank.experiment.figures import from_report

    if kind == "curves":
        return from_report.curves_figure(source, systems)
    if kind == "differences":
        return from_report.differences_figure(source, measure, systems)
    return from_report.labels_figure(source)


def of_model(model: str, source: str | None, format: str | None, named: dict[str, Any]) -> tuple[Figure, int]:
    """Draw the effects of a model on documents, and say how many they are."""
    from rulerank.model_file import load_ranker
    from rulerank.rankers.documents import read_documents

    ranker = load_ranker(model)
    if source is None:
        return of_effects(ranker, None), 0
    names = ranker.feature_names_
    data = read_documents(source, format, named, wanted=names).with_features(names)
    return of_effects(ranker, data), len(data)


def of_effects(ranker: Ranker, data: Dataset | None) -> Figure:
    """Draw what each feature adds; where the score is no sum, the mean score by bin."""
    from rulerank.explain.curve_figures import curves_figure
    from rulerank.explain.figures import effects_figure

    if data is None:
        return curves_figure(ranker.curves())
    overview = ranker.overview(data)
    return effects_figure(overview) if overview.curves is None else curves_figure(overview.curves)
