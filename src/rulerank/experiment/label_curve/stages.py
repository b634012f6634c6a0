"""The stages of a curve: choose documents in every fold, plan the numbers of labels, learn from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.core.progress import Bar, progress
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.evaluation.single_feature import best_feature, feature_scores
from rulerank.experiment.label_curve.design import Design, top_name
from rulerank.experiment.label_curve.learners import Learner, took_over
from rulerank.experiment.label_curve.result import RANDOM
from rulerank.experiment.label_curve.simulation import Simulation, choose, pool_of, top_of
from rulerank.today import Today
from rulerank.training.in_pool import PoolLearner

FIRST = 20  # fewer labels teach next to nothing
STEPS = (1, 1.5, 2, 3, 5, 7)  # sizes are these times powers of ten
ENOUGH = 2  # splits from which on an interrupted curve is shown


class Chosen(NamedTuple):
    """What was chosen from the pool of one fold."""

    n_pool: int
    orders: dict[str, list[Array]]  # by sampler: rows of the pool in the order to label them, one array per draw
    feature: str | None  # whose top is one way to choose


class Step(NamedTuple):
    """One size of the labelled set, in each fold."""

    n_labels: tuple[int, ...]
    stop_of: str | None  # the sampler that stops here by itself, in each fold at its own number


@dataclass
class Found:
    """What was learned in one fold."""

    n_pool: int
    share_relevant: float
    today: float | None = None
    by_feature: float | None = None
    all_labels: dict[str, float] = field(default_factory=dict)  # by learner
    values: dict[tuple[str, str, Step], list[float]] = field(default_factory=dict)  # one of each draw
    took_over: dict[tuple[str, str, Step], list[str | None]] = field(default_factory=dict)
    relevant: dict[tuple[str, Step], float] = field(default_factory=dict)  # share of what is labelled


def choose_all(design: Design, feature: str | None, seed: int) -> list[Chosen]:
    """Order every pool in every way."""
    chosen = []
    with_top = feature is not None or not design.in_splits
    with progress(len(design.folds) * (len(design.samplers) + with_top), "choosing") as bar:
        for place, fold in enumerate(design.folds):
            pool = pool_of(fold)
            top, samplers = feature, dict(design.samplers)
            if with_top:
                top = best_feature(pool, design.measure) if feature is None else feature
                samplers[top_name(feature)] = top_of(top)
            orders = {}
            for name, sampler in samplers.items():
                draws = range(design.n_draws if name == RANDOM else 1)
                orders[name] = [choose(sampler, pool, seed, place, draw, design.most) for draw in draws]
                bar.advance()
            chosen.append(Chosen(len(pool), orders, top))
    return chosen


def plan_steps(chosen: Sequence[Chosen], design: Design) -> dict[str, list[Step]]:
    """Say at which numbers of labels each sampler is looked at: sizes that it reaches, and where samplers stop."""
    pools = [one.n_pool for one in chosen]
    limits = [n if design.most is None else min(n, design.most) for n in pools]
    stops = {}
    for name in chosen[0].orders:
        reached = tuple(len(one.orders[name][0]) for one in chosen)
        if any(n < limit for n, limit in zip(reached, limits, strict=True)):
            stops[name] = Step(reached, name)
    latest = max((max(stop.n_labels) for stop in stops.values()), default=min(pools))
    sizes = design.sizes
    grid = list(round_sizes(min(latest, *pools))) if sizes is None else sorted(set(sizes))
    for size in grid:
        if not is_whole(size, 1, min(pools)):
            raise DataError(f"sizes must be whole numbers from 1 to {min(pools):,}, the smallest pool: got {size!r}")
    plan = {}
    for name in chosen[0].orders:
        most = min(stops[name].n_labels) if name in stops else min(limits)
        steps = [Step((size,) * len(chosen), None) for size in grid if size <= most]
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


def learn_all(
    design: Design,
    chosen: Sequence[Chosen],
    learners: Mapping[str, Learner],
    plan: Mapping[str, Sequence[Step]],
    today: Today | None,
) -> list[Found]:
    """Learn from the labels of every step, in one fold after the other; Ctrl-C leaves the splits that are done."""
    n_fits = sum(
        (not design.in_splits) + sum(len(one.orders[name]) * len(steps) for name, steps in plan.items())
        for one in chosen
    )
    done: list[Found] = []
    with progress(n_fits * len(learners), "learning") as bar:
        try:
            for place, one in enumerate(chosen):
                found = _learn(design, place, one, learners, plan, today, bar)
                done.append(found)
        except KeyboardInterrupt:
            if not design.in_splits or len(done) < ENOUGH:
                raise
    return done


def _learn(
    design: Design,
    place: int,
    chosen: Chosen,
    learners: Mapping[str, Learner],
    plan: Mapping[str, Sequence[Step]],
    today: Today | None,
    bar: Bar,
) -> Found:
    fold = design.folds[place]
    one = Simulation(fold.name, pool_of(fold), fold.test.labelled(), chosen.orders, design.measure)
    found = Found(len(one.pool), float((one.pool.y > 0).mean()))
    if today is not None:
        found.today = one.judge(today.scores(one.test.X))
    if chosen.feature is not None:
        found.by_feature = one.judge(feature_scores(one.test, chosen.feature))
    for sampler, steps in plan.items():
        for step in steps:
            shares = [(one.pool.y[order[: step.n_labels[place]]] > 0).mean() for order in one.orders[sampler]]
            found.relevant[sampler, step] = float(np.mean(shares))
    for name, learner in learners.items():
        if not design.in_splits:
            found.all_labels[name] = one.learn(PoolLearner(learner.full, one.pool), np.arange(len(one.pool)))
            bar.advance()
        ready = learner.in_pool(one.pool)
        for sampler, steps in plan.items():
            for step in steps:
                fitted = [one.fit(ready, order[: step.n_labels[place]]) for order in one.orders[sampler]]
                found.values[name, sampler, step] = [one.judge_fitted(ranker) for ranker in fitted]
                found.took_over[name, sampler, step] = [
                    None if ranker is None else took_over(ready, ranker) for ranker in fitted
                ]
                bar.advance(len(fitted))
    return found
