"""rulerank train: learn a ranker from graded documents and write it to a file."""

from __future__ import annotations

from typing import Annotated

import typer

from rulerank.cli.options import (
    AsJson,
    DocidColumn,
    FeatureColumns,
    GradeColumn,
    JudgedExtra,
    QidColumn,
    TodayStart,
    Unjudged,
    columns,
)
from rulerank.errors import DataError
from rulerank.methods import FROM_TODAY, METHODS

AUTO = "auto"


def _print_parameters(method: str | None) -> None:
    from rulerank.cli.parameters import print_parameters  # it loads the rankers

    print_parameters(method)


def train(
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The model file; a model that is there is replaced.")
    ],
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA", help="Graded documents, - for stdin; a folder or a pattern of files is streamed."
        ),
    ] = None,
    vali: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="More graded documents. Both files are used: parameters are chosen by cross-validation by query "
            "inside both together, and the model is trained on both.",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Grades of some documents of DATA, as `rulerank sample` writes them (csv, qrels, Quepid, LETOR). "
            "Parameters that are not given are those for few labels; scales and bins come from all of DATA.",
        ),
    ] = None,
    judges: Annotated[
        list[str] | None,
        typer.Option(
            "--judges",
            metavar="NAME",
            help="With --labels that say who gave them: a judge who is no person and yet counts, with intercepts of "
            "its own (QI); can be repeated. Others are left out.",
        ),
    ] = None,
    unjudged: Unjudged = None,
    judged_extra: JudgedExtra = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose parameters that are not given by cross-validation inside DATA.")
    ] = False,
    measure: Annotated[str, typer.Option("--measure", "-m", help="What to tune for: MAP, NDCG@10, ...")] = "MAP",
    method: Annotated[
        str,
        typer.Option(
            help=f"{', '.join(f'{method.name} ({method.short})' for method in METHODS.values())}; or auto: "
            f"intercepts or fitted rules, whichever ranks held-out queries better; with --labels {FROM_TODAY[0]}."
        ),
    ] = AUTO,
    today: TodayStart = None,
    max_size: Annotated[int | None, typer.Option(help="Items in a rule at most [2].")] = None,
    min_support: Annotated[float | None, typer.Option(help="Share of the rows a rule must hold in [0].")] = None,
    votes: Annotated[str | None, typer.Option(help="evidence or mean [evidence].")] = None,
    discretizer: Annotated[
        str | None, typer.Option(help="mdlp, tube, equal_width, equal_frequency; none: bins are given [mdlp].")
    ] = None,
    normalize: Annotated[
        str | None, typer.Option(help="Scale features by query: none, minmax, rank, zscore [none].")
    ] = None,
    drop_weakest: Annotated[float | None, typer.Option(help="Share of the features to leave out [0.25].")] = None,
    literal: Annotated[
        bool, typer.Option("--literal", help="As in the paper: votes mean, no feature dropped.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of the method, such as l2=100."),
    ] = None,
    parameters: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD", is_eager=True, callback=_print_parameters, help="Print what --set takes, and end."
        ),
    ] = None,
    regroup: Annotated[
        bool, typer.Option("--regroup", help="Bring rows of a query together that lie in several files of a folder.")
    ] = False,
    memory: Annotated[float, typer.Option(metavar="MIB", help="What may be held of a folder's data at once.")] = 1024,
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of DATA [by name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    judge: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Who graded each row: every query and judge has its own intercepts (QI)."),
    ] = None,
    propensities: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Of clicks: how likely each position is looked at, lines such as 2,0.6."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Learn a ranker from graded documents.

    The model is written to a file, which `rulerank rank` reads. Unless --method names one, the method is chosen by
    cross-validation by query, and a line says which and why. With --vali or --tune, the parameters that are not given
    are chosen by cross-validation by query, and the best of the table they were chosen from is printed beside the
    defaults. Documents without a grade are left out, or count as not relevant (--unjudged); queries without any grade
    are left out.

    A folder (or a pattern such as 'data/*.parquet', in quotes) is read file by file and need not fit in memory; the
    model is the same as from one file that holds all. Each file holds whole queries, or --regroup brings them together.

    With --labels, which are few, the model starts from today's ranking (--today), a feature or a model such as one
    learned from clicks, and moves away from it only as far as the labels say; what can honestly be said of it is
    printed. `rulerank check` says whether it is better.

    Documents that carry clicks (`rulerank clicks`) teach by them: what positions do to clicks is found and printed, and
    the method is the one that foresees the clicks of held-out queries best. Unless those say that the new
    ranking is better than today's (--today, a feature or a model), today's is kept, and a line says so. With --labels
    of documents that were shown, labels go on from the clicks' model or from today's ranking, as both say.

    Example:

    \b
        rulerank train train.txt -o model.rulerank
        rulerank train parts -o model.rulerank --method RE-GR
        rulerank train train.csv -o model.rulerank --qid query --method RE-GR --votes mean
        rulerank train --parameters intercepts
        rulerank train train.txt --vali vali.txt -o model.rulerank --method RE-GR --max-size 1
        rulerank train train.txt -o model.rulerank --method intercepts --set l2=10 --set missing=mean
        rulerank train pool.csv --labels graded.csv --today bm25_body -o model.rulerank
        rulerank train pool.csv --labels each.csv --judges gpt -o model.rulerank
        rulerank train pool.csv --labels graded.csv --today clicks.rulerank -o both.rulerank
        rulerank train judged.csv -o model.rulerank --method intercepts --judge judge --set missing=mean
        rulerank train pool-with-clicks.parquet -o model.rulerank --propensities looked-at.csv
        rulerank train pool-with-clicks.parquet --today clicks.rulerank -o newer.rulerank
        rulerank train pool-with-clicks.parquet --labels graded.csv -o both.rulerank
    """
    from rulerank.cli.parameters import known_words, parse_settings
    from rulerank.cli.train_asked import ask
    from rulerank.cli.train_clicks import train_on_clicks
    from rulerank.cli.train_grades import read_labelled, train_on_grades
    from rulerank.cli.train_labels import train_on_labels
    from rulerank.cli.train_parts import train_on_parts
    from rulerank.model_file import check_target
    from rulerank.scale.opening import is_many

    if out == "-":
        raise DataError("a model is written to a file: name one, such as -o model.rulerank")
    check_target(out)
    named = columns(qid, docid, grade, features)
    if source is None:
        raise DataError("name the graded documents to learn from: rulerank train DATA -o model.rulerank")
    words = known_words(votes=votes, discretizer=discretizer, normalize=normalize)
    options = {"max_size": max_size, "min_support": min_support, "drop_weakest": drop_weakest}
    given = words | {name: value for name, value in options.items() if value is not None} | parse_settings(settings)
    asked = ask(
        source=source, out=out, method=None if method.lower() == AUTO else method, given=given, literal=literal,
        vali=vali, tune=tune, measure=measure, labels=labels, judges=tuple(judges or ()), judge=judge, today=today,
        propensities=propensities, unjudged=unjudged, judged_extra=judged_extra, named=named, format=format,
        as_json=as_json,
    )  # fmt: skip
    if is_many(source):
        train_on_parts(asked, regroup, memory)
        return
    if regroup:
        raise DataError(f"--regroup is for a folder of files: {source} is one file, whose queries are whole")
    if labels is not None:
        train_on_labels(asked)
        return
    data, n_left_out = read_labelled(asked)
    if data.shown is not None:
        train_on_clicks(asked, data)
    else:
        train_on_grades(asked, data, n_left_out)
