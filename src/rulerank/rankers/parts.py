"""Training data that is looked at part by part, and the rankers that can learn so.

A part holds whole queries. A ranker says what to make of a part and how the results add up; who holds the parts, one
array in memory, files on a disk or machines of a cluster, runs it (`rulerank.scale`). One code learns from all of them,
and as the sums are of whole numbers, or rounded to them once per query, all of them learn the same model.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from rulerank.dataset import Array
from rulerank.errors import TooLargeError
from rulerank.rankers.base import Ranker
from rulerank.rankers.checked import Labelled
from rulerank.rankers.chunks import Chunks, kept_chunks


@dataclass(frozen=True)
class Facts:
    """What is known of all training rows together before the first look at their features."""

    feature_names: tuple[str, ...]
    n_rows: int
    n_queries: int
    n_grades: int
    has_names: bool = True
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class TrainingParts(Protocol):
    """Parts of training data, each of them a value: `Labelled` rows, or what `mapped` made of them."""

    @property
    def facts(self) -> Facts:
        """What is known of all rows together."""
        ...

    def mapped(self, change: Callable[[Any], Any]) -> TrainingParts:
        """Return the parts as `change` makes each of them; they may be made anew whenever they are looked at."""
        ...

    def total(self, look: Callable[[Any], Any]) -> Any:
        """Return the sum of look(part) over all parts."""
        ...

    def fitted(self, discretizer: Any) -> Any:
        """Return a discretiser that has found the cuts of all columns of `Labelled` rows."""
        ...

    def by_column(self, find: Callable[[Sequence[str], Array], list[Any]]) -> list[Any]:
        """Return find(names, X) of all columns, some at a time, each of them whole: one value for each."""
        ...

    def chunked(self, n_rows: int) -> Chunks:
        """Return `Labelled` rows cut anew, at places that do not depend on how the data came (`chunks.py`)."""
        ...

    def whole(self, why: str) -> Any:
        """Return the one value that holds everything, or raise a TooLargeError that says why it is needed."""
        ...


class OnePart:
    """Data in memory: one part, made once.

    >>> OnePart(3, Facts(("f1",), 1, 1, 2)).mapped(lambda part: part + 1).total(lambda part: 10 * part)
    40
    """

    def __init__(self, value: Any, facts: Facts) -> None:
        self.value, self._facts = value, facts

    @property
    def facts(self) -> Facts:
        return self._facts

    @classmethod
    def of(cls, data: Labelled, ranker: Ranker) -> OnePart:
        """Return the checked training data of a ranker."""
        n_grades = int(data.grades.max()) + 1
        facts = Facts(
            ranker.feature_names_, data.X.shape[0], len(data.query_ids), n_grades, ranker.has_names_, data.categories
        )
        return cls(data, facts)

    def mapped(self, change: Callable[[Any], Any]) -> OnePart:
        return OnePart(change(self.value), self._facts)

    def total(self, look: Callable[[Any], Any]) -> Any:
        return look(self.value)

    def fitted(self, discretizer: Any) -> Any:
        discretizer.fit(self.value.X, self.value.grades)
        return discretizer

    def by_column(self, find: Callable[[Sequence[str], Array], list[Any]]) -> list[Any]:
        return find(self._facts.feature_names, self.value.X)

    def chunked(self, n_rows: int) -> Chunks:
        return kept_chunks(self.value, n_rows)

    def whole(self, why: str) -> Any:
        return self.value


class LearnsFromParts(Ranker):
    """Base of the rankers that need no more than one part of the data in memory at a time."""

    @abstractmethod
    def _learn_parts(self, parts: TrainingParts) -> None:
        """Learn from checked training data in parts."""

    def _learn(self, data: Labelled) -> None:
        self._learn_parts(OnePart.of(data, self))

    def fit_from(self, parts: TrainingParts) -> Self:
        """Learn from parts of checked data, as `fit` does from data in memory; `rulerank.fit_parts` makes them."""
        facts = parts.facts
        self.check_parameters()
        self.n_features_in_ = len(facts.feature_names)
        self.feature_names_, self.has_names_ = facts.feature_names, facts.has_names
        self.categories_ = dict(facts.categories)
        self.record_params()
        try:
            self._learn_parts(parts)
        except BaseException:
            del self.params_  # half learned is not fitted
            raise
        self._sample = None
        return self


def too_large(why: str) -> TooLargeError:
    """Return the error of parts that are asked for everything at once."""
    return TooLargeError(f"{why}, and this data is looked at part by part")
