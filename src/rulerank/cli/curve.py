"""rulerank curve: how good a ranker is after so many labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rulerank.cli.options import AsJson, DocidColumn, FeatureColumns, GradeColumn, QidColumn, Seed, columns
from rulerank.errors import DataError
from rulerank.methods import METHODS

if TYPE_CHECKING:
    from rulerank.dataset import Fold
    from rulerank.experiment.label_curve.result import LabelCurve

PICTURES = (".png", ".svg")


def curve(
    source: Annotated[
        str, typer.Argument(metavar="DATA", help="A folder of LETOR folds, or a file, which is split by query.")
    ],
    out: Annotated[
        list[str] | None,
        typer.Option("--out", "-o", metavar="FILE", help="A .png, .svg or .csv to write; may be given several times."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help=f"What to train; may be given several times: {', '.join(METHODS)}, ... [RE-GR and QI].",
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
    and where 95 % of them lie.

    Example:

    \b
        rulerank curve train.txt --method QI --draws 4 -o curve.svg -o curve.csv
        rulerank curve train.txt --method QI --draws 2 --sizes 10,20 --feature f1
    """
    from rulerank.cli.output import print_table
    from rulerank.evaluation import Measure
    from rulerank.experiment.label_curve.curve import RANKERS, label_curve
    from rulerank.experiment.label_curve.thinning import thin_folds
    from rulerank.methods import method_named

    targets = [check_target(target) for target in out or []]
    rankers = [method_named(name).name for name in method or RANKERS]
    wanted = None if sizes is None else parse_sizes(sizes)
    folds = read_parts(source, format, columns(qid, docid, grade, features), seed)
    if thin is not None:
        folds = thin_folds(folds, thin, pools, seed)
    found = label_curve(
        folds,
        rankers,
        sizes=wanted,
        n_draws=draws,
        feature=feature,
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
        print(f"{verdict(found, ranker)}\n")
    print(note(found, thin))
    for target in targets:
        print(f"{target}: {'curve' if target.suffix in PICTURES else f'{len(found.points)} points'}")


def read_parts(source: str, format: str | None, columns: dict[str, str | list[str]], seed: int) -> list[Fold]:
    """Read folds, or a file of graded documents that is split into folds."""
    from rulerank.dataset import query_index
    from rulerank.io.folds import read_folds
    from rulerank.rankers.documents import read_documents
    from rulerank.worlds import make_folds

    if Path(source).is_dir():
        if columns or format:
            raise DataError("folds are LETOR files: leave out --from and the names of columns")
        return read_folds(source)
    data = read_documents(source, format, columns, graded=True).data.labelled()
    n_queries = query_index(data.qid)[1].size
    if n_queries < 3:
        raise DataError(f"{source}: expected graded documents of at least 3 queries to split, got {n_queries}")
    return make_folds(data, min(5, n_queries), seed)


def parse_sizes(text: str) -> list[int]:
    """Return numbers of labels.

    >>> parse_sizes("50, 100")
    [50, 100]
    """
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise DataError(f"--sizes takes whole numbers, such as 50,100,200: got {text!r}") from None


def check_target(target: str) -> Path:
    """Return where to write, before hours of work end in a name that nothing can be written to."""
    path = Path(target)
    if path.suffix.lower() not in (*PICTURES, ".csv"):
        raise DataError(f"a curve is written as .png, .svg or .csv: got {path.name!r}")
    if path.is_dir() or not path.parent.is_dir():
        raise DataError(f"cannot write {path}: it is a directory, or its directory does not exist")
    if path.suffix.lower() in PICTURES:
        from rulerank.render.svg import check_matplotlib

        check_matplotlib()
    return path


def write(curve: LabelCurve, target: Path) -> None:
    from rulerank.experiment.figures.label_curve import draw_label_curve

    if target.suffix.lower() in PICTURES:
        draw_label_curve(curve, target)
    else:
        target.write_text(curve.to_csv())


def verdict(curve: LabelCurve, ranker: str) -> str:
    """Say in a sentence which ways to choose beat chance."""
    from rulerank.experiment.label_curve.result import RANDOM

    above = [name for name in curve.samplers if name != RANDOM and curve.beats_random(ranker, name)]
    return f"above 95 % of the random draws: {', '.join(above) or 'none'}"


def note(curve: LabelCurve, thin: int | None) -> str:
    """Say how the figures came about."""
    chosen = ", ".join(dict.fromkeys(curve.features))
    kept = f"; one relevant document in {thin} kept" if thin else ""
    return (
        f"means over {curve.n_folds} folds{kept}; at random: mean of {curve.n_draws} draws and where 95 % of them lie\n"
        f"% relevant: of the documents labelled; feature: {chosen}; ties count as the mean over all orders"
    )
