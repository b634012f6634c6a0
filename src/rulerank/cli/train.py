"""rulerank train: learn a ranker from graded documents and write it to a file."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulerank.cli.options import (
    AsJson,
    DocidColumn,
    FeatureColumns,
    GradeColumn,
    QidColumn,
    TodayStart,
    columns,
    start_of,
)
from rulerank.cli.output import print_json, print_tuning
from rulerank.errors import DataError, TooLargeError
from rulerank.methods import FROM_TODAY, METHODS, method_named

if TYPE_CHECKING:
    from rulerank.dataset import Dataset
    from rulerank.rankers.base import Ranker
    from rulerank.training.tuning import Tuned

AUTO = "auto"
FEW = "Anchored"  # with few labels
SAMPLE = 1000  # rows that nearly always show whether scores differ


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
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Learn on from this model (RE-GR, RE-SR), with --more or --less."),
    ] = None,
    more: Annotated[
        str | None, typer.Option(metavar="FILE", help="With --model: graded documents to add to what it learned from.")
    ] = None,
    less: Annotated[
        str | None, typer.Option(metavar="FILE", help="With --model: documents to unlearn, as they were learned.")
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
    tune: Annotated[
        bool, typer.Option("--tune", help="Choose parameters that are not given by cross-validation inside DATA.")
    ] = False,
    measure: Annotated[str, typer.Option("--measure", "-m", help="What to tune for: MAP, NDCG@10, ...")] = "MAP",
    method: Annotated[
        str,
        typer.Option(
            help=f"{', '.join(f'{method.name} ({method.short})' for method in METHODS.values())}; or auto: "
            f"intercepts or fitted rules, whichever ranks held-out queries better; with --labels {FEW}."
        ),
    ] = AUTO,
    today: TodayStart = None,
    max_size: Annotated[int | None, typer.Option(help="Items in a rule at most [2].")] = None,
    min_support: Annotated[float | None, typer.Option(help="Share of the rows a rule must hold in [0].")] = None,
    votes: Annotated[str | None, typer.Option(help="evidence, residual or mean [evidence].")] = None,
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
    defaults. Documents without a grade are left out.

    A folder (or a pattern such as 'data/*.parquet', in quotes) is read file by file and need not fit in memory; the
    model is the same as from one file that holds all. Each file holds whole queries, or --regroup brings them together.

    With --labels, which are few, the model starts from today's ranking (--today), a feature or a model such as one
    learned from clicks, and moves away from it only as far as the labels say; what can honestly be said of it is
    printed. `rulerank check` says whether it is better.

    Documents that carry clicks (`rulerank clicks`) teach by them: what positions do to clicks is found and printed, and
    method and shrinkage are those that foresee the clicks of held-out queries best. Unless those say that the new
    ranking is better than today's (--today), today's is kept, and a line says so.

    With --model and --more or --less, a model learns on: the same bins, new counts, and exactly the model that training
    on the new rows with these bins would give.

    Example:

    \b
        rulerank train train.txt -o model.rulerank
        rulerank train parts -o model.rulerank --method RE-GR
        rulerank train train.csv -o model.rulerank --qid query --method RE-GR --votes residual
        rulerank train --parameters intercepts
        rulerank train train.txt --vali vali.txt -o model.rulerank --method RE-GR --max-size 1
        rulerank train train.txt -o model.rulerank --method intercepts --set l2=10 --set missing=mean
        rulerank train pool.csv --labels graded.csv --today bm25_body -o model.rulerank
        rulerank train pool.csv --labels each.csv --judges gpt -o model.rulerank
        rulerank train pool.csv --labels graded.csv --today clicks.rulerank -o both.rulerank
        rulerank train --model model.rulerank --more new.txt --less withdrawn.txt -o newer.rulerank
        rulerank train judged.csv -o model.rulerank --method intercepts --judge judge --set missing=mean
        rulerank train pool-with-clicks.parquet -o model.rulerank --propensities looked-at.csv
    """
    from time import perf_counter

    from rulerank.cli.parameters import as_word, known_words, literal_options, make_ranker, parse_settings, used_params
    from rulerank.cli.train_clicks import train_on_clicks
    from rulerank.cli.train_parts import train_on_parts
    from rulerank.core.words import counted, listed
    from rulerank.judging.added import PoolFile
    from rulerank.judging.by_judge import BY_JUDGE, PEOPLE
    from rulerank.judging.by_judge import fit_by_judge as fit_labels_by_judge
    from rulerank.judging.given_labels import labels_to_learn_from
    from rulerank.model_file import check_overwrite, check_target, is_model_file
    from rulerank.scale.opening import is_many
    from rulerank.training.choose import choose_ranker
    from rulerank.training.from_today import learn_from_today, warn_of_few_labels, warn_of_ties
    from rulerank.training.in_pool import fit_in_pool

    if out == "-":
        raise DataError("a model is written to a file: name one, such as -o model.rulerank")
    check_target(out)
    named = columns(qid, docid, grade, features)
    if model is not None or more is not None or less is not None:
        from rulerank.cli.learn_on import learn_on

        others = {
            "DATA": source, "--vali": vali, "--labels": labels, "--tune": tune, "--today": today, "--literal": literal,
            "--method": method.lower() != AUTO, "--max-size": max_size, "--min-support": min_support, "--votes": votes,
            "--discretizer": discretizer, "--normalize": normalize, "--drop-weakest": drop_weakest, "--set": settings,
            "--judge": judge, "--judges": judges,
        }  # fmt: skip
        learn_on(model, more, less, out, others, format, named, as_json=as_json)
        return
    if source is None:
        raise DataError("name the graded documents to learn from: rulerank train DATA -o model.rulerank")
    if labels is not None and (tune or vali is not None):
        raise DataError("--labels is for few labels, too few to choose parameters by: leave out --tune and --vali")
    sources = [name for name in (source, vali, labels) if name is not None]
    check_overwrite(out, sources if today is None or not is_model_file(today) else [*sources, today])
    words = known_words(votes=votes, discretizer=discretizer, normalize=normalize)
    options = {"max_size": max_size, "min_support": min_support, "drop_weakest": drop_weakest}
    given = words | {name: value for name, value in options.items() if value is not None} | parse_settings(settings)
    auto = method.lower() == AUTO
    if auto and (given or literal):
        option = "literal" if literal else next(iter(given)).replace("_", "-")
        raise DataError(
            f"auto chooses the method, and --{option} is of one of them: name it, such as --method RE-GR --{option} ..."
        )
    chosen = method_named((BY_JUDGE if judges else FEW) if auto else method)
    if judges:
        check_judges(judges, chosen.name, labels, today)
    anchored = chosen.name in FROM_TODAY
    misplaced = today is not None and labels is None and (auto or not anchored)  # unless there are clicks
    if misplaced and is_many(source):
        raise DataError(f"--today is where {FEW} starts from: leave it out, or add --labels or --method {FEW}")
    if literal:
        given |= literal_options(chosen.ranker_class(), given)
    if judge is not None:
        check_judge(chosen.ranker_class(), auto or is_many(source) or labels is not None or tune or vali is not None)
        named["judge"] = judge
    if is_many(source):
        if labels is not None or tune or vali is not None:
            raise DataError("--labels, --tune and --vali need the data in memory: give one file instead of a folder")
        train_on_parts(source, out, None if auto else chosen, given, measure, named, format, regroup, memory, as_json)
        return
    if regroup:
        raise DataError(f"--regroup is for a folder of files: {source} is one file, whose queries are whole")
    tuned = None
    learned = now = found = None
    if labels is not None:
        read = PoolFile(source, format=format, **named).read()
        counting = labels_to_learn_from(read, labels, judges or ())
        pool, data, n_left_out = read.graded(counting.people), counting.labelled(read.data), counting.n_left_out
    else:
        data, n_left_out = read_labelled(sources, format, named)
    if data.shown is not None:
        if labels is not None or tune or vali is not None or judge is not None:
            raise DataError(
                f"{source} holds clicks, which choose by themselves: leave out --labels, --tune, --vali and --judge"
            )
        train_on_clicks(data, source, out, AUTO if auto else chosen.name, given, propensities, today, as_json)
        return
    if misplaced:
        raise DataError(f"--today is where {FEW} starts from: leave it out, or add --labels or --method {FEW}")
    if propensities is not None:
        raise DataError(f"--propensities is for clicks, and {source} holds none: `rulerank clicks` joins a log to it")
    if anchored and "today" not in given and (labels is not None or not auto):
        now = start_of(data.feature_names, today, "; or a method that does without, such as --method QI")
        given["today"] = now.option
    elif today is not None:
        now = start_of(data.feature_names, today)
    if labels is not None:
        plain = chosen.name == FEW and set(given) == {"today"}  # it may hand over only where nothing else was asked for
        given = few_label_options(chosen.name, given)

    start = perf_counter()
    found = choose_ranker(data, measure=measure) if auto and labels is None else None
    if found is not None:
        chosen, given = method_named(found.candidate.method), found.candidate.params
    ranker = untuned = make_ranker(chosen.ranker_class(), given)
    if labels is not None and (now is not None or anchored):
        where = given["today"] if now is None else now.option
        learned = learn_from_today(pool, where, ranker=None if plain else ranker)
        ranker, chosen = learned.ranker, method_named(learned.method if learned.took_over else chosen.name)
    elif judges:
        by_judge = {PEOPLE: counting.people} if counting.people else {}
        ranker = fit_labels_by_judge(chosen.name, pool, by_judge | counting.others, ranker)
    elif labels is not None:
        ranker = fit_in_pool(ranker, pool)
    elif tune or vali is not None:
        tuned = tune_rest(data, ranker, {} if auto else given, measure)
        ranker = tuned.ranker
    elif found is not None:
        ranker = found.ranker
    elif judge is not None:
        ranker = fit_by_judge(ranker, data, judge)
    else:
        ranker = ranker.fit(data)
    seconds = perf_counter() - start
    ranker.save(out)

    if labels is not None:
        warn_of_few_labels(chosen.name, len(data))
        if learned is None:
            warn_of_ties(ranker, pool)
    params = used_params(ranker)
    n_rules = count_rules(ranker)
    warn_if_useless(ranker, data)
    summary = {
        "model": out,
        "method": chosen.name,
        "trained_on": sources,
        "rows": len(data),
        "left_out": n_left_out,
        "features": len(data.feature_names),
        "feature_names": data.feature_names,
        "params": params,
        "rules": n_rules,
        "seconds": round(seconds, 3),
    }
    if as_json:
        summary |= {} if found is None else {"chosen": found.to_dict()}
        summary |= {} if tuned is None else {"tuning": tuned.to_dict()}
        print_json(summary if learned is None else summary | {"few_labels": learned.to_dict()})
        return
    print(f"trained on {' and '.join(sources)}: {data!r}")
    print(f"features: {listed(data.feature_names)}")
    if found is not None:
        print(f"method chosen: {found.reason}")
    if tuned is not None:
        print_tuning(tuned, used_params(untuned))
    print(f"{chosen.name}: {', '.join(f'{name} {as_word(value)}' for name, value in params.items())}")
    rules = "" if n_rules is None else f"{counted(n_rules, 'rule')}, "
    print(f"{out}: {rules}learned in {seconds:.1f} s")
    for line in () if learned is None else learned.lines():
        print(line)


def read_labelled(sources: list[str], format: str | None, columns: dict[str, Any]) -> tuple[Dataset, int]:
    """Return the graded documents of the files together, and how many others there were, which stderr is told."""
    from rulerank.rankers.documents import read_together

    if sources.count("-") > 1:
        raise DataError("only one file can be stdin: - is there twice")
    read = read_together(sources, format, columns)
    if read.shown is not None:
        return read, 0
    data = read.labelled()
    n_left_out = len(read) - len(data)
    if not len(data):
        raise DataError(f"{' and '.join(sources)}: no document has a grade, so there is nothing to learn from")
    if n_left_out:
        print(f"{n_left_out:,} of {len(read):,} rows have no grade and are left out", file=sys.stderr)
    return data, n_left_out


def check_judge(ranker_class: type[Ranker], chooses: bool) -> None:
    """Refuse judges for a ranker that has nothing to give them."""
    from rulerank.rankers.foreign import takes

    if chooses or not takes(ranker_class(), "fit", "judge"):
        raise DataError(
            "--judge gives every query and judge intercepts of their own, which only the method intercepts has: "
            "add --method intercepts, and leave out --labels, --tune and --vali"
        )


def check_judges(judges: list[str], method: str, labels: str | None, today: str | None) -> None:
    """Refuse judges of no labels, and what does not learn from judges."""
    from rulerank.judging.by_judge import check_by_judge

    if labels is None:
        raise DataError(
            "--judges says which judges of --labels count besides people: add --labels; a column of DATA is --judge"
        )
    check_by_judge(method, judges)
    if today is not None:
        raise DataError("--judges trains QI, which does not start from today's ranking: leave out --today or --judges")


def fit_by_judge(ranker: Any, data: Dataset, column: str) -> Ranker:
    """Fit with the judges of a column, which every row must have."""
    judges = data.texts[column]
    empty = [row for row, one in enumerate(judges) if not one]
    if empty:
        raise DataError(f"column {column!r} must say who graded: graded row {empty[0] + 1} has nothing there")
    fitted: Ranker = ranker.fit(data, judge=judges)
    return fitted


def few_label_options(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return parameters set for few labels, where they were not given.

    >>> few_label_options("QI", {"l2": 10})
    {'l2': 10, 'normalize': 'zscore', 'missing': 'mean'}
    """
    from rulerank.training.few_labels import few_label_params

    return few_label_params(method) | given


def tune_rest(data: Dataset, ranker: Ranker, given: dict[str, Any], measure: str) -> Tuned:
    """Choose the parameters that were not given."""
    from rulerank.cli.parameters import used_params
    from rulerank.training.tuning import GRID, tune

    defaults = used_params(ranker)
    grid = {name: values for name, values in GRID.items() if name in defaults and name not in given}
    grid = {  # the defaults are always among what is tried
        name: values if defaults[name] in values else (defaults[name], *values) for name, values in grid.items()
    }
    return tune(data, ranker, grid, measure=measure)


def count_rules(ranker: Ranker) -> int | None:
    """Return how many rules the ranker has, None when it does not keep them."""
    try:
        rules = getattr(ranker, "rules_", None)
        return None if rules is None else len(rules)
    except TooLargeError:
        return None


def warn_if_useless(ranker: Ranker, data: Dataset) -> None:
    """Say so when the model cannot tell documents apart."""
    scores = ranker.predict(data[:SAMPLE])
    if (scores == scores[0]).all() and len(data) > SAMPLE:
        scores = ranker.predict(data)
    if (scores == scores[0]).all():
        alike = (data.y == data.y[0]).all()
        why = f"all training documents have grade {data.y[0]}" if alike else "no feature tells their grades apart"
        warnings.warn(f"every document will get the same score: {why}", stacklevel=2)
