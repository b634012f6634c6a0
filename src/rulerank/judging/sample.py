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


def choose(
    pool: Pool,
    sampler: SSAR | StratifiedSampler,
    n: int,
    *,
    labels: Mapping[int, int] | None = None,
    grades: Mapping[int, int] | None = None,
) -> Sample:
    """Choose up to n documents to judge after the earlier labels.

    grades: of every row, to simulate raters; the sample then has the earlier labels too. If None, each document is
    assumed to get the most common grade so far, or 0.

    >>> import rulerank as rr
    >>> pool = Pool(rr.datasets.make_ranking(n_queries=3, docs_per_query=5, seed=0))
    >>> choose(pool, SSAR(), 3).grades.tolist()
    [-1, -1, -1]
    >>> done = choose(pool, SSAR(), 4, grades=pool.own_grades)
    >>> done.n_labels, done.stop
    (4, 'budget')
    """
    if not is_whole(n, 1):
        raise DataError(f"-n must be an integer of at least 1: got {n}")
    labels = labels or {}
    selection = sampler.begin(pool.data, start=labels)
    closeness = selection.closeness
    usual = int(np.bincount([*labels.values()]).argmax()) if labels else 0
    rows: list[int] = []
    while (row := selection.next()) is not None and len(rows) < n:
        selection.add(row, usual if grades is None else grades[row])
        rows.append(row)
    if grades is None:
        return Sample(np.array(rows, dtype=np.int64), np.full(len(rows), UNLABELLED), len(labels), "listed", closeness)
    stop = "natural" if row is None else "budget"
    return Sample(selection.order, selection.grades, len(selection.order), stop, selection.closeness)
