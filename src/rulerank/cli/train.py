"""rulerank train: learn a ranker from graded documents and write it to a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from rulerank.cli.options import (
    AsJson,
    DataFormat,
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
from rulerank.methods import FROM_TODAY, METHODS, Method, method_named

AUTO = "auto"
BY_JUDGE = "QI"  # the method that has intercepts for judges
OPTIONS = ("literal", "votes", "discretizer", "normalize", "max_size", "min_support", "drop_weakest")  # by themselves


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
    memory: Annotated[float, typer.Option(metavar="MIB", help="What may be held of a folder's data at once.")] = 1024,
    format: DataFormat = None,
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
    model is the same as from one file that holds all. Each file holds whole queries.

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
    from rulerank.cli.train_grades import read_labelled, train_on_grades, train_on_parts
    from rulerank.io.streams import is_many
    from rulerank.model_file import check_target

    if out == "-":
        raise DataError("a model is written to a file: name one, such as -o model.rulerank")
    check_target(out)
    named = columns(qid, docid, grade, features)
    if source is None:
        raise DataError("name the graded documents to learn from: rulerank train DATA -o model.rulerank")
    words = known_words(votes=votes, discretizer=discretizer, normalize=normalize)
    numbers = {"max_size": max_size, "min_support": min_support, "drop_weakest": drop_weakest}
    given = words | {name: value for name, value in numbers.items() if value is not None} | parse_settings(settings)
    options = train_options(
        source=source, out=out, method=None if method.lower() == AUTO else method, given=given, literal=literal,
        vali=vali, tune=tune, measure=measure, labels=labels, judges=tuple(judges or ()), judge=judge, today=today,
        propensities=propensities, unjudged=unjudged, judged_extra=judged_extra, named=named, format=format,
        as_json=as_json,
    )  # fmt: skip
    if is_many(source):
        train_on_parts(options, memory)
        return
    if labels is not None:
        from rulerank.cli.train_pool import train_on_labels

        train_on_labels(options)
        return
    data, n_left_out = read_labelled(options)
    if data.shown is None:
        train_on_grades(options, data, n_left_out)
        return
    from rulerank.cli.train_pool import train_on_clicks

    train_on_clicks(options, data)


@dataclass(frozen=True)
class TrainOptions:
    """The options of `rulerank train`, as all ways of training take them."""

    source: str
    out: str
    auto: bool  # the method is to be chosen
    method: Method  # with auto, the one for few labels
    given: dict[str, Any]  # parameters of the method
    named: dict[str, Any]  # columns
    format: str | None
    vali: str | None
    tune: bool
    measure: str
    labels: str | None
    judges: tuple[str, ...]
    judge: str | None
    today: str | None
    propensities: str | None
    unjudged: str | None
    judged_extra: str | None
    as_json: bool

    @property
    def sources(self) -> list[str]:
        """The files that are learned from."""
        return [name for name in (self.source, self.vali, self.labels) if name is not None]

    @property
    def anchored(self) -> bool:
        """Whether the method starts from today's ranking."""
        return self.method.name in FROM_TODAY

    def check_today_starts_something(self) -> None:
        """Refuse a today's ranking from which nothing starts; clicks are compared with it, whatever the method."""
        if self.today is not None and self.labels is None and (self.auto or not self.anchored):
            few = FROM_TODAY[0]
            raise DataError(f"--today is where {few} starts from: leave it out, or add --labels or --method {few}")

    def check_no_propensities(self) -> None:
        """Refuse propensities for data without clicks."""
        if self.propensities is not None:
            raise DataError(
                f"--propensities is for clicks, and {self.source} holds none: `rulerank clicks` joins a log to it"
            )


def train_options(*, method: str | None, given: dict[str, Any], literal: bool, **named: Any) -> TrainOptions:
    """Return what was asked for, or say what does not go together.

    method: None: it is to be chosen.
    """
    from rulerank.cli.parameters import literal_options
    from rulerank.io.streams import is_many
    from rulerank.model_file import check_overwrite, is_model_file
    from rulerank.recall_base import check_judged_extra, check_unjudged

    auto = method is None
    chosen = method_named(method or (BY_JUDGE if named["judges"] else FROM_TODAY[0]))
    options = TrainOptions(auto=auto, method=chosen, given=given, **named)
    if options.labels is not None and (options.tune or options.vali is not None):
        raise DataError("--labels is for few labels, too few to choose parameters by: leave out --tune and --vali")
    check_overwrite(
        options.out, options.sources + [now for now in (options.today,) if now is not None and is_model_file(now)]
    )
    if auto and (given or literal):
        name = "literal" if literal else next(iter(given))
        option = f"--{name.replace('_', '-')}" if name in OPTIONS else f"--set {name}"
        raise DataError(
            f"auto chooses the method, and {option} is of one of them: name it, such as --method RE-GR {option} ..."
        )
    if options.judges:
        _check_judges(options)
    many = is_many(options.source)
    if many:
        options.check_today_starts_something()
    if literal:
        options = replace(options, given=given | literal_options(chosen.ranker_class(), given))
    if options.judge is not None:
        chooses = auto or many or options.labels is not None or options.tune or options.vali is not None
        _check_judge(chosen, chooses)
        options = replace(options, named=options.named | {"judge": options.judge})
    if many and options.propensities is not None:
        raise DataError("--propensities is for clicks, which are learned from in memory: give one file, not a folder")
    if many and (options.unjudged is not None or options.judged_extra is not None):
        raise DataError("--unjudged and --judged-extra need the data in memory: give one file instead of a folder")
    check_unjudged(options.unjudged)
    check_judged_extra(options.judged_extra)
    if many and (options.labels is not None or options.tune or options.vali is not None):
        raise DataError("--labels, --tune and --vali need the data in memory: give one file instead of a folder")
    return options


def _check_judge(method: Method, chooses: bool) -> None:
    """Refuse judges for a ranker that has nothing to give them."""
    if chooses or method.name != BY_JUDGE:
        raise DataError(
            "--judge gives every query and judge intercepts of their own, which only the method intercepts has: "
            "add --method intercepts, and leave out --labels, --tune and --vali"
        )


def _check_judges(options: TrainOptions) -> None:
    """Refuse judges of no labels, and what does not learn from judges."""
    if options.labels is None:
        raise DataError(
            "--judges says which judges of --labels count besides people: add --labels; a column of DATA is --judge"
        )
    from rulerank.training.few_labels import check_by_judge

    check_by_judge(options.method.name, options.judges)
    if options.today is not None:
        raise DataError("--judges trains QI, which does not start from today's ranking: leave out --today or --judges")
