"""The tables that are fitted: laid out for the rounds, and made a model of the folds' votes after them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rulerank.dataset import Array
from rulerank.rankers.fitted.bins import Axis
from rulerank.rankers.fitted.boosting import TableCells
from rulerank.rankers.fitted.trees import CATEGORIES, FALLING, RISING
from rulerank.rules.additive import AdditiveTables, Table


@dataclass(frozen=True, eq=False)
class Terms:
    """Tables of single features first, then those of pairs."""

    sets: tuple[tuple[int, ...], ...]
    axes: tuple[tuple[Axis, ...], ...]  # of each set
    cells: TableCells

    @property
    def n_cells(self) -> int:
        return int(self.cells.offsets[-1])

    def cells_of(self, table: int) -> Array:
        """Return the cell of each row in one table."""
        singles, pairs = self.cells.singles, self.cells.pairs
        found: Array = singles[table] if table < len(singles) else pairs[table - len(singles)]
        return found

    def votes_of(self, votes: Array, table: int) -> Array:
        """Return one table's part of all votes, an axis for each feature."""
        size = len(self.sets[table])
        return votes[self.cells.offsets[table] : self.cells.offsets[table + 1]].reshape(self.cells.shapes[table, :size])


def lay_out(
    bins: Array, axes: list[Axis], monotone: Array, pairs: Sequence[tuple[int, int]] = (), pair_bins: int = 0
) -> Terms:
    """Lay out a table for each feature, and one of `pair_bins` bins per side for each pair.

    bins: uint8 (n_features, n_rows) fine bins; monotone: int (n_features,) 1, -1, or 0.
    """
    counts = [np.bincount(own, minlength=axis.n_bins) for own, axis in zip(bins, axes, strict=True)]
    sets: list[tuple[int, ...]] = [(f,) for f in range(len(axes))]
    own_axes: list[tuple[Axis, ...]] = [(axis,) for axis in axes]
    cells = np.empty((len(pairs), bins.shape[1]), dtype=np.uint16)
    for place, (f, g) in enumerate(pairs):
        (first, of_first), (second, of_second) = (axes[one].coarser(counts[one], pair_bins) for one in (f, g))
        cells[place] = of_first.astype(np.uint16)[bins[f]] * np.uint16(second.n_bins)
        cells[place] += of_second.astype(np.uint16)[bins[g]]
        sets.append((f, g))
        own_axes.append((first, second))
    shapes = np.ones((len(sets), 2), dtype=np.int64)
    kinds = np.zeros((len(sets), 2), dtype=np.int8)
    for t, (features, axes_of_set) in enumerate(zip(sets, own_axes, strict=True)):
        for j, (f, axis) in enumerate(zip(features, axes_of_set, strict=True)):
            shapes[t, j] = axis.n_bins
            kinds[t, j] = CATEGORIES if axis.category else {0: 0, 1: RISING, -1: FALLING}[int(monotone[f])]
    offsets = np.concatenate([[0], np.cumsum(shapes.prod(axis=1))]).astype(np.int64)
    return Terms(tuple(sets), tuple(own_axes), TableCells(bins, cells, shapes, kinds, offsets))


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
        folds = np.stack([terms.votes_of(own, t) for own in votes])
        counts = np.bincount(terms.cells_of(t), weights if weights.size else None, folds[0].size)
        counts = counts.reshape(folds[0].shape).astype(np.float64)
        means = (folds * counts).reshape(len(folds), -1).sum(axis=1) / counts.sum()
        folds = folds - means.reshape(-1, *[1] * counts.ndim)  # only differences within a table say anything
        own = folds.mean(axis=0)
        if not np.any(own[counts > 0]):
            continue
        band = folds.std(axis=0) if spread is None else terms.votes_of(spread, t)
        known = told(counts, terms.axes[t], terms.cells.kinds[t])
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
