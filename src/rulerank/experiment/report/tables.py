"""The tables of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rulerank.experiment.summary import ALPHA, Difference, Row, Summary
from rulerank.render.document import DASH, Cell, Table, cells, number_cell

WORDS = ("learned from",)  # columns of words wherever they stand
BOLD = "Bold: the best, and those not significantly worse by a paired t-test over queries."


def how(summary: Summary) -> str:
    """Say under which rules the figures stand."""
    empty = f" ({summary.n_without_relevant:,} without a relevant one, which count 0)" * bool(
        summary.n_without_relevant
    )
    return (
        f"Test documents of {len(summary.experiment.folds)} folds, {summary.n_queries:,} queries{empty}; "
        f"convention {summary.convention}, ties {summary.ties}."
    )


def means_table(summary: Summary, measures: Sequence[str], differences: dict[str, list[Difference]]) -> Table:
    """Return every system by the headline measures, with arrows where it differs from the one compared with."""
    marks = {(d.system, measure): d.mark for measure, found in differences.items() for d in found}
    strong = {measure: summary.ties_with_best(measure) for measure in measures}
    rows = []
    for row in summary.rows:
        figures = [
            number_cell(
                float(row.means[summary.place(measure)]),
                strong=row.name in strong[measure],
                mark=marks.get((row.name, measure), ""),
            )
            for measure in measures
        ]
        rows.append((named(row), labels_cell(row), *figures, share_cell(row.n_tied, summary.n_docs)))
    note = (
        f"Mean over folds. {how(summary)} {BOLD} ▲ ▼: above or below {summary.against} by a randomisation test over "
        f"queries, corrected by Holm over the {len(summary.rows) - 1} systems, p < {ALPHA:g}. Labels: grades of a "
        "fold's train that were used, in the mean. Tied: documents that share their score with another of the query."
    )
    header = ("system", "labels", *measures, "tied")
    return Table("All systems", header, tuple(rows), note=note, key="means", groups=groups(summary), legend=True)


def differences_table(summary: Summary, measure: str, found: Sequence[Difference]) -> Table:
    """Return how each system differs from the one compared with."""
    rows = tuple(
        (
            named(summary.row(d.system)),
            number_cell(d.difference, mark=d.mark, signed=True),
            Cell(f"{d.low:+z.4f} to {d.high:+z.4f}", d.low),
            Cell(f"{d.wins}/{summary.n_queries - d.wins - d.losses}/{d.losses}", d.wins - d.losses),
            p_cell(d.p_queries),
            p_cell(d.p_folds),
            p_cell(d.p_randomisation),
            p_cell(d.p_holm),
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
    of_rows = tuple(summary.row(d.system).system.group for d in found)
    return Table(
        f"{measure} against {summary.against}", header, rows, note=note, key=f"differences-{measure}", groups=of_rows
    )


def times_table(summary: Summary) -> Table:
    """Return how long training, choosing and ranking took."""
    n_folds = len(summary.experiment.folds)
    rows = []
    for row in summary.rows:
        fit = sum(cell.fit_seconds for cell in row.cells)
        tune = sum(cell.tune_seconds for cell in row.cells)
        predict = sum(cell.predict_seconds for cell in row.cells)
        numbers = (
            named(row),
            number_cell(fit / n_folds, 3),
            number_cell(tune / n_folds, 3),
            number_cell(1000 * predict / summary.n_queries, 3),
            number_cell((fit + predict) / summary.n_queries, 4),
            number_cell(fit + predict, 2),
        )
        rows.append(numbers)
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
        chosen = [shown(cell.params) for cell in row.cells]
        once = chosen[0] if len(set(chosen)) == 1 else "; ".join(
            f"{fold.name}: {text}" for fold, text in zip(summary.experiment.folds, chosen, strict=True)
        )  # fmt: skip
        rows.append((named(row), *cells(row.system.about, row.system.plan.learns_from, once or "nothing to choose")))
    note = f"Chosen on each fold's vali by {summary.experiment.tuned_by}; no system saw a grade of test."
    header = ("system", "what it is", "learned from", "chosen parameters")
    return Table("Systems and parameters", header, tuple(rows), 4, note, key="runs", groups=groups(summary))


def failures_table(summary: Summary) -> Table | None:
    """Return what did not finish and why."""
    failures = summary.experiment.failures
    if not failures:
        return None
    folds = summary.experiment.folds
    rows = tuple(
        cells(system, folds[fold].name, "skipped" if failure.skipped else "failed", failure.reason)
        for (system, fold), failure in failures.items()
    )
    header = ("system", "fold", "what happened", "reason")
    return Table("Not finished", header, rows, 4, "Run again: only these cells are tried again.", key="failures")


def named(row: Row) -> Cell:
    return Cell(row.label, about=row.system.about)


def groups(summary: Summary) -> tuple[str, ...]:
    return tuple(row.system.group for row in summary.rows)


def labels_cell(row: Row) -> Cell:
    mean = sum(cell.n_labels for cell in row.cells) / len(row.cells)
    return Cell(f"{mean:,.0f}", mean)


def share_cell(part: float, whole: int) -> Cell:
    return Cell(f"{part / whole:.0%}", part / whole, about=f"{part:,.0f} of {whole:,} documents")


def p_cell(p: float) -> Cell:
    """Return a p-value, strong where it is below 0.05.

    >>> p_cell(0.00002).text, p_cell(0.04).strong
    ('<0.0001', True)
    """
    if math.isnan(p):
        return Cell(DASH)
    return Cell("<0.0001" if p < 0.0001 else f"{p:.4f}", p, strong=p < 0.05)


def shown(params: dict[str, object]) -> str:
    """Return parameters in a line.

    >>> shown({"l2": 10.0, "weights": {"a": 0.5}})
    'l2 10.0, weights (a 0.5)'
    """
    return ", ".join(
        f"{name} ({shown(value)})" if isinstance(value, dict) else f"{name} {value}" for name, value in params.items()
    )
