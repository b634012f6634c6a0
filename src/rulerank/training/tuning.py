"""Choose a ranker's parameters by cross-validation by query, and show the table they were chosen from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rulerank.core.progress import Bar, progress
from rulerank.dataset import UNLABELLED, Array, Dataset, check_contrast, query_index
from rulerank.errors import DataError
from rulerank.evaluation import Measure
from rulerank.normalize import NORMALIZATIONS, normalize_by_query
from rulerank.rankers.base import Ranker
from rulerank.rankers.foreign import fit_ranker, fresh
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import L2_GRID
from rulerank.rankers.shared_counts import fit_sharing_counts
from rulerank.render.notebook import ShownTable, table_of
from rulerank.splitting import QueryKFold
from rulerank.training.trials import Fit, Scoring, Trial, settings_of, try_settings

GRID: dict[str, tuple[Any, ...]] = {  # simpler values first: of two settings that do equally well the earlier wins
    "max_size": (1, 2),
    "votes": ("evidence", "mean"),
    "discretizer": ("mdlp", "equal_width", "equal_frequency"),
    "normalize": (None, "minmax", "rank", "zscore"),
    "min_support": (0.0, 0.001),
    "drop_weakest": (0.0, 0.25),
    "n_trusted": (10, 25),
    "shrink": (20.0, 100.0),
    "l2": L2_GRID,
}
SHOWN = 10  # settings in print


@dataclass(frozen=True, repr=False)
class Tuned:
    """The settings that were tried, in the order of the grid, and the best of them fitted to all rows."""

    measure: str
    table: tuple[Trial, ...]
    best: dict[str, Any]
    ranker: Any

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

    def beside(self, defaults: Mapping[str, Any], n: int = SHOWN) -> tuple[list[str], list[list[str]], str]:
        """Return header and rows of the n best settings and the defaults, and a line that says how many there are."""
        ranked = sorted(self.table, key=lambda trial: -trial.mean)
        usual = [trial for trial in ranked if all(defaults[name] == value for name, value in trial.params.items())]
        best = ranked[:n]
        others = [trial for trial in usual if trial not in best]
        rows = [
            [
                *("none" if trial.params[name] is None else str(trial.params[name]) for name in self.varied),
                f"{trial.mean:.4f}",
                f"{trial.behind:.4f} ± {trial.behind_error:.4f}",
                "defaults" if trial in usual else "",
            ]
            for trial in best + others
        ]
        more = " and the defaults" if others else ""
        return (
            [*self.varied, self.measure, "behind", ""],
            rows,
            f"the best {len(best)} of {len(self.table)} settings{more}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the measure and all trials as plain values."""
        return {
            "measure": self.measure,
            "table": [
                {name: value for name, value in vars(trial).items() if value is not None} for trial in self.table
            ],
        }

    def __repr__(self) -> str:
        return repr(self._shown())

    def _repr_html_(self) -> str:
        return self._shown()._repr_html_()

    def _shown(self) -> ShownTable:
        header, rows = self.rows(SHOWN)
        note = f"the best {len(rows)} of {len(self.table)} settings"
        return ShownTable(table_of(header, rows, len(self.varied), note))


def tune(
    data: Dataset,
    ranker: Any = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    measure: str | Measure = "MAP",
    *,
    n_splits: int = 5,
    seed: int = 0,
) -> Tuned:
    """Try every setting of the grid by cross-validation by query inside data, and fit the best one to all of it.

    ranker: one of ours, RE-GR by default, or any other with fit, predict and scikit-learn's parameters.
    grid: values to try by parameter, by default those of `GRID` that the ranker has; what it does not name stays as
    ranker has it.
    measure: what settings are compared by. It stands in the fourth place, as in `evaluate` and `compare`.

    >>> from rulerank.worlds import make_world
    >>> tuned = tune(make_world(n_queries=20), grid={"votes": ["evidence", "mean"], "max_size": [1, 2]}, n_splits=3)
    >>> len(tuned.table), sorted(tuned.best), type(tuned.ranker).__name__
    (4, ['max_size', 'votes'], 'GlobalRules')
    """
    if grid is not None and not isinstance(grid, Mapping):
        raise DataError(
            f"expected a grid, such as {{'max_size': [1, 2]}}: got {grid!r:.60}; a measure goes by name, measure='MAP'"
        )
    if not isinstance(data, Dataset):
        raise DataError(
            f"expected a Dataset, such as rr.from_frame(frame) or rr.Dataset(X, y, qid): got {type(data).__name__}"
        )
    if (data.y == UNLABELLED).any():
        raise DataError("only labelled rows can be learned from: leave the others out, tune(data.labelled())")
    check_contrast(data.y, query_index(data.qid)[0])
    ranker = GlobalRules() if ranker is None else ranker
    if not hasattr(ranker, "fit"):
        raise DataError(f"expected a ranker to tune, such as rr.GlobalRules(): got {ranker!r:.60}")
    if grid is None:
        known = ranker.get_params()
        grid = {name: values for name, values in GRID.items() if name in known}
    settings = settings_of(grid, ranker)
    query = query_index(data.qid)[0]
    label = str(Measure.parse(measure) if isinstance(measure, str) else measure)
    parts = list(QueryKFold(n_splits, seed=seed).split(data.X, qid=query))
    with progress(len(settings) * len(parts), "tuning") as bar:
        fits = _fits(ranker, settings, data, query, parts, bar)
        tried = try_settings(settings, fits, data, [test for _, test in parts], Scoring(label))
    best = settings[tried.best]
    return Tuned(label, tried.table, best, fit_ranker(fresh(ranker).set_params(**best), data))


def _fits(
    ranker: Any,
    settings: list[dict[str, Any]],
    data: Dataset,
    query: Array,
    parts: list[tuple[Array, Array]],
    bar: Bar,
) -> Iterator[Fit]:
    """Fit every setting without each part in turn; what several settings have in common is done once."""
    for numbers, X in _normalized(ranker, settings, data.X, query):
        # queries stay whole in every part, so that normalising them once is the same as in every fit
        tried = [fresh(ranker).set_params(**settings[number]) for number in numbers]
        if _normalizes(ranker) and tried[0].normalize in NORMALIZATIONS:  # a ranker that chooses one does so itself
            tried = [one.set_params(normalize=None) for one in tried]
        for place, (train, test) in enumerate(parts):
            for number, fitted in fit_sharing_counts(tried, X[train], data.y[train], query[train]):
                yield Fit(numbers[number], place, fitted, X[test])
                bar.advance()


def _normalizes(ranker: Any) -> bool:
    return isinstance(ranker, Ranker) and "normalize" in ranker.get_params(deep=False)


def _normalized(
    ranker: Any, settings: list[dict[str, Any]], X: Array, query: Array
) -> Iterator[tuple[list[int], Array]]:
    """Yield the settings that normalise alike, by number, with the features normalised so."""
    if not _normalizes(ranker):
        yield list(range(len(settings))), X
        return
    groups: dict[str | None, list[int]] = {}
    for number, setting in enumerate(settings):
        groups.setdefault(setting.get("normalize", ranker.normalize), []).append(number)
    for how, numbers in groups.items():
        yield numbers, normalize_by_query(X, query, how, ranker.n_jobs) if how in NORMALIZATIONS else X
