"""rulerank curve: how good a ranker is after so many labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from rulerank.dataset import Fold

NO_MODEL = (
    "a curve is measured on grades that a model may have learned from, and then starts too well: name a feature; "
    "a model that never saw these queries may be one, with its scores as a column (rulerank rank MODEL DATA --to csv)"
)
PICTURES = (".png", ".svg", ".pdf")


def curve(
    source: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A folder of LETOR folds (--splits takes their test parts), or a file, which is split by query.",
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
            "until a full learner is better [RE-GR and QI; with --today Anchored and QI; with --splits from-today, "
            "AnchoredRules, QI, RE-GR and FR].",
        ),
    ] = None,
    sampler: Annotated[
        list[str] | None,
        typer.Option(
            help="How to choose; may be given several times: strata (of today's ranking), SSAR, SSARP, 'SSAR per "
            "query', random [all; strata with --today].",
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="Numbers of labels [20, 30, 50, ... to the latest stop; with --splits 20,50,100,200,400].",
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Split the queries N times into halves, to label and to test on, and show mean and worst gain over "
            "--today; 20 is a good number [no: folds].",
        ),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(help="How often to draw documents at random [20, for the band; with --splits 1].")
    ] = None,
    today: TodayFeature = None,
    thin: Annotated[
        int | None,
        typer.Option(metavar="N", help="Keep one relevant document in N to choose from, as rare as in real pools."),
    ] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="MAP, NDCG@10, ... [MAP; with --splits NDCG@10].")
    ] = None,
    seed: Seed = 0,
    format: DataFormat = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Draw how good a ranker is after so many labels.

    Simulates labelling with grades that are known. With --today and --splits: half of the queries are labelled, from
    today's ranking on, and the other half are tested on, many times over; for every way to choose and every learner it
    shows what was gained over today's ranking on average and in the worst split. Ctrl-C shows the splits done so far.

    Without --splits, ways to choose are compared with chance in folds: SSAR, SSARP and per-query SSAR choose documents
    of the training part until they stop by themselves, others are drawn at random. The table has each where it stops,
    beside random draws of as many documents and where 95 % of them lie.

    Example:

    \b
        rulerank curve train.txt --today f1 --splits 3 --sizes 10,20 --method from-today --method QI -o gains.png
        rulerank curve train.txt --today f1 --splits 3 --sizes 10,20 --method QI --sampler strata --thin 2 --json
        rulerank curve train.txt --method QI --draws 4 -o curve.svg -o curve.csv
    """
    from rulerank.cli.output import print_table
    from rulerank.dataset import Dataset
    from rulerank.evaluation import Measure
    from rulerank.experiment.figures import label_curve_figure
    from rulerank.experiment.label_curve.curve import label_curve
    from rulerank.io.folds import read_graded, read_or_split
    from rulerank.io.outputs import write_bytes
    from rulerank.render.figures import figure_bytes

    refuse_model(today, NO_MODEL)
    targets = [check_target(target, source) for target in out or []]
    rankers = check_methods(method or (["Anchored", "QI"] if today is not None and splits is None else []))
    wanted = None if sizes is None else parse_sizes(sizes)
    named = columns(qid, docid, grade, features)
    if splits is None:
        data: Dataset | list[Fold] = read_or_split(source, format=format, seed=seed, **named)
    else:  # of a folder of folds all test parts: every query is in one of them
        in_folds = Path(source).is_dir()
        parts = [fold.test for fold in read_or_split(source, format=format, **named)] if in_folds else []
        data = Dataset.concat(parts) if in_folds else read_graded(source, format, **named)
        today = today_of(data.feature_names, today).option
    found = label_curve(
        data,
        rankers,
        sampler,
        sizes=wanted,
        n_splits=splits,
        keep_one_in=thin,
        n_draws=draws,
        today=today,
        measure=None if measure is None else str(Measure.parse(measure)),
        seed=seed,
    )
    for target in targets:
        drawn = target.suffix.lower() in PICTURES
        write_bytes(
            target, figure_bytes(label_curve_figure(found), target.suffix) if drawn else found.to_csv().encode()
        )
    if as_json:
        print(found.to_json())
        return
    for ranker in found.rankers:
        print_table(*found.table(ranker))
        print(f"{found.verdict(ranker)}\n".lstrip("\n"))
    print(found.note(thin))
    for target in targets:
        print(f"{target}: {'curve' if target.suffix in PICTURES else f'{len(found.points)} points'}")


def check_methods(names: list[str]) -> list[str] | None:
    """Return what to train, before anything is read; None for the default."""
    from rulerank.experiment.label_curve.simulation import FROM_TODAY
    from rulerank.methods import method_named

    return [FROM_TODAY if name.lower() == FROM_TODAY else method_named(name).name for name in names] or None


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
