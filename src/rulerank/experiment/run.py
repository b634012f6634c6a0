"""Run systems over folds: finished cells are kept, a failed one does not stop the rest.

A cell is a system on a fold: one file whose name holds a fingerprint of all that its scores depend on: the fold's data,
the system, the measure it is tuned by, and the library's code that scores may depend on. Change one, and only its cells
run again.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import sys
import traceback
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import joblib
import numpy as np
from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import rulerank
from rulerank import __version__
from rulerank._util.loops import n_threads, progress
from rulerank.dataset import UNLABELLED, Fold
from rulerank.errors import DataError, MissingExtraError
from rulerank.evaluation import Measure
from rulerank.experiment.systems import Asking, Plan, Scores, System, choose_systems
from rulerank.io.files import write_bytes
from rulerank.render.html import ShownTable, html_table

if TYPE_CHECKING:
    import polars as pl

FORMAT = 3
# code that no score depends on
NO_SCORES = ("cli/", "experiment/report", "experiment/curve", "explain/", "export/", "judging/", "render/")
Place = tuple[str, int]  # system, fold


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell that has no scores, and why."""

    reason: str
    skipped: bool = False  # an optional package is missing: not a failure of the system


class Cell(NamedTuple):
    """A system on a fold, to be run; place: the fold's number."""

    system: System
    place: int
    fold: Fold
    path: Path | None  # of its scores when it is finished; None: they are not kept


class Step(NamedTuple):
    """What a caller gets after each cell."""

    system: str
    fold: str
    failure: Failure | None
    n_done: int
    n_cells: int


@dataclass(frozen=True, repr=False)
class Experiment:
    """Every system on every fold: its scores, or why it failed."""

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
    on_step: Callable[[Step], None] | None = None,
) -> Experiment:
    """Train every system on every fold's train, choose its parameters on vali, and score test.

    systems: names from `SYSTEMS` and your own in one list: ["RE-GR", {"mine": ranker, "engine": run}].
        Yours are rankers of any library with fit and predict, or runs (`rr.read_run`), which are joined by ids.
        All known systems by default.
    out: a folder for finished cells, so that an interrupted experiment can be resumed.
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
    outcomes: dict[Place, Scores | Failure] = {}
    left: list[Cell] = []
    n_cells = len(chosen) * len(folds)
    with progress(n_cells, "comparing") as bar:

        def note(cell: Cell, outcome: Scores | Failure) -> None:
            outcomes[cell.system.name, cell.place] = outcome
            bar.advance()
            if on_step is not None:
                failure = outcome if isinstance(outcome, Failure) else None
                on_step(Step(cell.system.name, cell.fold.name, failure, len(outcomes), n_cells))

        for place, fold in enumerate(folds):
            data = str(joblib.hash(fold))
            for system in chosen:
                name = file_name(system.name, fold.name, cell_key(system.plan, data, label))
                cell = Cell(system, place, fold, None if out is None else Path(out, name))
                kept = load_cell(cell)
                if kept is None:
                    left.append(cell)
                else:
                    note(cell, kept)
        n_reused = len(outcomes)
        for cell, outcome in run_cells(left, label, workers):
            if isinstance(outcome, Scores):
                save_cell(cell, outcome)
            note(cell, outcome)
    ordered = [((system.name, place), outcomes[system.name, place]) for system in chosen for place in range(len(folds))]
    cells = {place: outcome for place, outcome in ordered if isinstance(outcome, Scores)}
    failures = {place: outcome for place, outcome in ordered if isinstance(outcome, Failure)}
    return Experiment(tuple(folds), tuple(chosen), cells, failures, label, n_reused)


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


def run_cells(cells: Sequence[Cell], measure: str, n_jobs: int) -> Iterator[tuple[Cell, Scores | Failure]]:
    """Yield each cell with its outcome as soon as it is done, by several processes when there are several jobs.

    A process that dies breaks the others, too: what they had not finished then runs again, one process at a time, and
    only the cell that kills its process fails.
    """
    if n_jobs == 1 or not cells:
        yield from ((cell, run_cell(cell, measure)) for cell in cells)
        return
    left = dict(enumerate(cells))
    warnings.filterwarnings("ignore", "[0-9]+ tasks which were still being processed")  # who stops it knows
    run = Parallel(n_jobs, return_as="generator_unordered", max_nbytes=None)  # compiled loops take no mapped arrays
    try:
        for number, outcome in run(delayed(_numbered)(n, cell, measure) for n, cell in enumerate(cells)):
            yield left.pop(number), outcome
    except (BrokenProcessPool, PicklingError):
        for cell in left.values():
            yield cell, run_apart(cell, measure)


def _numbered(number: int, cell: Cell, measure: str) -> tuple[int, Scores | Failure]:
    return number, run_cell(cell, measure)


def run_apart(cell: Cell, measure: str) -> Scores | Failure:
    """Run one cell in a process of its own."""
    try:
        with ProcessPoolExecutor(max_workers=1) as process:
            outcome: Scores | Failure = process.submit(run_cell, cell, measure).result()
        return outcome
    except BrokenProcessPool:
        return Failure("its process ended: out of memory, or a crash")
    except PicklingError as error:
        return Failure(f"it cannot be sent to another process, use one job: {reason_of(error)}")


def run_cell(cell: Cell, measure: str) -> Scores | Failure:
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


def cell_key(plan: Plan, data: str, measure: str) -> str:
    """Return the fingerprint of all that a cell's scores depend on; data: that of the fold."""
    try:
        own = joblib.hash(plan)
    except Exception:  # what cannot be pickled: it runs in this process, and is not taken up again
        own = repr(plan)
    return str(joblib.hash([FORMAT, __version__, code_digest(), own, code_of(plan), data, measure]))[:16]


@cache
def code_digest(package: Path = Path(rulerank.__file__).parent) -> str:
    """Return a fingerprint of the source files that scores may depend on: a version alone changes too seldom."""
    files = sorted((file.relative_to(package).as_posix(), file) for file in package.rglob("*.py"))
    return str(joblib.hash([(name, file.read_bytes()) for name, file in files if not name.startswith(NO_SCORES)]))


def code_of(plan: Plan) -> list[str]:
    """Return the code, or the version, of the classes of a plan's ranker that are not ours: it may have been edited."""
    ranker: Any = getattr(plan, "ranker", None)
    members = [ranker, *(ranker.get_params().values() if hasattr(ranker, "get_params") else ())]
    kinds = {type(one) for one in members if hasattr(one, "fit") and not type(one).__module__.startswith("rulerank.")}
    found = []
    for kind in kinds:
        found.append(str(getattr(sys.modules.get(kind.__module__.partition(".")[0]), "__version__", "")))
        try:
            found.append(inspect.getsource(kind))
        except (OSError, TypeError):
            continue
    return sorted(found)


def file_name(system: str, fold: str, key: str) -> str:
    """Return what a cell's file is called.

    >>> file_name("RE-GR+", "Fold1", "ab12"), file_name("Yule's Q", "../x", "*")
    ('RE-GR+@Fold1@ab12.npz', 'Yule%27s%20Q@..%2Fx@*.npz')
    """
    return f"{quote(system, safe='+')}@{quote(fold, safe='+')}@{key}.npz"


def load_cell(cell: Cell) -> Scores | None:
    """Return the scores of a finished cell, or None when it is not there, not whole, or not of these documents."""
    if cell.path is None:
        return None
    try:
        with np.load(io.BytesIO(cell.path.read_bytes()), allow_pickle=False) as arrays:
            vali, test, chosen = arrays["vali"], arrays["test"], arrays.get("chosen")
            scores = Scores(vali, test, chosen=chosen, **json.loads(arrays["about"].tobytes()))
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error):
        return None
    whole = vali.shape[-1:] == (len(cell.fold.vali),) and test.shape[-1:] == (len(cell.fold.test),)
    return scores if whole and vali.dtype == test.dtype == np.float64 else None


def save_cell(cell: Cell, scores: Scores) -> None:
    """Keep a cell as an npz file without pickled objects; one of the same system and fold made otherwise goes."""
    if cell.path is None:
        return
    about = asdict(scores)
    arrays = {name: about.pop(name) for name in ("vali", "test", "chosen")}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    out = io.BytesIO()
    np.savez_compressed(out, **{name: array for name, array in arrays.items() if array is not None})
    write_bytes(cell.path, out.getvalue())
    for old in cell.path.parent.glob(file_name(cell.system.name, cell.fold.name, "*")):
        if old != cell.path:
            old.unlink(missing_ok=True)
