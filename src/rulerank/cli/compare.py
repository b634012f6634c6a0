"""rulerank compare: every method on every fold, and a report one wants to read."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from rulerank.cli.options import (
    AsJson,
    DataFormat,
    DocidColumn,
    FeatureColumns,
    GradeColumn,
    JudgedExtra,
    QidColumn,
    Seed,
    Unjudged,
    columns,
    report_left_out,
)
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.experiment.compare import CompareReport
    from rulerank.experiment.run import Step

SECONDS_BETWEEN_LINES = 10.0


def compare(
    source: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="A folder with Fold1, Fold2, ... or one fold; or a file, which is split."),
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Where the report goes.")] = "report",
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A system to run; repeat it [all of --list].")
    ] = None,
    ranker: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=MODULE:OBJECT", help="A ranker of your own, from Python code; repeat it."),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="A TREC run, or a table with qid, docid, score; repeat it."),
    ] = None,
    unjudged: Unjudged = None,
    judged_extra: JudgedExtra = None,
    folds: Annotated[int | None, typer.Option(metavar="N", help="Parts that a file is split into [5].")] = None,
    seed: Seed = 0,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", metavar="NAME", help="Measures of the first table; repeat it [MAP, NDCG, P]."),
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="NAME", help="The system that the others are tested against [RE-GR].")
    ] = None,
    tune_by: Annotated[str, typer.Option(metavar="MEASURE", help="What parameters are chosen by, on vali.")] = "MAP",
    convention: Annotated[str, typer.Option(help="standard, standard-exp, letor3 or letor4.")] = "standard",
    ties: Annotated[str | None, typer.Option(help="expected, file or docid [the convention's own].")] = None,
    formats: Annotated[str, typer.Option("--to", metavar="A,B,...", help="html, markdown, latex, csv.")] = (
        "html,markdown,latex,csv"
    ),
    title: Annotated[str | None, typer.Option(help="Title of the report [the name of DATA].")] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes [-1: one per core].")] = -1,
    format: DataFormat = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    listed: Annotated[bool, typer.Option("--list", help="List the systems and stop.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run every method over the folds, and write a report.

    A folder holds folds as LETOR lays them out; a file of graded documents is split by query (--folds). Every system
    learns from train, chooses its parameters on vali and is measured on test. Beside the systems of --list go your own:
    rankers with fit and predict, of any library, and runs, which meet the documents by ids.

    A file of retrieved documents lacks the relevant documents that were not retrieved; a table that `rulerank features
    --qrels` wrote has them, and counts them as missed.

    What is finished lies in the folder of the report: run again, and only what is missing or has changed runs. A system
    that fails is told in the report and does not stop the others; the exit code is then 1.

    Example:

    \b
        rulerank compare --list
        rulerank compare . --method RE-GR --method QI --to markdown,csv --jobs 1
        rulerank compare test.csv --folds 3 --method RE-GR --run engine=one.run --jobs 1 -o mine
        rulerank compare . --method RE-GR+ --method QI --jobs 1 --title "A small world" -o small
    """
    if listed:
        list_systems(as_json)
        return
    if source is None:
        raise DataError("expected folds, or a file to split: rulerank compare DATA, or --list for the systems")
    from rulerank.cli.output import print_json, print_table
    from rulerank.experiment.compare import compare_folds
    from rulerank.experiment.report import HEADLINE, failure_of

    compared = compare_folds(
        source,
        out,
        method,
        rankers=by_name(ranker, "--ranker"),
        runs=by_name(run, "--run"),
        n_folds=folds,
        seed=seed,
        format=format,
        columns=columns(qid, docid, grade, features),
        unjudged=unjudged,
        judged_extra=judged_extra,
        measures=[name for several in measure or HEADLINE for name in several.split(",")],
        against=against,
        tune_by=tune_by,
        convention=convention,
        ties=ties,
        formats=[name.strip().lower() for name in formats.split(",")],
        title=title,
        n_jobs=jobs,
        on_step=Lines().tell,
    )
    if compared.found is not None:
        report_left_out(compared.found, compared.found.rows.size + compared.n_ungraded)
    if as_json:
        print_json(compared.to_dict())
    else:
        rows = marked_rows(compared)
        lacking = dict.fromkeys(system for system, _ in compared.experiment.failures)
        rows += [[name, *("-" for _ in compared.measures)] for name in lacking]
        print_table(["system", *compared.measures], rows)
        print(f"sorted by {compared.measures[0]}; *: the best, ~: not significantly worse (paired t-test over queries)")
        for name in lacking:
            print(f"{name}: {failure_of(compared.experiment, name)}")
        print(f"\n{compared.sentence}\nconvention {compared.summary.convention}, ties {compared.summary.ties}")
        print(", ".join(str(file) for file in compared.files))
    if compared.failed:
        raise typer.Exit(1)


def marked_rows(compared: CompareReport) -> list[list[str]]:
    """Return the systems with their figures, the best by the first measure on top, marked as the note says."""
    good = {measure: compared.summary.ties_with_best(measure) for measure in compared.measures}
    best = {measure: max(row[measure] for row in compared.means.values()) for measure in compared.measures}

    def figure(name: str, measure: str, value: float) -> str:
        return f"{value:.4f}{'*' if value == best[measure] else '~' if name in good[measure] else ' '}"

    first = compared.measures[0]
    ordered = sorted(compared.means.items(), key=lambda item: -item[1][first])
    return [[name, *(figure(name, measure, value) for measure, value in row.items())] for name, row in ordered]


def by_name(given: list[str] | None, option: str) -> dict[str, str]:
    """Return NAME=VALUE options as a dict.

    >>> by_name(["engine=x.run"], "--run")
    {'engine': 'x.run'}
    """
    values: dict[str, str] = {}
    for text in given or []:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise DataError(f"{option} takes NAME=VALUE, such as {option} mine=...: got {text!r}")
        if name in values:
            raise DataError(f"{option} {name!r} is there twice: give each a name of its own")
        values[name] = value
    return values


def list_systems(as_json: bool) -> None:
    from rulerank.cli.output import print_json, print_table
    from rulerank.experiment.systems import SYSTEMS

    rows = [[system.name, system.group, system.about] for system in SYSTEMS.values()]
    header = ["system", "group", "what it is"]
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        print_table(header, rows, n_left=3)


class Lines:
    """Tells on stderr how far the work is, where no bar is drawn, and every failure."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def tell(self, step: Step) -> None:
        from rulerank.core.progress import somebody_looks

        if step.failure is not None:
            what = "skipped" if step.failure.skipped else "failed"
            print(f"{step.system}, {step.fold}: {what}: {step.failure.reason}", file=sys.stderr)
        if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES and not somebody_looks():
            self._last = time.monotonic()
            print(f"{step.n_done} of {step.n_cells} cells", file=sys.stderr)
