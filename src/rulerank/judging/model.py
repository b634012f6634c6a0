"""The ranker of the labels so far, which the judging page shows: a cheap one, trained when it is asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np

from rulerank.dataset import Array
from rulerank.discretize import EqualFrequency
from rulerank.discretize.base import Discretizer
from rulerank.judging.pool import Pool
from rulerank.judging.views import Estimate
from rulerank.rankers.base import Ranker
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.rule_ranker import RuleRanker
from rulerank.rules.rule import Rule

LEAST_LABELS = 4
SLOW = 0.2  # seconds of training above which a model that is a little old will do
GROWTH = 1.1  # how much more labels there must be until a slow model is trained again
MOST_FEATURES = 150  # with more of them rules have one item, to stay quick
SHRINK = 10  # rows' worth of "no difference" mixed into the rules that are shown as the strongest

Grades = Mapping[int, int]  # grade of each labelled row
AnyRanker = TypeVar("AnyRanker", bound=Ranker)


class PoolCuts:
    """The cuts of the whole pool, as a discretiser that learns nothing more: few labels give no good cuts."""

    def __init__(self, fitted: Discretizer) -> None:
        self.fitted = fitted

    def fit(self, X: Array, y: Array) -> Self:
        return self

    def transform(self, X: Array) -> Array:
        return self.fitted.transform(X)

    def bins_of(self, X: Array) -> Array:
        return self.fitted.bins_of(X)

    def describe(self, feature: int, bin: int, name: str) -> str:
        return self.fitted.describe(feature, bin, name)

    def __deepcopy__(self, memo: Any) -> Self:
        return self


@dataclass(frozen=True, eq=False)
class Trained:
    """A ranker, and what it was trained on."""

    ranker: GlobalRules
    grades: Grades
    seconds: float


class PoolModel:
    """Train rankers on labels of a pool, and say what they make of its documents."""

    def __init__(self, pool: Pool, max_grade: int) -> None:
        self.pool = pool
        self.max_grade = max_grade
        self._lock = threading.Lock()
        self._cuts: PoolCuts | None = None
        self._last: Trained | None = None

    def train(self, grades: Grades) -> GlobalRules | None:
        """Return RE-GR trained on some rows, None when they are too few or all have the same grade."""
        if len(grades) < LEAST_LABELS or len(set(grades.values())) < 2:
            return None
        max_size = 2 if len(self.pool.data.feature_names) <= MOST_FEATURES else 1
        return self._fit(GlobalRules(max_size=max_size), grades)

    def train_method(self, ranker_class: type[Ranker], grades: Grades) -> Ranker:
        """Return a ranker of any method trained on some rows; one that uses bins has those of the whole pool."""
        return self._fit(ranker_class(), grades)

    def _fit(self, ranker: AnyRanker, grades: Grades) -> AnyRanker:
        rows = np.fromiter(grades, dtype=np.int64)
        y = np.fromiter(grades.values(), dtype=np.int16)
        if not isinstance(ranker, RuleRanker):
            if "missing" in ranker.get_params():  # pools have gaps, and nobody is here to choose
                ranker.set_params(missing="mean")
            return ranker.fit(self.pool.data[rows], y=y)
        if self._cuts is None:
            self._cuts = PoolCuts(EqualFrequency(n_bins=10).fit(self.pool.data.X))
        ranker.set_params(discretizer=self._cuts).fit(self.pool.data[rows], y=y)
        ranker.discretizer = ranker.discretizer_ = self._cuts.fitted  # which a model file can hold
        return ranker

    def current(self, grades: Grades, without: int | None = None) -> Trained | None:
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
            self._last = Trained(ranker, wanted, time.perf_counter() - start)
            return self._last

    def estimate(self, grades: Grades, row: int, n_rules: int = 3) -> Estimate | None:
        """Say what the labels of the other documents make of one; None while they are too few."""
        trained = self.current(grades, without=row)
        if trained is None:
            return None
        rows = self.pool.rows_of(self.pool.pairs[row][0])
        scores = trained.ranker.predict(self.pool.data[rows])
        score = scores[np.flatnonzero(rows == row)[0]]
        share = _shares(trained.grades)
        rules = sorted(
            trained.ranker.rules_for(self.pool.data.X[row]), key=lambda rule: _strength(rule, share), reverse=True
        )
        return Estimate(
            grade=round(float(np.clip(score, 0, self.max_grade)), 2),
            rank=1 + int((scores > score).sum()),
            n_docs=len(rows),
            rules=tuple(map(str, rules[:n_rules])),
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


def _shares(grades: Grades) -> dict[int, float]:
    given = list(grades.values())
    return {grade: given.count(grade) / len(given) for grade in set(given)}


def _strength(rule: Rule, share: Mapping[int, float]) -> float:
    """Return how much more often than among all rows the grade holds, drawn to 0 where few rows show it."""
    return (rule.hits - share[rule.grade] * rule.covered) / (rule.covered + SHRINK)
