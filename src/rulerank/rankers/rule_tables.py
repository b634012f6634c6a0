"""The additive form of rules that vote with lifts: for each set of features a table, divided by what all sets weigh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.dataset import Array
from rulerank.discretize import Discretizer
from rulerank.discretize.categories import WithCategories
from rulerank.errors import DataError
from rulerank.rules.additive import MAX_SIZE, AdditiveTables, Table
from rulerank.rules.engine import Engine
from rulerank.rules.votes import LiftVotes


@dataclass(frozen=True, eq=False)
class RuleAxis:
    """How the values of a feature lie on the axis of a table."""

    cuts: Array  # float64, ascending
    bins: Array  # int64 (len(cuts) + 2,) the rules' bin of each index on the axis, -1 where training had none
    kinds: tuple[str, ...] | None = None  # of a feature that names kinds


def axes_of(discretizer: Any, n_bins: Array) -> list[RuleAxis]:
    """Return the axis of each feature, given the bins that training had.

    >>> [axis.bins.tolist() for axis in axes_of(None, np.array([2]))]
    [[0, 1, -1, -1]]
    """
    if discretizer is None:  # values are bin numbers, and others than training had vote for nothing
        return [RuleAxis(np.arange(1.0, n + 1), _known(np.arange(n + 2), n)) for n in n_bins.tolist()]
    inner = discretizer.inner if isinstance(discretizer, WithCategories) else discretizer
    if not isinstance(inner, Discretizer):
        raise DataError(
            f"the bins of {type(inner).__name__} have no cuts that are known, and tables and what_if need them: fit "
            "with a discretizer of this library, such as discretizer='mdlp'"
        )
    axes = [
        RuleAxis(cuts, _known(np.arange(len(cuts) + 2), n))
        for cuts, n in zip(inner.cuts_, n_bins.tolist(), strict=True)
    ]
    if isinstance(discretizer, WithCategories):
        for f, bins in discretizer.bins.items():
            kinds = discretizer.kinds[f]
            axes[f] = RuleAxis(np.arange(len(kinds)) + 0.5, _known(np.append(bins, bins[-1] + 1), n_bins[f]), kinds)
    return axes


def additive_tables(engine: Engine, axes: list[RuleAxis], feature_names: tuple[str, ...]) -> AdditiveTables:
    """Return what the engine's lifts add up to as tables over values."""
    scheme, training, layout = engine.scheme, engine.training, engine.layout
    assert isinstance(scheme, LiftVotes)
    if len(layout.sets) > MAX_SIZE:
        raise DataError(
            f"rules of up to {len(layout.sets)} features make tables that nothing else reads; "
            f"fit with max_size={MAX_SIZE} or less"
        )
    total = scheme.total_weight(layout, training) or 1.0
    tables = []
    for sets, _, votes in engine.tables():
        for number, members in enumerate(sets.features.tolist()):
            own = votes[sets.offsets[number] : sets.offsets[number + 1], 0].reshape(layout.n_bins[members]) / total
            for place, feature in enumerate(members):
                bins = axes[feature].bins
                spread = np.take(own, np.maximum(bins, 0), axis=place)
                seen = (bins >= 0).reshape([-1 if one == place else 1 for one in range(own.ndim)])
                own = np.where(seen, spread, 0.0)
            tables.append(Table(tuple(members), tuple(axes[f].cuts for f in members), own))
    kinds = {name: axis.kinds for name, axis in zip(feature_names, axes, strict=True) if axis.kinds is not None}
    return AdditiveTables(training.mean_grade, tuple(tables), feature_names, kinds)


def _known(bins: Array, n_bins: int) -> Array:
    return np.where(bins < n_bins, bins, -1).astype(np.int64)
