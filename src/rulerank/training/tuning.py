"""Choose a ranker's parameters by cross-validation by query, and show the table they were chosen from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone

from rulerank.baselines.rank_svm import C_GRID
from rulerank.core.progress import progress
from rulerank.dataset import UNLABELLED, Array, Dataset, query_index
from rulerank.discretize import Discretizer
from rulerank.errors import DataError
from rulerank.evaluation import Measure, evaluate
from rulerank.normalize import normalize_by_query
from rulerank.rankers.base import Ranker
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import L2_GRID
from rulerank.render.tables import plain_table
from rulerank.rules.engine import Engine
from rulerank.rules.tables import Counts, rows_needed
from rulerank.rules.votes import votes_named
from rulerank.splitting import QueryKFold

GRID: dict[str, tuple[Any, ...]] = {  # simpler values first: of two settings that do equally well the earlier wins
    "max_size": (1, 2),
    "votes": ("evidence", "residual", "mean"),
    "discretizer": ("mdlp", "equal_width", "equal_frequency"),
    "normalize": (None, "minmax", "rank", "zscore"),
    "min_support": (0.0, 0.001),
    "drop_weakest": (0.0, 0.25),
    "stability": ("agreement", "signs"),
    "n_trusted": (10, 25),
    "shrink": (20.0, 100.0),
    "l2": L2_GRID,
    "C": C_GRID,
    "n_trees": (50, 100, 300),
    "n_leaves": (7, 31),
}
SHOWN = 10  # settings in print


@dataclass(frozen=True)
class Trial:
    """How one setting did on queries it was not trained on."""

    params: dict[str, Any]
    mean: float  # over all queries
    error: float  # standard error of the mean
    behind: float  # mean difference to the best setting
    behind_error: float  # standard error of that: much smaller, because both saw the same queries
    folds: tuple[float, ...]  # mean over the queries of each part


@dataclass(frozen=True, repr=False)
class Tuned:
    """The settings that were tried, in the order of the grid, and the best of them fitted to all rows."""

    measure: str
    table: tuple[Trial, ...]
    best: dict[str, Any]
    ranker: Ranker

    @property
    def varied(self) -> list[str]:
        """The parameters in which the settings differ."""
        return [name for name in self.best if len({repr(trial.params[name]) for trial in self.table}) > 1]

    def rows(self, n: int | None = None) -> tuple[list[str], list[list[str]]]:
        """Return header and rows of the n best settings as text."""
        header = [*self.varied, self.measure, "error", "behind", "error"]
        header += [f"part {i + 1}" for i in range(len(self.table[0].folds))]
        rows = []
        for trial in sorted(self.table, key=lambda trial: -trial.mean)[:n]:
            figures = [trial.mean, trial.error, trial.behind, trial.behind_error, *trial.folds]
            rows.append([str(trial.params[name]) for name in self.varied] + [f"{figure:.4f}" for figure in figures])
        return header, rows

    def __repr__(self) -> str:
        header, rows = self.rows(SHOWN)
        return f"{plain_table(header, rows, len(self.varied))}\nthe best {len(rows)} of {len(self.table)} settings"


def tune(
    data: Dataset,
    ranker: Ranker | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    measure: str | Measure = "MAP",
    n_splits: int = 5,
    seed: int = 0,
) -> Tuned:
    """Try every setting of the grid by cross-validation by query inside data, and fit the best one to all of it.

    grid: values to try by parameter, by default those of `GRID` that the ranker has; what it does not name stays as
    ranker has it.

    >>> from rulerank.worlds import make_world
    >>> tuned = tune(make_world(n_queries=20), grid={"votes": ["evidence", "mean"], "max_size": [1, 2]}, n_splits=3)
    >>> len(tuned.table), sorted(tuned.best), type(tuned.ranker).__name__
    (4, ['max_size', 'votes'], 'GlobalRules')
    """
    if not isinstance(data, Dataset):
        raise DataError(
            f"expected a Dataset, such as rr.from_frame(frame) or rr.Dataset(X, y, qid): got {type(data).__name__}"
        )
    if (data.y == UNLABELLED).any():
        raise DataError("only labelled rows can be learned from: leave the others out, tune(data.labelled())")
    ranker = GlobalRules() if ranker is None else ranker
    settings = _settings(ranker, grid)
    query, ids = query_index(data.qid)
    label = str(Measure.parse(measure) if isinstance(measure, str) else measure)
    parts = list(QueryKFold(n_splits, seed=seed).split(data.X, qid=query))
    values = np.empty((len(settings), ids.size))
    with progress(len(settings) * len(parts), "tuning") as bar:
        for numbers, X in _normalized(ranker, settings, data.X, query):
            # queries stay whole in every part, so that normalising them once is the same as in every fit
            tried = [clone(ranker).set_params(**settings[number]).set_params(normalize=None) for number in numbers]
            for train, test in parts:
                for place, fitted in fit_each(tried, X[train], data.y[train], query[train]):
                    result = evaluate(data.y[test], fitted.predict(X[test]), query[test], label)
                    values[numbers[place], result.queries] = result.values[0]
                    bar.advance()
    tested = [np.unique(query[test]) for _, test in parts]
    best = int(values.mean(axis=1).argmax())
    table = tuple(
        Trial(
            setting,
            float(value.mean()),
            _error(value),
            float((values[best] - value).mean()),
            _error(values[best] - value),
            tuple(float(value[queries].mean()) for queries in tested),
        )
        for setting, value in zip(settings, values, strict=True)
    )
    return Tuned(label, table, settings[best], clone(ranker).set_params(**settings[best]).fit(data))


def fit_each(rankers: Sequence[Ranker], X: Array, y: Array, qid: Array) -> Iterator[tuple[int, Ranker]]:
    """Yield the place of each ranker and the ranker fitted; rankers that count the same things share the counts."""
    groups: dict[str, list[int]] = {}
    for place, ranker in enumerate(rankers):
        groups.setdefault(_what_is_counted(ranker) or str(place), []).append(place)
    for places in groups.values():
        counted = None
        for place in places:
            ranker = clone(rankers[place])
            if len(places) > 1 and isinstance(ranker, GlobalRules):
                if counted is None:  # evidence needs all that is ever counted
                    share = ranker.drop_share
                    everything = {"votes": "evidence", "metric": "confidence", "drop_weakest": share}
                    counted = clone(ranker).set_params(**everything).fit(X, y, qid=qid)
                if counted.engine_.counts is not None:
                    yield place, _vote_again(counted, counted.engine_.counts, ranker, len(y))
                    continue
            yield place, ranker.fit(X, y, qid=qid)


def _what_is_counted(ranker: Ranker) -> str | None:
    """Return the same text for rankers that count the same, None for one that must count for itself."""
    if type(ranker) is not GlobalRules or not isinstance(ranker.discretizer, str | Discretizer | None):
        return None  # the text of somebody else's discretiser need not say how it differs from another
    params = ranker.get_params(deep=False) | {"drop_weakest": ranker.drop_share}
    return repr([value for name, value in params.items() if name not in ("votes", "metric", "min_support")])


def _vote_again(counted: GlobalRules, counts: Counts, ranker: GlobalRules, n_rows: int) -> GlobalRules:
    """Return `ranker` as `fit` would, from what another one has counted."""
    ranker.check_parameters()
    fitted = copy(counted).set_params(**ranker.get_params(deep=False))
    learned = counted.engine_
    training = replace(learned.training, min_rows=int(rows_needed(ranker.min_support, n_rows)))
    scheme = votes_named(ranker.votes, ranker.metric)
    fitted.engine_ = Engine.from_counts(learned.layout, scheme, training, counts, n_jobs=ranker.n_jobs)
    return fitted


def _settings(ranker: Ranker, grid: Mapping[str, Sequence[Any]] | None) -> list[dict[str, Any]]:
    known = ranker.get_params()
    chosen = {name: values for name, values in GRID.items() if name in known} if grid is None else dict(grid)
    for name, values in chosen.items():
        if name not in known:
            raise DataError(f"{type(ranker).__name__} has no parameter {name!r}; it has {', '.join(known)}")
        if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
            raise DataError(f"expected a list of values to try for {name!r}: got {values!r}")
    return [dict(zip(chosen, values, strict=True)) for values in product(*chosen.values())]


def _normalized(
    ranker: Ranker, settings: list[dict[str, Any]], X: Array, query: Array
) -> Iterator[tuple[list[int], Array]]:
    """Yield the settings that normalise alike, by number, with the features normalised so."""
    groups: dict[str | None, list[int]] = {}
    for number, setting in enumerate(settings):
        groups.setdefault(setting.get("normalize", ranker.normalize), []).append(number)
    for how, numbers in groups.items():
        yield numbers, X if how is None else normalize_by_query(X, query, how, ranker.n_jobs)


def _error(values: Array) -> float:
    return float(values.std(ddof=1) / math.sqrt(values.size)) if values.size > 1 else math.nan
