"""Label-efficiency curves: how good a ranker is after so many labels, by how the documents to label were chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.core.progress import Bar, progress
from rulerank.dataset import Array, Dataset, Fold, check_contrast, query_index
from rulerank.errors import DataError
from rulerank.experiment.label_curve.result import RANDOM, Gains, LabelCurve, Line, Point
from rulerank.experiment.label_curve.simulation import (
    FROM_TODAY,
    SAMPLERS,
    HalfSplits,
    Learner,
    Sampler,
    choose,
    make_learners,
    samplers_named,
    scores_after,
    thin,
)
from rulerank.rankers.base import Ranker
from rulerank.rankers.pool import PoolLearner
from rulerank.splitting import make_folds
from rulerank.today import Today, find_today
from rulerank.training.selection import Scoring

RANKERS = ("RE-GR", "QI")
SPLIT_RANKERS = (FROM_TODAY, "AnchoredRules", "QI", "RE-GR", "FR")
SPLIT_SIZES = (20, 50, 100, 200, 400)
FIRST = 20  # fewer labels teach next to nothing
STEPS = (1, 1.5, 2, 3, 5, 7)  # sizes are these times powers of ten
N_DRAWS = 20  # of a fold
ENOUGH = 2  # splits from which on an interrupted curve is shown


@dataclass(frozen=True)
class Design:
    """How labelling is simulated; folds and splits differ in it."""

    folds: Sequence[Fold] | HalfSplits
    learners: Mapping[str, Learner]
    samplers: Mapping[str, Sampler]
    sizes: Sequence[int] | None  # None: round numbers up to the latest stop
    n_draws: int  # of random documents
    measure: str
    today: Today | None
    seed: int
    in_splits: bool  # no line of all labels, each sampler at its own stop only, and not all splits need be done

    @property
    def most(self) -> int | None:
        """The labels asked for at most; None: until a sampler stops by itself."""
        return max(self.sizes) if self.in_splits and self.sizes else None


class Step(NamedTuple):
    """One size of the labelled set, in each fold."""

    n_labels: tuple[int, ...]
    stop_of: str | None  # the sampler that stops here by itself, in each fold at its own number


@dataclass
class PoolResult:
    """What was chosen from one pool, and what was learned from it."""

    n_pool: int
    share_relevant: float
    orders: dict[str, list[Array]]  # by sampler: rows of the pool in the order to label them, one array per draw
    today: float = np.nan  # the measure of today's ranking
    all_labels: dict[str, float] = field(default_factory=dict)  # by learner
    values: dict[tuple[str, str, Step], list[float]] = field(default_factory=dict)  # one of each draw
    relevant: dict[tuple[str, Step], float] = field(default_factory=dict)  # share of what is labelled


def label_curve(
    data: Dataset | Sequence[Fold],
    rankers: Sequence[str] | Mapping[str, Ranker] | None = None,
    samplers: Sequence[str] | Mapping[str, Sampler] | None = None,
    *,
    sizes: Sequence[int] | None = None,
    n_splits: int | None = None,
    keep_one_in: int | None = None,
    n_draws: int | None = None,
    today: str | None = None,
    measure: str | None = None,
    seed: int = 0,
) -> LabelCurve:
    """Simulate labelling: choose documents of each training part, learn from them, evaluate on the test part.

    Parameters
    ----------
    data: folds, or graded documents, which are split by query into five.
    rankers: names of `rulerank.methods`, set for few labels, "from-today" for `select(today=)`, or rankers by a name
        of your own; by default RE-GR and QI, in splits from-today, AnchoredRules, QI, RE-GR, FR.
    samplers: names among strata, SSAR, SSARP (five partitions), SSAR per query and random, or by a name of your own
        `SSAR`, `Strata` or functions of (pool, random generator) that return rows of the pool in the order to label
        them. By default all of them, strata when today is said. In folds random draws are there always.
    sizes: the numbers of labels to learn from; by default 20, 30, 50, 70, 100, ... up to the latest stop, in splits 20,
        50, 100, 200 and 400 as far as the pools reach.
    n_splits: split graded documents so often into halves, a pool and queries to test on, rather than into folds: points
        then have the mean gain over today's ranking and the worst. Ctrl-C ends it with the splits done so far.
    keep_one_in: thin what is chosen from: one relevant document of so many is kept.
    n_draws: how often documents are drawn at random, for the band that holds 95 % of the draws; by default 20 in each
        fold, and one in each split.
    today: the feature that ranks the documents now: a line of its own, what Anchored starts from, and its strata are
        one more way to choose.
    measure: such as "MAP", the default for folds, or "NDCG@10", that for splits.

    Training rows are shuffled before a sampler sees them, for in some files their order tells the grade.

    >>> from rulerank.datasets import make_ranking
    >>> pick = {"first": lambda pool, rng: np.arange(60)}
    >>> curve = label_curve(make_ranking(n_queries=15), ["QI"], pick, sizes=[20, 40], n_draws=3)
    >>> [(point.sampler, point.n_labels) for point in curve.points][:4]
    [('first', 20.0), ('first', 40.0), ('first', 60.0), ('random', 20.0)]
    >>> world = make_ranking(n_queries=40, seed=1)
    >>> curve = label_curve(world, ["from-today"], ["strata"], n_splits=3, sizes=[50, 100], today="bm25_body")
    >>> print(curve)
    from-today    50 labels   100 labels
    strata      +.052/+.051  +.095/+.081
    """
    ways = dict(samplers) if isinstance(samplers, Mapping) else samplers_named(samplers, today)
    folds: Sequence[Fold] | HalfSplits
    if n_splits is None:
        folds = make_folds(data.labelled(), seed=seed) if isinstance(data, Dataset) else list(data)
        if not folds:
            raise DataError("expected at least one fold to draw a curve from: got none")
        if keep_one_in is not None:
            folds = [replace(fold, train=thin(fold.train, keep_one_in, seed)) for fold in folds]
        ways = {name: way for name, way in ways.items() if name != RANDOM} | {RANDOM: SAMPLERS[RANDOM]}
        draws, label = N_DRAWS if n_draws is None else n_draws, measure or "MAP"
        if not is_whole(draws, 2):
            raise DataError(f"n_draws must be a whole number from 2, as a band needs several: got {draws!r}")
    else:
        if today is None:
            raise DataError("splits show gains over today's ranking: say which feature it is, such as today='bm25'")
        if not isinstance(data, Dataset):
            raise DataError("n_splits splits graded documents: give them as one Dataset, not as folds")
        folds = HalfSplits(data, n_splits, keep_one_in=keep_one_in, seed=seed)
        check_contrast(folds.data.y, query_index(folds.data.qid)[0], "show gains by")
        draws, label = 1 if n_draws is None else n_draws, measure or "NDCG@10"  # there are many splits
        if not is_whole(draws, 1):
            raise DataError(f"n_draws must be a whole number from 1: got {draws!r}")
        if sizes is None:
            smallest = min(len(split.train) for split in folds)
            sizes = [size for size in SPLIT_SIZES if size <= smallest]
    learners = make_learners(rankers or (RANKERS if n_splits is None else SPLIT_RANKERS), today)
    now = None if today is None else find_today(folds[0].test.feature_names, today)
    design = Design(folds, learners, ways, sizes, draws, label, now, seed, in_splits=n_splits is not None)
    chosen = choose_all(design)
    results = learn_all(design, chosen, plan_steps(design, chosen))
    lines = [
        Line(f"{name}, all labels", name, float(np.mean([one.all_labels[name] for one in results])))
        for name in results[0].all_labels
    ]
    if now is not None:
        lines.append(Line(f"today, {now}", None, float(np.mean([one.today for one in results]))))
    return LabelCurve(
        measure=label,
        points=tuple(make_point(*place, results) for place in results[0].values),
        lines=tuple(lines),
        n_pool=float(np.mean([one.n_pool for one in results])),
        share_relevant=float(np.mean([one.share_relevant for one in results])),
        n_folds=len(results),
        n_draws=draws,
        today=None if now is None else now.option,
        n_splits=n_splits,
    )


def pool_of(fold: Fold) -> Dataset:
    """Return the graded training rows."""
    pool = fold.train.labelled()
    for part, what in ((pool, "choose from"), (fold.test.labelled(), "test on")):
        if not len(part):
            raise DataError(f"{fold.name}: a curve needs graded documents to {what}, and there are none")
    return pool


def choose_all(design: Design) -> list[PoolResult]:
    """Order every pool in every way."""
    results = []
    with progress(len(design.folds) * len(design.samplers), "choosing") as bar:
        for place, fold in enumerate(design.folds):
            pool, orders = pool_of(fold), {}
            for name, sampler in design.samplers.items():
                draws = range(design.n_draws if name == RANDOM else 1)
                orders[name] = [choose(sampler, pool, design.seed, place, draw, design.most) for draw in draws]
                bar.advance()
            results.append(PoolResult(len(pool), float((pool.y > 0).mean()), orders))
    return results


def plan_steps(design: Design, chosen: Sequence[PoolResult]) -> dict[str, list[Step]]:
    """Say at which numbers of labels each sampler is looked at: sizes that it reaches, and where samplers stop."""
    sizes, most = design.sizes, design.most
    pools = [one.n_pool for one in chosen]
    limits = [n if most is None else min(n, most) for n in pools]
    stops = {}
    for name in chosen[0].orders:
        reached = tuple(len(one.orders[name][0]) for one in chosen)
        if any(n < limit for n, limit in zip(reached, limits, strict=True)):
            stops[name] = Step(reached, name)
    latest = max((max(stop.n_labels) for stop in stops.values()), default=min(pools))
    grid = list(round_sizes(min(latest, *pools))) if sizes is None else sorted(set(sizes))
    for size in grid:
        if not is_whole(size, 1, min(pools)):
            raise DataError(f"sizes must be whole numbers from 1 to {min(pools):,}, the smallest pool: got {size!r}")
    plan = {}
    for name in chosen[0].orders:
        last = min(stops[name].n_labels) if name in stops else min(limits)
        steps = [Step((size,) * len(chosen), None) for size in grid if size <= last]
        steps += [stops[name]] if name in stops else [] if design.in_splits else stops.values()
        plan[name] = sorted(steps, key=lambda step: np.mean(step.n_labels))
    if not any(plan.values()):
        raise DataError("there is no number of labels to learn from: give sizes, such as 50,100")
    return plan


def round_sizes(latest: int) -> Iterator[int]:
    """Yield round numbers up to the latest.

    >>> list(round_sizes(150))
    [20, 30, 50, 70, 100, 150]
    """
    power = 10
    while power <= latest:
        yield from (int(step * power) for step in STEPS if FIRST <= step * power <= latest)
        power *= 10


def learn_all(design: Design, chosen: Sequence[PoolResult], plan: Mapping[str, Sequence[Step]]) -> list[PoolResult]:
    """Learn from the labels of every step, in one fold after the other; Ctrl-C leaves the splits that are done."""
    n_fits = sum(len(chosen[0].orders[name]) * len(steps) for name, steps in plan.items()) + (not design.in_splits)
    done: list[PoolResult] = []
    with progress(n_fits * len(design.learners) * len(chosen), "learning") as bar:
        try:
            for place, one in enumerate(chosen):
                learn(design, place, one, plan, bar)
                done.append(one)
        except KeyboardInterrupt:
            if not design.in_splits or len(done) < ENOUGH:
                raise
    return done


def learn(design: Design, place: int, one: PoolResult, plan: Mapping[str, Sequence[Step]], bar: Bar) -> None:
    """Note what every learner makes of the labels of one pool."""
    fold = design.folds[place]
    pool, test, scoring = pool_of(fold), fold.test.labelled(), Scoring(design.measure)
    if design.today is not None:
        one.today = scoring.mean(test, design.today.scores(test.X))
    for name, learner in design.learners.items():
        if not design.in_splits:
            scores = scores_after(PoolLearner(learner.full, pool), np.arange(len(pool)), test)
            one.all_labels[name] = scoring.mean(test, scores)
            bar.advance()
        ready = learner.in_pool(pool)
        for sampler, steps in plan.items():
            for step in steps:
                labelled = [order[: step.n_labels[place]] for order in one.orders[sampler]]
                values = [scoring.mean(test, scores_after(ready, rows, test)) for rows in labelled]
                one.values[name, sampler, step] = values
                one.relevant[sampler, step] = float(np.mean([(pool.y[rows] > 0).mean() for rows in labelled]))
                bar.advance(len(values))


def make_point(ranker: str, sampler: str, step: Step, results: Sequence[PoolResult]) -> Point:
    """Average over the folds, and say how far the draws lie apart, and the folds from today's ranking."""
    values = np.array([one.values[ranker, sampler, step] for one in results])  # (fold, draw)
    by_draw = values.mean(axis=0)
    low, high, error = None, None, None
    if by_draw.size > 1:
        low, high = map(float, np.quantile(by_draw, [0.025, 0.975]))
        error = float(by_draw.std(ddof=1) / np.sqrt(by_draw.size))
    gains = None
    today = np.array([one.today for one in results])
    if not np.isnan(today).any():
        gains = Gains.of((values - today[:, None]).ravel())
    n_labels = step.n_labels[: len(results)]
    return Point(
        ranker=ranker,
        sampler=sampler,
        n_labels=float(np.mean(n_labels)),
        share=float(np.mean([n / one.n_pool for n, one in zip(n_labels, results, strict=True)])),
        value=float(by_draw.mean()),
        low=low,
        high=high,
        error=error,
        share_relevant=float(np.mean([one.relevant[sampler, step] for one in results])),
        stop_of=step.stop_of,
        gains=gains,
    )
