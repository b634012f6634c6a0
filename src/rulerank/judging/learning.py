"""What is learned from the labels of a pool: estimates, models that are saved, and their check against today's ranking.

Loading what trains takes longer than the first answer after a restart may: `Judging` makes this when it is asked for.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Array, one_sided, warn_if_one_sided
from rulerank.errors import DataError
from rulerank.judging.check import Check
from rulerank.judging.grades import Counting, facts_at
from rulerank.judging.labels import BusyError, CheckRecord, Plain, ReadOnlyError
from rulerank.judging.pool import Pool
from rulerank.methods import method_name
from rulerank.rankers.base import Ranker
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.pool import Grades, PoolLearner, rows_and_grades
from rulerank.today import Today
from rulerank.training.few_labels import PEOPLE, few_label_ranker, fit_by_judge, select_from_today, warn_of_few_labels

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

LEAST_LABELS = 4
SHRINK = 10  # rows' worth of "no difference" mixed into the rules that are shown as the strongest
PATIENCE = 1.0  # seconds that a request waits for new sentences
NO_TODAY = "Say which feature ranks the documents now (--baseline FEATURE), and the model is compared with it."
FIRST = "What can be said of a model of these labels is being worked out: look again in a while."


class Lesson(NamedTuple):
    """What there is to learn from at one moment."""

    grades: Grades  # by row
    judged: Set[str]  # queries that have labels
    last_label: int  # id of the newest
    others: Mapping[str, Grades]  # of other judges that the lead lets count


@dataclass(frozen=True, slots=True)
class Estimate(Plain):
    """What the model of the labels so far makes of a document."""

    grade: float  # the grade to be expected, from 0 to the highest
    rank: int  # among the documents of its query, best first, from 1
    n_docs: int  # documents of its query in the pool
    reasons: tuple[str, ...]  # what adds most to its score, or takes most away
    n_labels: int  # documents the model was trained on


@dataclass(frozen=True, slots=True)
class SavedModel(Plain):
    """A model that was trained on labels and saved."""

    path: str
    method: str
    n_labels: int  # documents with a grade
    notes: tuple[str, ...]  # what training warned of


@dataclass(frozen=True, slots=True)
class Training(Plain):
    """A training that is under way or was the last to end."""

    method: str
    n_labels: int
    running: bool
    seconds: float  # so far, or in all
    saved: SavedModel | None = None  # None: it is running, or it failed
    problem: str | None = None  # why it failed


@dataclass(frozen=True, slots=True)
class ComparedDoc(Plain):
    """A document's places in two rankings of its query, from 1."""

    doc: str
    title: str
    new: int
    today: int
    grade: int | None  # by the labels; None: it has none


@dataclass(frozen=True, slots=True)
class Comparison(Plain):
    """The documents of one query in the new order, each with its place of today."""

    query: str
    query_text: str | None
    method: str
    docs: tuple[ComparedDoc, ...]


class CheckedModel(NamedTuple):
    """The model that was trained last, its scores and today's of the pool's rows, and the duels of the two."""

    ranker: Ranker
    method: str
    new: Array
    today: Array
    check: Check


def fit_labels(
    method: str, pool: Pool, grades: Grades, today: Today | None = None, others: Mapping[str, Grades] | None = None
) -> Ranker:
    """Return a ranker of any method, set for few labels, trained on some rows: what `train --labels` makes of them.

    Anchored hands over to a full learner when labels say so, as it does there.
    others: grades of other judges, who get intercepts of their own; only QI has those.
    """
    if others:
        return fit_by_judge(method, pool.data, {PEOPLE: grades, **others})
    ordered = dict(sorted(grades.items()))  # a file has no order of time
    if today is not None and method == "Anchored":
        learned: Ranker = select_from_today(pool.graded(ordered), today.option).ranker
        return learned
    ranker = few_label_ranker(method)
    if today is not None and "today" in ranker.get_params():
        ranker.set_params(today=today.option)
    fitted = PoolLearner(ranker, pool.data).fit(*rows_and_grades(ordered))
    warn_of_few_labels(method, len(grades), fitted, pool.data)
    return fitted


class Learning:
    """Everything that is learned from the labels of one pool.

    A check is of the model that was trained last. The store notes the last label that it learned from: enough to train
    the same model again, and to know which queries were judged before. So a check goes on after a restart, and other
    processes have the same one.
    """

    def __init__(self, pool: Pool, store: LabelStore, today: Today | None, max_grade: int) -> None:
        self._pool, self._store, self._today, self._max_grade = pool, store, today, max_grade
        self._standing = Standing(pool, today)
        self._rules_lock = threading.Lock()
        self._rules: PoolLearner | None = None  # made when first needed: it puts the whole pool into bins
        self._last: tuple[Grades, GlobalRules | None] | None = None
        self._one_training = threading.Lock()  # at a time: warnings are caught for all threads
        self._training: Training | None = None
        self._began = 0.0
        self._check_lock = threading.Lock()
        self._checked: CheckedModel | None = None
        self._noted: CheckRecord | None = None  # what the store knows of it

    def rules(self, grades: Grades) -> GlobalRules | None:
        """Return a cheap model of the labels so far, None when they are too few or all have the same grade."""
        with self._rules_lock:
            if self._last is None or self._last[0] != grades:
                self._last = dict(grades), None
                if len(grades) >= LEAST_LABELS and len(set(grades.values())) > 1:
                    if self._rules is None:
                        self._rules = PoolLearner(few_label_ranker("RE-GR"), self._pool.data)
                    ranker = self._rules.fit(*rows_and_grades(grades))
                    assert isinstance(ranker, GlobalRules)
                    self._last = dict(grades), ranker
            return self._last[1]

    def estimate(self, grades: Grades, row: int, n_reasons: int = 3) -> Estimate | None:
        """Say what the labels of the other documents make of one; None while they are too few or say nothing of it."""
        others = {other: grade for other, grade in grades.items() if other != row}
        ranker = self.rules(others)
        why = None if ranker is None else ranker.explain(self._pool.data.X[row])
        if ranker is None or why is None or not why.n_rules:
            return None
        rows = self._pool.rows_of(self._pool.pairs[row][0])
        scores = ranker.predict(self._pool.data[rows])
        score = scores[np.flatnonzero(rows == row)[0]]
        return Estimate(
            grade=round(float(np.clip(score, 0, self._max_grade)), 2),
            rank=1 + int((scores > score).sum()),
            n_docs=len(rows),
            reasons=tuple(why.rule_lines(n_reasons)),
            n_labels=len(others),
        )

    def top_rules(self, grades: Grades, n_rules: int = 10) -> tuple[str, ...]:
        """Return the strongest rules of the current model; none while labels are too few."""
        ranker = self.rules(grades)
        if ranker is None:
            return ()
        engine = ranker.engine_
        counts = engine.counts.grades
        cells, rule_grades = np.nonzero(counts >= engine.training.min_rows)  # as the book of rules numbers them
        covered = counts.sum(axis=1)[cells]
        share = engine.training.n_by_grade / engine.training.n_by_grade.sum()
        strength = (counts[cells, rule_grades] - share[rule_grades] * covered) / (covered + SHRINK)
        best = np.argsort(-strength, kind="stable")[:n_rules]
        return tuple(str(ranker.rules_[int(number)]) for number in best)

    def standing(self, grades: Grades) -> tuple[str, ...]:
        """Return what can honestly be said of a model of these labels, a sentence each."""
        return self._standing.lines(grades)

    def train(self, path: str | os.PathLike[str], method: str, lesson: Lesson) -> Ranker:
        """Train a ranker, save it, and begin its check."""
        if not self._pool.has_contrast(lesson.grades):
            found = "no query has labels of two grades" if lesson.grades else "no document has a grade"
            raise DataError(f"nothing can be learned yet: {found}; judge more documents of each query")
        warn_if_one_sided(lesson.grades.values())
        ranker = fit_labels(method, self._pool, lesson.grades, self._today, lesson.others)
        ranker.save(path)
        if self._today is not None:
            checked = self._beside_today(ranker, method, self._today, lesson.judged)
            with self._check_lock:
                self._checked = checked
                try:
                    self._noted = self._store.note_check(lesson.last_label, method, self._today.option)
                except ReadOnlyError:  # it can be trained on all the same
                    self._noted = None
        return ranker

    def save_model(self, path: str | os.PathLike[str], method: str, lesson: Lesson, *, wait: bool = True) -> SavedModel:
        """Train and save, one model at a time, and return what there is to say of it; `training` tells how it goes.

        wait: for another training to end, or raise a BusyError.
        """
        if not self._one_training.acquire(blocking=wait):
            what = "a model" if self._training is None else self._training.method
            raise BusyError(f"{what} is being trained, and only one model is at a time: wait until it is saved")
        self._began = time.perf_counter()
        begun = self._training = Training(method, len(lesson.grades), True, 0.0)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                ranker = self.train(path, method, lesson)
            notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
            saved = SavedModel(os.fspath(path), method_name(ranker), len(lesson.grades), notes)
            self._training = replace(begun, running=False, seconds=self._seconds(), saved=saved)
            return saved
        except BaseException as error:
            self._training = replace(begun, running=False, seconds=self._seconds(), problem=str(error))
            raise
        finally:
            self._one_training.release()

    @property
    def training(self) -> Training | None:
        """The training that is under way, or else the last one; None: there was none since the start."""
        last = self._training
        return replace(last, seconds=self._seconds()) if last is not None and last.running else last

    def _seconds(self) -> float:
        return round(time.perf_counter() - self._began, 1)

    def check(self) -> Check | None:
        """Return the duels of the model that was trained last against today's ranking; None: none was trained yet."""
        checked = self._current_model()
        return None if checked is None else checked.check

    def compare(self, query: str, grades: Grades) -> Comparison | None:
        """Put the model that was trained last beside today's ranking on one query; None: there is no such model.

        Documents with the same score stay in the order of the pool.
        """
        pool, model = self._pool, self._current_model()
        if query not in pool.queries:
            raise DataError(f"the pool has no query {query!r:.60}")
        if model is None:
            return None
        rows = pool.rows_of(query)
        new, today = _places(model.new[rows]), _places(model.today[rows])
        docs = [
            ComparedDoc(
                doc=pool.pairs[row][1],
                title=pool.shown(row).get("title") or pool.names[row],
                new=int(new[i]),
                today=int(today[i]),
                grade=grades.get(row),
            )
            for i, row in enumerate(rows.tolist())
        ]
        query_text = pool.shown(int(rows[0])).get("query_text")
        return Comparison(query, query_text, model.method, tuple(sorted(docs, key=lambda doc: doc.new)))

    def reasons(self, query: str, doc: str, n_reasons: int = 5) -> tuple[str, ...] | None:
        """Say why the model that was trained last puts a document where it does; None: there is no such model."""
        row, model = self._pool.row(query, doc), self._current_model()
        if model is None:
            return None
        rows = self._pool.rows_of(query)
        why = model.ranker.explain(self._pool.data[rows], int(np.flatnonzero(rows == row)[0]))
        return tuple(why.lines(n_reasons)[1:])

    def _current_model(self) -> CheckedModel | None:
        if self._today is None:
            return None
        with self._check_lock:
            last = self._store.last_check()
            if last is not None and (self._noted is None or last.id > self._noted.id):
                self._checked = self._resumed(last, self._today)
                self._noted = last
            return self._checked

    def _resumed(self, noted: CheckRecord, today: Today) -> CheckedModel | None:
        """Train once more on the labels of then, if that can be done with these documents."""
        if noted.today != today.option:
            return None
        rows, counting = self._pool.rows, Counting.at(self._store, noted.time)
        then = [label for label in self._store.history() if label.id <= noted.last_label]
        labels = [
            label for label in facts_at(then, noted.time, "query", "doc", "rater") if (label.query, label.doc) in rows
        ]
        grades = {rows[pair]: grade for pair, grade in counting.grades(labels).items() if pair in rows}
        others = {
            judge: {rows[pair]: grade for pair, grade in given.items()}
            for judge, given in counting.others(labels).items()
        }
        if not self._pool.has_contrast(grades):
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they were shown when it was trained first
                ranker = fit_labels(noted.method, self._pool, grades, today, others)
        except DataError:  # a method that this version does not know
            return None
        judged = {query for query, _ in counting.people(labels)} | {query for query, _ in counting.decided}
        return self._beside_today(ranker, noted.method, today, judged)

    def _beside_today(self, ranker: Ranker, method: str, today: Today, judged: Set[str]) -> CheckedModel:
        new, old = ranker.predict(self._pool.data), today.scores(self._pool.data.X)
        return CheckedModel(ranker, method, new, old, Check(self._pool, self._store, new, old, judged=judged))


class Standing:
    """What can honestly be said of a model of the labels so far, against today's ranking."""

    def __init__(self, pool: Pool, today: Today | None) -> None:
        self._pool, self._today = pool, today
        self._lock = threading.Lock()
        self._last: tuple[Grades, tuple[str, ...]] | None = None  # labels, and the sentences on them
        self._work: threading.Thread | None = None

    def lines(self, grades: Grades) -> tuple[str, ...]:
        """Return the sentences; of older labels, and it says so, while those of the newest take long to find."""
        if self._today is None:
            warning = one_sided(grades.values())
            return (NO_TODAY,) if warning is None else (f"{warning}.", NO_TODAY)
        wanted = dict(grades)
        with self._lock:
            if self._work is None and (self._last is None or self._last[0] != wanted):
                self._work = threading.Thread(target=self._find, args=(wanted, self._today), daemon=True)
                self._work.start()
            work = self._work
        if work is not None:
            work.join(PATIENCE)
        with self._lock:
            if self._last is None:
                return (FIRST,)
            known, lines = self._last
        if known == wanted:
            return lines
        return (*lines, f"This is of {counted(len(known), 'label')}: newer ones are being looked at.")

    def _find(self, grades: Grades, today: Today) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that few labels say little is what the lines say
                lines = tuple(select_from_today(self._pool.graded(grades), today.option).lines())
        except Exception as error:  # a page must not be without its other figures
            lines = (f"Nothing can be said of a model of these labels: {error}.",)
        with self._lock:
            self._last, self._work = (grades, lines), None


def _places(scores: Array) -> Array:
    """Return the place of each score, from 1, best first.

    >>> _places(np.array([0.5, 2.0, 0.5])).tolist()
    [2, 1, 3]
    """
    places = np.empty(scores.size, dtype=np.int64)
    places[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
    return places
