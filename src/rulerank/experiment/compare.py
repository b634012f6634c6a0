"""From files to a report: reads folds, or splits one file, runs systems and writes the report."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rulerank.dataset import Fold, check_contrast, make_folds, query_index
from rulerank.errors import DataError, ReadError
from rulerank.evaluation.measures import as_measures
from rulerank.experiment.report import HEADLINE, Summary, check_rules, make_report, write_files
from rulerank.experiment.run import Experiment, run_experiment
from rulerank.experiment.systems import SYSTEMS, choose_systems, system_named
from rulerank.io.formats import read_data_file, read_folds, read_scored
from rulerank.recall_base import CountedRows, warn_unknown_base


@dataclass(frozen=True, eq=False)
class CompareReport:
    """The results of `compare_folds`, and the files of the report."""

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
        names = [row.name for row in self.summary.rows]
        return {name: {label: self.summary.mean(name, label) for label in self.measures} for name in names}

    @property
    def failed(self) -> bool:
        """Whether a system failed that should not have: a missing package is not a failure."""
        return any(not failure.skipped for failure in self.experiment.failures.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain values."""
        folds = self.experiment.folds
        return {
            "sentence": self.sentence,
            "convention": self.summary.convention,
            "ties": self.summary.ties,
            "means": self.means,
            "n_ungraded": self.n_ungraded,
            "failures": [
                {"system": system, "fold": folds[fold].name, "skipped": failure.skipped, "reason": failure.reason}
                for (system, fold), failure in self.experiment.failures.items()
            ],
            "files": [str(file) for file in self.files],
        }


def compare_folds(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    systems: Sequence[str] | None = None,
    *,
    rankers: Mapping[str, str] | None = None,
    runs: Mapping[str, str] | None = None,
    measures: Sequence[str] = HEADLINE,
    n_jobs: int | None = None,
    rules: Mapping[str, Any] | None = None,
    **reading: Any,
) -> CompareReport:
    """Run systems over the folds of a directory, or of one file, and write the report.

    Arguments are checked before anything runs.

    systems: names from `SYSTEMS`; by default all; [] runs only your own.
    rankers, runs: your own systems by name: rankers as `module:object`, run files.
    rules: convention, ties and against, as in `summarise`.
    reading: as in `open_folds`.
    """
    folds, n_rows, found = open_folds(source, **reading)
    grades, qid = (np.concatenate([getattr(fold.test, name) for fold in folds]) for name in ("y", "qid"))
    check_contrast(grades, query_index(qid)[0], "compare systems by")
    own = [{name: own_ranker(place)} for name, place in (rankers or {}).items()]
    own += [{name: read_scored(path)} for name, path in (runs or {}).items()]
    chosen = choose_systems([*(SYSTEMS if systems is None else systems), *own])
    rules = dict(rules or {})
    if rules.get("against") not in (None, *(system.name for system in chosen)):
        rules["against"] = system_named(rules["against"]).name
    check_rules(folds, chosen, measures, **rules)
    experiment = run_experiment(folds, chosen, out=Path(out, "cells"), n_jobs=n_jobs)
    title = f"Ranking systems on {Path(source).resolve().name}"
    page, summary = make_report(experiment, title=title, measures=measures, **rules)
    files = write_files(page, summary, Path(out))
    labels = tuple(str(measure) for measure in as_measures(measures))
    n_ungraded = 0 if found is None else n_rows - found.rows.size
    return CompareReport(experiment, summary, page.lead[0], labels, tuple(files), n_ungraded, found)


def open_folds(
    source: str | os.PathLike[str],
    n_folds: int | None = None,
    columns: Mapping[str, Any] | None = None,
    unjudged: int | str | None = None,
) -> tuple[list[Fold], int, CountedRows | None]:
    """Read the folds of a directory, or split the graded documents of one file by query, into five folds by default.

    Returns the folds and, of one file, how many rows it has and which of them count.
    """
    name, columns = os.fspath(source), columns or {}
    if Path(source).is_dir():
        told = {"--folds": n_folds, "unjudged": unjudged}
        told |= {f"--{role}": column for role, column in columns.items()}
        given = [option for option, value in told.items() if value is not None]
        if given:
            raise DataError(f"{name} is a folder of LETOR folds: leave out {', '.join(given)}")
        return read_folds(source), 0, None
    if not Path(source).exists() and name != "-":
        raise ReadError(name, None, "there is no such folder or file")
    data = read_data_file(source, graded=True, **columns).data
    if not data.X.shape[1]:
        raise DataError(f"{name} has no features: expected LETOR text, or a table with columns of numbers")
    found = data.counted_rows(unjudged)
    warn_unknown_base(name, data.base, found, data.feature_names)
    y = data.y.copy()
    y[found.rows] = found.y
    graded = replace(data, y=y)[found.rows]
    n, n_queries = n_folds or 5, query_index(graded.qid)[1].size
    if n_queries < max(n, 3):
        raise DataError(
            f"{name}: expected graded documents of at least {max(n, 3)} queries for {n} folds, got {n_queries}"
        )
    return make_folds(graded, n), len(data), found


def own_ranker(place: str) -> Any:
    """Return the ranker at `module:object`; a class or function is called without arguments.

    >>> own_ranker("rulerank:GlobalRules")
    GlobalRules()
    """
    module, _, name = place.partition(":")
    if not module or not name:
        raise DataError(f"expected module:object, such as my_rankers:trees: got {place!r}")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)  # as `python -m` does; child processes inherit it
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        made = found() if isinstance(found, type) or not hasattr(found, "fit") else found
    except Exception as error:  # the user's code may raise anything
        raise DataError(f"cannot load the ranker {place!r}: {type(error).__name__}: {error}") from None
    if not (hasattr(made, "fit") and hasattr(made, "predict")):
        raise DataError(f"{place!r} is not a ranker with fit and predict: got {type(made).__name__}")
    return made
