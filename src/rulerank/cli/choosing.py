"""The three ways of `rulerank sample` to choose documents: ask a person, look grades up, or list what to judge next."""

from __future__ import annotations

import sys
import time
from typing import NamedTuple

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.core.progress import somebody_looks
from rulerank.dataset import MAX_GRADE, UNLABELLED, Array
from rulerank.errors import DataError
from rulerank.judging.label_files import LabelFile, Pool
from rulerank.judging.terminal import Session, answers
from rulerank.sampling.selection import Selection
from rulerank.sampling.ssar import SSAR


class Chosen(NamedTuple):
    """Documents that were chosen, and how it ended."""

    rows: Array
    grades: Array  # -1 where it is still to be given
    n_labels: int  # with those there were before
    stop: str
    closeness: float


def ask(
    pool: Pool, ssar: SSAR, labels: dict[int, int], target: str, format: str, max_grade: int, budget: int | None
) -> Chosen:
    """Ask the person at the terminal, and append every answer to a file."""
    if not is_whole(max_grade, 1, MAX_GRADE):
        raise DataError(f"--max-grade must be between 1 and {MAX_GRADE}: got {max_grade}")
    check_budget(budget)
    n_before = len(labels)
    file = LabelFile(pool, target, format)
    try:
        with answers(max_grade) as read:
            session = Session(pool, ssar, dict(labels), file, max_grade, budget, read)
            stop = session.run()
    finally:
        file.close()
    rows, grades = np.array([*session.labels]), np.array([*session.labels.values()])
    return Chosen(rows[n_before:], grades[n_before:], len(rows), stop, session.selection.closeness)


def simulate(pool: Pool, ssar: SSAR, labels: dict[int, int], budget: int | None) -> Chosen:
    """Choose with the grades that the pool has; what was labelled before comes first."""
    check_budget(budget)
    selection = ssar.begin(pool.data, start=labels)
    n_asked, told = 0, time.monotonic()
    while (row := selection.next()) is not None and n_asked != budget:
        selection.add(row, int(pool.data.y[row]))
        n_asked += 1
        if time.monotonic() - told > 0.2:
            told = time.monotonic()
            tell(selection)
    tell(None)
    stop = "natural" if row is None else "budget"
    return Chosen(selection.order, selection.grades, len(selection.order), stop, selection.closeness)


def list_next(pool: Pool, ssar: SSAR, labels: dict[int, int], n: int) -> Chosen:
    """Choose documents to judge next, as if each had the most common grade so far."""
    if not is_whole(n, 1):
        raise DataError(f"-n must be a whole number from 1: got {n}")
    selection = ssar.begin(pool.data, start=labels)
    closeness = selection.closeness
    usual = int(np.bincount([*labels.values()]).argmax()) if labels else 0
    rows: list[int] = []
    while len(rows) < n and (row := selection.next()) is not None:
        selection.add(row, usual)
        rows.append(row)
    grades = np.full(len(rows), UNLABELLED)
    return Chosen(np.array(rows, dtype=np.int64), grades, len(labels), "listed", closeness)


def check_budget(budget: int | None) -> None:
    if budget is not None and not is_whole(budget, 1):
        raise DataError(f"--budget must be a whole number from 1: got {budget}")


def tell(selection: Selection | None) -> None:
    """Keep one line of stderr up to date while somebody looks; None clears it."""
    if somebody_looks():
        so_far = (
            f"{len(selection.order):,} labels, {selection.closeness:.0%} of the way to the stop" if selection else ""
        )
        print(f"\r\x1b[K{so_far}", end="", file=sys.stderr, flush=True)
