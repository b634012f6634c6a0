"""Choose a baseline's parameters on a validation set, as the LETOR pages did: fit on train, compare on validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol, Self, runtime_checkable

from sklearn.base import clone

from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.evaluation import Measure, evaluate
from rulerank.rankers.base import Ranker


@runtime_checkable
class Staged(Protocol):
    """A ranker that learns in steps: one fit gives it after every number of them."""

    def staged_predict(self, X: Any, qid: Any = None) -> Iterator[Array]:
        """Yield the scores after each step."""
        ...

    def at_stage(self, n: int) -> Self:
        """Return the ranker as it was after n steps."""
        ...


@dataclass(frozen=True)
class Trial:
    """How one setting did on the validation set."""

    params: dict[str, Any]
    stage: int | None  # the best number of steps, for rankers that learn in steps
    value: float


@dataclass(frozen=True)
class Validated:
    """The best ranker, fitted to the training set, and all that was tried."""

    ranker: Ranker
    measure: str
    best: Trial
    table: tuple[Trial, ...]


def fit_tuned(
    ranker: Ranker,
    train: Dataset,
    vali: Dataset,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    measure: str | Measure = "MAP",
    convention: str = "standard",
    ties: str | None = None,
) -> Validated:
    """Fit every setting of the grid to train and return the one that ranks vali best; of equals the first.

    A ranker with `staged_predict` is tried after every number of steps as well, which costs no further fit.

    >>> from rulerank.baselines.rank_boost import RankBoost
    >>> from rulerank.worlds import make_world
    >>> train, vali = make_world(n_queries=20, seed=1), make_world(n_queries=20, seed=2)
    >>> tuned = fit_tuned(RankBoost(n_rounds=30), train, vali, {"normalize": [None, "minmax"]})
    >>> tuned.ranker.n_rounds == tuned.best.stage, len(tuned.table)
    (True, 2)
    """

    def value_of(scores: Array) -> float:
        result = evaluate(vali.y, scores, vali.qid, measure, convention=convention, ties=ties)
        return float(result.values[0].mean())

    grid = grid or {}
    known = ranker.get_params()
    for name in grid:
        if name not in known:
            raise DataError(f"{type(ranker).__name__} has no parameter {name!r}; it has {', '.join(known)}")
    found: list[tuple[Trial, Ranker]] = []
    for params in settings_of(grid):
        fitted, stage = best_stage(clone(ranker).set_params(**params).fit(train), vali, value_of)
        found.append((Trial(params, stage, value_of(fitted.predict(vali))), fitted))
    best, fitted = max(found, key=lambda one: one[0].value)  # the first of equals
    return Validated(fitted, str(measure), best, tuple(trial for trial, _ in found))


def settings_of(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return all settings of a grid; the empty grid has one, which changes nothing.

    >>> settings_of({"l2": [1, 10]}), settings_of({})
    ([{'l2': 1}, {'l2': 10}], [{}])
    """
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def best_stage(ranker: Any, vali: Dataset, value_of: Callable[[Array], float]) -> tuple[Any, int | None]:
    """Return a ranker that learns in steps as it was when it ranked vali best, and that step; any other as it is."""
    if not isinstance(ranker, Staged):
        return ranker, None
    by_stage = [value_of(scores) for scores in ranker.staged_predict(vali)]
    if not by_stage:  # nothing was learned
        return ranker, None
    stage = by_stage.index(max(by_stage)) + 1
    return ranker.at_stage(stage), stage
