"""rulerank train: learn a ranker from graded documents and write it to a file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulerank.cli.options import AsJson, DocidColumn, FeatureColumns, GradeColumn, QidColumn, columns
from rulerank.cli.output import print_json, print_table
from rulerank.errors import DataError, TooLargeError

if TYPE_CHECKING:
    from rulerank.dataset import Dataset
    from rulerank.rankers.base import Ranker
    from rulerank.tuning import Tuned

OF_THE_MACHINE = ("n_jobs", "memory_budget", "work_limit")  # parameters that say nothing about the model


def train(
    source: Annotated[str, typer.Argument(metavar="DATA", help="Graded documents, - for stdin.")],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The model file; one that is there is replaced.")
    ],
    vali: Annotated[
        str | None, typer.Option(metavar="FILE", help="More graded documents; tune inside DATA and these.")
    ] = None,
    tune: Annotated[bool, typer.Option("--tune", help="Choose what is not given by cross-validation.")] = False,
    measure: Annotated[str, typer.Option("--measure", "-m", help="What to tune for: MAP, NDCG@10, ...")] = "MAP",
    method: Annotated[str, typer.Option(help="RE-GR (or global).")] = "RE-GR",
    max_size: Annotated[int | None, typer.Option(help="Items in a rule at most [2].")] = None,
    min_support: Annotated[float | None, typer.Option(help="Share of the rows a rule must hold in [0].")] = None,
    votes: Annotated[str | None, typer.Option(help="evidence, residual or mean [evidence].")] = None,
    discretizer: Annotated[
        str | None, typer.Option(help="mdlp, equal_width, equal_frequency; none: bins are given [mdlp].")
    ] = None,
    normalize: Annotated[
        str | None, typer.Option(help="Scale features by query: none, minmax, rank, zscore [none].")
    ] = None,
    drop_weakest: Annotated[float | None, typer.Option(help="Share of the features to leave out [0.25].")] = None,
    literal: Annotated[
        bool, typer.Option("--literal", help="As in the paper: votes mean, no feature dropped.")
    ] = False,
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of DATA [by name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Learn a ranker and write it to a model file, which `rulerank rank` reads.

    With --vali or --tune, the parameters that are not given are chosen by cross-validation by query, and the best of
    the table they were chosen from is printed. Documents without a grade are left out.

    Example:

    \b
        rulerank train train.txt -o model.rulerank
        rulerank train train.csv -o model.rulerank --qid query --votes residual
        rulerank train train.txt --vali test.txt -o model.rulerank --max-size 1
    """
    from time import perf_counter

    from rulerank.methods import method_named
    from rulerank.model_file import check_target

    if out == "-":
        raise DataError("a model is written to a file: name one, such as -o model.rulerank")
    check_target(out)
    options = literal_options(votes, drop_weakest) if literal else {"votes": votes, "drop_weakest": drop_weakest}
    options |= {"max_size": max_size, "min_support": min_support, "discretizer": discretizer, "normalize": normalize}
    given = {name: None if value == "none" else value for name, value in options.items() if value is not None}
    chosen = method_named(method)
    ranker = make_ranker(chosen.ranker_class(), given)
    sources = [source] if vali is None else [source, vali]
    data, n_left_out = read_labelled(sources, format, columns(qid, docid, grade, features))

    start = perf_counter()
    tuned = tune_rest(data, ranker, given, measure) if tune or vali is not None else None
    ranker = ranker.fit(data) if tuned is None else tuned.ranker
    seconds = perf_counter() - start
    ranker.save(out)

    params = {name: value for name, value in ranker.get_params().items() if name not in OF_THE_MACHINE}
    n_rules = count_rules(ranker)
    summary = {
        "model": out,
        "method": chosen.name,
        "trained_on": sources,
        "rows": len(data),
        "left_out": n_left_out,
        "features": len(data.feature_names),
        "params": params,
        "rules": n_rules,
        "seconds": round(seconds, 3),
    }
    if as_json:
        print_json(summary | ({} if tuned is None else {"tuning": as_payload(tuned)}))
        return
    print(f"trained on {' and '.join(sources)}: {data!r}")
    if tuned is not None:
        show_tuning(tuned)
    print(f"{chosen.name}: {', '.join(f'{name} {value}' for name, value in params.items())}")
    rules = "more rules than the memory budget holds" if n_rules is None else f"{n_rules:,} rules"
    print(f"{out}: {rules}, learned in {seconds:.1f} s")


def read_labelled(sources: list[str], format: str | None, columns: dict[str, Any]) -> tuple[Dataset, int]:
    """Return the graded documents of the files together, and how many others there were, which stderr is told."""
    from rulerank.cli.documents import read_together

    if sources.count("-") > 1:
        raise DataError("only one file can be stdin: - is there twice")
    read = read_together(sources, format, columns)
    data = read.labelled()
    n_left_out = len(read) - len(data)
    if not len(data):
        raise DataError(f"{' and '.join(sources)}: no document has a grade, so there is nothing to learn from")
    if n_left_out:
        print(f"{n_left_out:,} of {len(read):,} rows have no grade and are left out", file=sys.stderr)
    return data, n_left_out


def tune_rest(data: Dataset, ranker: Ranker, given: dict[str, Any], measure: str) -> Tuned:
    """Choose the parameters that were not given."""
    from rulerank.tuning import GRID, tune

    has = ranker.get_params()
    grid = {name: values for name, values in GRID.items() if name in has and name not in given}
    return tune(data, ranker, grid, measure=measure)


def literal_options(votes: str | None, drop_weakest: float | None) -> dict[str, Any]:
    """Return the parameters of the paper's own ranker, unless others are asked for at the same time."""
    if votes not in (None, "mean") or drop_weakest:
        raise DataError("--literal means --votes mean --drop-weakest 0: leave these out, or leave out --literal")
    return {"votes": "mean", "drop_weakest": 0.0}


def make_ranker(ranker_class: type[Ranker], given: dict[str, Any]) -> Ranker:
    """Return a ranker with the parameters that were given, all of which it must have."""
    ranker = ranker_class()
    known = ranker.get_params()
    unknown = [name for name in given if name not in known]
    if unknown:
        option = unknown[0].replace("_", "-")
        raise DataError(f"{ranker_class.__name__} takes no --{option}; it takes {', '.join(known)}")
    ranker.set_params(**given)
    return ranker


def count_rules(ranker: Ranker) -> int | None:
    """Return how many rules the ranker has, None when they are not kept."""
    try:
        return len(getattr(ranker, "rules_", ()))
    except TooLargeError:
        return None


def as_payload(tuned: Tuned) -> dict[str, object]:
    return {"measure": tuned.measure, "table": [vars(trial) for trial in tuned.table]}


def show_tuning(tuned: Tuned) -> None:
    from rulerank.tuning import SHOWN

    header, rows = tuned.rows(SHOWN)
    print(f"\nchosen by {tuned.measure} in cross-validation by query; behind: mean difference to the best\n")
    print_table(header, rows, n_left=len(tuned.varied))
    print(f"the best {len(rows)} of {len(tuned.table)} settings; --json prints all\n")
