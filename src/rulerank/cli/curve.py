"""rulerank curve: how good a ranker is after so many labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulerank.cli.options import (
    AsJson,
    DocidColumn,
    FeatureColumns,
    GradeColumn,
    QidColumn,
    Seed,
    TodayFeature,
    columns,
)
from rulerank.errors import DataError
from rulerank.methods import METHODS

if TYPE_CHECKING:
    from rulerank.experiment.label_curve.result import LabelCurve

PICTURES = (".png", ".svg", ".pdf")


def curve(
    source: Annotated[
        str, typer.Argument(metavar="DATA", help="A folder of LETOR folds, or a file, which is split by query.")
    ],
    out: Annotated[
        list[str] | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="A .png, .svg, .pdf or .csv to write; may be given several times."
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help=f"What to train; may be given several times: {', '.join(METHODS)}, ... "
            "[RE-GR and QI; with --today Anchored and QI].",
        ),
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="Numbers of labels [20, 30, 50, ... to the latest stop].")
    ] = None,
    draws: Annotated[int, typer.Option(help="How often to draw documents at random, for the band.")] = 20,
    feature: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Also label the top of this feature [the best one on the training labels]."),
    ] = None,
    today: TodayFeature = None,
    thin: Annotated[
        int | None,
        typer.Option(metavar="N", help="Keep one relevant document in N to choose from, as rare as in real pools."),
    ] = None,
    pools: Annotated[int, typer.Option(help="How many thinned pools to make of each fold.")] = 3,
    measure: Annotated[str, typer.Option("--measure", "-m", help="MAP, NDCG@10, ...")] = "MAP",
    seed: Seed = 0,
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of DATA [by name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Draw how good a ranker is after so many labels.

    Simulates labelling with grades that are known: SSAR, SSARP and per-query SSAR choose documents of the training
    part until they stop by themselves; others are drawn at random, or are the top of a feature. What is learned from
    them is evaluated on the test part. The table has each where it stops, beside random draws of as many documents
    and where 95 % of them lie. With --today, today's ranking is a line, its strata are one more way to choose, and
    Anchored learns from it.

    Example:

    \b
        rulerank curve train.txt --method QI --draws 4 -o curve.svg -o curve.csv
        rulerank curve train.txt --method QI --draws 2 --sizes 10,20 --feature f1
        rulerank curve train.txt --today f1 --draws 2 --sizes 10,20 --measure NDCG@10
    """
    from rulerank.cli.output import print_table
    from rulerank.evaluation import Measure
    from rulerank.experiment.label_curve.curve import RANKERS, label_curve
    from rulerank.experiment.label_curve.simulation import thin_folds
    from rulerank.io.folds import read_or_split
    from rulerank.methods import method_named

    targets = [check_target(target, source) for target in out or []]
    rankers = [method_named(name).name for name in method or (RANKERS if today is None else ("Anchored", "QI"))]
    if "Anchored" in rankers and today is None:
        raise DataError("Anchored starts from today's ranking: say --today FEATURE")
    wanted = None if sizes is None else parse_sizes(sizes)
    named: dict[str, Any] = {**columns(qid, docid, grade, features)}
    folds = read_or_split(source, format=format, seed=seed, **named)
    if thin is not None:
        folds = thin_folds(folds, thin, pools, seed)
    found = label_curve(
        folds,
        rankers,
        sizes=wanted,
        n_draws=draws,
        feature=feature,
        today=today,
        measure=str(Measure.parse(measure)),
        seed=seed,
    )
    for target in targets:
        write(found, target)
    if as_json:
        print(found.to_json())
        return
    for ranker in found.rankers:
        print_table(*found.table(ranker))
        print(f"{found.verdict(ranker)}\n")
    print(found.note(thin))
    for target in targets:
        print(f"{target}: {'curve' if target.suffix in PICTURES else f'{len(found.points)} points'}")


def parse_sizes(text: str) -> list[int]:
    """Return numbers of labels.

    >>> parse_sizes("50, 100")
    [50, 100]
    """
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise DataError(f"--sizes takes whole numbers, such as 50,100,200: got {text!r}") from None


def check_target(target: str, source: str) -> Path:
    """Return where to write, before hours of work end in a name that nothing can be written to."""
    from rulerank.io.outputs import check_directory_of

    path = Path(target)
    if path.suffix.lower() not in (*PICTURES, ".csv"):
        raise DataError(f"a curve is written as .png, .svg, .pdf or .csv: got {path.name!r}")
    check_directory_of(path, [source])
    if path.suffix.lower() in PICTURES:
        from rulerank.render.figures import check_matplotlib

        check_matplotlib()
    return path


def write(curve: LabelCurve, target: Path) -> None:
    from rulerank.experiment.figures.label_curve import draw_label_curve
    from rulerank.io.outputs import write_text

    if target.suffix.lower() in PICTURES:
        draw_label_curve(curve, target)
    else:
        write_text(target, curve.to_csv())
