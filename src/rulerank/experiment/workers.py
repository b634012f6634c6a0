"""Processes that each run one cell at a time: one that dies takes only its own cell with it."""

from __future__ import annotations

import multiprocessing
import signal
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it ships no types

from rulerank.dataset import Fold
from rulerank.errors import MissingExtraError
from rulerank.experiment.cells import Failure, Scores
from rulerank.experiment.systems import System


@dataclass(frozen=True)
class Cell:
    """A system on a fold, to be run."""

    system: System
    fold: int
    used: Mapping[str, Scores]


Outcome = Scores | Failure


def run_cells(
    cells: Sequence[Cell], folds: Sequence[Fold], measure: str, n_jobs: int
) -> Iterator[tuple[Cell, Outcome]]:
    """Yield each cell with its outcome as soon as it is done, by several processes when there are several jobs."""
    if n_jobs == 1:
        for cell in cells:
            yield cell, run_cell(cell, folds, measure)
        return
    waiting = list(reversed(cells))
    crew = [Worker(folds, measure) for _ in range(min(n_jobs, len(cells)))]
    try:
        while True:
            for worker in crew:
                while waiting and worker.cell is None:
                    cell = waiting.pop()
                    refused = worker.start(cell)
                    if refused is not None:
                        yield cell, refused
            busy = {worker.pipe: worker for worker in crew if worker.cell is not None}
            if not busy:
                return
            for ready in wait(list(busy)):
                yield busy[ready].finish()  # type: ignore[index]  # wait returns what it was given
    finally:
        for worker in crew:
            worker.end()


class Worker:
    """A process and the pipe to it; started anew when it has died."""

    def __init__(self, folds: Sequence[Fold], measure: str) -> None:
        self._given = (list(folds), measure)
        self.cell: Cell | None = None
        self._begin()

    def _begin(self) -> None:
        # a forked child of a process with threads may hang; a spawned one starts clean
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process: BaseProcess = context.Process(target=serve, args=(theirs, *self._given), daemon=True)
        with _interrupts_wait():
            self._process.start()
        theirs.close()  # so that its end is noticed here, and ours there

    def start(self, cell: Cell) -> Failure | None:
        """Hand over a cell; a failure when it cannot be sent."""
        try:
            self.pipe.send(cell)
        except OSError as error:  # it died while idle
            self._begin()
            return Failure(reason_of(error))
        except Exception as error:  # pickle complains in many ways about what it cannot write
            return Failure(f"it cannot be sent to another process, use one job: {reason_of(error)}")
        self.cell = cell
        return None

    def finish(self) -> tuple[Cell, Outcome]:
        assert self.cell is not None
        cell, self.cell = self.cell, None
        try:
            return cell, self.pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode
            if code == -signal.SIGTERM:
                time.sleep(0.5)  # most often all of us were told to end, and we are about to hear it
            self._begin()
            return cell, Failure(f"its process ended with exit code {code}: out of memory, or a crash")

    def end(self) -> None:
        self.pipe.close()
        self._process.terminate()
        self._process.join()


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold Ctrl-C back while a process starts: it inherits that, and does not complain before it can listen."""
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(pipe: Connection, folds: Sequence[Fold], measure: str) -> None:
    """Run what comes through the pipe until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too and ends us
    while True:
        try:
            cell: Cell = pipe.recv()
        except (EOFError, OSError):
            return
        except Exception as error:  # a class that this process cannot load
            pipe.send(Failure(reason_of(error)))
            continue
        outcome = run_cell(cell, folds, measure)
        try:
            pipe.send(outcome)
        except (BrokenPipeError, OSError):
            return


def run_cell(cell: Cell, folds: Sequence[Fold], measure: str) -> Outcome:
    """Run one cell on one core; whatever goes wrong becomes its outcome."""
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a setting of the grid that converges slowly is not the user's concern
            found = cell.system.plan.run(folds[cell.fold], cell.used, measure)
        for scores in (found.vali, found.test):
            wrong = np.isinf(scores) if getattr(cell.system.plan, "leaves_out", False) else ~np.isfinite(scores)
            if wrong.any():
                return Failure("its scores are not all finite numbers")
        return found
    except MissingExtraError as error:
        return Failure(str(error), skipped=True)
    except Exception as error:  # a report with a hole is better than none
        return Failure(reason_of(error))


def reason_of(error: BaseException) -> str:
    """Return an error in one line: its kind, what it says, and where it happened."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{where}"
