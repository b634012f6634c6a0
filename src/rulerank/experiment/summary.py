"""The figures of an experiment: per fold and in the mean, with the significance of differences; as table and frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from rulerank.dataset import Array, Fold
from rulerank.errors import DataError
from rulerank.evaluation import NDCG, Comparison, Measure, P, evaluate
from rulerank.evaluation.comparison import compare_values, t_test
from rulerank.evaluation.measures import MAP, as_measures, convention_named
from rulerank.experiment.cells import Scores
from rulerank.experiment.run import Experiment
from rulerank.experiment.systems import System
from rulerank.render.document import DASH, Cell, Content, Table, number_cell

DEPTH = 10
ALL_MEASURES = (MAP, *(NDCG @ k for k in range(1, DEPTH + 1)), *(P @ k for k in range(1, DEPTH + 1)))
SHOWN = ("MAP", "NDCG@10", "P@1", "P@10")
N_ROUNDS = 10_000
ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class Row:
    """One system by every measure."""

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
        """The mean over the folds of each measure, as the papers take it."""
        return self.folds.mean(axis=1)


@dataclass(frozen=True, eq=False)
class Summary:
    """Every complete system by every measure, under one convention."""

    experiment: Experiment
    measures: tuple[Measure, ...]
    rows: tuple[Row, ...]
    against: str
    convention: str
    ties: str
    n_queries: int
    n_docs: int
    n_without_relevant: int
    n_rounds: int
    seed: int

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    def place(self, measure: str | Measure) -> int:
        """Return where a measure is among the measures, however it is written."""
        return self.measures.index(Measure.parse(str(measure)))

    def mean(self, name: str, measure: str | Measure) -> float:
        return float(self.row(name).means[self.place(measure)])

    def ranked(self, measure: str | Measure) -> list[str]:
        """Return the systems, the best by a measure first."""
        return sorted((row.name for row in self.rows), key=lambda name: -self.mean(name, measure))

    def ties_with_best(self, measure: str | Measure) -> set[str]:
        """Return the best system and those no worse by a paired t-test over queries: the papers' bold figures."""
        place, best = self.place(measure), self.row(self.ranked(measure)[0])
        behind = np.array([best.queries[place] - row.queries[place] for row in self.rows])
        means = np.array([row.means[place] for row in self.rows])
        p = t_test(behind) if self.n_queries > 1 else np.where(means >= means.max(), 1.0, 0.0)
        return {row.name for row, value in zip(self.rows, p, strict=True) if value >= ALPHA}

    def differences(self, measure: str | Measure) -> list[Comparison]:
        """Compare every system with the chosen one by one measure; p has the t-test over folds, too."""
        place, base = self.place(measure), self.row(self.against)
        rows = [base, *(row for row in self.rows if row is not base)]
        if len(rows) < 2 or self.n_queries < 2:
            return []
        values = np.array([row.queries[place] for row in rows])
        names = [row.name for row in rows]
        tests = ("t", "randomisation")
        found = compare_values(str(measure), names, values, tests, self.n_rounds, self.seed, ALPHA, against=0)
        by_fold = np.array([row.folds[place] - base.folds[place] for row in rows[1:]])
        p_folds = t_test(by_fold) if by_fold.shape[1] > 1 else np.full(len(by_fold), np.nan)
        return [replace(one, p={**one.p, "folds": float(p)}) for one, p in zip(found, p_folds, strict=True)]


def mark(found: Comparison) -> str:
    """Return an arrow where a difference is significant by the randomisation test, corrected by Holm."""
    if found.p_holm["randomisation"] >= ALPHA:
        return ""
    return "▲" if found.difference > 0 else "▼"


def check_rules(
    folds: Sequence[Fold],
    systems: Sequence[System],
    measures: Sequence[str | Measure],
    convention: str,
    ties: str | None,
    against: str | None,
) -> None:
    """Complain before the work, not after it, about what `summarise` would refuse."""
    for fold in folds:
        docid = None if fold.test.docid is None else ["a"]
        evaluate([1], [0.0], [0], measures, convention=convention, ties=ties, docid=docid, any_grades=True)
    names = [system.name for system in systems]
    if against is not None and against not in names:
        raise DataError(f"cannot compare with {against!r}, which is not run; choose from {', '.join(names)}")


def summarise(
    experiment: Experiment,
    measures: Sequence[str | Measure] = (),
    *,
    convention: str = "standard",
    ties: str | None = None,
    against: str | None = None,
    n_rounds: int = N_ROUNDS,
    seed: int = 0,
) -> Summary:
    """Evaluate the complete systems by MAP, NDCG@1-10, P@1-10 and the measures given.

    against: the system that others are compared with; RE-GR, or else the first one.
    """
    complete = experiment.complete
    if not complete:
        (name, _), failure = next(iter(experiment.failures.items()))
        raise DataError(f"no system finished on all folds; {name}: {failure.reason}")
    names = [system.name for system in complete]
    chosen = against or ("RE-GR" if "RE-GR" in names else names[0])
    if chosen not in names:
        raise DataError(f"cannot compare with {chosen!r}, which has no scores; choose from {', '.join(names)}")
    asked = tuple(dict.fromkeys([*ALL_MEASURES, *(as_measures(measures) if measures else ())]))
    tie_rule = ties or convention_named(convention).ties
    rows = []
    for system in complete:
        cells = tuple(experiment.cells[system.name, number] for number in range(len(experiment.folds)))
        values, n_tied, n_empty = [], 0.0, 0
        for fold, cell in zip(experiment.folds, cells, strict=True):
            draws = [
                evaluate(fold.test, scores, measures=asked, convention=convention, ties=tie_rule,
                         retrieved=returned(scores), any_grades=True)
                for scores in np.atleast_2d(cell.test)
            ]  # fmt: skip
            values.append(np.mean([draw.values for draw in draws], axis=0))
            n_tied += float(np.mean([draw.n_tied for draw in draws]))
            n_empty += draws[0].n_without_relevant
        by_fold = np.array([value.mean(axis=1) for value in values]).T
        rows.append(Row(system, by_fold, np.concatenate(values, axis=1), round(n_tied), cells))
    return Summary(
        experiment=experiment,
        measures=asked,
        rows=tuple(rows),
        against=chosen,
        convention=convention,
        ties=tie_rule,
        n_queries=rows[0].queries.shape[1],
        n_docs=sum(len(fold.test) for fold in experiment.folds),
        n_without_relevant=n_empty,
        n_rounds=n_rounds,
        seed=seed,
    )


def returned(scores: Array) -> Array | None:
    """Tell which documents a run returned, those with a score; None for all.

    >>> returned(np.array([0.5, np.nan])).tolist(), returned(np.array([0.5]))
    ([True, False], None)
    """
    known = ~np.isnan(scores)
    return None if known.all() else known


def experiment_table(experiment: Experiment, measures: Sequence[str] = SHOWN, **rules: Any) -> Table:
    """Return every system by some measures, in the mean over folds, the best first; rules as in `summarise`.

    The best, and those not significantly worse by a paired t-test over queries, are strong. A system that failed stands
    in it with the reason.
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
    """Return one row per system and fold: measures, labels used, what was chosen, seconds of one core, and failures."""
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
            rows.append({name: row.get(name) for name in kinds})
    return pl.DataFrame(rows, schema=kinds)


def failure_of(experiment: Experiment, system: str) -> str:
    """Say in which folds a system failed, and why first."""
    failed = {n: failure for (name, n), failure in experiment.failures.items() if name == system}
    where = "all folds" if len(failed) == len(experiment.folds) else ", ".join(experiment.folds[n].name for n in failed)
    first = next(iter(failed.values()))
    return f"{'skipped' if first.skipped else 'failed'} in {where}: {first.reason}"


def shown_params(params: dict[str, Any]) -> str:
    """Return parameters in a line.

    >>> shown_params({"l2": 10.0, "weights": {"a": 0.5}})
    'l2 10.0, weights (a 0.5)'
    """
    return ", ".join(
        f"{name} ({shown_params(value)})" if isinstance(value, dict) else f"{name} {value}"
        for name, value in params.items()
    )
