"""Run systems over folds: finished cells are kept, a failed one does not stop the rest."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pickle import PicklingError
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from rulerank.core.progress import progress
from rulerank.core.threads import n_threads
from rulerank.dataset import UNLABELLED, Fold
from rulerank.errors import DataError, MissingExtraError
from rulerank.evaluation import Measure
from rulerank.experiment.cells import CellStore, Failure, Scores, cell_key, fold_digest
from rulerank.experiment.systems import Asking, System, choose_systems
from rulerank.render.html import ShownTable, html_table

if TYPE_CHECKING:
    import polars as pl

Place = tuple[str, int]  # system, fold
Outcome = Scores | Failure


@dataclass(frozen=True, eq=False)
class Cell:
    """A system on a fold, to be run; place: the fold's number."""

    system: System
    place: int
    fold: Fold
    key: str  # the fingerprint of all that its scores depend on


@dataclass(frozen=True, repr=False)
class Experiment:
    """Every system on every fold: scores where it went well, the reason where it did not."""

    folds: tuple[Fold, ...]
    systems: tuple[System, ...]
    cells: dict[Place, Scores]
    failures: dict[Place, Failure]
    tuned_by: str
    n_reused: int  # cells that were finished before

    @property
    def complete(self) -> list[System]:
        """The systems that have scores in every fold."""
        return [s for s in self.systems if all((s.name, fold) in self.cells for fold in range(len(self.folds)))]

    def table(self, measures: Sequence[str] | None = None, **rules: Any) -> ShownTable:
        """Return every system by some measures, which prints, and shows in a notebook, as a table.

        A system that failed stands in it with the reason. rules: convention and ties, as in `rr.evaluate`.

        >>> from rulerank.datasets.ranking import make_ranking
        >>> from rulerank.splitting import make_folds
        >>> folds = make_folds(make_ranking(n_queries=9, docs_per_query=8), n_folds=3)
        >>> print(run_experiment(folds, ["RE-GR", "QI"]).table(["P@1"]))
        system     P@1
        RE-GR   0.4630
        QI      0.1111
        3 folds, mean; by P@1, the best first; 9 test queries, convention standard, ties expected
        """
        from rulerank.experiment.summary import SHOWN, experiment_table

        return ShownTable(experiment_table(self, measures or SHOWN, **rules))

    def frame(self, measures: Sequence[str] | None = None, **rules: Any) -> pl.DataFrame:
        """Return one row per system and fold: measures, labels, what was chosen, seconds, and why it failed."""
        from rulerank.experiment.summary import SHOWN, experiment_frame

        return experiment_frame(self, measures or SHOWN, **rules)

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return html_table(self.table().table)


@dataclass(frozen=True)
class Step:
    """What a caller is told after each cell."""

    system: str
    fold: str
    failure: Failure | None
    n_done: int
    n_cells: int


def run_experiment(
    folds: Sequence[Fold],
    systems: Iterable[Asking] | Mapping[str, Any] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    measure: str = "MAP",
    n_jobs: int | None = 1,
    on_step: Callable[[Step], None] | None = None,
) -> Experiment:
    """Train every system on every fold's train, choose its parameters on vali, and score test.

    systems: names from `rulerank compare --list` and your own in one list: ["RE-GR", {"mine": ranker, "engine": run}].
        Yours are rankers of any library with fit and predict, runs (`rr.read_run`), which meet the documents by ids,
        or scores of the test documents by fold. All known systems by default.
    out: a directory that keeps finished cells; run again, it takes up where it stopped.
    measure: what parameters are chosen by.
    n_jobs: processes, each with one core; None or -1 for all cores. More than one in a script needs
        `if __name__ == "__main__":` around the call, as everything that starts processes does.

    >>> from rulerank.datasets.ranking import make_ranking
    >>> from rulerank.splitting import make_folds
    >>> folds = make_folds(make_ranking(n_queries=15, docs_per_query=10), n_folds=3)
    >>> experiment = run_experiment(folds, ["RE-GR", "QI"])
    >>> experiment.cells["RE-GR", 0].test.shape == (len(folds[0].test),), len(experiment.failures)
    (True, 0)
    """
    chosen = choose_systems(systems)
    label = str(Measure.parse(measure))
    workers = n_threads(n_jobs)
    check_folds(folds)
    store = CellStore(None if out is None else Path(out))
    outcomes: dict[Place, Outcome] = {}
    left: list[Cell] = []
    with progress(len(chosen) * len(folds), "comparing") as bar:

        def note(cell: Cell, outcome: Outcome) -> None:
            outcomes[cell.system.name, cell.place] = outcome
            bar.advance()
            if on_step is not None:
                failure = outcome if isinstance(outcome, Failure) else None
                on_step(Step(cell.system.name, cell.fold.name, failure, len(outcomes), len(chosen) * len(folds)))

        for place, fold in enumerate(folds):
            digest = fold_digest(fold)
            for system in chosen:
                cell = Cell(system, place, fold, cell_key(system.name, system.plan.describe(), digest, label))
                kept = store.load(system.name, fold.name, cell.key, len(fold.vali), len(fold.test))
                if kept is None:
                    left.append(cell)
                else:
                    note(cell, kept)
        n_reused = len(outcomes)
        for cell, outcome in run_cells(left, label, workers):
            if isinstance(outcome, Scores):
                store.save(cell.system.name, cell.fold.name, cell.key, outcome)
            note(cell, outcome)
    ordered = [((system.name, place), outcomes[system.name, place]) for system in chosen for place in range(len(folds))]
    return Experiment(
        tuple(folds),
        tuple(chosen),
        {place: outcome for place, outcome in ordered if isinstance(outcome, Scores)},
        {place: outcome for place, outcome in ordered if isinstance(outcome, Failure)},
        label,
        n_reused,
    )


def run_cells(cells: Sequence[Cell], measure: str, n_jobs: int) -> Iterator[tuple[Cell, Outcome]]:
    """Yield each cell with its outcome as soon as it is done, by several processes when there are several jobs.

    A process that dies breaks the others, too: what they had not finished then runs again, one process at a time, and
    only the cell that kills its process fails.
    """
    if n_jobs == 1 or not cells:
        yield from ((cell, run_cell(cell, measure)) for cell in cells)
        return
    left = set(range(len(cells)))
    warnings.filterwarnings("ignore", "[0-9]+ tasks which were still being processed")  # who stops it knows
    run = Parallel(n_jobs, return_as="generator_unordered", max_nbytes=None)  # compiled loops take no mapped arrays
    try:
        for number, outcome in run(delayed(numbered)(n, cell, measure) for n, cell in enumerate(cells)):
            left.remove(number)
            yield cells[number], outcome
    except (BrokenProcessPool, PicklingError):
        for number in sorted(left):
            yield cells[number], run_apart(cells[number], measure)


def numbered(number: int, cell: Cell, measure: str) -> tuple[int, Outcome]:
    return number, run_cell(cell, measure)


def run_apart(cell: Cell, measure: str) -> Outcome:
    """Run one cell in a process of its own."""
    try:
        with ProcessPoolExecutor(max_workers=1) as process:
            outcome: Outcome = process.submit(run_cell, cell, measure).result()
        return outcome
    except BrokenProcessPool:
        return Failure("its process ended: out of memory, or a crash")
    except PicklingError as error:
        return Failure(f"it cannot be sent to another process, use one job: {reason_of(error)}")


def run_cell(cell: Cell, measure: str) -> Outcome:
    """Run one cell on one core; whatever goes wrong becomes its outcome."""
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a setting of the grid that converges slowly is not the user's concern
            return cell.system.plan.run(cell.fold, measure)
    except MissingExtraError as error:
        return Failure(str(error), skipped=True)
    except Exception as error:  # a report with a hole is better than none
        return Failure(reason_of(error))


def reason_of(error: BaseException) -> str:
    """Return an error in one line: its kind, what it says, and where it happened."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{where}"


def check_folds(folds: Sequence[Fold]) -> None:
    """Refuse folds that nothing can be learned from or measured on."""
    if not folds or not all(isinstance(fold, Fold) for fold in folds):
        raise DataError("expected folds, such as rr.read_folds('OHSUMED/') or rr.make_folds(data)")
    names = [fold.name for fold in folds]
    if len(set(names)) < len(names):
        raise DataError(f"folds must have names of their own: got {', '.join(names)}")
    for fold in folds:
        for part in ("train", "vali", "test"):
            data = getattr(fold, part)
            if not len(data):
                raise DataError(f"{fold.name}: {part} has no documents")
            if (data.y == UNLABELLED).any():
                raise DataError(f"{fold.name}: every document of {part} must have a grade, and some have none (-1)")
