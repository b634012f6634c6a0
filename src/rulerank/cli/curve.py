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
    refuse_model,
    today_of,
)
from rulerank.errors import DataError
from rulerank.methods import METHODS

if TYPE_CHECKING:
    from rulerank.dataset import Dataset, Fold
    from rulerank.experiment.label_curve.result import LabelCurve

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
    feature: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Also label the top of this feature [the best one on the training labels; with --splits none].",
        ),
    ] = None,
    today: TodayFeature = None,
    thin: Annotated[
        int | None,
        typer.Option(metavar="N", help="Keep one relevant document in N to choose from, as rare as in real pools."),
    ] = None,
    pools: Annotated[
        int | None, typer.Option(help="How many thinned pools to make of each fold [3]; a split has one.")
    ] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="MAP, NDCG@10, ... [MAP; with --splits NDCG@10].")
    ] = None,
    seed: Seed = 0,
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of DATA [by name].")] = None,
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
    of the training part until they stop by themselves; others are drawn at random, or are the top of a feature. The
    table has each where it stops, beside random draws of as many documents and where 95 % of them lie.

    Example:

    \b
        rulerank curve train.txt --today f1 --splits 3 --sizes 10,20 --method from-today --method QI -o gains.png
        rulerank curve train.txt --today f1 --splits 3 --sizes 10,20 --method QI --sampler strata --thin 2 --json
        rulerank curve train.txt --method QI --draws 4 -o curve.svg -o curve.csv
        rulerank curve train.txt --method QI --draws 2 --sizes 10,20 --feature f1
    """
    from rulerank.cli.output import print_table
    from rulerank.evaluation import Measure
    from rulerank.experiment.label_curve.curve import label_curve

    refuse_model(today, NO_MODEL)
    targets = [check_target(target, source) for target in out or []]
    rankers = chosen_rankers(method, today, in_splits=splits is not None)
    wanted = None if sizes is None else parse_sizes(sizes)
    named: dict[str, Any] = {**columns(qid, docid, grade, features)}
    if splits is None:
        data: Dataset | list[Fold] = read_data_in_folds(source, format, seed, thin, pools, named)
    else:
        if pools is not None:
            raise DataError("--pools makes several thinned pools of a fold; every split has its own: leave it out")
        whole = read_whole(source, format, named)
        today = today_of(whole.feature_names, today).option
        data = whole
    found = label_curve(
        data,
        rankers,
        sampler,
        sizes=wanted,
        n_splits=splits,
        keep_one_in=None if splits is None else thin,
        n_draws=draws,
        feature=feature,
        today=today,
        measure=None if measure is None else str(Measure.parse(measure)),
        seed=seed,
    )
    for target in targets:
        write(found, target)
    if as_json:
        print(found.to_json())
        return
    for ranker in found.rankers:
        print_table(*found.table(ranker))
        print(f"{found.verdict(ranker)}\n".lstrip("\n"))
    print(found.note(thin))
    for target in targets:
        print(f"{target}: {'curve' if target.suffix in PICTURES else f'{len(found.points)} points'}")


def chosen_rankers(method: list[str] | None, today: str | None, *, in_splits: bool) -> list[str] | None:
    """Return names of rankers, None for the default of splits, before anything is read."""
    from rulerank.experiment.label_curve.design import RANKERS
    from rulerank.experiment.label_curve.learners import FROM_TODAY
    from rulerank.methods import method_named

    if in_splits and method is None:
        return None
    named = method or (RANKERS if today is None else ("Anchored", "QI"))
    return [FROM_TODAY if name.lower() == FROM_TODAY else method_named(name).name for name in named]


def read_data_in_folds(
    source: str, format: str | None, seed: int, thin: int | None, pools: int | None, named: dict[str, Any]
) -> list[Fold]:
    from rulerank.experiment.label_curve.simulation import thin_folds
    from rulerank.io.folds import read_or_split

    folds = read_or_split(source, format=format, seed=seed, **named)
    return folds if thin is None else thin_folds(folds, thin, 3 if pools is None else pools, seed)


def read_whole(source: str, format: str | None, named: dict[str, Any]) -> Dataset:
    """Return graded documents, of a folder of folds all test parts: every query is in one of them."""
    from rulerank.dataset import Dataset
    from rulerank.io.folds import read_graded, read_or_split

    if Path(source).is_dir():
        return Dataset.concat([fold.test for fold in read_or_split(source, format=format, **named)])
    return read_graded(source, format, **named)


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
