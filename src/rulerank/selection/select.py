"""Select a ranker: which method, which settings, by how well each ranks queries that it was not trained on.

`select` compares methods, or the settings of a grid, by cross-validation by query or on a validation set. With few
labels it starts from the baseline ranking (`few_labels.py`); with clicks it keeps the baseline until they support a
change (`from_clicks.py`). The table of the returned `Selection` has all candidates.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice, product
from typing import Any

import numpy as np

from rulerank._util.estimator import clone
from rulerank._util.loops import Bar, progress
from rulerank._util.words import counted
from rulerank.dataset import UNLABELLED, Array, Dataset, check_contrast, query_index
from rulerank.errors import DataError
from rulerank.evaluation import Comparison, Measure, Result, evaluate
from rulerank.export.form import why_not_exportable
from rulerank.methods import method_name
from rulerank.normalize import NORMALIZATIONS, count_missing, normalize_by_query
from rulerank.rankers.base import Ranker
from rulerank.rankers.fitted.fitted_rules import FEW_LABELS, FEW_QUERIES
from rulerank.rankers.foreign import QueryKFold, fit_ranker, fresh_for_part, predict_ranker
from rulerank.rankers.linear.query_intercepts import L2_GRID, QueryIntercepts
from rulerank.rankers.rows import query_numbers, warn_of_torn_queries
from rulerank.render.html import ShownTable, table_of

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
N_SPLITS = 5
ENOUGH_QUERIES = 1_000  # held out: the difference of two methods then has a standard error of some .003
SHOWN = 10  # settings in print
UNTUNED_L2 = 100.0  # of intercepts whose settings are not tuned; with 0, the paper's form, held-out queries rank worse


@dataclass(frozen=True)
class Trial:
    """Results of one setting or method on held-out queries."""

    params: dict[str, Any]
    mean: float = math.nan  # over all queries
    error: float = math.nan  # standard error of the mean
    behind: float = 0.0  # mean difference to the best setting
    behind_error: float = math.nan  # its standard error, paired by query: much smaller than that of the means
    folds: tuple[float, ...] = ()  # mean over the queries of each part; a validation set is one part
    stage: int | None = None  # the best number of steps, for rankers that learn in steps
    method: str | None = None  # where methods were tried
    about: str | None = None  # the method in words

    @property
    def distance(self) -> str:
        """The difference to the best, as text."""
        return f"{'lower' if self.behind >= 0 else 'higher'} by {abs(self.behind):.4f} ± {self.behind_error:.4f}"

    @property
    def chosen(self) -> dict[str, Any]:
        """All that was chosen: the setting, and the number of steps where there was one to choose.

        >>> Trial({"l2": 1.0}, 0.5, 0.1, 0.0, 0.0, (0.5,), stage=7).chosen
        {'l2': 1.0, 'rounds': 7}
        """
        return self.params if self.stage is None else self.params | {"rounds": self.stage}

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as plain values."""
        found = asdict(self) | {"params": self.params}
        return {name: value for name, value in found.items() if value is not None and value == value}


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The selected ranker, fitted; the candidates, the best first; and the reason, in one or more lines."""

    ranker: Any
    table: tuple[Trial, ...]
    reason: str
    measure: str = "MAP"
    n_queries: int = 0  # held-out queries; 0 if nothing was compared
    comparison: Comparison | None = None  # with the baseline ranking, if there is one
    learned: Any = None  # the new model, also if the baseline ranking was kept
    scores: Array | None = None  # of the validation set by the ranker
    fit_seconds: float = math.nan  # of one core, for the ranker alone
    facts: Mapping[str, Any] = field(default_factory=dict)  # what else is known, as plain values

    @property
    def method(self) -> str:
        """The name of the ranker's method."""
        return method_name(self.ranker)

    @property
    def best(self) -> dict[str, Any]:
        """The settings that were chosen."""
        return self.table[0].params

    def lines(self) -> list[str]:
        """Return the reason, one sentence per line."""
        return self.reason.splitlines()

    def to_dict(self) -> dict[str, Any]:
        """Return what was selected from what as plain values."""
        tried = [trial.to_dict() for trial in self.table]
        found = {"method": self.method, "reason": self.reason, "measure": self.measure, "queries": self.n_queries}
        return found | {"table": tried} | dict(self.facts)

    def __repr__(self) -> str:
        return repr(self._shown()) if self.table else "\n".join([repr(self.ranker), self.reason])

    def _repr_html_(self) -> str:
        return self._shown()._repr_html_()

    def _shown(self) -> ShownTable:
        if not self.table:
            return ShownTable(table_of(["selected"], [[repr(self.ranker)]], note=self.reason))
        of_methods = self.table[0].about is not None
        names = [] if of_methods else list({name: None for trial in self.table for name in trial.params})
        names = [name for name in names if len({repr(trial.params.get(name)) for trial in self.table}) > 1]
        rows = [
            [
                *([str(trial.about)] if of_methods else []),
                *("none" if trial.params[name] is None else str(trial.params[name]) for name in names),
                f"{trial.mean:.4f}",
                f"{trial.behind:.4f} ± {trial.behind_error:.4f}",
            ]
            for trial in self.table[:SHOWN]
        ]
        header = [*(["method"] if of_methods else []), *names, self.measure, "behind"]
        what = f"the best {len(rows)} of {len(self.table)} {'methods' if of_methods else 'settings'}"
        return ShownTable(table_of(header, rows, len(header) - 2, f"{what}\n{self.reason}"))


def select(
    data: Dataset,
    ranker: Any = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    measure: str | Measure = "MAP",
    *,
    vali: Dataset | None = None,
    baseline: Any = None,
    clicks: Dataset | None = None,
    propensities: Any = None,
    exportable: bool = False,
    n_splits: int = N_SPLITS,
    seed: int = 0,
    convention: str = "standard",
    ties: str | None = None,
) -> Selection:
    """Compare rankers or parameters on held-out queries, and fit the best one to all rows.

    Without a ranker, selects the method: QueryIntercepts or FittedRules, on raw values or z-scores by query
    (QueryIntercepts on raw values if there are fewer than 500 labels or 15 queries). Models on raw values can be
    exported, so z-scores are used only if they are better by more than one standard error on held-out queries. With a
    ranker, compares all combinations of the grid.

    Parameters
    ----------
    data: documents with grades. If some have grade -1, training starts from `baseline` (few labels).
    ranker: a ranker with fit, predict, get_params and set_params; or a dict of rankers by name, to select one.
    grid: values by parameter, as in GridSearchCV; by default those of `GRID` that the ranker has.
    measure: the measure to compare by.
    vali: validation queries to compare on instead of cross-validation; the ranker is then fitted to data alone.
    baseline: the baseline ranking, a feature or a fitted ranker: the ranker changes it only if labels or clicks
        support the change, and the reason states whether it is better.
    clicks: a data set with clicks (`read_clicks(log).join(pool)`), to train on before the labels of data. If data
        itself has clicks, they are used for training.
    propensities: the examination probability of each position, {1: 1.0, 2: 0.6, ...}, if known.
    exportable: try only models that `export_model` can write for a search engine; other choices are errors.
    n_splits: number of folds.
    convention, ties: as in `evaluate`.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=20)
    >>> found = rr.select(data, rr.GlobalRules(), {"votes": ["evidence", "mean"], "max_size": [1, 2]}, n_splits=3)
    >>> len(found.table), sorted(found.best), type(found.ranker).__name__
    (4, ['max_size', 'votes'], 'GlobalRules')
    >>> print(rr.select(data[:300]).reason)
    QueryIntercepts: MAP ... on 10 held-out queries; 300 labels of 10 queries are too few to choose by \
cross-validation (from 500 of 15)
    scale: raw values
    """
    _check_data(data, grid)
    scoring = Scoring(str(Measure.parse(measure) if isinstance(measure, str) else measure), convention, ties)
    if clicks is not None or data.impressions is not None:
        from rulerank.selection.from_clicks import select_by_clicks, select_by_clicks_and_labels

        if clicks is None:
            found = select_by_clicks(data, ranker, propensities=propensities, baseline=baseline, seed=seed)
        else:
            found = select_by_clicks_and_labels(
                clicks, data, baseline=baseline, propensities=propensities, ranker=ranker, exportable=exportable
            )
    elif propensities is not None:
        raise DataError("propensities are for clicks, and the data has none")
    elif baseline is not None:
        from rulerank.selection.few_labels import select_from_baseline

        found = select_from_baseline(data, baseline, ranker=ranker)
    elif (data.y == UNLABELLED).any():
        raise DataError(
            "only labelled rows can be compared by: leave the others out, select(data.labelled()), or name the "
            "baseline ranking to start from, baseline="
        )
    elif ranker is None or isinstance(ranker, Mapping):
        if grid is not None or vali is not None:
            raise DataError(
                "a grid and a validation set select the settings of one ranker: name it, such as rr.GlobalRules()"
            )
        check_contrast(data.y, query_index(data.qid)[0])
        rankers = default_rankers() if ranker is None else ranker
        if exportable:
            tried, rankers = rankers, {name: one for name, one in rankers.items() if may_be_exported(one, data)}
            if tried and not rankers:
                raise DataError(f"none of the methods to choose from can be exported: {', '.join(tried)}")
        found = _select_method(data, rankers, scoring, seed)
    elif not hasattr(ranker, "fit"):
        raise DataError(f"expected a ranker to select settings for, such as rr.GlobalRules(): got {ranker!r:.60}")
    elif vali is not None:
        found = _select_on_vali(data, vali, ranker, grid or {}, scoring)
    else:
        check_contrast(data.y, query_index(data.qid)[0])
        if grid is None:
            grid = default_grid(ranker.get_params(), exportable=exportable)
        found = _select_settings(data, ranker, grid, scoring, n_splits, seed)
    if exportable:
        check_exportable(found.ranker)
    return found


def default_grid(names: Collection[str], *, exportable: bool = False) -> dict[str, tuple[Any, ...]]:
    """Return the values of `GRID` for parameters of these names; exportable: only where models stay so.

    >>> default_grid(["votes", "normalize", "l2", "seed"], exportable=True)
    {'l2': (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)}
    """
    left_out = ("normalize", "votes") if exportable else ()
    return {name: values for name, values in GRID.items() if name in names and name not in left_out}


def may_be_exported(ranker: Any, data: Dataset) -> bool:
    """Return whether an unfitted ranker can be exported once it is fitted to these rows.

    >>> rows = Dataset([[1.0], [np.nan]], [0, 1], ["q", "q"])
    >>> may_be_exported(QueryIntercepts(), rows), may_be_exported(QueryIntercepts(missing="mean"), rows)
    (True, False)
    """
    filled = getattr(ranker, "missing", None) == "mean" and bool(count_missing(data.X).any())
    return getattr(ranker, "normalize", None) is None and not filled


def check_exportable(ranker: Any) -> None:
    """Raise an error if a fitted ranker cannot be exported, with advice."""
    why = why_not_exportable(ranker)
    if why is None:
        return
    if getattr(ranker, "baseline_model_", None) is not None:
        instead = "name a feature, or a sum of features, as the baseline ranking"
    elif getattr(ranker, "n_missing_", 0) and ranker.normalize_ is None:
        instead = "put 0 in the place of missing values"
    else:
        instead = "leave out the method and its settings, and one is selected that can be"
    raise DataError(f"exportable: this {type(ranker).__name__} cannot be exported: {why}; {instead}")


def default_rankers() -> dict[str, Ranker]:
    """Return the methods to choose from, the simplest first: of equally good ones the first wins.

    >>> [*default_rankers()][0], default_rankers()["FittedRules"]
    ('QueryIntercepts', FittedRules())
    """
    from rulerank.rankers.fitted.fitted_rules import FittedRules

    return {
        "QueryIntercepts": QueryIntercepts(l2=UNTUNED_L2, missing="mean"),
        "FittedRules": FittedRules(),
        "QueryIntercepts on z-scores by query": QueryIntercepts(l2=UNTUNED_L2, normalize="zscore", missing="mean"),
        "FittedRules on z-scores by query": FittedRules(normalize="zscore"),
    }


def _check_data(data: Any, grid: Any) -> None:
    if grid is not None and not isinstance(grid, Mapping):
        raise DataError(
            f"expected a grid, such as {{'max_size': [1, 2]}}: got {grid!r:.60}; pass a measure by name, measure='MAP'"
        )
    if not isinstance(data, Dataset):
        raise DataError(
            f"expected a Dataset, such as rr.from_frame(frame) or rr.Dataset(X, y, qid): got {type(data).__name__}"
        )


def _select_method(data: Dataset, rankers: Mapping[str, Any], scoring: Scoring, seed: int) -> Selection:
    """Compare methods by cross-validation; stop after the fold with which 1,000 queries were held out."""
    if not rankers:
        raise DataError("expected at least one method to choose from: got none")
    query, ids = query_index(data.qid)
    label, all_scales = str(scoring.measure), {_scale(_changed(one)) for one in rankers.values()}
    why = ""
    if len(rankers) > 1 and (len(data) < FEW_LABELS or ids.size < FEW_QUERIES):
        labels = f"{counted(len(data), 'label')} of {counted(ids.size, 'query', 'queries')}"
        why = f"{labels} are too few to choose by cross-validation (from {FEW_LABELS} of {FEW_QUERIES})"
        rankers = dict(islice(rankers.items(), 1))
    elif len(rankers) == 1:
        why = "the only one to choose from"
    if why and ids.size < N_SPLITS:
        about, first = next(iter(rankers.items()))
        return Selection(fit_ranker(clone(first), data), (), f"{about}: {why}", label)
    n_parts = min(N_SPLITS, -(-ENOUGH_QUERIES * N_SPLITS // ids.size))
    parts = list(islice(QueryKFold(N_SPLITS, seed=seed).split(query[:, None], qid=query), n_parts))
    rows = np.concatenate([test for _, test in parts])
    places = np.split(np.arange(rows.size), np.cumsum([test.size for _, test in parts])[:-1])

    def fits(bar: Bar) -> Iterator[Fit]:
        for place, (train, test) in enumerate(parts):
            for number, one in enumerate(rankers.values()):
                yield Fit(number, place, fit_ranker(fresh_for_part(one), data[train]), data[test])
                bar.advance()

    trials = [Trial(_changed(one), method=method_name(one), about=about) for about, one in rankers.items()]
    with progress(len(rankers) * len(parts), "choosing a method") as bar:
        table, best, _ = compare_fits(trials, fits(bar), data[rows], places, scoring, prefer_raw=True)
    n_queries = np.unique(query[rows]).size
    found = fit_ranker(clone([*rankers.values()][best]), data)
    reason = _reason(table, label, n_queries)
    if why:
        reason += f"; {why}" + (f"\nscale: {_scale(table[0].params)}" if len(all_scales) > 1 else "")
    return Selection(found, table, reason, label, n_queries)


def _changed(ranker: Any) -> dict[str, Any]:
    """Return the parameters that are not the defaults."""
    if not hasattr(ranker, "get_params"):
        return {}
    usual = type(ranker)().get_params(deep=False)
    return {name: value for name, value in ranker.get_params(deep=False).items() if value != usual[name]}


def _reason(table: Sequence[Trial], measure: str, n_queries: int) -> str:
    """Return in words which method is best, by how much, and on which scale."""
    best = table[0]
    held_out = f"on {counted(n_queries, 'held-out query', 'held-out queries')}"
    reason = f"{best.about}: {measure} {best.mean:.4f} {held_out}"
    other = next((one for one in table[1:] if one.method != best.method), None)
    if other is not None:
        reason += f"; {other.about}: {other.mean:.4f} ({other.distance})"
    scale = _scale(best.params)
    rival = next((one for one in table[1:] if _scale(one.params) != scale), None)
    if rival is None:
        return reason
    why = ", not more than a standard error" if rival.behind < 0 else ""
    return f"{reason}\nscale: {scale}; {_scale(rival.params)}: {rival.mean:.4f} ({rival.distance}{why})"


def _scale(params: Mapping[str, Any]) -> str:
    """Return the scale of a ranker's features in words."""
    how = params.get("normalize")
    return "raw values" if how is None else f"{'z-scores' if how == 'zscore' else how} by query"


def _select_settings(
    data: Dataset, ranker: Any, grid: Mapping[str, Sequence[Any]], scoring: Scoring, n_splits: int, seed: int
) -> Selection:
    """Compare all settings of the grid by cross-validation by query, and fit the best one to all data."""
    settings = settings_of(grid, ranker)
    query = query_index(data.qid)[0]
    parts = list(QueryKFold(n_splits, seed=seed).split(data.X, qid=query))
    with progress(len(settings) * len(parts), "tuning") as bar:
        fits = _fits(ranker, settings, data, query, parts, bar)
        table, _, _ = compare_fits(map(Trial, settings), fits, data, [test for _, test in parts], scoring)
    best = fit_ranker(clone(ranker).set_params(**table[0].params), data)
    label = str(scoring.measure)
    return Selection(best, table, _best_setting(table, label), label, int(query.max()) + 1)


def _best_setting(table: Sequence[Trial], measure: str) -> str:
    best = ", ".join(f"{name} {value}" for name, value in table[0].chosen.items()) or "as it is"
    return f"{best}: {measure} {table[0].mean:.4f} on held-out queries"


def _fits(
    ranker: Any, settings: list[dict[str, Any]], data: Dataset, query: Array, parts: list[tuple[Array, Array]], bar: Bar
) -> Iterator[Fit]:
    """Fit every setting in every fold; normalise once for all settings that share a scale."""
    normalizes = isinstance(ranker, Ranker) and "normalize" in ranker.get_params(deep=False)
    groups: dict[str | None, list[int]] = {}
    for number, setting in enumerate(settings):
        how = setting.get("normalize", ranker.normalize) if normalizes else None
        groups.setdefault(how if how in NORMALIZATIONS else None, []).append(number)
    for scale, numbers in groups.items():
        # queries stay whole in every part, so that normalising them once is the same as in every fit
        X = data.X if scale is None else normalize_by_query(data.X, query, scale, ranker.n_jobs)
        tried = [clone(ranker).set_params(**settings[number]) for number in numbers]
        if scale is not None:  # a ranker that chooses one does so itself
            tried = [one.set_params(normalize=None) for one in tried]
        for place, (train, test) in enumerate(parts):
            for number, one in zip(numbers, tried, strict=True):
                fitted = fit_ranker(fresh_for_part(one), X[train], data.y[train], query[train])
                yield Fit(number, place, fitted, X[test])
                bar.advance()


def _select_on_vali(
    train: Dataset, vali: Dataset, ranker: Any, grid: Mapping[str, Sequence[Any]], scoring: Scoring
) -> Selection:
    """Fit every setting to train, as the LETOR pages did, and return the one that ranks vali best; of equals the first.

    A ranker with `staged_predict` is tried after every number of steps as well, which costs no further fit; one whose
    fit takes `vali` decides there when to stop.
    """
    check_contrast(vali.y, query_index(vali.qid)[0], "choose by in the validation part")
    settings = settings_of(grid, ranker)

    def fits() -> Iterator[Fit]:
        for place, setting in enumerate(settings):
            start = time.process_time()
            made = clone(ranker)
            fitted = fit_ranker(made.set_params(**setting) if setting else made, train, vali=vali)
            yield Fit(place, 0, fitted, vali, time.process_time() - start)

    table, _, kept = compare_fits(map(Trial, settings), fits(), vali, [np.arange(len(vali))], scoring)
    assert kept is not None  # there is one part
    fit, scores = kept
    label, n_queries = str(scoring.measure), len(np.unique(query_index(vali.qid)[0]))
    reason = _best_setting(table, label)
    return Selection(fit.ranker, table, reason, label, n_queries, scores=scores, fit_seconds=fit.seconds)


@dataclass(frozen=True, eq=False, slots=True)
class Fit:
    """A setting fitted to the queries that are not in one part of the held-out rows."""

    setting: int  # its place among the settings
    part: int
    ranker: Any
    X: Any  # the part's rows as the ranker takes them: a Dataset or an array
    seconds: float = math.nan  # of one core


@dataclass(frozen=True)
class Scoring:
    """A measure to compare rankers by; scikit-learn calls it with a fitted ranker (`make_scorer`)."""

    measure: str | Measure = "MAP"
    convention: str = "standard"
    ties: str | None = None

    def values(self, y: Any, scores: Any, qid: Any = None) -> Result:
        """Evaluate scores by grades and queries, or by a Dataset as y."""
        return evaluate(y, scores, qid, self.measure, convention=self.convention, ties=self.ties, any_grades=True)

    def mean(self, data: Dataset, scores: Array) -> float:
        """Return the mean over the queries.

        >>> Scoring("P@1").mean(Dataset([[1.0], [2.0]], y=[1, 0], qid=["q", "q"]), np.array([0.5, 0.1]))
        1.0
        """
        return float(self.values(data, scores).values[0].mean())

    def __call__(self, estimator: Any, X: Any, y: Any, qid: Any = None) -> float:
        if qid is None:
            raise DataError(
                f"{self.measure} needs the query of each row: pass qid=qid to fit, or params={{'qid': qid}} to "
                "cross_validate, after sklearn.set_config(enable_metadata_routing=True)"
            )
        queries, ids = query_numbers(qid, len(qid))
        warn_of_torn_queries(estimator, ids, queries)
        return float(self.values(y, predict_ranker(estimator, X, qid), qid).values[0].mean())

    def get_metadata_routing(self) -> Any:
        """Request the queries from scikit-learn."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="qid", alias=True)
        return request


def make_scorer(measure: str | Measure = "MAP", convention: str = "standard", ties: str | None = None) -> Scoring:
    """Return a scorer for `GridSearchCV` and `cross_validate`: `make_scorer("NDCG@10")`.

    >>> import sklearn
    >>> from sklearn.model_selection import GridSearchCV
    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=20)
    >>> settings = {"votes": ["evidence", "mean"], "max_size": [1, 2]}
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     search = GridSearchCV(rr.GlobalRules(), settings, scoring=make_scorer("NDCG@10"), cv=QueryKFold())
    ...     search = search.fit(data.X, data.y, qid=data.qid)
    >>> sorted(search.best_params_)
    ['max_size', 'votes']
    >>> 0.4 < float(search.best_score_) < 1
    True
    """
    if not isinstance(measure, str | Measure):
        raise DataError(f"a scorer has one measure, such as 'MAP' or 'NDCG@10': got {measure!r}")
    made = Scoring(str(measure), convention, ties)
    made.values([1], [0.0], [0])  # raise errors here, not in each fold
    return made


def settings_of(grid: Mapping[str, Sequence[Any]], ranker: Any) -> list[dict[str, Any]]:
    """Return all combinations of a grid, whose parameters the ranker must have; an empty grid has one, {}.

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


def compare_fits(
    trials: Iterable[Trial],
    fits: Iterable[Fit],
    tested: Dataset,
    parts: Sequence[Array],
    scoring: Scoring,
    *,
    prefer_raw: bool = False,
) -> tuple[tuple[Trial, ...], int, tuple[Fit, Array] | None]:
    """Score every fit on the rows of `tested` in its part.

    Return the trials with their results, the best first (of equals the first); the index of the best in the given
    order; and, if there is one part, its fit at the best stage with the scores. The number of steps is chosen only
    if there is one part: folds would choose different numbers.
    prefer_raw: select a model on raw values, unless another is better by more than one standard error.
    """
    trials = list(trials)
    query, ids = query_index(tested.qid)
    tested = Dataset(np.empty((len(tested), 0)), tested.y, query, tested.docid, base=tested.base)
    held_out = [tested[rows] for rows in parts]
    values = np.full((len(trials), ids.size), math.nan)
    stages: list[int | None] = [None] * len(trials)
    kept: tuple[float, Fit, Array] | None = None
    for fit in fits:
        part = held_out[fit.part]
        if len(parts) == 1:
            ranker, stages[fit.setting] = best_stage(fit.ranker, fit.X, part, scoring)
            fit = replace(fit, ranker=ranker)
        scores = predict_ranker(fit.ranker, fit.X, None if isinstance(fit.X, Dataset) else part.qid)
        result = scoring.values(part, scores)
        values[fit.setting, result.queries] = result.values[0]
        mean = float(result.values[0].mean())
        if len(parts) == 1 and (kept is None or mean > kept[0]):
            kept = mean, fit, scores
    means = [float(value.mean()) for value in values]
    best = means.index(max(means))
    raw = [number for number, trial in enumerate(trials) if prefer_raw and trial.params.get("normalize") is None]
    if raw:
        first = max(raw, key=means.__getitem__)
        if not means[best] - means[first] > _error(values[best] - values[first]):
            best = first
    tested_in = [np.unique(query[rows]) for rows in parts]
    done = [
        replace(
            trial,
            mean=mean,
            error=_error(value),
            behind=float((values[best] - value).mean()),
            behind_error=_error(values[best] - value),
            folds=tuple(float(value[queries].mean()) for queries in tested_in),
            stage=stage,
        )
        for trial, mean, value, stage in zip(trials, means, values, stages, strict=True)
    ]
    order = sorted(range(len(done)), key=lambda number: (number != best, -means[number]))
    return tuple(done[number] for number in order), best, kept and kept[1:]


def best_stage(ranker: Any, X: Any, part: Dataset, scoring: Scoring) -> tuple[Any, int | None]:
    """Return a staged ranker at the step that ranks these rows best, and that step; other rankers as they are."""
    if not hasattr(ranker, "at_stage"):  # boosters of other libraries have staged_predict alone
        return ranker, None
    staged = ranker.staged_predict(X) if isinstance(X, Dataset) else ranker.staged_predict(X, qid=part.qid)
    by_stage = [scoring.mean(part, scores) for scores in staged]
    if not by_stage:  # nothing was learned
        return ranker, None
    stage = by_stage.index(max(by_stage)) + 1
    return ranker.at_stage(stage), stage


def _error(values: Array) -> float:
    return float(values.std(ddof=1) / math.sqrt(values.size)) if values.size > 1 else math.nan
