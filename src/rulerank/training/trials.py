"""The one machine that tries settings and keeps the best: walk a grid, rank queries that were held out, compare.

`tuning.py` holds out parts of the data in turn, `validating.py` a validation set; both hand their fits to
`try_settings`, which scores them, chooses the stage of rankers that learn in steps, and makes the table of trials.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.evaluation import Measure, Result, evaluate
from rulerank.rankers.foreign import predict_ranker


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
    """How one setting did on queries it was not trained on."""

    params: dict[str, Any]
    mean: float  # over all queries
    error: float  # standard error of the mean
    behind: float  # mean difference to the best setting
    behind_error: float  # standard error of that: much smaller, because both saw the same queries
    folds: tuple[float, ...]  # mean over the queries of each part; a validation set is one part
    stage: int | None = None  # the best number of steps, for rankers that learn in steps

    @property
    def chosen(self) -> dict[str, Any]:
        """All that was chosen: the setting, and the number of steps where there was one to choose.

        >>> Trial({"l2": 1.0}, 0.5, 0.1, 0.0, 0.0, (0.5,), stage=7).chosen
        {'l2': 1.0, 'rounds': 7}
        """
        return self.params if self.stage is None else self.params | {"rounds": self.stage}


@dataclass(frozen=True, eq=False, slots=True)
class Fit:
    """A setting fitted to the queries that are not in one part of the held-out rows."""

    setting: int  # its place among the settings
    part: int
    ranker: Any
    X: Any  # the part's rows as the ranker takes them: a Dataset or an array
    seconds: float = math.nan  # of one core


@dataclass(frozen=True, eq=False, slots=True)
class Tried:
    """All trials in the order of the settings, which of them is best, and, where there is one part, its fit."""

    table: tuple[Trial, ...]
    best: int  # of equals the first
    kept: tuple[Fit, Array] | None  # its ranker at the best stage, and the scores of the part's rows


@dataclass(frozen=True, slots=True)
class Scoring:
    """What settings are compared by."""

    measure: str | Measure = "MAP"
    convention: str = "standard"
    ties: str | None = None

    def __call__(self, data: Dataset, scores: Array) -> Result:
        return evaluate(
            data, scores, measures=self.measure, convention=self.convention, ties=self.ties, any_grades=True
        )

    def mean(self, data: Dataset, scores: Array) -> float:
        """Return the mean over the queries.

        >>> Scoring("P@1").mean(Dataset([[1.0], [2.0]], y=[1, 0], qid=["q", "q"]), np.array([0.5, 0.1]))
        1.0
        """
        return float(self(data, scores).values[0].mean())


def settings_of(grid: Mapping[str, Sequence[Any]], ranker: Any) -> list[dict[str, Any]]:
    """Return all settings of a grid, whose parameters the ranker must have; the empty grid has one: nothing changed.

    >>> from rulerank.rankers.linear.query_intercepts import QueryIntercepts
    >>> settings_of({"l2": [1, 10]}, QueryIntercepts()), settings_of({}, QueryIntercepts())
    ([{'l2': 1}, {'l2': 10}], [{}])
    """
    known = ranker.get_params() if grid else {}
    for name, values in grid.items():
        if name not in known:
            raise DataError(f"{type(ranker).__name__} has no parameter {name!r}; it has {', '.join(known)}")
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or not len(values):
            raise DataError(f"expected a list of values to try for {name!r}: got {values!r}")
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def try_settings(
    settings: Sequence[dict[str, Any]],
    fits: Iterable[Fit],
    tested: Dataset,
    parts: Sequence[Array],
    scoring: Scoring,
) -> Tried:
    """Score every fit on the rows of `tested` in its part, and return the trials and the best fit.

    Steps are chosen where there is one part: what is chosen on one of several is not what the others would choose.
    """
    query, ids = query_index(tested.qid)
    tested = Dataset(np.empty((len(tested), 0)), tested.y, query, tested.docid, base=tested.base)
    held_out = [tested[rows] for rows in parts]
    values = np.full((len(settings), ids.size), math.nan)
    stages: list[int | None] = [None] * len(settings)
    kept: tuple[float, Fit, Array] | None = None
    for fit in fits:
        part = held_out[fit.part]
        if len(parts) == 1:
            ranker, stages[fit.setting] = best_stage(fit.ranker, fit.X, part, scoring)
            fit = replace(fit, ranker=ranker)
        scores = predict_ranker(fit.ranker, fit.X, None if isinstance(fit.X, Dataset) else part.qid)
        result = scoring(part, scores)
        values[fit.setting, result.queries] = result.values[0]
        mean = float(result.values[0].mean())
        if len(parts) == 1 and (kept is None or mean > kept[0]):
            kept = mean, fit, scores
    means = [float(value.mean()) for value in values]
    best = means.index(max(means))
    tested_in = [np.unique(query[rows]) for rows in parts]
    table = tuple(
        Trial(
            setting,
            mean,
            _error(value),
            float((values[best] - value).mean()),
            _error(values[best] - value),
            tuple(float(value[queries].mean()) for queries in tested_in),
            stage,
        )
        for setting, mean, value, stage in zip(settings, means, values, stages, strict=True)
    )
    return Tried(table, best, kept and kept[1:])


def best_stage(ranker: Any, X: Any, part: Dataset, scoring: Scoring) -> tuple[Any, int | None]:
    """Return a ranker that learns in steps as it was when it ranked these rows best, and that step; others as is."""
    if not isinstance(ranker, Staged):
        return ranker, None
    staged = ranker.staged_predict(X) if isinstance(X, Dataset) else ranker.staged_predict(X, qid=part.qid)
    by_stage = [scoring.mean(part, scores) for scores in staged]
    if not by_stage:  # nothing was learned
        return ranker, None
    stage = by_stage.index(max(by_stage)) + 1
    return ranker.at_stage(stage), stage


def _error(values: Array) -> float:
    return float(values.std(ddof=1) / math.sqrt(values.size)) if values.size > 1 else math.nan
