"""Label curves: the gain over the baseline ranking by number of labels, with labelling simulated by known grades.

In many random splits, documents of half of the queries (the pool) are sampled and labelled; the other half is the
test set.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from rulerank._util.estimator import clone
from rulerank._util.loops import progress
from rulerank._util.parameters import is_whole
from rulerank.baseline import find_baseline
from rulerank.dataset import UNLABELLED, Array, Dataset, check_contrast, query_index
from rulerank.errors import DataError
from rulerank.methods import method_named
from rulerank.rankers.base import Ranker
from rulerank.rankers.pool import PoolLearner
from rulerank.render.html import html_table, table_of
from rulerank.render.text import csv_table, plain_table
from rulerank.sampling.ssar import SSAR
from rulerank.sampling.strata import StratifiedSampler
from rulerank.selection.few_labels import few_label_ranker
from rulerank.selection.select import Scoring, select

Sampler = (
    Callable[[Dataset, np.random.Generator], Array] | SSAR | StratifiedSampler
)  # a function returns rows, the first first
RANDOM, STRATA = "random", "strata"
SAMPLERS: dict[str, Sampler] = {
    STRATA: StratifiedSampler(),
    "SSAR": SSAR(),
    "SSARP": SSAR(partitions=5),
    "SSAR per query": SSAR(per_query=True),
    RANDOM: lambda pool, rng: rng.permutation(len(pool)),
}
FROM_BASELINE = "from-baseline"  # `select(baseline=)`: Anchored
RANKERS = (FROM_BASELINE, "QI", "RE-GR", "FR")
SIZES = (20, 50, 100, 200, 400)
LOSS = 0.02  # below the baseline by more than this is a loss that users would notice
ENOUGH = 2  # splits from which on an interrupted curve is shown


@dataclass(frozen=True)
class Point:
    """The gain of a ranker over the baseline at one number of labels."""

    ranker: str
    sampler: str
    n_labels: int  # the budget
    n_asked: float  # labels used, mean over the splits: fewer if the sampler stops by itself
    value: float  # the measure, mean over the splits
    gain: float  # over the baseline, mean over the splits
    worst: float  # gain of a split
    n_losses: int  # splits with a gain below -LOSS

    def __str__(self) -> str:
        losses = f" ({self.n_losses})" if self.n_losses else ""
        stop = f" at {self.n_asked:,.0f}" if self.n_asked < self.n_labels else ""
        return f"{signed(self.gain)}/{signed(self.worst)}{losses}{stop}"


@dataclass(frozen=True, repr=False)
class LabelCurve:
    """Gains over the baseline by number of labels, for rankers and samplers."""

    measure: str
    baseline: str  # as text
    baseline_value: float  # its measure, mean over the splits
    points: tuple[Point, ...]
    n_pool: float  # documents to choose from, mean over the splits
    n_done: int  # splits
    n_splits: int  # requested

    @property
    def rankers(self) -> list[str]:
        """The rankers in the order they were named."""
        return list(dict.fromkeys(point.ranker for point in self.points))

    @property
    def samplers(self) -> list[str]:
        """The samplers in the order they were named."""
        return list(dict.fromkeys(point.sampler for point in self.points))

    def of(self, ranker: str, sampler: str) -> list[Point]:
        """Return the points of one curve, by number of labels."""
        return [point for point in self.points if (point.ranker, point.sampler) == (ranker, sampler)]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows: mean and worst gain of each ranker and sampler, a column per number of labels."""
        sizes = sorted({point.n_labels for point in self.points})
        rows = [
            [ranker, sampler, *map(str, self.of(ranker, sampler))]
            for ranker in self.rankers
            for sampler in self.samplers
        ]
        return ["ranker", "sampler", *(f"{size:,} labels" for size in sizes)], rows

    def __repr__(self) -> str:
        return plain_table(*self.table(), n_left=2)

    def _repr_html_(self) -> str:
        return html_table(table_of(*self.table(), n_left=2))

    @property
    def note(self) -> str:
        """How the results were computed."""
        cut = f" of {self.n_splits}, then interrupted" if self.n_done < self.n_splits else ""
        return (
            f"baseline {self.baseline}: {self.measure} {self.baseline_value:.3f}. Cells: gain over the baseline in "
            f"{self.n_done} splits{cut}:\nmean/worst, in brackets the number of splits that lost more than {LOSS}; "
            f"at: number of labels at which the sampler stopped.\nHalf of the queries are the pool, "
            f"{self.n_pool:,.0f} documents to choose from; half are the test set"
        )

    def to_csv(self) -> str:
        """Return one line per point."""
        rows = [asdict(point) for point in self.points]
        return csv_table(list(rows[0]), [list(row.values()) for row in rows])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)


def signed(value: float) -> str:
    """Return a difference with three decimals, zero without a sign.

    >>> signed(0.0123), signed(-0.0001), signed(-1.0)
    ('+.012', '.000', '-1.000')
    """
    text = f"{value:+.3f}"
    text = text[1:] if float(text) == 0 else text
    return text.replace("0.", ".", 1) if abs(value) < 0.9995 else text


def label_curve(
    data: Dataset,
    rankers: Sequence[str] | Mapping[str, Ranker] = RANKERS,
    samplers: Sequence[str] | Mapping[str, Sampler] | None = None,
    *,
    baseline: Any,
    sizes: Sequence[int] | None = None,
    n_splits: int = 20,
    measure: str = "NDCG@10",
    seed: int = 0,
) -> LabelCurve:
    """Simulate labelling in many splits: sample and label documents of half the queries, train, test on the other half.

    Parameters
    ----------
    data: graded documents.
    rankers: names of `rulerank.methods`, set for few labels, "from-baseline" for `select(baseline=)`, or rankers by a
        name of your own.
    samplers: names among strata, SSAR, SSARP (five partitions), SSAR per query and random; or by a name of your own
        `SSAR`, `StratifiedSampler` or functions of (pool, random generator) that return rows of the pool in the order
        to label them. Pools are shuffled first, because in some files the order reveals the grades.
    baseline: the ranking that gains are measured from, as `find_baseline` takes it.
    sizes: the numbers of labels to learn from; by default 20, 50, 100, 200 and 400, up to the size of the pools.
    n_splits: number of splits; split k uses seed + k. Ctrl-C returns the splits done so far.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=40, seed=1)
    >>> label_curve(data, ["from-baseline"], ["strata"], n_splits=3, sizes=[50, 100], baseline="bm25_body")
    ranker         sampler    50 labels   100 labels
    from-baseline  strata   +.036/+.029  +.079/+.070
    """
    if not is_whole(n_splits, 2):
        raise DataError(f"n_splits must be a whole number from 2: got {n_splits!r}")
    graded = data.labelled()
    check_contrast(graded.y, query_index(graded.qid)[0], "show gains by")
    start = find_baseline(data.feature_names, baseline, data.categories)
    learners = (
        rankers if isinstance(rankers, Mapping) else dict(few_labels_named(name, start.option) for name in rankers)
    )
    ways = dict(samplers) if isinstance(samplers, Mapping) else samplers_named(samplers)
    pools = [len(split_halves(graded, seed + number)[0]) for number in range(n_splits)]
    budgets = check_sizes([size for size in SIZES if size <= min(pools)] if sizes is None else sizes, min(pools))
    scoring = Scoring(measure)
    done: list[tuple[float, dict[tuple[str, str, int], tuple[int, float]]]] = []  # of each split
    with progress(n_splits * len(learners) * len(ways) * len(budgets), "learning") as bar:
        try:
            for number in range(n_splits):
                pool, test = split_halves(graded, seed + number)
                orders = {
                    name: choose(way, pool, seed, number, start.option, budgets[-1]) for name, way in ways.items()
                }
                found = {}
                for name, ranker in learners.items():
                    learner = None if ranker is None else PoolLearner(ranker, pool)
                    for sampler, size in product(ways, budgets):
                        rows = orders[sampler][:size]
                        scores = scores_after(learner, pool, rows, test, start.option)
                        found[name, sampler, size] = len(rows), scoring.mean(test, scores)
                        bar.advance()
                done.append((scoring.mean(test, start.scores(test)), found))
        except KeyboardInterrupt:
            if len(done) < ENOUGH:
                raise
    base = np.array([value for value, _ in done])
    points = []
    for place in done[0][1]:
        n_asked, values = np.array([found[place] for _, found in done]).T
        gains = values - base
        figures = float(n_asked.mean()), float(values.mean()), float(gains.mean()), float(gains.min())
        points.append(Point(*place, *figures, int((gains < -LOSS).sum())))
    n_pool = float(np.mean(pools[: len(done)]))
    return LabelCurve(measure, start.text, float(base.mean()), tuple(points), n_pool, len(done), n_splits)


def split_halves(data: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Split documents by query into two random halves: the pool and the test set.

    >>> import rulerank as rr
    >>> [len(set(half.qid)) for half in split_halves(rr.datasets.make_ranking(n_queries=11), seed=0)]
    [5, 6]
    """
    names = data.qid.astype(str)
    queries = np.unique(names)
    if queries.size < 4:
        raise DataError(f"expected graded documents of at least 4 queries to split into halves, got {queries.size}")
    inside = np.isin(names, np.random.default_rng(seed).permutation(queries)[: queries.size // 2])
    return data[np.flatnonzero(inside)], data[np.flatnonzero(~inside)]


def few_labels_named(name: str, baseline: Any) -> tuple[str, Ranker | None]:
    """Return the name of a method and its ranker with parameters for few labels; None for from-baseline."""
    if name.lower() == FROM_BASELINE:
        return FROM_BASELINE, None
    ranker = few_label_ranker(name)
    return method_named(name).name, ranker.set_params(baseline=baseline) if starts_from_baseline(ranker) else ranker


def samplers_named(names: Sequence[str] | None) -> dict[str, Sampler]:
    """Return samplers by name, ignoring case; by default all.

    >>> [*samplers_named(["random", "ssarp"])]
    ['random', 'SSARP']
    """
    known = {name.lower(): name for name in SAMPLERS}
    for name in names or ():
        if name.lower() not in known:
            raise DataError(f"unknown sampler {name!r}; choose from {', '.join(SAMPLERS)}")
    return {known[name.lower()]: SAMPLERS[known[name.lower()]] for name in (names or SAMPLERS)}


def check_sizes(sizes: Sequence[int], smallest: int) -> list[int]:
    for size in sizes:
        if not is_whole(size, 1, smallest):
            raise DataError(f"sizes must be whole numbers from 1 to {smallest:,}, the smallest pool: got {size!r}")
    if not sizes:
        raise DataError("there is no number of labels to learn from: give sizes, such as 50,100")
    return sorted(set(sizes))


def choose(sampler: Sampler, pool: Dataset, seed: int, number: int, baseline: Any, most: int | None = None) -> Array:
    """Return the rows of a pool in the order in which a sampler asks for their labels; number: of the split.

    All see the rows shuffled but `StratifiedSampler`, which draws with seed + number as `rulerank sample` does.
    """
    if isinstance(sampler, StratifiedSampler):
        drawn = clone(sampler).set_params(
            seed=seed + number, baseline=baseline if sampler.baseline is None else sampler.baseline
        )
        return np.asarray(drawn.select(pool, lambda row: pool.y[row], budget=most), dtype=np.int64)
    mixed = np.random.default_rng([seed, number]).permutation(len(pool))
    if isinstance(sampler, SSAR):
        chosen = clone(sampler).select(pool[mixed], lambda row: pool.y[mixed[row]], budget=most)
    else:
        chosen = sampler(pool[mixed], np.random.default_rng([seed, number, 0]))[:most]
    return np.asarray(mixed[chosen], dtype=np.int64)


def scores_after(learner: PoolLearner | None, pool: Dataset, rows: Array, test: Dataset, baseline: Any = None) -> Array:
    """Return scores of the test documents after training on labels of some rows; all tied if nothing was learned."""
    grades = pool.y[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about few labels: the curve shows their effect
        if learner is None:
            y = np.full(len(pool), UNLABELLED)
            y[rows] = grades
            return select(replace(pool, y=y), baseline=baseline).ranker.predict(test)
        if np.unique(grades).size < 2 and not starts_from_baseline(learner.ranker):
            return np.zeros(len(test))
        return learner.fit(rows, grades).predict(test)


def starts_from_baseline(ranker: Ranker) -> bool:
    """Return whether a ranker starts from the baseline ranking, and so can rank without labels."""
    return "baseline" in ranker.get_params(deep=False)
