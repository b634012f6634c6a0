"""The report of an experiment: means over folds and significance tests, as HTML, Markdown, LaTeX and csv."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rulerank import __version__
from rulerank._util.words import joined
from rulerank.dataset import Array, Fold, query_index
from rulerank.errors import DataError
from rulerank.evaluation import NDCG, Comparison, Measure, P, evaluate
from rulerank.evaluation.comparison import compare_values, t_test
from rulerank.evaluation.measures import MAP, as_measures, convention_named
from rulerank.experiment.run import Experiment
from rulerank.experiment.systems import Scores, System
from rulerank.io.files import write_bytes
from rulerank.render.document import DASH, Cell, Content, Page, Section, Sentences, Table, cells, number_cell
from rulerank.render.html import render_html
from rulerank.render.latex import render_latex
from rulerank.render.text import render_markdown

DEPTH = 10
ALL_MEASURES = (MAP, *(NDCG @ k for k in range(1, DEPTH + 1)), *(P @ k for k in range(1, DEPTH + 1)))
SHOWN = ("MAP", "NDCG@10", "P@1", "P@10")
HEADLINE = ("MAP", "NDCG@1", "NDCG@5", "NDCG@10", "P@1", "P@5", "P@10")
FORMATS = ("html", "markdown", "latex", "csv")
N_ROUNDS = 10_000
SEED = 0
ALPHA = 0.05
NAMED = 6  # systems in a sentence
BOLD = "Bold: the best, and those not significantly worse by a paired t-test over queries."


@dataclass(frozen=True, eq=False)
class Row:
    """The results of one system."""

    system: System
    folds: Array  # (n_measures, n_folds): mean over each fold's test queries
    queries: Array  # (n_measures, n_queries): all test queries, fold after fold
    n_tied: int
    cells: tuple[Scores, ...]

    @property
    def name(self) -> str:
        return self.system.name

    @property
    def means(self) -> Array:
        """The mean of each measure over the folds, as in the papers."""
        return self.folds.mean(axis=1)


@dataclass(frozen=True, eq=False)
class Summary:
    """The results of all complete systems, by one convention."""

    experiment: Experiment
    measures: tuple[Measure, ...]
    rows: tuple[Row, ...]
    against: str
    convention: str
    ties: str
    n_queries: int
    n_without_relevant: int

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    def place(self, measure: str | Measure) -> int:
        """Return the index of a measure, given in any notation."""
        return self.measures.index(Measure.parse(str(measure)))

    def mean(self, name: str, measure: str | Measure) -> float:
        return float(self.row(name).means[self.place(measure)])

    def ranked(self, measure: str | Measure) -> list[str]:
        """Return the systems, the best by a measure first."""
        return sorted((row.name for row in self.rows), key=lambda name: -self.mean(name, measure))

    def ties_with_best(self, measure: str | Measure) -> set[str]:
        """Return the best system and those not significantly worse (paired t-test over queries): set in bold."""
        place, best = self.place(measure), self.row(self.ranked(measure)[0])
        behind = np.array([best.queries[place] - row.queries[place] for row in self.rows])
        means = np.array([row.means[place] for row in self.rows])
        p = t_test(behind) if self.n_queries > 1 else np.where(means >= means.max(), 1.0, 0.0)
        return {row.name for row, value in zip(self.rows, p, strict=True) if value >= ALPHA}

    def differences(self, measure: str | Measure) -> list[Comparison]:
        """Compare every system with `against` by one measure."""
        place, base = self.place(measure), self.row(self.against)
        rows = [base, *(row for row in self.rows if row is not base)]
        if len(rows) < 2 or self.n_queries < 2:
            return []
        values, names = np.array([row.queries[place] for row in rows]), [row.name for row in rows]
        return compare_values(str(measure), names, values, N_ROUNDS, SEED, ALPHA, against=0)


def mark(found: Comparison) -> str:
    """Return an arrow if a difference is significant by the randomisation test with Holm's correction."""
    if found.p_holm["randomisation"] >= ALPHA:
        return ""
    return "▲" if found.difference > 0 else "▼"


def check_rules(
    folds: Sequence[Fold],
    systems: Sequence[System],
    measures: Sequence[str | Measure],
    against: str | None = None,
    **rules: Any,
) -> None:
    """Raise the errors of `summarise` before the systems run."""
    for fold in folds:
        docid = None if fold.test.docid is None else ["a"]
        evaluate([1], [0.0], [0], measures, docid=docid, any_grades=True, **rules)
    names = [system.name for system in systems]
    if against is not None and against not in names:
        raise DataError(f"cannot compare with {against!r}, which was not run; choose from {', '.join(names)}")


def summarise(
    experiment: Experiment,
    measures: Sequence[str | Measure] = (),
    *,
    convention: str = "standard",
    ties: str | None = None,
    against: str | None = None,
) -> Summary:
    """Evaluate the complete systems by MAP, NDCG@1-10, P@1-10 and the given measures.

    against: the system to test the others against; by default GlobalRules, or else the first.
    """
    complete = experiment.complete
    if not complete:
        (name, _), failure = next(iter(experiment.failures.items()))
        raise DataError(f"no system finished on all folds; {name}: {failure.reason}")
    names = [system.name for system in complete]
    chosen = against or next((name for name in ("GlobalRules", "RE-GR") if name in names), names[0])
    if chosen not in names:
        raise DataError(f"cannot compare with {chosen!r}, which has no scores; choose from {', '.join(names)}")
    asked = tuple(dict.fromkeys([*ALL_MEASURES, *(as_measures(measures) if measures else ())]))
    tie_rule = ties or convention_named(convention).ties
    rows = []
    for system in complete:
        scores = tuple(experiment.cells[system.name, number] for number in range(len(experiment.folds)))
        values, n_tied, n_empty = [], 0.0, 0
        for fold, cell in zip(experiment.folds, scores, strict=True):
            draws = [
                evaluate(fold.test, one, measures=asked, convention=convention, ties=tie_rule,
                         retrieved=None if np.isfinite(one).all() else ~np.isnan(one), any_grades=True)
                for one in np.atleast_2d(cell.test)
            ]  # fmt: skip
            values.append(np.mean([draw.values for draw in draws], axis=0))
            n_tied += float(np.mean([draw.n_tied for draw in draws]))
            n_empty += draws[0].n_without_relevant
        by_fold = np.array([value.mean(axis=1) for value in values]).T
        rows.append(Row(system, by_fold, np.concatenate(values, axis=1), round(n_tied), scores))
    n_queries = rows[0].queries.shape[1]
    return Summary(experiment, asked, tuple(rows), chosen, convention, tie_rule, n_queries, n_empty)


def experiment_table(experiment: Experiment, measures: Sequence[str] = SHOWN, **rules: Any) -> Table:
    """Return a table of systems and measures, means over folds, best first; rules as in `summarise`.

    The best, and those not significantly worse by a paired t-test over queries, are bold. A failed system has its
    reason in the last column.
    """
    labels = [str(measure) for measure in as_measures(measures)]
    note = f"{len(experiment.folds)} folds, mean; by {labels[0]}, the best first"
    rows: list[tuple[Content, ...]] = []
    if experiment.complete:
        summary = summarise(experiment, labels, **rules)
        good = {label: summary.ties_with_best(label) for label in labels}
        note += f"; {summary.n_queries:,} test queries, convention {summary.convention}, ties {summary.ties}"
        for name in summary.ranked(labels[0]):
            figures = (number_cell(summary.mean(name, label), strong=name in good[label]) for label in labels)
            rows.append((Cell(name), *figures, Cell("")))
    failed = dict.fromkeys(system for system, _ in experiment.failures)
    rows += [(Cell(name), *(Cell(DASH) for _ in labels), Cell(failure_of(experiment, name))) for name in failed]
    header = ("system", *labels, "not finished")
    if not experiment.failures:
        header, rows = header[:-1], [row[:-1] for row in rows]
    return Table("", header, tuple(rows), note=note, words=("not finished",))


def experiment_frame(experiment: Experiment, measures: Sequence[str | Measure] = SHOWN, **rules: Any) -> pl.DataFrame:
    """Return one row per system and fold: measures, labels used, selected parameters, CPU seconds, and failures."""
    labels = [str(measure) for measure in as_measures(measures)]
    summary = summarise(experiment, labels, **rules) if experiment.complete else None
    seconds = ("fit_seconds", "tune_seconds", "predict_seconds")
    kinds: dict[str, Any] = dict.fromkeys(("system", "group", "fold"), pl.String) | dict.fromkeys(labels, pl.Float64)
    kinds |= {"labels": pl.Int64, "chosen": pl.String, **dict.fromkeys(seconds, pl.Float64), "failure": pl.String}
    rows = []
    for system in experiment.systems:
        for number, fold in enumerate(experiment.folds):
            place = system.name, number
            row: dict[str, Any] = {"system": system.name, "group": system.group, "fold": fold.name}
            if place in experiment.cells:
                cell = experiment.cells[place]
                row |= {"labels": cell.n_labels, "chosen": shown_params(cell.params)}
                row |= {name: getattr(cell, name) for name in seconds}
            else:
                row["failure"] = experiment.failures[place].reason
            if summary is not None and system in experiment.complete:
                row |= {label: summary.row(system.name).folds[summary.place(label), number] for label in labels}
            rows.append(row)
    return pl.DataFrame(rows, schema=kinds)


def failure_of(experiment: Experiment, system: str) -> str:
    """Return in which folds a system failed, and the first reason."""
    failed = {n: failure for (name, n), failure in experiment.failures.items() if name == system}
    where = "all folds" if len(failed) == len(experiment.folds) else ", ".join(experiment.folds[n].name for n in failed)
    first = next(iter(failed.values()))
    return f"{'skipped' if first.skipped else 'failed'} in {where}: {first.reason}"


def shown_params(params: dict[str, Any]) -> str:
    """Return parameters as one line of text.

    >>> shown_params({"l2": 10.0, "weights": {"a": 0.5}})
    'l2 10.0, weights (a 0.5)'
    """
    return ", ".join(
        f"{name} ({shown_params(value)})" if isinstance(value, dict) else f"{name} {value}"
        for name, value in params.items()
    )


def write_report(
    experiment: Experiment, out: str | os.PathLike[str], formats: Sequence[str] = FORMATS, **options: Any
) -> list[Path]:
    """Write an experiment's report into a directory and return the files.

    formats: html, markdown, latex, csv.
    options: title, measures, convention, ties, and against, the system that the others are compared with.

    >>> import tempfile
    >>> from rulerank.datasets import make_ranking
    >>> from rulerank.experiment.run import run_experiment
    >>> from rulerank.dataset import make_folds
    >>> experiment = run_experiment(make_folds(make_ranking(n_queries=12, docs_per_query=8), 3), ["RE-GR", "QI"])
    >>> with tempfile.TemporaryDirectory() as out:
    ...     [file.name for file in write_report(experiment, out, ["markdown", "csv"])]
    ['report.md', 'results.csv', 'differences.csv', 'queries.csv']
    """
    check_formats(formats)
    return write_files(*make_report(experiment, **options), Path(out), formats)


def make_report(
    experiment: Experiment, *, title: str = "Ranking systems compared", measures: Sequence[str] = HEADLINE, **rules: Any
) -> tuple[Page, Summary]:
    """Return the report of an experiment and the results it is made of; rules as in `summarise`."""
    summary = summarise(experiment, measures, **rules)
    labels = [str(measure) for measure in dict.fromkeys(summary.measures[summary.place(m)] for m in measures)]
    differences = {measure: summary.differences(measure) for measure in labels}
    first = labels[0]
    tested = dict.fromkeys([first, "NDCG@10" if "NDCG@10" in labels else labels[-1]])
    gaps = tuple(differences_table(summary, m, differences[m]) for m in tested if differences[m])
    made_with = f"rulerank {__version__}, Python {platform.python_version()}, numpy {np.__version__}"
    failed = dict.fromkeys(system for system, _ in experiment.failures)
    said = tuple(f"{name}: {failure_of(experiment, name)}" for name in failed)
    failures = [Sentences("Not finished", (*said, "Run again: only these are tried again."))] if said else []
    sections = [
        Section("Results", (means_table(summary, labels, differences),), key="results"),
        Section("Fold by fold", (folds_table(summary, first),), key="folds"),
        Section("Significance", gaps, key="significance"),
        Section("What was run", (*failures, runs_table(summary)), f"With {made_with}.", "run"),
    ]
    told = (sentence(summary, first, differences[first]),)
    kept = tuple(section for section in sections if section.parts)
    footer = "Made by rulerank compare. Click a column's title to sort by it."
    return Page(title, told, kept, footer=footer, sortable=True), summary


def sentence(summary: Summary, measure: str, differences: Sequence[Comparison]) -> str:
    """Return the main result in a sentence."""
    best = summary.ranked(measure)[0]
    text = (
        f"Over {len(summary.experiment.folds)} folds and {summary.n_queries:,} test queries, {best} ranks best by "
        f"{measure} ({summary.mean(best, measure):.4f})."
    )
    if not differences:
        return text
    above, below = ([d.a for d in differences if mark(d) == arrow] for arrow in "▲▼")
    parts = [f"{joined(above)} above"] if above else []
    parts += [f"{joined(below) if len(below) <= NAMED else len(below)} below"] if below else []
    told = ", ".join(parts) or "no significant difference"
    return f"{text} Against {summary.against}, after correction for the number of systems: {told}."


def how(summary: Summary) -> str:
    """Return the rules by which the results were computed."""
    n_empty = summary.n_without_relevant
    empty = f" ({n_empty:,} without a relevant one, which count 0)" if n_empty else ""
    return (
        f"Test documents of {len(summary.experiment.folds)} folds, {summary.n_queries:,} queries{empty}; "
        f"convention {summary.convention}, ties {summary.ties}."
    )


def named(row: Row) -> Cell:
    return Cell(row.name, about=row.system.about)


def means_table(summary: Summary, measures: Sequence[str], differences: dict[str, list[Comparison]]) -> Table:
    """Return all systems by the headline measures, with arrows for significant differences."""
    marks = {(d.a, measure): mark(d) for measure, found in differences.items() for d in found}
    strong = {measure: summary.ties_with_best(measure) for measure in measures}
    n_docs = sum(len(fold.test) for fold in summary.experiment.folds)
    rows = []
    for row in summary.rows:
        figures = []
        for measure in measures:
            mean, own = summary.mean(row.name, measure), marks.get((row.name, measure), "")
            figures.append(number_cell(mean, strong=row.name in strong[measure], mark=own))
        rows.append((named(row), *figures, Cell(f"{row.n_tied / n_docs:.0%}", row.n_tied / n_docs)))
    note = (
        f"Mean over folds. {how(summary)} {BOLD} ▲ ▼: above or below {summary.against} by a randomisation test over "
        f"queries, corrected by Holm over the {len(summary.rows) - 1} systems, p < {ALPHA:g}. "
        "Tied: share of documents that have the same score as another document of the query."
    )
    header = ("system", *measures, "tied")
    return Table("All systems", header, tuple(rows), note=note, key="means")


def folds_table(summary: Summary, measure: str) -> Table:
    """Return one measure by fold, with mean and standard deviation over the folds."""
    place, strong = summary.place(measure), summary.ties_with_best(measure)
    rows = []
    for row in summary.rows:
        values = row.folds[place]
        deviation = number_cell(float(values.std(ddof=1))) if values.size > 1 else Cell(DASH)
        mean = number_cell(float(values.mean()), strong=row.name in strong)
        rows.append((named(row), *(number_cell(float(value)) for value in values), mean, deviation))
    header = ("system", *(fold.name for fold in summary.experiment.folds), "mean", "deviation")
    note = f"{measure}. {how(summary)} {BOLD} Deviation: of the folds' means."
    return Table(f"{measure}, fold by fold", header, tuple(rows), note=note, key="folds")


def differences_table(summary: Summary, measure: str, found: Sequence[Comparison]) -> Table:
    """Return the difference of each system to `against`, with interval and tests."""
    rows = []
    for d in found:
        difference = number_cell(d.difference, mark=mark(d), signed=True)
        interval = Cell(f"{d.low:+z.4f} to {d.high:+z.4f}", d.low)
        wins = Cell(f"{d.wins}/{d.ties}/{d.losses}", d.wins - d.losses)
        p = (d.p["t"], d.p["randomisation"], d.p_holm["randomisation"])
        rows.append(
            (named(summary.row(d.a)), difference, interval, wins, *(number_cell(x, strong=x < ALPHA) for x in p))
        )
    header = ("system", "difference", "95% interval", "wins/ties/losses", "p, t-test", "p, randomisation", "p, Holm")
    note = (
        f"{measure} minus that of {summary.against}, mean over queries. {how(summary)} Bootstrap intervals and the "
        f"randomisation test have {N_ROUNDS:,} rounds (seed {SEED}); the t-test is paired. Bold: p < {ALPHA:g}."
    )
    key = f"differences-{measure}"
    return Table(f"{measure} against {summary.against}", header, tuple(rows), note=note, key=key)


def runs_table(summary: Summary) -> Table:
    """Return a description of each system, its parameters by fold, and its times."""
    n_folds = len(summary.experiment.folds)
    rows = []
    for row in summary.rows:
        by_fold = [shown_params(cell.params) for cell in row.cells]
        told = [f"{fold.name}: {one}" for fold, one in zip(summary.experiment.folds, by_fold, strict=True)]
        chosen = by_fold[0] if len(set(by_fold)) == 1 else "; ".join(told)
        tune, predict = (sum(getattr(cell, f"{what}_seconds") for cell in row.cells) for what in ("tune", "predict"))
        seconds = number_cell(tune / n_folds, 3), number_cell(1000 * predict / summary.n_queries, 3)
        rows.append((named(row), *cells(row.system.about, chosen or "nothing to choose"), *seconds))
    note = (
        f"Parameters selected on each fold's vali by {summary.experiment.tuned_by}; no system saw a test grade. Times "
        "are CPU times of one core without compilation; training includes all settings."
    )
    header = ("system", "what it is", "chosen parameters", "training, s per fold", "ranking, ms per query")
    return Table("Systems and parameters", header, tuple(rows), 3, note, key="runs")


def write_files(page: Page, summary: Summary, out: Path, formats: Iterable[str] = FORMATS) -> list[Path]:
    """Write report.html, report.md, report.tex and the csv files into a directory; return their paths."""
    contents: dict[str, str] = {}
    for name in formats:
        if name == "html":
            contents["report.html"] = render_html(page)
        elif name == "markdown":
            contents["report.md"] = render_markdown(page)
        elif name == "latex":
            contents["report.tex"] = render_latex(page)
        else:
            contents |= {file: frame.write_csv() for file, frame in csv_files(summary).items()}
    out.mkdir(parents=True, exist_ok=True)
    for file, content in contents.items():
        write_bytes(out / file, content.encode())
    return [out / file for file in contents]


def check_formats(formats: Iterable[str]) -> None:
    """Raise an error for an unknown format before the systems run."""
    for name in formats:
        if name not in FORMATS:
            raise DataError(f"unknown format {name!r}; choose from {', '.join(FORMATS)}")


def csv_files(summary: Summary) -> dict[str, pl.DataFrame]:
    """Return all results with all digits: by system and fold, differences, and by test query."""
    rules = {"convention": summary.convention, "ties": summary.ties}
    results = experiment_frame(summary.experiment, summary.measures, **rules)
    header = (
        "system", "against", "measure", "difference", "low", "high", "p_t", "p_randomisation", "p_holm", "wins",
        "losses",
    )  # fmt: skip
    differences = [
        (d.a, d.b, d.measure, d.difference, d.low, d.high, *d.p.values(), d.p_holm["randomisation"], d.wins, d.losses)
        for measure in summary.measures
        for d in summary.differences(measure)
    ]
    places = [(fold.name, str(qid)) for fold in summary.experiment.folds for qid in query_index(fold.test.qid)[1]]
    labels = [str(measure) for measure in summary.measures]
    queries = [
        {"system": row.name, "fold": fold, "query": query} | dict(zip(labels, values, strict=True))
        for row in summary.rows
        for (fold, query), values in zip(places, row.queries.T.tolist(), strict=True)
    ]
    return {
        "results.csv": results.with_columns(**{name: pl.lit(value) for name, value in rules.items()}),
        "differences.csv": pl.DataFrame(differences, schema=header, orient="row"),
        "queries.csv": pl.DataFrame(queries),
    }
