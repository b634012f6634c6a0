"""A model of the labels of a pool: trained, saved, and compared with the baseline.

Loading what trains takes longer than the first answer after a restart may: `Judging` does so when somebody trains.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rulerank.dataset import warn_if_one_sided
from rulerank.errors import DataError
from rulerank.judging.duels import Check
from rulerank.judging.labels import Plain, ReadOnlyError
from rulerank.judging.pool import Pool
from rulerank.methods import method_name
from rulerank.rankers.base import Ranker
from rulerank.rankers.pool import Grades
from rulerank.today import Today
from rulerank.training.few_labels import PEOPLE, few_label_ranker, fit_by_judge, select_from_today, warn_of_few_labels

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore


class Lesson(NamedTuple):
    """What there is to learn from at one moment."""

    grades: Grades  # by row
    judged: Set[str]  # queries that have labels
    last_label: int  # id of the newest
    others: Mapping[str, Grades]  # of other judges that the lead lets count


@dataclass(frozen=True, slots=True)
class SavedModel(Plain):
    """A model that was trained on labels and saved."""

    path: str
    method: str
    n_labels: int  # documents with a grade
    notes: tuple[str, ...]  # what training warned of
    lines: tuple[str, ...] = ()  # what can honestly be said of it beside the baseline, a sentence each


def fit_labels(
    method: str, pool: Pool, grades: Grades, today: Today | None = None, others: Mapping[str, Grades] | None = None
) -> tuple[Ranker, tuple[str, ...]]:
    """Return a ranker of any method, set for few labels, trained on some rows: what `train --labels` makes of them.

    Anchored hands over to a full learner when labels say so, as it does there, and then says what can be said of it.
    others: grades of other judges, who get intercepts of their own; only QI has those.
    """
    if others:
        return fit_by_judge(method, pool.data, {PEOPLE: grades, **others}), ()
    ordered = dict(sorted(grades.items()))  # a file has no order of time
    if today is not None and method == "Anchored":
        selected = select_from_today(pool.graded(ordered), today.option)
        return selected.ranker, tuple(selected.lines())
    ranker = few_label_ranker(method)
    if today is not None and "today" in ranker.get_params():
        ranker.set_params(today=today.option)
    data = pool.graded(ordered)
    fitted: Ranker = ranker.fit(data)
    warn_of_few_labels(method, len(grades), fitted, data)
    return fitted, ()


def train(
    path: str | os.PathLike[str], method: str, pool: Pool, store: LabelStore, today: Today | None, lesson: Lesson
) -> tuple[SavedModel, Check | None]:
    """Train a ranker and save it; return what there is to say of it, and its comparison with the baseline, if any."""
    if not pool.has_contrast(lesson.grades):
        found = "no query has labels of two grades" if lesson.grades else "no document has a grade"
        raise DataError(f"nothing can be learned yet: {found}; judge more documents of each query")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_one_sided(lesson.grades.values())
        ranker, lines = fit_labels(method, pool, lesson.grades, today, lesson.others)
        ranker.save(path)
        check = None
        if today is not None:
            new, old = ranker.predict(pool.data), today.scores(pool.data.X)
            check = Check(pool, store, new, old, judged=lesson.judged)
            with suppress(ReadOnlyError):  # it can be trained on all the same
                store.note_check(lesson.last_label, method, today.option)
    notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return SavedModel(os.fspath(path), method_name(ranker), len(lesson.grades), notes, lines), check
