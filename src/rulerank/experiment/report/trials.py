"""Figures fold by fold, as the papers' tables of trials have them, and their mean and deviation over the folds."""

from __future__ import annotations

from collections.abc import Sequence

from rulerank.experiment.report.tables import BOLD, WORDS, groups, how, named
from rulerank.experiment.summary import Summary
from rulerank.render.document import Cell, Table, number_cell

CUTOFFS = (2, 4, 6, 8, 10)  # of the intercepts paper's tables


def folds_table(summary: Summary, measure: str) -> Table:
    """Return one measure fold by fold; bold as in the papers, in every trial by a t-test over its queries."""
    place = summary.place(measure)
    n_folds = len(summary.experiment.folds)
    strong = [summary.ties_with_best(measure, fold) for fold in range(n_folds)]
    overall = summary.ties_with_best(measure)
    rows = []
    for row in summary.rows:
        figures = [
            number_cell(float(value), strong=row.name in best)
            for value, best in zip(row.folds[place], strong, strict=True)
        ]
        mean = number_cell(float(row.means[place]), strong=row.name in overall)
        rows.append((named(row), *figures, mean, Cell(row.system.plan.learns_from)))
    header = ("system", *(fold.name for fold in summary.experiment.folds), "mean", "learned from")
    note = f"{measure}. {how(summary)} {BOLD} In a fold: over the queries of that fold."
    return Table(
        f"{measure}, fold by fold", header, tuple(rows), note=note, key="folds", words=WORDS, groups=groups(summary)
    )


def deviations_tables(summary: Summary) -> list[Table]:
    """Return mean and deviation over the folds of NDCG, P and MAP at the cutoffs of the intercepts paper's tables."""
    if len(summary.experiment.folds) < 2:
        return []
    return [
        _deviations(summary, "NDCG and MAP", "deviations-ndcg", [*(f"NDCG@{k}" for k in CUTOFFS), "MAP"]),
        _deviations(summary, "Precision", "deviations-p", [f"P@{k}" for k in CUTOFFS]),
    ]


def _deviations(summary: Summary, title: str, key: str, measures: Sequence[str]) -> Table:
    places = [summary.place(measure) for measure in measures]
    strong = [summary.ties_with_best(measure) for measure in measures]
    rows = []
    for row in summary.rows:
        figures = [
            Cell(f"{row.means[place]:.3f} ± {row.deviations[place]:.3f}", float(row.means[place]), row.name in best)
            for place, best in zip(places, strong, strict=True)
        ]
        rows.append((named(row), *figures))
    note = f"Mean over folds ± standard deviation of the folds' means. {how(summary)} {BOLD}"
    header = ("system", *measures)
    return Table(f"{title}, mean ± deviation", header, tuple(rows), note=note, key=key, groups=groups(summary))
