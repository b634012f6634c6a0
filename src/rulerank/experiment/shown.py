"""An experiment as a table or a data frame; a system that failed stands in both, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from rulerank.evaluation.measures import as_measures
from rulerank.experiment.run import Experiment
from rulerank.experiment.summary import Summary, summarise
from rulerank.render.document import DASH, Cell, Content, Table, number_cell

MEASURES = ("MAP", "NDCG@10", "P@1", "P@10")


def experiment_table(experiment: Experiment, measures: Sequence[str] = MEASURES, **rules: Any) -> Table:
    """Return every system by some measures, in the mean over folds, the best first; rules as in `summarise`.

    The best, and those not significantly worse by a paired t-test over queries, are strong.
    """
    labels = [str(measure) for measure in as_measures(measures)]
    found = _summary(experiment, labels, rules)
    rows: list[tuple[Content, ...]] = []
    good = {} if found is None else {label: found.ties_with_best(label) for label in labels}
    for row in [] if found is None else sorted(found.rows, key=lambda one: -float(one.means[found.place(labels[0])])):
        assert found is not None
        figures = [
            number_cell(float(row.means[found.place(label)]), strong=row.name in good[label]) for label in labels
        ]
        rows.append((Cell(row.name), *figures, Cell("")))
    for system in experiment.systems:
        reason = failure_of(experiment, system.name)
        if reason or found is None:
            rows.append((Cell(system.name), *(Cell(DASH) for _ in labels), Cell(reason)))
    header = ("system", *labels, "not finished")
    if not experiment.failures:
        header, rows = header[:-1], [row[:-1] for row in rows]
    note = f"{len(experiment.folds)} folds, mean; by {labels[0]}, the best first"
    if found is not None:
        note += f"; {found.n_queries:,} test queries, convention {found.convention}, ties {found.ties}"
    return Table("", header, tuple(rows), note=note, words=("not finished",))


def experiment_frame(experiment: Experiment, measures: Sequence[str] = MEASURES, **rules: Any) -> pl.DataFrame:
    """Return one row per system and fold: its measures, labels used, seconds of one core, and why it has none."""
    labels = [str(measure) for measure in as_measures(measures)]
    found = _summary(experiment, labels, rules)
    rows = []
    for system in experiment.systems:
        for number, fold in enumerate(experiment.folds):
            cell, failure = experiment.cells.get((system.name, number)), experiment.failures.get((system.name, number))
            known = found is not None and not failure_of(experiment, system.name)
            figures = {
                label: float(found.row(system.name).folds[found.place(label), number]) if known and found else None
                for label in labels
            }
            rows.append(
                {"system": system.name, "group": system.group, "fold": fold.name}
                | figures
                | {
                    "labels": None if cell is None else cell.n_labels,
                    "fit_seconds": None if cell is None else cell.fit_seconds,
                    "failure": None if failure is None else failure.reason,
                }
            )
    kinds: dict[str, Any] = dict.fromkeys(("system", "group", "fold", "failure"), pl.String)
    kinds |= dict.fromkeys((*labels, "fit_seconds"), pl.Float64) | {"labels": pl.Int64}
    order = ["system", "group", "fold", *labels, "labels", "fit_seconds", "failure"]
    return pl.DataFrame(rows, schema={name: kinds[name] for name in order})


def failure_of(experiment: Experiment, system: str) -> str:
    """Say in which folds a system failed, and why first; "" when it did not."""
    failed = [
        (fold.name, experiment.failures[system, number])
        for number, fold in enumerate(experiment.folds)
        if (system, number) in experiment.failures
    ]
    if not failed:
        return ""
    where = "all folds" if len(failed) == len(experiment.folds) else ", ".join(name for name, _ in failed)
    first = failed[0][1]
    return f"{'skipped' if first.skipped else 'failed'} in {where}: {first.reason}"


def _summary(experiment: Experiment, labels: Sequence[str], rules: dict[str, Any]) -> Summary | None:
    return summarise(experiment, labels, **rules) if experiment.complete else None
