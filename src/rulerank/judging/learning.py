"""Train a model on the labels of a pool, save it, and compare it with the baseline.

Loading this module takes seconds, so `Judging` imports it only for training.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rulerank.baseline import Baseline
from rulerank.dataset import warn_if_one_sided
from rulerank.errors import DataError
from rulerank.judging.labels import Plain, ReadOnlyError
from rulerank.judging.pool import Pool
from rulerank.judging.side_by_side import Check
from rulerank.methods import method_name
from rulerank.rankers.base import Ranker
from rulerank.rankers.pool import Grades
from rulerank.selection.few_labels import (
    PEOPLE,
    few_label_ranker,
    fit_by_rater,
    select_from_baseline,
    warn_of_few_labels,
)

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore


class Lesson(NamedTuple):
    """The labels to train on, at one moment."""

    grades: Grades  # by row
    judged: Set[str]  # queries that have labels
    last_label: int  # id of the newest label
    others: Mapping[str, Grades]  # of the non-human raters that training uses


@dataclass(frozen=True, slots=True)
class SavedModel(Plain):
    """A model that was trained on labels and saved."""

    path: str
    method: str
    n_labels: int  # documents with a grade
    notes: tuple[str, ...]  # warnings of the training
    lines: tuple[str, ...] = ()  # the estimated gain over the baseline, in sentences


def fit_labels(
    method: str,
    pool: Pool,
    grades: Grades,
    baseline: Baseline | None = None,
    others: Mapping[str, Grades] | None = None,
) -> tuple[Ranker, tuple[str, ...]]:
    """Train a ranker on the labels of some rows, as `train --labels` does; return it and its estimated gain in words.

    others: grades of non-human raters, with separate intercepts; needs QueryIntercepts.
    """
    if others:
        return fit_by_rater(method, pool.data, {PEOPLE: grades, **others}), ()
    ordered = dict(sorted(grades.items()))  # the order of time must not matter
    if baseline is not None and method == "Anchored":
        selected = select_from_baseline(pool.graded(ordered), baseline.option)
        return selected.ranker, tuple(selected.lines())
    ranker = few_label_ranker(method)
    if baseline is not None and "baseline" in ranker.get_params():
        ranker.set_params(baseline=baseline.option)
    data = pool.graded(ordered)
    fitted: Ranker = ranker.fit(data)
    warn_of_few_labels(method, len(grades), fitted, data)
    return fitted, ()


def train(
    path: str | os.PathLike[str], method: str, pool: Pool, store: LabelStore, baseline: Baseline | None, lesson: Lesson
) -> tuple[SavedModel, Check | None]:
    """Train a ranker and save it; return a summary, and its comparison with the baseline, if any."""
    if not pool.has_contrast(lesson.grades):
        found = "no query has two different grades" if lesson.grades else "no document has a grade"
        raise DataError(f"cannot train yet: {found}; judge more documents of each query")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_one_sided(lesson.grades.values())
        ranker, lines = fit_labels(method, pool, lesson.grades, baseline, lesson.others)
        ranker.save(path)
        check = None
        if baseline is not None:
            new, old = ranker.predict(pool.data), baseline.scores(pool.data)
            check = Check(pool, store, new, old, lesson.judged)
            with suppress(ReadOnlyError):  # training works on a read-only store too
                store.note_check(lesson.last_label, method, baseline.text)
    notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return SavedModel(os.fspath(path), method_name(ranker), len(lesson.grades), notes, lines), check
