"""rulerank compare: every method on every fold, and a report one wants to read."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from rulerank.cli.options import AsJson
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.experiment.run import Step

SECONDS_BETWEEN_LINES = 10.0


def compare(
    source: Annotated[
        str | None, typer.Argument(metavar="DIR", help="Fold1, Fold2, ... with train, vali and test; or one fold.")
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Where the report goes.")] = "report",
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A system to run; repeat it [all of --list].")
    ] = None,
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
    reference: Annotated[str, typer.Option(help="Published figures to show: auto, ohsumed or none.")] = "auto",
    formats: Annotated[str, typer.Option("--to", metavar="A,B,...", help="html, markdown, latex, csv, figures.")] = (
        "html,markdown,latex,csv,figures"
    ),
    title: Annotated[str | None, typer.Option(help="Title of the report [the name of DIR].")] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes [-1: one per core].")] = -1,
    quick: Annotated[bool, typer.Option("--quick", help="A few systems, without the label curve.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the systems and stop.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run every method over the folds, and write a report.

    DIR holds folds as LETOR lays them out. Every system learns from train, chooses its parameters on vali and is
    measured on test. What is finished lies in the folder of the report: run again, and only what is missing or has
    changed runs. A system that fails is told in the report and does not stop the others; the exit code is then 1.

    Example:

    \b
        rulerank compare --list
        rulerank compare . --method RE-GR --method QI --to markdown,csv --jobs 1
        rulerank compare . --quick --jobs 1 --title "A small world" -o small
    """
    if listed:
        list_systems(as_json)
        return
    if source is None:
        raise DataError("expected a directory with folds: rulerank compare DIR, or --list for the systems")
    from rulerank.cli.output import print_json, print_table
    from rulerank.experiment.compare import compare_folds
    from rulerank.experiment.report import HEADLINE

    compared = compare_folds(
        source,
        out,
        method,
        measures=[name for several in measure or HEADLINE for name in several.split(",")],
        against=against,
        tune_by=tune_by,
        convention=convention,
        ties=ties,
        reference=reference,
        formats=[name.strip().lower() for name in formats.split(",")],
        title=title,
        n_jobs=jobs,
        quick=quick,
        on_step=Lines().tell,
    )
    if compared.no_curve is not None:
        print(f"the report has no label curve: {compared.no_curve}", file=sys.stderr)
    if as_json:
        print_json(compared.to_dict())
    else:
        rows = [[name, *(f"{value:.4f}" for value in row.values())] for name, row in compared.means.items()]
        print_table(["system", *compared.measures], rows)
        print(f"\n{compared.sentence}\nconvention {compared.summary.convention}, ties {compared.summary.ties}")
        print(", ".join(str(file) for file in compared.files))
    if compared.failed:
        raise typer.Exit(1)


def list_systems(as_json: bool) -> None:
    from rulerank.cli.output import print_json, print_table
    from rulerank.experiment.systems import SYSTEMS

    rows = [[s.name, s.group, s.about, s.plan.learns_from] for s in SYSTEMS.values()]
    header = ["system", "group", "what it is", "learns from"]
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        print_table(header, rows, n_left=4)


class Lines:
    """Tells on stderr how far the work is and how long it will take, where no bar is drawn, and every failure."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def tell(self, step: Step) -> None:
        from rulerank.core.progress import somebody_looks

        if step.failure is not None:
            what = "skipped" if step.failure.skipped else "failed"
            print(f"{step.system}, {step.fold}: {what}: {step.failure.reason}", file=sys.stderr)
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN_LINES and not somebody_looks():
            self._last = now
            print(f"{step.n_done} of {step.n_cells} cells, {in_words(step.seconds_left)} left", file=sys.stderr)


def in_words(seconds: float) -> str:
    """Return a time as people say it.

    >>> in_words(45.2), in_words(400), in_words(float("nan"))
    ('about 45 s', 'about 7 min', 'some time')
    """
    if math.isnan(seconds):
        return "some time"
    return f"about {seconds:.0f} s" if seconds < 100 else f"about {seconds / 60:.0f} min"
