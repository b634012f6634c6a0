"""The tables that are fitted, laid out for the rounds: which features, which cells, where their votes lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulerank.dataset import Array
from rulerank.rankers.fitted.bins import Axis
from rulerank.rankers.fitted.trees import CATEGORIES, FALLING, RISING


@dataclass(frozen=True, eq=False)
class Terms:
    """Tables of single features first, then those of pairs."""

    sets: tuple[tuple[int, ...], ...]
    axes: tuple[tuple[Axis, ...], ...]  # of each set
    singles: Array  # uint8 (n_singles, n_rows)
    higher: Array  # uint16 (n_pairs, n_rows)
    shapes: Array  # int64 (n_tables, 2)
    kinds: Array  # int8 (n_tables, 2)
    offsets: Array  # int64 (n_tables + 1,)

    @property
    def n_cells(self) -> int:
        return int(self.offsets[-1])

    def votes_of(self, votes: Array, table: int) -> Array:
        """Return one table's part of all votes, an axis for each feature."""
        size = len(self.sets[table])
        return votes[self.offsets[table] : self.offsets[table + 1]].reshape(self.shapes[table, :size])


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
    return Terms(tuple(sets), tuple(own_axes), bins, cells, shapes, kinds, offsets)
