"""rulerank curve: how good a ranker is after so many labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rulerank.cli.options import (
    AsJson,
    DataFormat,
    DocidColumn,
    FeatureColumns,
    GradeColumn,
    QidColumn,
    Seed,
    TodayFeature,
    columns,
    refuse_model,
    today_of,
)
from rulerank.errors import DataError
from rulerank.methods import METHODS

NO_MODEL = (
    "a curve is measured on grades that a model may have learned from, and then starts too well: name a feature; "
    "a model that never saw these queries may be one, with its scores as a column (rulerank rank MODEL DATA --to csv)"
)
PICTURES = (".png", ".svg", ".pdf")


def curve(
    source: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="A file of graded documents, or a folder of LETOR folds (their test parts)."
        ),
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
            help=f"What to train; may be given several times: {', '.join(METHODS)}, or from-today, which is Anchored "
            "until a full learner is better [from-today, AnchoredRules, QI, RE-GR and FR].",
        ),
    ] = None,
    sampler: Annotated[
        list[str] | None,
        typer.Option(
            help="How to choose; may be given several times: strata (of today's ranking), SSAR, SSARP, 'SSAR per "
            "query', random [all].",
        ),
    ] = None,
    sizes: Annotated[str | None, typer.Option(metavar="N,N,...", help="Numbers of labels [20,50,100,200,400].")] = None,
    splits: Annotated[
        int, typer.Option(metavar="N", help="How often the queries are split into halves, to label and to test on.")
    ] = 20,
    today: TodayFeature = None,
    measure: Annotated[str, typer.Option("--measure", "-m", help="MAP, NDCG@10, ...")] = "NDCG@10",
    seed: Seed = 0,
    format: DataFormat = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Show what so many labels gain over today's ranking.

    Simulates labelling with grades that are known: half of the queries are labelled, from today's ranking on, and the
    other half are tested on, many times over. For every way to choose and every learner it shows what was gained over
    today's ranking on average and in the worst split. Ctrl-C shows the splits done so far.

    Example:

    \b
        rulerank curve train.txt --today f1 --splits 3 --sizes 10,20 --method from-today --method QI -o gains.png
        rulerank curve train.txt --today f1 --splits 3 --sizes 10,20 --method QI --sampler strata -o gains.csv --json
    """
    from rulerank.cli.output import print_json, print_table
    from rulerank.dataset import Dataset
    from rulerank.evaluation import Measure
    from rulerank.experiment.label_curve import RANKERS, label_curve, label_curve_figure
    from rulerank.io.folds import read_folds, read_graded
    from rulerank.io.outputs import write_bytes
    from rulerank.render.figures import figure_bytes

    refuse_model(today, NO_MODEL)
    targets = [check_target(target, source) for target in out or []]
    wanted = None if sizes is None else parse_sizes(sizes)
    named = columns(qid, docid, grade, features)
    if not Path(source).is_dir():
        data = read_graded(source, format, **named)
    elif format or named:
        raise DataError("folds are LETOR files: leave out --from and the names of columns")
    else:  # every query is in one of the test parts
        data = Dataset.concat([fold.test for fold in read_folds(source)])
    found = label_curve(
        data,
        method or RANKERS,
        sampler,
        sizes=wanted,
        n_splits=splits,
        today=today_of(data.feature_names, today).option,
        measure=str(Measure.parse(measure)),
        seed=seed,
    )
    for target in targets:
        drawn = target.suffix.lower() in PICTURES
        write_bytes(
            target, figure_bytes(label_curve_figure(found), target.suffix) if drawn else found.to_csv().encode()
        )
    if as_json:
        print_json(found.to_dict())
        return
    print_table(*found.table(), n_left=2)
    print(found.note)
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
    from rulerank.render.figures import check_matplotlib

    path = Path(target)
    if path.suffix.lower() not in (*PICTURES, ".csv"):
        raise DataError(f"a curve is written as .png, .svg, .pdf or .csv: got {path.name!r}")
    check_directory_of(path, [source])
    if path.suffix.lower() in PICTURES:
        check_matplotlib()
    return path
