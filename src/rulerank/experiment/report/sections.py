"""A report put together: its sections, and the words at its top."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from rulerank import __version__
from rulerank.core.words import joined, lasting
from rulerank.dataset import Dataset, query_index
from rulerank.experiment.report import pictures, tables, trials
from rulerank.experiment.report.files import DRAWN, FORMATS, check_formats, write_files
from rulerank.experiment.run import Experiment
from rulerank.experiment.summary import Difference, Summary, summarise
from rulerank.experiment.systems import GROUPS
from rulerank.render.document import Cell, Page, Picture, Section, Table, cells, number_cell

HEADLINE = ("MAP", "NDCG@1", "NDCG@5", "NDCG@10", "P@1", "P@5", "P@10")
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "polars", "lightgbm", "matplotlib")
NAMED = 6  # systems in a sentence
ABOUT_FOLDS = "Each fold is trained, validated and tested by itself."
ABOUT_PLUS = (
    "A name with + is this library's default where it is not as published. These defaults were developed on "
    "OHSUMED and MQ2008; the documentation of each says how, and which test figures were seen on the way."
)


def write_report(
    experiment: Experiment, out: str | os.PathLike[str], formats: Sequence[str] = FORMATS, **options: Any
) -> list[Path]:
    """Write an experiment's report into a directory and return the files; options as in `make_report`.

    >>> import tempfile
    >>> from rulerank.experiment.run import run_experiment
    >>> from rulerank.worlds import make_folds, make_world
    >>> experiment = run_experiment(make_folds(make_world(n_queries=12, docs_per_query=8), 3), ["RE-GR", "QI"])
    >>> with tempfile.TemporaryDirectory() as out:
    ...     [file.name for file in write_report(experiment, out, ["markdown", "csv"])]
    ['report.md', 'results.csv', 'differences.csv', 'cells.csv', 'queries.csv']
    """
    check_formats(formats)
    report, summary = make_report(experiment, draw=any(name in DRAWN for name in formats), **options)
    return write_files(report, summary, Path(out), formats)


def make_report(
    experiment: Experiment,
    *,
    title: str = "Ranking systems compared",
    measures: Sequence[str] = HEADLINE,
    convention: str = "standard",
    ties: str | None = None,
    against: str | None = None,
    draw: bool = True,
) -> tuple[Page, Summary]:
    """Return the report of an experiment and the figures it is made of.

    draw: without pictures no Matplotlib is needed.
    """
    summary = summarise(experiment, measures, convention=convention, ties=ties, against=against)
    labels = [str(measure) for measure in dict.fromkeys(summary.measures[summary.place(m)] for m in measures)]
    differences = {measure: summary.differences(measure) for measure in labels}
    first = labels[0]
    tested = dict.fromkeys([first, "NDCG@10" if "NDCG@10" in labels else labels[-1]])
    gaps = (tables.differences_table(summary, m, differences[m]) for m in tested if differences[m])
    sections = [
        Section("Results", _results(summary, labels, differences, draw), key="results"),
        Section(
            "Fold by fold",
            (trials.folds_table(summary, first), *trials.deviations_tables(summary)),
            ABOUT_FOLDS,
            "folds",
        ),
        Section("Significance", tuple(gaps), key="significance"),
        Section("Execution time", (tables.times_table(summary),), key="time"),
        _what_was_run(summary),
    ]
    page = Page(
        title,
        (sentence(summary, first, differences[first]),),
        tuple(section for section in sections if section.parts),
        facts=facts(summary),
        groups=tuple(GROUPS.items()),
        footer="Made by rulerank compare. Click a column's title to sort by it.",
        sortable=True,
    )
    return page, summary


def sentence(summary: Summary, measure: str, differences: Sequence[Difference]) -> str:
    """Return in plain words what came out."""
    best = summary.best(measure)
    place = summary.place(measure)
    equals = len(summary.ties_with_best(measure)) - 1
    others = len(summary.rows) - 1
    n_folds = len(summary.experiment.folds)
    text = (
        f"Over {n_folds} folds and {summary.n_queries:,} test queries, {best.name} ranks best by {measure} "
        f"({float(best.means[place]):.4f})"
    )
    if not others:
        return f"{text}."
    which = "none of the" if equals == others else f"{others - equals} of the"
    text += f"; {which} {others} other systems are significantly worse (paired t-test over queries)."
    above, below = ([d.system for d in differences if d.mark == mark] for mark in "▲▼")
    if not above and not below:
        return f"{text} None differs significantly from {summary.against} after correction for the number of systems."
    parts = [f"{joined(above)} above"] if above else []
    if below:
        parts.append(f"{joined(below) if len(below) <= NAMED else len(below)} below")
    return f"{text} Against {summary.against}, after correction for the number of systems: {', '.join(parts)}."


def facts(summary: Summary) -> tuple[tuple[str, str], ...]:
    """Return the size of the experiment at a glance."""
    experiment = summary.experiment
    seconds = sum(cell.tune_seconds + cell.predict_seconds for cell in experiment.cells.values())
    unfinished = {system for system, _ in experiment.failures}
    return (
        ("systems", f"{len(summary.rows)}" + (f" ({len(unfinished)} not finished)" if unfinished else "")),
        ("folds", f"{len(experiment.folds)}"),
        ("test queries", f"{summary.n_queries:,}"),
        ("test documents", f"{summary.n_docs:,}"),
        ("features", f"{experiment.folds[0].train.X.shape[1]}"),
        ("work", f"{lasting(seconds)} of one core"),
    )


def _results(
    summary: Summary, labels: Sequence[str], differences: dict[str, list[Difference]], draw: bool
) -> tuple[Table | Picture, ...]:
    drawn = []
    if draw:
        if differences[labels[0]]:
            drawn.append(pictures.differences_picture(summary, labels[0], differences[labels[0]]))
        about, shown = "Of each group the system with the best MAP, and all of yours.", pictures.best_systems(summary)
        drawn.append(pictures.curves_picture(summary, "curves", "Precision and NDCG", about, shown))
    return (tables.means_table(summary, labels, differences), *drawn)


def _what_was_run(summary: Summary) -> Section:
    failures = tables.failures_table(summary)
    parts = (tables.runs_table(summary), _data_table(summary), _versions_table())
    about = ABOUT_PLUS if any(row.name.endswith("+") for row in summary.rows) else ""
    return Section("What was run", ((failures, *parts) if failures else parts), about, "run")


def _data_table(summary: Summary) -> Table:
    rows = []
    for fold in summary.experiment.folds:
        for part in ("train", "vali", "test"):
            data: Dataset = getattr(fold, part)
            n_queries = query_index(data.qid)[1].size
            relevant = float((data.y > 0).mean())
            rows.append(
                (
                    *cells(fold.name, part),
                    number_cell(n_queries, 0),
                    Cell(f"{len(data):,}", len(data)),
                    number_cell(data.X.shape[1], 0),
                    Cell(f"{relevant:.1%}", relevant),
                )
            )
    header = ("fold", "part", "queries", "documents", "features", "relevant")
    return Table("Data", header, tuple(rows), 2, "Relevant: graded 1 or higher.", key="data")


def _versions_table() -> Table:
    found = [("rulerank", __version__), ("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            continue
    found.append(("machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"))
    note = "Of the run that wrote this report; figures kept from an earlier run came from what was installed then."
    return Table("Versions", ("what", "version"), tuple(cells(*row) for row in found), 2, note, key="versions")
