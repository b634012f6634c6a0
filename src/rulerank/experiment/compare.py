"""From files to a report: every system on every fold, and the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rulerank.dataset import check_contrast, query_index
from rulerank.evaluation.measures import as_measures
from rulerank.experiment.report import DRAWN, FORMATS, HEADLINE, check_formats, make_report, write_files
from rulerank.experiment.run import Experiment, Step, run_experiment
from rulerank.experiment.sources import open_folds, own_systems
from rulerank.experiment.summary import Summary, check_rules
from rulerank.experiment.systems import SYSTEMS, choose_systems, system_named
from rulerank.recall_base import CountedRows


@dataclass(frozen=True, eq=False)
class Compared:
    """What came out, and where the report is."""

    experiment: Experiment
    summary: Summary
    sentence: str
    measures: tuple[str, ...]  # of the first table
    files: tuple[Path, ...]
    n_ungraded: int = 0  # documents of the file that were left out
    found: CountedRows | None = None  # of a file: the rows that count, and what was left out

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """The mean of each measure, by system."""
        places = {label: self.summary.place(label) for label in self.measures}
        return {
            row.name: {label: float(row.means[place]) for label, place in places.items()} for row in self.summary.rows
        }

    @property
    def failed(self) -> bool:
        """Whether a system failed that should not have: a missing package is no fault."""
        return any(not failure.skipped for failure in self.experiment.failures.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "sentence": self.sentence,
            "convention": self.summary.convention,
            "ties": self.summary.ties,
            "means": self.means,
            "n_ungraded": self.n_ungraded,
            "failures": self.experiment.failures_list(),
            "files": [str(file) for file in self.files],
        }


def compare_folds(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    systems: Sequence[str] | None = None,
    *,
    rankers: Mapping[str, str] | None = None,
    runs: Mapping[str, str] | None = None,
    scores: Mapping[str, str] | None = None,
    n_folds: int | None = None,
    seed: int = 0,
    format: str | None = None,
    columns: Mapping[str, Any] | None = None,
    qrels: Any = None,
    unjudged: int | str | None = None,
    judged_extra: bool | str | None = None,
    measures: Sequence[str] = HEADLINE,
    against: str | None = None,
    tune_by: str = "MAP",
    convention: str = "standard",
    ties: str | None = None,
    formats: Sequence[str] = FORMATS,
    title: str | None = None,
    n_jobs: int | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Compared:
    """Run systems over the folds of a directory, or of one file, and write the report.

    What can be wrong is said before the work.

    systems: names from `rulerank compare --list`; all of them by default, or none beside your own when [].
    rankers, runs, scores: your own by name: places in Python code (`module:object`), files of runs, of scores.
    n_folds, seed, format, columns: how a file is read and split.
    qrels: a `Qrels` or a file of judgements, which meet the documents by ids: grades are theirs, and relevant documents
        that are not in the data count as missed.
    unjudged, judged_extra: as in `Dataset.labelled`.
    """
    check_formats(formats)
    opened = open_folds(
        source, n_folds, seed=seed, format=format, qrels=qrels, unjudged=unjudged, judged_extra=judged_extra,
        **columns or {},
    )  # fmt: skip
    folds = opened.folds
    grades, qid = (np.concatenate([getattr(fold.test, name) for fold in folds]) for name in ("y", "qid"))
    check_contrast(grades, query_index(qid)[0], "compare systems by")
    own = own_systems(opened, rankers or {}, runs or {}, scores or {})
    asked = systems if systems is not None else list(SYSTEMS)
    chosen = choose_systems([*asked, own])
    baseline = None if against is None else against if against in own else system_named(against).name
    check_rules(folds, chosen, measures, convention, ties, baseline)
    experiment = run_experiment(folds, chosen, out=Path(out, "cells"), measure=tune_by, n_jobs=n_jobs, on_step=on_step)
    page, summary = make_report(
        experiment,
        title=title or f"Ranking systems on {Path(source).resolve().name}",
        measures=measures,
        convention=convention,
        ties=ties,
        against=baseline,
        draw=any(name in DRAWN for name in formats),
    )
    files = write_files(page, summary, Path(out), formats)
    labels = tuple(str(measure) for measure in as_measures(measures))
    return Compared(experiment, summary, page.lead[0], labels, tuple(files), opened.n_ungraded, opened.found)
