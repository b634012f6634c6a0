"""The ranker of the labels so far, which the judging page shows: a cheap one, trained when it is asked."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np

from rulerank.judging.by_judge import PEOPLE, OtherGrades, fit_by_judge
from rulerank.judging.labels import Plain
from rulerank.judging.pool import Pool
from rulerank.rankers.base import Ranker
from rulerank.rankers.global_rules import GlobalRules
from rulerank.today import Today
from rulerank.training.few_labels import few_label_ranker
from rulerank.training.from_today import learn_from_today, warn_of_few_labels, warn_of_ties
from rulerank.training.in_pool import Grades, PoolLearner, rows_and_grades

LEAST_LABELS = 4
SLOW = 0.2  # seconds of training above which a model that is a little old will do
GROWTH = 1.1  # how much more labels there must be until a slow model is trained again
SHRINK = 10  # rows' worth of "no difference" mixed into the rules that are shown as the strongest


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


@dataclass(frozen=True, eq=False)
class TimedRanker:
    """A ranker, what it was trained on and how long that took."""

    ranker: GlobalRules
    grades: Grades
    seconds: float


class PoolModel:
    """Train rankers on labels of a pool, and say what they make of its documents."""

    def __init__(self, pool: Pool, max_grade: int) -> None:
        self.pool = pool
        self.max_grade = max_grade
        self._lock = threading.Lock()
        self._rules: PoolLearner | None = None  # made when first needed: it puts the whole pool into bins
        self._last: TimedRanker | None = None

    def train(self, grades: Grades) -> GlobalRules | None:
        """Return RE-GR trained on some rows, None when they are too few or all have the same grade."""
        if len(grades) < LEAST_LABELS or len(set(grades.values())) < 2:
            return None
        if self._rules is None:
            self._rules = PoolLearner(few_label_ranker("RE-GR"), self.pool.data)
        ranker = self._rules.fit(*rows_and_grades(grades))
        assert isinstance(ranker, GlobalRules)
        return ranker

    def train_method(
        self, method: str, grades: Grades, today: Today | None = None, others: OtherGrades | None = None
    ) -> Ranker:
        """Return a ranker of any method, set for few labels, trained on some rows: what `train --labels` makes of them.

        Anchored hands over to a full learner when labels say so, as it does there.
        others: grades of other judges, who get intercepts of their own; only QI has those.
        """
        if others:
            return fit_by_judge(method, self.pool.data, {PEOPLE: grades, **others})
        ordered = dict(sorted(grades.items()))  # a file has no order of time
        if today is not None and method == "Anchored":
            return learn_from_today(self.pool.graded(ordered), today.option).ranker
        ranker = few_label_ranker(method)
        if today is not None and "today" in ranker.get_params():
            ranker.set_params(today=today.option)
        fitted = PoolLearner(ranker, self.pool.data).fit(*rows_and_grades(ordered))
        warn_of_few_labels(method, len(grades))
        warn_of_ties(fitted, self.pool.data)
        return fitted

    def current(self, grades: Grades, without: int | None = None) -> TimedRanker | None:
        """Return a ranker trained on all labels, except the row `without`; a little old when training is slow."""
        wanted = {row: grade for row, grade in grades.items() if row != without}
        with self._lock:
            last = self._last
            if last is not None:
                slow = last.seconds > SLOW and without not in last.grades
                if last.grades == wanted or (slow and len(wanted) < GROWTH * len(last.grades)):
                    return last
            start = time.perf_counter()
            ranker = self.train(wanted)
            if ranker is None:
                return None
            self._last = TimedRanker(ranker, wanted, time.perf_counter() - start)
            return self._last

    def estimate(self, grades: Grades, row: int, n_reasons: int = 3) -> Estimate | None:
        """Say what the labels of the other documents make of one; None while they are too few or say nothing of it."""
        trained = self.current(grades, without=row)
        if trained is None:
            return None
        why = trained.ranker.explain(self.pool.data.X[row])
        if not why.n_rules:
            return None
        rows = self.pool.rows_of(self.pool.pairs[row][0])
        scores = trained.ranker.predict(self.pool.data[rows])
        score = scores[np.flatnonzero(rows == row)[0]]
        return Estimate(
            grade=round(float(np.clip(score, 0, self.max_grade)), 2),
            rank=1 + int((scores > score).sum()),
            n_docs=len(rows),
            reasons=tuple(why.lines(n_reasons)[1:]),
            n_labels=len(trained.grades),
        )

    def top_rules(self, grades: Grades, n_rules: int = 10) -> tuple[str, ...]:
        """Return the strongest rules of the current model; none while labels are too few."""
        trained = self.current(grades)
        if trained is None:
            return ()
        engine = trained.ranker.engine_
        counts = engine.all_counts().grades
        cells, rule_grades = np.nonzero(counts >= engine.training.min_rows)  # as the book of rules numbers them
        covered = counts.sum(axis=1)[cells]
        share = engine.training.n_by_grade / engine.training.n_by_grade.sum()
        strength = (counts[cells, rule_grades] - share[rule_grades] * covered) / (covered + SHRINK)
        best = np.argsort(-strength, kind="stable")[:n_rules]
        return tuple(str(trained.ranker.rules_[int(number)]) for number in best)
