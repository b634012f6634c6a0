"""From the folds' votes to the tables of the model: their mean, centred, with their spread as a band."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rulerank.dataset import Array
from rulerank.rankers.fitted.bins import Axis
from rulerank.rankers.fitted.terms import Terms
from rulerank.rankers.fitted.trees import RISING
from rulerank.rules.additive import AdditiveTables, Table


def tables_of(
    terms: Terms,
    votes: Array,
    weights: Array,
    feature_names: tuple[str, ...],
    categories: Mapping[str, tuple[str, ...]],
    spread: Array | None = None,
) -> AdditiveTables:
    """Return the mean of the folds' votes, (n_folds, n_cells), as tables; those that say nothing are left out.

    weights: what each row counts in the average document; of size 0 when every row counts one.
    spread: of each vote; the deviation of the folds by default.
    """
    tables = []
    for t, features in enumerate(terms.sets):
        cells = terms.singles[t] if t < len(terms.singles) else terms.higher[t - len(terms.singles)]
        folds = np.stack([terms.votes_of(own, t) for own in votes])
        counts = (
            np.bincount(cells, weights if weights.size else None, folds[0].size)
            .reshape(folds[0].shape)
            .astype(np.float64)
        )
        means = (folds * counts).reshape(len(folds), -1).sum(axis=1) / counts.sum()
        folds = folds - means.reshape(-1, *[1] * counts.ndim)  # only differences within a table say anything
        own = folds.mean(axis=0)
        if not np.any(own[counts > 0]):
            continue
        band = folds.std(axis=0) if spread is None else terms.votes_of(spread, t)
        known = told(counts, terms.axes[t], terms.kinds[t])
        own, band = np.where(known, own, 0.0), np.where(known, band, 0.0)
        for place, axis in enumerate(terms.axes[t]):
            own, band, counts = (axis.spread_out(values, place) for values in (own, band, counts))
        cuts = tuple(axis.cuts for axis in terms.axes[t])
        tables.append(Table(features, cuts, own, np.ascontiguousarray(band)))
    return AdditiveTables(0.0, tuple(tables), feature_names, dict(categories)).on_grid()


def told(counts: Array, axes: tuple[Axis, ...], kinds: Array) -> Array:
    """Tell which cells have a say: not those of missing values, or of kinds, that training never saw.

    kinds: of the axes, as in `trees.py`; where votes must rise or fall, a missing value is the worst, seen or not.

    >>> told(np.array([2, 0, 1, 0]), (Axis(np.array([1.0, 2.0])),), np.zeros(3)).tolist()
    [True, True, True, False]
    """
    found = np.ones(counts.shape, dtype=bool)
    for place, axis in enumerate(axes):
        others = tuple(other for other in range(counts.ndim) if other != place)
        shape = [-1 if other == place else 1 for other in range(counts.ndim)]
        line = counts.sum(axis=others) > 0
        line[:-1] |= not axis.category  # a value between two that were seen is like them
        line[-1] |= kinds[place] >= RISING
        found &= line.reshape(shape)
    return found
