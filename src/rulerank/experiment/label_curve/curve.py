"""Label-efficiency curves: how good a ranker is after so many labels, by how the documents to label were chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.core.progress import progress
from rulerank.dataset import Array, Dataset, Fold
from rulerank.errors import DataError
from rulerank.evaluation.single_feature import best_feature, feature_scores
from rulerank.experiment.cells import cell_key, fold_digest
from rulerank.experiment.label_curve.result import BEST_FEATURE, RANDOM, LabelCurve, Line, Point
from rulerank.experiment.label_curve.simulation import (
    Sampler,
    Simulation,
    by_rules,
    by_strata,
    random_order,
    shuffled,
    top_of,
)
from rulerank.io.outputs import write_bytes
from rulerank.rankers.anchored.anchored import Anchored
from rulerank.rankers.base import Ranker
from rulerank.today import find_today
from rulerank.training.few_labels import few_label_ranker, full_data_ranker
from rulerank.training.in_pool import PoolLearner
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
    today: str | None = None,
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
    today: the feature that ranks the documents now: a line of its own, what Anchored starts from, and its strata are
        one more way to choose.
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
    learners = _learners(rankers, today)
    if samplers is None:
        samplers = SAMPLERS if today is None else {"strata of today's ranking": by_strata(today)} | SAMPLERS
    simulations, features = _simulations(folds, samplers, n_draws, feature, measure, seed)
    plan = _plan(simulations, sizes)
    points, lines = [], []
    n_fits = sum(1 + sum(len(one.orders[name]) * len(steps) for name, steps in plan.items()) for one in simulations)
    with progress(n_fits * len(learners), "learning") as bar:
        for name, (few, full) in learners.items():
            values: dict[tuple[str, _Step], list[list[float]]] = {
                (sampler, step): [] for sampler, steps in plan.items() for step in steps
            }
            all_labels = []
            for place, simulation in enumerate(simulations):
                all_labels.append(simulation.learn(PoolLearner(full, simulation.pool), np.arange(len(simulation.pool))))
                bar.advance()
                learner = PoolLearner(few, simulation.pool)
                for (sampler, step), found in values.items():
                    orders = simulation.orders[sampler]
                    found.append([simulation.learn(learner, order[: step.n_labels[place]]) for order in orders])
                    bar.advance(len(orders))
            lines.append(Line(f"{name}, all labels", name, float(np.mean(all_labels))))
            points += [_point(name, *key, np.array(found), simulations) for key, found in values.items()]
    by_feature = [one.judge(feature_scores(one.test, name)) for one, name in zip(simulations, features, strict=True)]
    lines.append(Line(BEST_FEATURE if feature is None else f"by {feature}", None, float(np.mean(by_feature))))
    if today is not None:
        now = find_today(folds[0].test.feature_names, today)
        lines.append(
            Line(f"today, {now}", None, float(np.mean([one.judge(now.scores(one.test.X)) for one in simulations])))
        )
    return LabelCurve(
        measure=measure,
        points=tuple(points),
        lines=tuple(lines),
        features=tuple(features),
        n_pool=float(np.mean([len(one.pool) for one in simulations])),
        share_relevant=float(np.mean([(one.pool.y > 0).mean() for one in simulations])),
        n_folds=len(folds),
        n_draws=n_draws,
    )


def kept_label_curve(folds: Sequence[Fold], directory: Path, n_draws: int = 20) -> LabelCurve:
    """Return the curve, from the directory if it was drawn there before; a curve of other folds there goes."""
    what = {"draws": n_draws, "rankers": list(RANKERS), "samplers": list(SAMPLERS)}
    key = cell_key("label curve", what, "".join(map(fold_digest, folds)), {}, "MAP")
    path = directory / f"label-curve-{key}.json"
    try:
        return LabelCurve.from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not there, or not whole
    curve = label_curve(folds, n_draws=n_draws)
    write_bytes(path, curve.to_json().encode())
    for old in directory.glob("label-curve-*.json"):
        if old != path:
            old.unlink(missing_ok=True)
    return curve


class _Step(NamedTuple):
    """One size of the labelled set, in each fold."""

    n_labels: tuple[int, ...]
    stop_of: str | None  # the sampler that stops here by itself, in each fold at its own number


def _learners(
    rankers: Sequence[str] | Mapping[str, Ranker], today: str | None = None
) -> dict[str, tuple[Ranker, Ranker]]:
    """Return the rankers by name, as they learn from few labels and from all."""
    if isinstance(rankers, Mapping):
        return {name: (ranker, ranker) for name, ranker in rankers.items()}
    made = {name: (few_label_ranker(name), full_data_ranker(name)) for name in rankers}
    for few, full in made.values():
        for ranker in (few, full):
            if isinstance(ranker, Anchored):
                ranker.set_params(today=today)
    return made


def _simulations(
    folds: Sequence[Fold],
    samplers: Mapping[str, Sampler],
    n_draws: int,
    feature: str | None,
    measure: str,
    seed: int,
) -> tuple[list[Simulation], list[str]]:
    """Order every pool in every way; return also the feature of each fold whose top is one of them."""
    simulations, features = [], []
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
            simulations.append(Simulation(fold.name, pool, fold.test.labelled(), orders, measure))
    return simulations, features


def _plan(simulations: Sequence[Simulation], sizes: Sequence[int] | None) -> dict[str, list[_Step]]:
    """Say at which numbers of labels each sampler is looked at: sizes that it reaches, and where samplers stop."""
    n_pool = min(len(one.pool) for one in simulations)
    stops = {}
    for name in simulations[0].orders:
        reached = tuple(len(one.orders[name][0]) for one in simulations)
        if reached != tuple(len(one.pool) for one in simulations):
            stops[name] = _Step(reached, name)
    latest = max((max(stop.n_labels) for stop in stops.values()), default=n_pool)
    grid = list(_round_sizes(min(latest, n_pool))) if sizes is None else sorted(set(sizes))
    for size in grid:
        if not is_whole(size, 1, n_pool):
            raise DataError(f"sizes must be whole numbers from 1 to {n_pool:,}, the smallest pool: got {size!r}")
    plan = {}
    for name in simulations[0].orders:
        most = min(stops[name].n_labels) if name in stops else n_pool
        steps = [_Step((size,) * len(simulations), None) for size in grid if size <= most]
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


def _point(ranker: str, sampler: str, step: _Step, values: Array, simulations: Sequence[Simulation]) -> Point:
    """Average values (fold, draw) over the folds, and say how far the draws lie apart."""
    by_draw = values.mean(axis=0)
    low, high, error = None, None, None
    if by_draw.size > 1:
        low, high = map(float, np.quantile(by_draw, [0.025, 0.975]))
        error = float(by_draw.std(ddof=1) / np.sqrt(by_draw.size))
    labelled = [
        (n, one.pool.y, order)
        for n, one in zip(step.n_labels, simulations, strict=True)
        for order in one.orders[sampler]
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
