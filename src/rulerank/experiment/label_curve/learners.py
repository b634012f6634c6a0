"""What learns from the labels of a curve: rankers by name as they are set for few labels, and our whole road."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.methods import method_named
from rulerank.rankers.anchored.anchored import Anchored
from rulerank.rankers.base import Ranker
from rulerank.training.few_labels import few_label_ranker, full_data_ranker
from rulerank.training.from_today import HAND_OVER, hand_over
from rulerank.training.in_pool import PoolLearner
from rulerank.training.pair_accuracy import held_out_scores

FROM_TODAY = "from-today"  # `learn_from_today`: Anchored, until a full learner is better beyond doubt
LEARNERS = (FROM_TODAY, "AnchoredRules", "QI", "RE-GR", "FR")  # of splits by default: others join here


@dataclass(frozen=True)
class Learner:
    """A ranker as it learns from few labels and from all, to be made ready for a pool."""

    few: Ranker
    full: Ranker
    hands_over: bool = False

    def in_pool(self, pool: Dataset) -> PoolLearner:
        return HandingOver(self.few, pool) if self.hands_over else PoolLearner(self.few, pool)


class HandingOver(PoolLearner):
    """Learns as `learn_from_today` does: another learner takes over where it ranks held-out queries better."""

    def fit(self, rows: Array, grades: ArrayLike) -> Ranker:
        if len(rows) < min(HAND_OVER.values()):  # cross-validation would change nothing
            return super().fit(rows, grades)
        order = np.argsort(rows)  # as they lie in the pool: the folds that decide follow it
        rows, grades = rows[order], np.asarray(grades)[order]
        learner = PoolLearner(self.ranker, self.pool)
        held_out = held_out_scores(learner, rows, grades)
        if held_out is not None:
            learner = hand_over(learner, rows, grades, held_out)[0]
        return learner.fit(rows, grades)


def starts_from_today(ranker: Ranker) -> bool:
    """Tell whether a ranker has today's ranking to start from, and so needs no labels to rank."""
    return "today" in ranker.get_params(deep=False)


def make_learners(rankers: Sequence[str] | Mapping[str, Ranker], today: str | None = None) -> dict[str, Learner]:
    """Return learners by name.

    >>> [*make_learners(["qi", "from-today"], today="bm25")]
    ['QI', 'from-today']
    """
    if isinstance(rankers, Mapping):
        return {name: Learner(ranker, ranker) for name, ranker in rankers.items()}
    made = {}
    for name in rankers:
        if name.lower() == FROM_TODAY:
            anchored = Anchored()
            made[FROM_TODAY] = Learner(anchored, anchored, hands_over=True)
        else:
            made[method_named(name).name] = Learner(few_label_ranker(name), full_data_ranker(name))
    for name, learner in made.items():
        for ranker in (learner.few, learner.full):
            if starts_from_today(ranker):
                if today is None:
                    raise DataError(
                        f"{name} starts from today's ranking: say which feature it is (--today, in Python today='bm25')"
                    )
                ranker.set_params(today=today)
    return made


def took_over(learner: PoolLearner, fitted: Ranker) -> str | None:
    """Return the class of what took over from a learner, None when nothing did."""
    return None if type(fitted) is type(learner.ranker) else type(fitted).__name__
