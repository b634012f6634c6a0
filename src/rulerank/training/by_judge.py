"""Learn from grades of several judges at once, each with intercepts of its own for every query."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.methods import method_named
from rulerank.rankers.base import Ranker
from rulerank.rankers.pool import Grades, PoolLearner
from rulerank.training.few_labels import few_label_ranker

BY_JUDGE = "QI"  # the method that has intercepts for judges
PEOPLE = "the people"
OtherGrades: TypeAlias = Mapping[str, Grades]  # judge -> row -> grade


def fit_by_judge(method: str, pool: Dataset, given: OtherGrades, ranker: Ranker | None = None) -> Ranker:
    """Return a ranker of the grades of several judges; those of one are never compared with those of another.

    ranker: what to fit, of that method; by default as it is set for few labels.

    >>> import rulerank as rr
    >>> data = rr.make_ranking(n_queries=5, seed=0)
    >>> given = {PEOPLE: {0: 0, 1: 1, 2: 2}, "gpt": {row: min(2, int(data.y[row]) + 1) for row in range(40)}}
    >>> fit_by_judge("QI", data, given).judge_ids_.tolist()
    ['the people', 'gpt']
    """
    check_by_judge(method, [judge for judge in given if judge != PEOPLE])
    triples = [(row, grade, judge) for judge, grades in given.items() for row, grade in sorted(grades.items())]
    rows, grades, judges = (np.array(column) for column in zip(*triples, strict=True))
    learner = PoolLearner(ranker or few_label_ranker(BY_JUDGE), pool)
    fitted = learner.fit_judges(rows, grades, judges.astype(object))
    counts = ", ".join(f"{counted(len(found), 'label')} of {judge}" for judge, found in given.items())
    warnings.warn(f"learned from {counts}: every judge has intercepts of its own", stacklevel=2)
    return fitted


def check_by_judge(method: str, judges: Iterable[str]) -> None:
    """Refuse a method that has no intercepts for judges."""
    if method_named(method).name != BY_JUDGE:
        raise DataError(
            f"labels of {', '.join(judges)} count in training, each judge with intercepts of its own, which only "
            f"{BY_JUDGE} has: train {BY_JUDGE}, or let people's labels alone count"
        )
