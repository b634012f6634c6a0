"""The report of an experiment: one page as HTML, Markdown and LaTeX, its figures as csv, its pictures as PDF."""

from __future__ import annotations

import math
import os
import platform
import re
from collections.abc import Iterable, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulerank import __version__
from rulerank.core.words import joined, lasting
from rulerank.dataset import Dataset, query_index
from rulerank.errors import DataError
from rulerank.evaluation import Comparison
from rulerank.experiment.run import Experiment
from rulerank.experiment.summary import (
    ALPHA,
    DEPTH,
    Row,
    Summary,
    experiment_frame,
    mark,
    shown_params,
    summarise,
)
from rulerank.experiment.systems import GROUPS
from rulerank.io.outputs import write_bytes
from rulerank.render.document import DASH, Cell, Page, Picture, Section, Table, cells, number_cell
from rulerank.render.figures import check_matplotlib
from rulerank.render.html import render_html
from rulerank.render.latex import render_latex
from rulerank.render.text import csv_table, render_markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADLINE = ("MAP", "NDCG@1", "NDCG@5", "NDCG@10", "P@1", "P@5", "P@10")
FORMATS = ("html", "markdown", "latex", "csv", "figures")
DRAWN = ("html", "figures")  # formats that need pictures
FIGURES = "figures"  # the folder
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "polars", "lightgbm", "matplotlib")
NAMED = 6  # systems in a sentence
MOST_CURVES = 10  # as many as look different
ABOUT_FOLDS = "Each fold is trained, validated and tested by itself."
ABOUT_PLUS = (
    "A name with + is this library's default where it is not as published. These defaults were developed on "
    "OHSUMED and MQ2008; the documentation of each says how, and which test figures were seen on the way."
)
BOLD = "Bold: the best, and those not significantly worse by a paired t-test over queries."


def write_report(
    experiment: Experiment, out: str | os.PathLike[str], formats: Sequence[str] = FORMATS, **options: Any
) -> list[Path]:
    """Write an experiment's report into a directory and return the files; options as in `make_report`.

    >>> import tempfile
    >>> from rulerank.datasets import make_ranking
    >>> from rulerank.experiment.run import run_experiment
    >>> from rulerank.splitting import make_folds
    >>> experiment = run_experiment(make_folds(make_ranking(n_queries=12, docs_per_query=8), 3), ["RE-GR", "QI"])
    >>> with tempfile.TemporaryDirectory() as out:
    ...     [file.name for file in write_report(experiment, out, ["markdown", "csv"])]
    ['report.md', 'results.csv', 'differences.csv', 'queries.csv']
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
    results: list[Table | Picture] = [means_table(summary, labels, differences)]
    if draw and differences[first]:
        results.append(differences_picture(summary, first, differences[first]))
    if draw:
        shown, about = summary.ranked("MAP")[:MOST_CURVES], "The systems with the best MAP."
        results.append(curves_picture(summary, "curves", "Precision and NDCG", about, shown))
    gaps = tuple(differences_table(summary, m, differences[m]) for m in tested if differences[m])
    plus = f" {ABOUT_PLUS}" if any(row.name.endswith("+") for row in summary.rows) else ""
    about = f"With {versions()}; figures kept from an earlier run came from what was installed then.{plus}"
    run = (*failures_tables(summary), runs_table(summary), data_table(summary))
    sections = [
        Section("Results", tuple(results), key="results"),
        Section("Fold by fold", (folds_table(summary, first),), ABOUT_FOLDS, "folds"),
        Section("Significance", gaps, key="significance"),
        Section("Execution time", (times_table(summary),), key="time"),
        Section("What was run", run, about, "run"),
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


def sentence(summary: Summary, measure: str, differences: Sequence[Comparison]) -> str:
    """Return in plain words what came out."""
    best = summary.ranked(measure)[0]
    equals = len(summary.ties_with_best(measure)) - 1
    others = len(summary.rows) - 1
    text = (
        f"Over {len(summary.experiment.folds)} folds and {summary.n_queries:,} test queries, {best} ranks best by "
        f"{measure} ({summary.mean(best, measure):.4f})"
    )
    if not others:
        return f"{text}."
    which = "none of the" if equals == others else f"{others - equals} of the"
    text += f"; {which} {others} other systems are significantly worse (paired t-test over queries)."
    above, below = ([d.a for d in differences if mark(d) == arrow] for arrow in "▲▼")
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


def versions() -> str:
    """Return what the report was made with."""
    found = [f"rulerank {__version__}", f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join([*found, f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"])


def how(summary: Summary) -> str:
    """Say under which rules the figures stand."""
    n_empty = summary.n_without_relevant
    empty = f" ({n_empty:,} without a relevant one, which count 0)" if n_empty else ""
    return (
        f"Test documents of {len(summary.experiment.folds)} folds, {summary.n_queries:,} queries{empty}; "
        f"convention {summary.convention}, ties {summary.ties}."
    )


def named(row: Row) -> Cell:
    return Cell(row.name, about=row.system.about)


def groups(summary: Summary) -> tuple[str, ...]:
    return tuple(row.system.group for row in summary.rows)


def means_table(summary: Summary, measures: Sequence[str], differences: dict[str, list[Comparison]]) -> Table:
    """Return every system by the headline measures, with arrows where it differs from the one compared with."""
    marks = {(d.a, measure): mark(d) for measure, found in differences.items() for d in found}
    strong = {measure: summary.ties_with_best(measure) for measure in measures}
    rows = []
    for row in summary.rows:
        n_labels = sum(cell.n_labels for cell in row.cells) / len(row.cells)
        tied = row.n_tied / summary.n_docs
        figures = [
            number_cell(
                float(row.means[summary.place(measure)]),
                strong=row.name in strong[measure],
                mark=marks.get((row.name, measure), ""),
            )
            for measure in measures
        ]
        rows.append((named(row), Cell(f"{n_labels:,.0f}", n_labels), *figures, Cell(f"{tied:.0%}", tied)))
    note = (
        f"Mean over folds. {how(summary)} {BOLD} ▲ ▼: above or below {summary.against} by a randomisation test over "
        f"queries, corrected by Holm over the {len(summary.rows) - 1} systems, p < {ALPHA:g}. Labels: grades of a "
        "fold's train that were used, in the mean. Tied: documents that share their score with another of the query."
    )
    header = ("system", "labels", *measures, "tied")
    return Table("All systems", header, tuple(rows), note=note, key="means", groups=groups(summary), legend=True)


def folds_table(summary: Summary, measure: str) -> Table:
    """Return one measure fold by fold, its mean and its deviation over the folds."""
    place, strong = summary.place(measure), summary.ties_with_best(measure)
    rows = []
    for row in summary.rows:
        values = row.folds[place]
        deviation = number_cell(float(values.std(ddof=1))) if values.size > 1 else Cell(DASH)
        mean = number_cell(float(values.mean()), strong=row.name in strong)
        figures = (number_cell(float(value)) for value in values)
        rows.append((named(row), *figures, mean, deviation, Cell(row.system.plan.learns_from)))
    header = ("system", *(fold.name for fold in summary.experiment.folds), "mean", "deviation", "learned from")
    note = f"{measure}. {how(summary)} {BOLD} Deviation: of the folds' means."
    words = ("learned from",)
    return Table(f"{measure}, fold by fold", header, tuple(rows), 1, note, "folds", words, groups(summary))


def differences_table(summary: Summary, measure: str, found: Sequence[Comparison]) -> Table:
    """Return how each system differs from the one compared with."""
    rows = tuple(
        (
            named(summary.row(d.a)),
            number_cell(d.difference, mark=mark(d), signed=True),
            Cell(f"{d.low:+z.4f} to {d.high:+z.4f}", d.low),
            Cell(f"{d.wins}/{d.ties}/{d.losses}", d.wins - d.losses),
            *(p_cell(p) for p in (d.p["t"], d.p["folds"], d.p["randomisation"], d.p_holm["randomisation"])),
        )
        for d in found
    )
    header = (
        "system", "difference", "95% interval", "wins/ties/losses", "p, t over queries", "p, t over folds",
        "p, randomisation", "p, Holm",
    )  # fmt: skip
    note = (
        f"{measure} less that of {summary.against}, mean over queries. {how(summary)} Bootstrap intervals and the "
        f"randomisation test have {summary.n_rounds:,} rounds (seed {summary.seed}); the t-tests are paired. "
        f"Bold: p < {ALPHA:g}."
    )
    own = tuple(summary.row(d.a).system.group for d in found)
    key = f"differences-{measure}"
    return Table(f"{measure} against {summary.against}", header, rows, note=note, key=key, groups=own)


def times_table(summary: Summary) -> Table:
    """Return how long training, choosing and ranking took."""
    n_folds = len(summary.experiment.folds)
    rows = []
    for row in summary.rows:
        fit, tune, predict = (
            sum(getattr(cell, f"{what}_seconds") for cell in row.cells) for what in ("fit", "tune", "predict")
        )
        rows.append(
            (
                named(row),
                number_cell(fit / n_folds, 3),
                number_cell(tune / n_folds, 3),
                number_cell(1000 * predict / summary.n_queries, 3),
                number_cell((fit + predict) / summary.n_queries, 4),
                number_cell(fit + predict, 2),
            )
        )
    header = (
        "system", "training, s per fold", "with choosing, s per fold", "ranking, ms per query", "all, s per query",
        "all, s",
    )  # fmt: skip
    note = (
        "Seconds of one core, compiled loops already loaded. Training: the chosen setting; with choosing: all settings "
        "and their validation. All: training and ranking of all folds; systems that combine others include "
        "them."
    )
    return Table("Execution time", header, tuple(rows), note=note, key="times", groups=groups(summary))


def runs_table(summary: Summary) -> Table:
    """Return what each system is and which parameters were chosen in each fold."""
    rows = []
    for row in summary.rows:
        chosen = {
            fold.name: shown_params(cell.params) for fold, cell in zip(summary.experiment.folds, row.cells, strict=True)
        }
        same = len(set(chosen.values())) == 1
        text = next(iter(chosen.values())) if same else "; ".join(f"{fold}: {one}" for fold, one in chosen.items())
        rows.append((named(row), *cells(row.system.about, row.system.plan.learns_from, text or "nothing to choose")))
    note = f"Chosen on each fold's vali by {summary.experiment.tuned_by}; no system saw a grade of test."
    header = ("system", "what it is", "learned from", "chosen parameters")
    return Table("Systems and parameters", header, tuple(rows), 4, note, key="runs", groups=groups(summary))


def failures_tables(summary: Summary) -> list[Table]:
    """Return what did not finish and why, if there is anything."""
    folds = summary.experiment.folds
    rows = tuple(
        cells(system, folds[fold].name, "skipped" if failure.skipped else "failed", failure.reason)
        for (system, fold), failure in summary.experiment.failures.items()
    )
    header, note = ("system", "fold", "what happened", "reason"), "Run again: only these cells are tried again."
    return [Table("Not finished", header, rows, 4, note, key="failures")] if rows else []


def data_table(summary: Summary) -> Table:
    """Return the size of every part of every fold."""
    rows = []
    for fold in summary.experiment.folds:
        for part in ("train", "vali", "test"):
            data: Dataset = getattr(fold, part)
            sizes = (query_index(data.qid)[1].size, len(data), data.X.shape[1])
            relevant = float((data.y > 0).mean())
            numbers = (Cell(f"{n:,}", n) for n in sizes)
            rows.append((*cells(fold.name, part), *numbers, Cell(f"{relevant:.1%}", relevant)))
    header = ("fold", "part", "queries", "documents", "features", "relevant")
    return Table("Data", header, tuple(rows), 2, "Relevant: graded 1 or higher.", key="data")


def p_cell(p: float) -> Cell:
    """Return a p-value, strong where it is below 0.05.

    >>> p_cell(0.00002).text, p_cell(0.04).strong
    ('<0.0001', True)
    """
    if math.isnan(p):
        return Cell(DASH)
    return Cell("<0.0001" if p < 0.0001 else f"{p:.4f}", p, strong=p < ALPHA)


def differences_picture(summary: Summary, measure: str, found: Sequence[Comparison]) -> Picture:
    from rulerank.experiment.figures import Span, difference_plot

    spans = [Span(d.a, d.difference, d.low, d.high, mark(d)) for d in found]
    about = (
        f"Dot: mean difference of {measure} to {summary.against}; line: 95% bootstrap interval over queries; green or "
        "red: significantly above or below after Holm's correction."
    )
    drawn = difference_plot(spans, summary.against, measure)
    return picture("differences", f"{measure} against {summary.against}", about, drawn)


def curves_picture(summary: Summary, key: str, title: str, about: str, shown: Sequence[str]) -> Picture:
    from rulerank.experiment.figures import rank_curves

    ranks = range(1, DEPTH + 1)
    curves = {
        measure: {name: [summary.mean(name, f"{measure}@{k}") for k in ranks] for name in shown}
        for measure in ("P", "NDCG")
    }
    rules = f"Mean over folds, convention {summary.convention}, ties {summary.ties}."
    return picture(key, title, f"{about} {rules} Shown: {joined(shown)}.", rank_curves(curves))


def picture(key: str, title: str, about: str, figure: Figure, dpi: int = 110) -> Picture:
    from rulerank.render.figures import figure_bytes, inline_svg

    if figure.get_suptitle():
        figure.suptitle("")  # the page has the title as text
    name = re.sub(r"\W", "-", key)
    svg, width = inline_svg(figure, name, dpi), float(figure.get_figwidth())
    return Picture(title, svg, about, name, partial(figure_bytes, figure), width)


def write_files(page: Page, summary: Summary, out: Path, formats: Iterable[str] = FORMATS) -> list[Path]:
    """Write report.html, report.md, report.tex, the csv files and the figures into a directory; return what it was."""
    names = list(formats)
    check_formats(names)
    contents: dict[str, str | bytes] = {}
    for name in names:
        if name == "html":
            contents["report.html"] = render_html(page)
        elif name == "markdown":
            contents["report.md"] = render_markdown(page)
        elif name == "latex":
            contents["report.tex"] = render_latex(page, FIGURES if "figures" in names else None)
        elif name == "csv":
            contents |= csv_files(summary)
        else:
            drawn = [(one.key, one.draw) for one in page.pictures if one.draw is not None]
            contents |= {f"{FIGURES}/{key}{end}": draw(end) for key, draw in drawn for end in (".pdf", ".svg")}
    for file, content in contents.items():
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(out / file, content.encode() if isinstance(content, str) else content)
    return [out / file for file in contents]


def check_formats(formats: Iterable[str]) -> None:
    """Complain about a format before hours of work, not after."""
    for name in formats:
        if name not in FORMATS:
            raise DataError(f"unknown format {name!r}; choose from {', '.join(FORMATS)}")
        if name in DRAWN:
            check_matplotlib()


def csv_files(summary: Summary) -> dict[str, str]:
    """Return all figures with all digits: of systems in folds, of differences, and of every test query."""
    rules = {"convention": summary.convention, "ties": summary.ties}
    frame = experiment_frame(summary.experiment, summary.measures, **rules)
    results = [[*row, *rules.values()] for row in frame.rows()]
    differences = [
        [d.a, d.b, d.measure, d.difference, d.low, d.high, d.p["t"], d.p["folds"], d.p["randomisation"],
         d.p_holm["randomisation"], d.wins, d.losses]
        for measure in summary.measures
        for d in summary.differences(measure)
    ]  # fmt: skip
    header = (
        "system", "against", "measure", "difference", "low", "high", "p_t_queries", "p_t_folds", "p_randomisation",
        "p_holm", "wins", "losses",
    )  # fmt: skip
    places = [(fold.name, qid) for fold in summary.experiment.folds for qid in query_index(fold.test.qid)[1].tolist()]
    queries = [
        [row.name, fold, query, *values]
        for row in summary.rows
        for (fold, query), values in zip(places, row.queries.T.tolist(), strict=True)
    ]
    return {
        "results.csv": csv_table([*frame.columns, *rules], results),
        "differences.csv": csv_table(header, differences),
        "queries.csv": csv_table(["system", "fold", "query", *map(str, summary.measures)], queries),
    }
