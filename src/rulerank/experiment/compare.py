"""From files to a report: folds of a directory or of one file, known systems and one's own, and the files."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Array, Dataset, Fold, check_contrast, query_index
from rulerank.errors import DataError, ReadError
from rulerank.evaluation.measures import as_measures
from rulerank.evaluation.rankings import judgements_from
from rulerank.experiment.report import DRAWN, FORMATS, HEADLINE, check_formats, make_report, write_files
from rulerank.experiment.run import Experiment, Step, run_experiment
from rulerank.experiment.summary import Summary, check_rules
from rulerank.experiment.systems import SYSTEMS, choose_systems, system_named
from rulerank.io.folds import read_folds
from rulerank.io.formats import read_found, read_scored
from rulerank.io.trec import Qrels, read_scores, with_qrels
from rulerank.recall_base import CountedRows, check_unjudged, usual_unjudged, warn_unknown_base
from rulerank.splitting import make_folds

FOLD = "{fold}"  # in the name of a score file, where the fold's name goes


@dataclass(frozen=True, eq=False)
class CompareReport:
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
        names = [row.name for row in self.summary.rows]
        return {name: {label: self.summary.mean(name, label) for label in self.measures} for name in names}

    @property
    def failed(self) -> bool:
        """Whether a system failed that should not have: a missing package is no fault."""
        return any(not failure.skipped for failure in self.experiment.failures.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
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
) -> CompareReport:
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
    return CompareReport(experiment, summary, page.lead[0], labels, tuple(files), opened.n_ungraded, opened.found)


@dataclass(frozen=True, eq=False)
class FoldSource:
    """Folds, and for those of one file which of its rows each fold's test holds."""

    name: str
    folds: list[Fold]
    rows: Mapping[str, Array] | None = None
    n_rows: int = 0
    found: CountedRows | None = None  # of one file: the rows that count, and what was left out

    @property
    def n_ungraded(self) -> int:
        """Return how many rows of the file were left out."""
        return 0 if self.found is None else self.n_rows - self.found.rows.size


def open_folds(
    source: str | os.PathLike[str],
    n_folds: int | None = None,
    *,
    seed: int = 0,
    format: str | None = None,
    qrels: Any = None,
    unjudged: int | str | None = None,
    judged_extra: bool | str | None = None,
    **columns: Any,
) -> FoldSource:
    """Read the folds of a directory, or split the graded documents of one file by query, five ways unless told.

    qrels: judgements that the documents' grades come from, with their recall base, instead of their own.
    unjudged, judged_extra: as in `Dataset.labelled`.
    """
    name = os.fspath(source)
    judgements = None if qrels is None else judgements_from(qrels)
    if Path(source).is_dir():
        told = {"--from": format, "--folds": n_folds, **{f"--{role}": column for role, column in columns.items()}}
        given = [option for option, value in told.items() if value is not None]
        if given:
            raise DataError(f"{name} is a directory, which has its folds as LETOR files: leave out {', '.join(given)}")
        folds = read_folds(source)
        if judgements is not None:
            tests = [fold.test for fold in folds]
            way = check_unjudged(unjudged) or usual_unjudged(judgements.grade, _n_unjudged(tests, judgements))
            folds = [_graded_fold(fold, judgements, way, judged_extra) for fold in folds]
            _warn_of_lacking(name, judgements, tests)
            _warn_of_whole(name, [fold.test for fold in folds], way)
        elif unjudged is not None or judged_extra is not None:
            raise DataError(f"{name} is a directory: --unjudged and --judged-extra need --qrels FILE beside it")
        return FoldSource(name, folds)
    if not Path(source).exists() and name != "-":
        raise ReadError(
            name, None, "expected a directory with folds or a file of graded documents, got nothing of that name"
        )
    data = read_found(source, format, graded=judgements is None, **columns).data
    if not data.X.shape[1]:
        raise DataError(f"{name} has no features: expected LETOR text, or a table with columns of numbers")
    if judgements is not None:
        data = with_qrels(data, judgements, unjudged, None if data.base is None else data.base.extra)
    found = data.counted_rows(unjudged, judged_extra)
    warn_unknown_base(name, data.base, found, data.feature_names)
    if judgements is not None:
        _warn_of_lacking(name, judgements, [data])
        _warn_of_whole(name, [data.counted(found)], found.unjudged)
    graded, y = found.rows, data.y.copy()
    y[graded] = found.y
    data = replace(data, y=y)
    n_queries = query_index(data.qid[graded])[1].size
    n = 5 if n_folds is None else n_folds
    if n_queries < n or n_queries < 3:
        raise DataError(
            f"{name}: expected graded documents of at least {max(n, 3)} queries for {n} folds, got {n_queries}"
        )
    folds = make_folds(data[graded], n, seed)
    rows = {fold.name: graded[np.isin(data.qid[graded], fold.test.qid)] for fold in folds}  # queries stay together
    return FoldSource(name, folds, rows, len(data), found)


def _graded_fold(fold: Fold, qrels: Qrels, unjudged: str, judged_extra: bool | str | None) -> Fold:
    parts = (with_qrels(part, qrels, unjudged) for part in (fold.train, fold.vali, fold.test))
    return Fold(fold.name, *(part.labelled(unjudged, judged_extra) for part in parts))


def _n_unjudged(parts: Sequence[Dataset], qrels: Qrels) -> int:
    bases = [with_qrels(part, qrels, "skip").base for part in parts]
    return sum(int(((base.grades != "") & ~base.judged).sum()) for base in bases if base is not None)


def _warn_of_lacking(name: str, qrels: Qrels, parts: Sequence[Dataset]) -> None:
    """Warn of judged queries that the data lack, as `rulerank evaluate --qrels` does."""
    judged = set(qrels.qid)
    n = len(judged.difference(*({str(one) for one in np.unique(part.qid)} for part in parts)))
    if n:
        verb, they = ("is", "it is") if n == 1 else ("are", "they are")
        of = counted(len(judged), "judged query", "judged queries")
        warnings.warn(f"{n:,} of {of} {verb} not in {name}: {they} not counted", stacklevel=3)


def _warn_of_whole(name: str, parts: Sequence[Dataset], unjudged: str | None) -> None:
    """Warn where documents without a judgement count as not relevant and the data have every judged one."""
    bases = [(part.base, part) for part in parts if part.base is not None]
    if unjudged != "0" or all(base.judged.all() for base, _ in bases):
        return
    if not any(base.missed(part.y, query_index(part.qid)[0])[0].size for base, part in bases):
        warnings.warn(
            f"{name} has every judged document: if documents were added to it because they are judged, the results are "
            "too good; compare on what was retrieved, or leave out documents without a judgement (unjudged='skip', on "
            "the command line --unjudged skip)",
            stacklevel=3,
        )


def own_systems(
    opened: FoldSource, rankers: Mapping[str, str], runs: Mapping[str, str], scores: Mapping[str, str]
) -> dict[str, Any]:
    """Return one's own systems by name: rankers from Python code, runs and scores from files."""
    names = [*rankers, *runs, *scores]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"two systems are called {twice!r}: give each a name of its own")
    own = {name: own_ranker(place) for name, place in rankers.items()}
    own |= {name: read_scored(path) for name, path in runs.items()}
    return own | {name: given_scores(path, opened) for name, path in scores.items()}


def given_scores(path: str, opened: FoldSource) -> dict[str, Array]:
    """Read scores without ids: one per row of the file that is compared on, or one file per fold of a directory."""

    def read(path: str, n_rows: int, what: str) -> Array:
        scores = read_scores(path)
        if scores.size != n_rows:
            raise ReadError(path, None, f"expected {n_rows:,} scores, one per {what}: got {scores.size:,}")
        return scores

    if opened.rows is not None:
        scores = read(path, opened.n_rows, f"row of {opened.name}")
        return {fold: scores[rows] for fold, rows in opened.rows.items()}
    if FOLD not in path:
        raise DataError(
            f"{path}: the folds of a directory have a score file each: write {FOLD} where the fold's name goes, such "
            f"as scores/{FOLD}.txt; or give a run with ids"
        )
    return {
        fold.name: read(path.replace(FOLD, fold.name), len(fold.test), f"document of {fold.name}'s test")
        for fold in opened.folds
    }


def own_ranker(place: str) -> Any:
    """Return the ranker that a place in Python code names, `module:object`; a class or function is called for it.

    >>> own_ranker("rulerank:GlobalRules")
    GlobalRules()
    """
    module, _, name = place.partition(":")
    if not module or not name:
        raise DataError(f"expected module:object, such as my_rankers:trees: got {place!r}")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)  # as `python -m` does; processes that are started get it, too
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        made = found() if isinstance(found, type) or not hasattr(found, "fit") else found
    except Exception as error:  # whatever somebody's code does
        raise DataError(f"cannot load the ranker {place!r}: {type(error).__name__}: {error}") from None
    if not (hasattr(made, "fit") and hasattr(made, "predict")):
        raise DataError(f"{place!r} is no ranker: expected something with fit and predict, got {type(made).__name__}")
    return made
