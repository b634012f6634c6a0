"""Choose documents of a pool: with grades that are known, or as a list of what to judge next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rulerank.core.parameters import is_whole
from rulerank.dataset import UNLABELLED, Array
from rulerank.errors import DataError
from rulerank.judging.pool import Pool
from rulerank.sampling.ssar import SSAR
from rulerank.sampling.strata import Strata


class Sample(NamedTuple):
    """Documents that were chosen, and how it ended."""

    rows: Array
    grades: Array  # -1 where it is still to be given
    n_labels: int  # with those there were before
    stop: str  # "natural", "budget", "listed"
    closeness: float


def with_known_grades(pool: Pool, grades: Mapping[int, int]) -> tuple[Pool, dict[int, int]]:
    """Return a pool of the documents whose grade is known, and their grades by its rows."""
    rows = sorted(grades)
    if not rows:
        raise DataError(f"no document of {pool.name} has a grade, so there is nothing to simulate with")
    return pool.only(rows), {place: grades[row] for place, row in enumerate(rows)}


def simulate(
    pool: Pool,
    sampler: SSAR | Strata,
    grades: Mapping[int, int],
    *,
    labels: Mapping[int, int] | None = None,
    budget: int | None = None,
    tell: Callable[[Any], None] = lambda selection: None,
) -> Sample:
    """Choose with the grades that all documents have; what was labelled before comes first. tell: called after each.

    >>> import rulerank as rr
    >>> pool = Pool(rr.make_ranking(n_queries=3, docs_per_query=5, seed=0))
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
        tell(selection)
    stop = "natural" if row is None else "budget"
    return Sample(selection.order, selection.grades, len(selection.order), stop, selection.closeness)


def list_next(pool: Pool, sampler: SSAR | Strata, n: int, *, labels: Mapping[int, int] | None = None) -> Sample:
    """Choose documents to judge next, as if each had the most common grade so far, at first 0.

    >>> import rulerank as rr
    >>> list_next(Pool(rr.make_ranking(n_queries=3, docs_per_query=5, seed=0)), SSAR(), 3).grades.tolist()
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
