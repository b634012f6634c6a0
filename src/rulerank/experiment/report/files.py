"""The files of a report: a web page, Markdown, LaTeX, csv, and its figures as PDF and SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from rulerank.dataset import query_index
from rulerank.errors import DataError
from rulerank.experiment.summary import Summary
from rulerank.io.outputs import write_bytes
from rulerank.render.document import Page
from rulerank.render.figures import check_matplotlib
from rulerank.render.html import render_html
from rulerank.render.latex import render_latex
from rulerank.render.markdown import render_markdown
from rulerank.render.tables import csv_table

PAGES: dict[str, tuple[str, Callable[[Page], str]]] = {
    "html": ("report.html", render_html),
    "markdown": ("report.md", render_markdown),
    "latex": ("report.tex", render_latex),
}
FORMATS = (*PAGES, "csv", "figures")
DRAWN = ("html", "figures")  # formats that need pictures
FIGURES = "figures"  # the folder
ENDINGS = (".pdf", ".svg")


def write_files(page: Page, summary: Summary, out: Path, formats: Iterable[str] = FORMATS) -> list[Path]:
    """Write report.html, report.md, report.tex, the csv files and the figures into a directory; return what it was."""
    contents: dict[str, bytes] = {}
    names = list(formats)
    check_formats(names)
    for name in names:
        if name == "csv":
            contents["results.csv"] = results_csv(summary).encode()
            contents["differences.csv"] = differences_csv(summary).encode()
            contents["cells.csv"] = cells_csv(summary).encode()
            contents["queries.csv"] = queries_csv(summary).encode()
        elif name == "figures":
            contents |= figure_files(page)
        elif name == "latex":
            contents["report.tex"] = render_latex(page, FIGURES if "figures" in names else None).encode()
        else:
            file, render = PAGES[name]
            contents[file] = render(page).encode()
    out.mkdir(parents=True, exist_ok=True)
    if any(file.startswith(f"{FIGURES}/") for file in contents):
        (out / FIGURES).mkdir(exist_ok=True)
    for file, content in contents.items():
        write_bytes(out / file, content)
    return [out / file for file in contents]


def figure_files(page: Page) -> dict[str, bytes]:
    """Return every picture of a page as PDF and SVG, the same bytes whenever they are drawn."""
    return {
        f"{FIGURES}/{picture.key}{ending}": picture.draw(ending)
        for picture in page.pictures
        if picture.draw is not None
        for ending in ENDINGS
    }


def check_formats(formats: Iterable[str]) -> None:
    """Complain about a format before hours of work, not after."""
    for name in formats:
        if name not in FORMATS:
            raise DataError(f"unknown format {name!r}; choose from {', '.join(FORMATS)}")
        if name in DRAWN:
            check_matplotlib()


def results_csv(summary: Summary) -> str:
    """Return one line per system, measure and fold, and the means, with all digits."""
    folds = [fold.name for fold in summary.experiment.folds]
    lines = [
        [row.name, row.system.group, str(measure), fold, float(value), summary.convention, summary.ties]
        for row in summary.rows
        for place, measure in enumerate(summary.measures)
        for fold, value in [*zip(folds, row.folds[place], strict=True), ("mean", row.means[place])]
    ]
    return csv_table(["system", "group", "measure", "fold", "value", "convention", "ties"], lines)


def queries_csv(summary: Summary) -> str:
    """Return one line per system and test query with every measure, for tests of one's own."""
    places = [
        (fold.name, query) for fold in summary.experiment.folds for query in query_index(fold.test.qid)[1].tolist()
    ]
    lines = [
        [row.name, fold, query, *row.queries[:, number].tolist()]
        for row in summary.rows
        for number, (fold, query) in enumerate(places)
    ]
    return csv_table(["system", "fold", "query", *map(str, summary.measures)], lines)


def differences_csv(summary: Summary) -> str:
    """Return every system against the one compared with, by every measure."""
    header = [
        "system", "against", "measure", "difference", "low", "high", "p_t_queries", "p_t_folds", "p_randomisation",
        "p_holm", "wins", "losses",
    ]  # fmt: skip
    lines = [
        [d.system, summary.against, d.measure, d.difference, d.low, d.high, d.p_queries, d.p_folds, d.p_randomisation,
         d.p_holm, d.wins, d.losses]
        for measure in summary.measures
        for d in summary.differences(measure)
    ]  # fmt: skip
    return csv_table(header, lines)


def cells_csv(summary: Summary) -> str:
    """Return what was chosen and how long it took, system by system and fold by fold."""
    header = ["system", "fold", "labels", "chosen", "fit_seconds", "tune_seconds", "predict_seconds"]
    folds = summary.experiment.folds
    lines = [
        [system, folds[fold].name, c.n_labels, c.params or "", c.fit_seconds, c.tune_seconds, c.predict_seconds]
        for (system, fold), c in summary.experiment.cells.items()
    ]
    return csv_table(header, lines)
