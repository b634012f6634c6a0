"""Run systems over folds; a system that fails does not stop the others.

A cell is a system on a fold. With a folder, joblib keeps finished cells there: a cell runs again only if the data, the
system, the measure or the code that scores depend on has changed.
"""

from __future__ import annotations

import inspect
import os
import traceback
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from pickle import PicklingError
from typing import TYPE_CHECKING, Any

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import rulerank
from rulerank._util.loops import n_threads, progress
from rulerank.dataset import UNLABELLED, Fold
from rulerank.errors import DataError, MissingExtraError
from rulerank.evaluation import Measure
from rulerank.experiment.systems import Asking, Plan, Scores, System, choose_systems
from rulerank.render.html import ShownTable, html_table

if TYPE_CHECKING:
    import polars as pl

Place = tuple[str, int]  # system, fold


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell that has no scores, and why."""

    reason: str
    skipped: bool = False  # an optional package is missing: not a failure of the system


@dataclass(frozen=True, repr=False)
class Experiment:
    """Every system on every fold: its scores, or why it failed."""

    folds: tuple[Fold, ...]
    systems: tuple[System, ...]
    cells: dict[Place, Scores]
    failures: dict[Place, Failure]
    tuned_by: str

    @property
    def complete(self) -> list[System]:
        """The systems that have scores in every fold."""
        return [s for s in self.systems if all((s.name, fold) in self.cells for fold in range(len(self.folds)))]

    def table(self, measures: Sequence[str] | None = None, **rules: Any) -> ShownTable:
        """Return every system by some measures, which prints, and shows in a notebook, as a table.

        A system that failed has its reason in it. rules: convention and ties, as in `rr.evaluate`.

        >>> from rulerank.datasets.ranking import make_ranking
        >>> from rulerank.dataset import make_folds
        >>> folds = make_folds(make_ranking(n_queries=9, docs_per_query=8), n_folds=3)
        >>> print(run_experiment(folds, ["RE-GR", "QI"]).table(["P@1"]))
        system              P@1
        GlobalRules      0.2907
        QueryIntercepts  0.1111
        3 folds, mean; by P@1, the best first; 9 test queries, convention standard, ties expected
        """
        from rulerank.experiment.report import SHOWN, experiment_table

        return ShownTable(experiment_table(self, measures or SHOWN, **rules))

    def frame(self, measures: Sequence[str] | None = None, **rules: Any) -> pl.DataFrame:
        """Return one row per system and fold: measures, labels, what was chosen, seconds, and why it failed."""
        from rulerank.experiment.report import SHOWN, experiment_frame

        return experiment_frame(self, measures or SHOWN, **rules)

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return html_table(self.table().table)


def run_experiment(
    folds: Sequence[Fold],
    systems: Iterable[Asking] | Mapping[str, Any] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    measure: str = "MAP",
    n_jobs: int | None = 1,
) -> Experiment:
    """Train every system on every fold's train, choose its parameters on vali, and score test.

    systems: names from `SYSTEMS` and your own in one list: ["RE-GR", {"mine": ranker, "engine": run}].
        Yours are rankers of any library with fit and predict, or runs (`rr.read_run`), which are joined by ids.
        All known systems by default.
    out: a folder for finished cells, so that an interrupted experiment can be resumed. joblib reads them with pickle:
        resume only folders of your own.
    measure: the measure to choose parameters by.
    n_jobs: processes, each with one core; None or -1 for all cores. More than one in a script needs
        `if __name__ == "__main__":` around the call, as everything that starts processes does.

    >>> from rulerank.datasets.ranking import make_ranking
    >>> from rulerank.dataset import make_folds
    >>> folds = make_folds(make_ranking(n_queries=15, docs_per_query=10), n_folds=3)
    >>> experiment = run_experiment(folds, ["RE-GR", "QI"])
    >>> experiment.cells["GlobalRules", 0].test.shape == (len(folds[0].test),), len(experiment.failures)
    (True, 0)
    """
    chosen = choose_systems(systems)
    label = str(Measure.parse(measure))
    workers = n_threads(n_jobs)
    check_folds(folds)
    if out is not None:
        try:
            Path(out).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot write to {out}: {error.strerror}") from None
    cached = scores_of if out is None else joblib.Memory(out, verbose=0).cache(scores_of)
    places = list(product(range(len(folds)), chosen))
    warnings.filterwarnings("ignore", "[0-9]+ tasks which were still being processed")  # who stops it knows
    # compiled loops take no mapped arrays
    run = joblib.Parallel(workers, return_as="generator", max_nbytes=None)
    outcomes: dict[Place, Scores | Failure] = {}
    with progress(len(places), "comparing") as bar:
        try:
            cells = run(joblib.delayed(run_cell)(cached, system, folds[place], label) for place, system in places)
            for (place, system), outcome in zip(places, cells, strict=True):
                outcomes[system.name, place] = outcome
                bar.advance()
        except BrokenProcessPool:
            raise DataError(
                "a process ended: out of memory, or a crash; use fewer processes (n_jobs, --jobs)"
                + (f", the cells in {out} are kept" if out is not None else "")
            ) from None
        except PicklingError as error:
            raise DataError(f"a ranker cannot be sent to another process, use one job: {reason_of(error)}") from None
    ordered = [((system.name, place), outcomes[system.name, place]) for system in chosen for place in range(len(folds))]
    done = {place: outcome for place, outcome in ordered if isinstance(outcome, Scores)}
    failures = {place: outcome for place, outcome in ordered if isinstance(outcome, Failure)}
    return Experiment(tuple(folds), tuple(chosen), done, failures, label)


def check_folds(folds: Sequence[Fold]) -> None:
    """Refuse folds that nothing can be learned from or measured on."""
    if not folds or not all(isinstance(fold, Fold) for fold in folds):
        raise DataError("expected folds, such as rr.read_folds('OHSUMED/') or rr.datasets.make_folds(data)")
    names = [fold.name for fold in folds]
    if len(set(names)) < len(names):
        raise DataError(f"folds must have different names: got {', '.join(names)}")
    for fold in folds:
        for part in ("train", "vali", "test"):
            data = getattr(fold, part)
            if not len(data):
                raise DataError(f"{fold.name}: {part} has no documents")
            if (data.y == UNLABELLED).any():
                raise DataError(f"{fold.name}: every document of {part} must have a grade, and some have none (-1)")


def run_cell(cached: Any, system: System, fold: Fold, measure: str) -> Scores | Failure:
    """Run one cell on one core; whatever goes wrong becomes its outcome."""
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a setting of the grid that converges slowly is not the user's concern
            scores: Scores = cached(system.plan, fold, measure, code_of(system.plan))
            return scores
    except MissingExtraError as error:
        return Failure(str(error), skipped=True)
    except Exception as error:  # a report with a hole is better than none
        return Failure(reason_of(error))


def scores_of(plan: Plan, fold: Fold, measure: str, code: str) -> Scores:
    """Return the scores of a cell; joblib runs it again if an argument has changed, `code` among them."""
    return plan.run(fold, measure)


def reason_of(error: BaseException) -> str:
    """Return an error in one line: its kind, what it says, and where it happened."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{where}"


def code_of(plan: Plan) -> str:
    """Return a fingerprint of the library's code, and of the class of a ranker of the user's own."""
    try:
        own = inspect.getsource(type(getattr(plan, "ranker", plan)))
    except (OSError, TypeError):  # typed into a console, or compiled
        own = ""
    return str(joblib.hash([library_code(), own]))


@cache
def library_code() -> str:
    """Return a fingerprint of our source files: the version alone changes too seldom."""
    return str(joblib.hash([file.read_bytes() for file in sorted(Path(rulerank.__file__).parent.rglob("*.py"))]))
