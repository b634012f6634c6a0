"""Sum up what was learned in every fold: points of the curves, and the lines that no choice of labels changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from rulerank.experiment.label_curve.result import BEST_FEATURE, Line, Point
from rulerank.experiment.label_curve.splits import Gains
from rulerank.experiment.label_curve.stages import Found, Step
from rulerank.today import Today


def all_points(found: Sequence[Found], plan: Mapping[str, Sequence[Step]], names: Sequence[str]) -> list[Point]:
    """Return the points of every learner and sampler."""
    return [_point(name, sampler, step, found) for name in names for sampler, steps in plan.items() for step in steps]


def all_lines(found: Sequence[Found], names: Sequence[str], feature: str | None, today: Today | None) -> list[Line]:
    """Return all labels of each learner, a single feature, today's ranking: those that were looked at."""
    lines = [
        Line(f"{name}, all labels", name, float(np.mean([one.all_labels[name] for one in found])))
        for name in names
        if name in found[0].all_labels
    ]
    by_feature = [one.by_feature for one in found if one.by_feature is not None]
    if by_feature:
        lines.append(Line(BEST_FEATURE if feature is None else f"by {feature}", None, float(np.mean(by_feature))))
    if today is not None:
        lines.append(Line(f"today, {today}", None, float(np.mean([one.today for one in found if one.today]))))
    return lines


def _point(ranker: str, sampler: str, step: Step, found: Sequence[Found]) -> Point:
    """Average over the folds, and say how far the draws lie apart, and the folds from today's ranking."""
    values = np.array([one.values[ranker, sampler, step] for one in found])  # (fold, draw)
    by_draw = values.mean(axis=0)
    low, high, error = None, None, None
    if by_draw.size > 1:
        low, high = map(float, np.quantile(by_draw, [0.025, 0.975]))
        error = float(by_draw.std(ddof=1) / np.sqrt(by_draw.size))
    gains = None
    if all(one.today is not None for one in found):
        today = np.array([one.today for one in found], dtype=np.float64)
        gains = Gains.of((values - today[:, None]).ravel())
    others = Counter(name for one in found for name in one.took_over[ranker, sampler, step] if name)
    n_labels = step.n_labels[: len(found)]
    return Point(
        ranker=ranker,
        sampler=sampler,
        n_labels=float(np.mean(n_labels)),
        share=float(np.mean([n / one.n_pool for n, one in zip(n_labels, found, strict=True)])),
        value=float(by_draw.mean()),
        low=low,
        high=high,
        error=error,
        share_relevant=float(np.mean([one.relevant[sampler, step] for one in found])),
        stop_of=step.stop_of,
        gains=gains,
        took_over=", ".join(f"{name} in {n} of {values.size}" for name, n in others.items()) or None,
    )
