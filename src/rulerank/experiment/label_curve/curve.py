"""Label-efficiency curves: how good a ranker is after so many labels, by how the documents to label were chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.core.progress import progress
from rulerank.dataset import Array, Dataset, Fold
from rulerank.errors import DataError
from rulerank.experiment.label_curve.one_fold import Trial, shuffled
from rulerank.experiment.label_curve.orders import Sampler, by_rules, random_order, top_of
from rulerank.experiment.label_curve.result import BEST_FEATURE, RANDOM, LabelCurve, Line, Point
from rulerank.rankers.base import Ranker
from rulerank.training.few_labels import few_label_ranker, full_data_ranker
from rulerank.training.in_pool import PoolLearner
from rulerank.training.single_feature import best_feature, feature_scores
from rulerank.worlds import make_folds

RANKERS = ("RE-GR", "QI")
SAMPLERS: dict[str, Sampler] = {
    "SSAR": by_rules(),
    "SSARP": by_rules(partitions=5),
    "SSAR per query": by_rules(per_query=True),
}
FIRST = 20  # fewer labels teach next to nothing
STEPS = (1, 1.5, 2, 3, 5, 7)  # sizes are these times powers of ten


def label_curve(
    data: Dataset | Sequence[Fold],
    rankers: Sequence[str] | Mapping[str, Ranker] = RANKERS,
    samplers: Mapping[str, Sampler] | None = None,
    *,
    sizes: Sequence[int] | None = None,
    n_draws: int = 20,
    feature: str | None = None,
    measure: str = "MAP",
    seed: int = 0,
) -> LabelCurve:
    """Simulate labelling: choose documents of each training part, learn from them, evaluate on the test part.

    Parameters
    ----------
    data: folds, or graded documents, which are split by query into five.
    rankers: names of `rulerank.methods`, set for few labels, or rankers by a name of your own.
    samplers: by name, functions of (pool, random generator) that return rows of the pool in the order to label them;
        by default SSAR, SSARP (five partitions) and per-query SSAR, each until it stops by itself.
    sizes: the numbers of labels to learn from; by default 20, 30, 50, 70, 100, ... up to the latest stop.
    n_draws: how often documents are drawn at random, for the band that holds 95 % of the draws.
    feature: what the top-of-a-feature sampling sorts by, "-name" for lowest first; by default the best single one by
        the labels of each fold's training part.
    measure: such as "MAP" or "NDCG@10".

    Training rows are shuffled before anything sees them, for in some files their order tells the grade.

    >>> from rulerank.worlds import make_world
    >>> pick = {"first": lambda pool, rng: np.arange(60)}
    >>> curve = label_curve(make_world(n_queries=15), ["QI"], pick, sizes=[20, 40], n_draws=3)
    >>> [(point.sampler, point.n_labels) for point in curve.points][:4]
    [('first', 20.0), ('first', 40.0), ('first', 60.0), ('random', 20.0)]
    """
    folds = make_folds(data.labelled(), seed=seed) if isinstance(data, Dataset) else list(data)
    if not folds:
        raise DataError("expected at least one fold to draw a curve from: got none")
    if not is_whole(n_draws, 2):
        raise DataError(f"n_draws must be a whole number from 2, as a band needs several: got {n_draws!r}")
    learners = _learners(rankers)
    trials, features = _trials(folds, SAMPLERS if samplers is None else samplers, n_draws, feature, measure, seed)
    plan = _plan(trials, sizes)
    points, lines = [], []
    n_fits = sum(1 + sum(len(trial.orders[name]) * len(steps) for name, steps in plan.items()) for trial in trials)
    with progress(n_fits * len(learners), "learning") as bar:
        for name, (few, full) in learners.items():
            values: dict[tuple[str, _Step], list[list[float]]] = {
                (sampler, step): [] for sampler, steps in plan.items() for step in steps
            }
            all_labels = []
            for place, trial in enumerate(trials):
                all_labels.append(trial.learn(PoolLearner(full, trial.pool), np.arange(len(trial.pool))))
                bar.advance()
                learner = PoolLearner(few, trial.pool)
                for (sampler, step), found in values.items():
                    orders = trial.orders[sampler]
                    found.append([trial.learn(learner, order[: step.n_labels[place]]) for order in orders])
                    bar.advance(len(orders))
            lines.append(Line(f"{name}, all labels", name, float(np.mean(all_labels))))
            points += [_point(name, *key, np.array(found), trials) for key, found in values.items()]
    by_feature = [trial.judge(feature_scores(trial.test, name)) for trial, name in zip(trials, features, strict=True)]
    lines.append(Line(BEST_FEATURE if feature is None else f"by {feature}", None, float(np.mean(by_feature))))
    return LabelCurve(
        measure=measure,
        points=tuple(points),
        lines=tuple(lines),
        features=tuple(features),
        n_pool=float(np.mean([len(trial.pool) for trial in trials])),
        share_relevant=float(np.mean([(trial.pool.y > 0).mean() for trial in trials])),
        n_folds=len(folds),
        n_draws=n_draws,
    )


class _Step(NamedTuple):
    """One size of the labelled set, in each fold."""

    n_labels: tuple[int, ...]
    stop_of: str | None  # the sampler that stops here by itself, in each fold at its own number


def _learners(rankers: Sequence[str] | Mapping[str, Ranker]) -> dict[str, tuple[Ranker, Ranker]]:
    """Return the rankers by name, as they learn from few labels and from all."""
    if isinstance(rankers, Mapping):
        return {name: (ranker, ranker) for name, ranker in rankers.items()}
    return {name: (few_label_ranker(name), full_data_ranker(name)) for name in rankers}


def _trials(
    folds: Sequence[Fold],
    samplers: Mapping[str, Sampler],
    n_draws: int,
    feature: str | None,
    measure: str,
    seed: int,
) -> tuple[list[Trial], list[str]]:
    """Order every pool in every way; return also the feature of each fold whose top is one of them."""
    trials, features = [], []
    with progress(len(folds) * (len(samplers) + 2), "choosing") as bar:
        for place, fold in enumerate(folds):
            pool = shuffled(fold, [seed, place])
            features.append(best_feature(pool, measure) if feature is None else feature)
            top = f"top of {BEST_FEATURE if feature is None else feature}"
            orders = {}
            for name, sampler in [*samplers.items(), (RANDOM, random_order), (top, top_of(features[-1]))]:
                draws = range(n_draws if name == RANDOM else 1)
                orders[name] = [sampler(pool, np.random.default_rng([seed, place, draw])) for draw in draws]
                bar.advance()
            trials.append(Trial(fold.name, pool, fold.test.labelled(), orders, measure))
    return trials, features


def _plan(trials: Sequence[Trial], sizes: Sequence[int] | None) -> dict[str, list[_Step]]:
    """Say at which numbers of labels each sampler is looked at: sizes that it reaches, and where samplers stop."""
    n_pool = min(len(trial.pool) for trial in trials)
    stops = {}
    for name in trials[0].orders:
        reached = tuple(len(trial.orders[name][0]) for trial in trials)
        if reached != tuple(len(trial.pool) for trial in trials):
            stops[name] = _Step(reached, name)
    latest = max((max(stop.n_labels) for stop in stops.values()), default=n_pool)
    grid = list(_round_sizes(min(latest, n_pool))) if sizes is None else sorted(set(sizes))
    for size in grid:
        if not is_whole(size, 1, n_pool):
            raise DataError(f"sizes must be whole numbers from 1 to {n_pool:,}, the smallest pool: got {size!r}")
    plan = {}
    for name in trials[0].orders:
        most = min(stops[name].n_labels) if name in stops else n_pool
        steps = [_Step((size,) * len(trials), None) for size in grid if size <= most]
        steps += [stops[name]] if name in stops else stops.values()
        plan[name] = sorted(steps, key=lambda step: np.mean(step.n_labels))
    return plan


def _round_sizes(latest: int) -> Iterator[int]:
    """Yield round numbers up to the latest.

    >>> list(_round_sizes(150))
    [20, 30, 50, 70, 100, 150]
    """
    power = 10
    while power <= latest:
        yield from (int(step * power) for step in STEPS if FIRST <= step * power <= latest)
        power *= 10


def _point(ranker: str, sampler: str, step: _Step, values: Array, trials: Sequence[Trial]) -> Point:
    """Average values (fold, draw) over the folds, and say how far the draws lie apart."""
    by_draw = values.mean(axis=0)
    low, high, error = None, None, None
    if by_draw.size > 1:
        low, high = map(float, np.quantile(by_draw, [0.025, 0.975]))
        error = float(by_draw.std(ddof=1) / np.sqrt(by_draw.size))
    labelled = [
        (n, trial.pool.y, order)
        for n, trial in zip(step.n_labels, trials, strict=True)
        for order in trial.orders[sampler]
    ]
    return Point(
        ranker=ranker,
        sampler=sampler,
        n_labels=float(np.mean(step.n_labels)),
        share=float(np.mean([n / grades.size for n, grades, _ in labelled])),
        value=float(by_draw.mean()),
        low=low,
        high=high,
        error=error,
        share_relevant=float(np.mean([(grades[order[:n]] > 0).mean() for n, grades, order in labelled])),
        stop_of=step.stop_of,
    )
