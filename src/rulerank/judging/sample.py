"""Sample documents of a pool: simulated with known grades, or as a list to judge next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rulerank._util.parameters import is_whole
from rulerank.dataset import UNLABELLED, Array
from rulerank.errors import DataError
from rulerank.judging.pool import Pool
from rulerank.sampling.ssar import SSAR
from rulerank.sampling.strata import StratifiedSampler


class Sample(NamedTuple):
    """Chosen documents, and why sampling ended."""

    rows: Array
    grades: Array  # -1: not judged yet
    n_labels: int  # including earlier ones
    stop: str  # "natural", "budget", "listed"
    closeness: float


def with_known_grades(pool: Pool, grades: Mapping[int, int]) -> tuple[Pool, dict[int, int]]:
    """Return a pool of the graded documents, and their grades by row."""
    rows = sorted(grades)
    if not rows:
        raise DataError(f"no document of {pool.name} has a grade to simulate with")
    return pool.only(rows), {place: grades[row] for place, row in enumerate(rows)}


def simulate(
    pool: Pool,
    sampler: SSAR | StratifiedSampler,
    grades: Mapping[int, int],
    *,
    labels: Mapping[int, int] | None = None,
    budget: int | None = None,
) -> Sample:
    """Sample with known grades, after the earlier labels.

    >>> import rulerank as rr
    >>> pool = Pool(rr.datasets.make_ranking(n_queries=3, docs_per_query=5, seed=0))
    >>> done = simulate(pool, SSAR(), pool.own_grades, budget=4)
    >>> done.n_labels, done.stop
    (4, 'budget')
    """
    if budget is not None and not is_whole(budget, 1):
        raise DataError(f"-n must be a whole number from 1: got {budget}")
    selection = sampler.begin(pool.data, start=labels)
    n_asked = 0
    while (row := selection.next()) is not None and n_asked != budget:
        selection.add(row, grades[row])
        n_asked += 1
    stop = "natural" if row is None else "budget"
    return Sample(selection.order, selection.grades, len(selection.order), stop, selection.closeness)


def list_next(
    pool: Pool, sampler: SSAR | StratifiedSampler, n: int, *, labels: Mapping[int, int] | None = None
) -> Sample:
    """Choose documents to judge next, assuming that each gets the most common grade so far, or 0.

    >>> import rulerank as rr
    >>> list_next(Pool(rr.datasets.make_ranking(n_queries=3, docs_per_query=5, seed=0)), SSAR(), 3).grades.tolist()
    [-1, -1, -1]
    """
    if not is_whole(n, 1):
        raise DataError(f"-n must be a whole number from 1: got {n}")
    labels = labels or {}
    selection = sampler.begin(pool.data, start=labels)
    closeness = selection.closeness
    usual = int(np.bincount([*labels.values()]).argmax()) if labels else 0
    rows: list[int] = []
    while len(rows) < n and (row := selection.next()) is not None:
        selection.add(row, usual)
        rows.append(row)
    grades = np.full(len(rows), UNLABELLED)
    return Sample(np.array(rows, dtype=np.int64), grades, len(labels), "listed", closeness)
