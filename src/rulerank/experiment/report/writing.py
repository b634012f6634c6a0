"""Render a report as a page, Markdown, LaTeX or csv."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from rulerank.errors import DataError, MissingExtraError
from rulerank.experiment.report.content import Report, Table
from rulerank.experiment.summary import Summary
from rulerank.experiment.systems import GROUPS
from rulerank.io.outputs import write_bytes
from rulerank.render.tables import csv_table, latex_table, markdown_table

FORMATS = ("html", "markdown", "latex", "csv")
SYMBOLS = str.maketrans({"▲": "+", "▼": "-", "–": "--"})


def write_files(report: Report, summary: Summary, out: Path, formats: Iterable[str] = FORMATS) -> list[Path]:
    """Write report.html, report.md, report.tex and the csv files into a directory; return what was written."""
    contents: dict[str, str] = {}
    for name in formats:
        if name == "html":
            contents["report.html"] = as_html(report)
        elif name == "markdown":
            contents["report.md"] = as_markdown(report)
        elif name == "latex":
            contents["report.tex"] = as_latex(report)
        elif name == "csv":
            contents["results.csv"] = results_csv(summary)
            contents["differences.csv"] = differences_csv(summary)
            contents["cells.csv"] = cells_csv(summary)
        else:
            raise DataError(f"unknown format {name!r}; choose from {', '.join(FORMATS)}")
    out.mkdir(parents=True, exist_ok=True)
    for file, text in contents.items():
        write_bytes(out / file, text.encode())
    return [out / file for file in contents]


def check_formats(formats: Iterable[str]) -> None:
    """Complain about a format before hours of work, not after."""
    for name in formats:
        if name not in FORMATS:
            raise DataError(f"unknown format {name!r}; choose from {', '.join(FORMATS)}")
        if name == "html":
            for package in ("jinja2", "matplotlib"):
                try:
                    __import__(package)
                except ImportError:
                    raise MissingExtraError("report", package) from None


def as_html(report: Report) -> str:
    """Return one page without any outside resource; all data in it is escaped."""
    check_formats(["html"])
    from jinja2 import Environment, StrictUndefined

    page = (files("rulerank.experiment.report") / "page.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(page).render(report=report, groups=GROUPS, is_table=lambda p: isinstance(p, Table))


def as_markdown(report: Report) -> str:
    """Return the words and tables; pictures are on the page."""
    lines = [f"# {report.title}", "", report.sentence, ""]
    lines += [f"- {name}: {value}" for name, value in report.facts]
    for section in report.sections:
        tables = [part for part in section.parts if isinstance(part, Table)]
        if not tables:
            continue
        lines += ["", f"## {section.title}", *(["", section.about] if section.about else [])]
        for table in tables:
            rows = [[f"**{e.text}** {e.mark}".strip() if e.strong else str(e) for e in row] for row in table.rows]
            lines += ["", f"### {table.title}", "", markdown_table(table.header, rows, table.n_left)]
            lines += ["", table.note] if table.note else []
    return "\n".join(lines) + "\n"


def as_latex(report: Report) -> str:
    """Return the tables, each under its title and above its note as comments; they need the package booktabs."""
    parts = [f"% {report.title}", f"% {report.sentence}"]
    for section in report.sections:
        for table in section.parts:
            if isinstance(table, Table):
                rows = [[str(entry).translate(SYMBOLS) for entry in row] for row in table.rows]
                parts += ["", f"% {table.title}", latex_table(table.header, rows, table.n_left), f"% {table.note}"]
    return "\n".join(parts) + "\n"


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
