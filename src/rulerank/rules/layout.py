"""Which sets of features are counted, and where the cells of each lie."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError, TooLargeError

MAX_BINS = 255  # bins 0..254; 255 marks a bin that no training row has
UNSEEN = 255
MAX_SETS = 2**27  # laid out at once: some 3 GiB
MAX_CELLS = 2**24  # of one feature set: its table is never split, and takes some 40 bytes a cell


class FeatureSets(NamedTuple):
    """The feature sets of one size, in lexicographic order, as the loops take them.

    >>> sets = Layout.over([2, 3, 2], max_size=2).sets[1]
    >>> sets.features.tolist(), sets.offsets.tolist()
    ([[0, 1], [0, 2], [1, 2]], [7, 13, 17, 23])
    """

    features: Array  # int32 (n_sets, size)
    offsets: Array  # int64 (n_sets + 1,) first cell of each set among all cells of the layout
    n_bins: Array  # int32 (n_features,) table width of each feature

    @property
    def n_cells(self) -> int:
        return int(self.offsets[-1] - self.offsets[0])

    def part(self, first: int, last: int) -> FeatureSets:
        """Return some of the sets with their cells numbered from 0."""
        offsets = self.offsets[first : last + 1] - self.offsets[first]
        return FeatureSets(self.features[first:last], offsets, self.n_bins)


@dataclass(frozen=True, eq=False)
class Layout:
    """All sets of at most max_size features that have two bins or more.

    A cell of the set (a, b, c) is numbered (bin_a * n_bins_b + bin_b) * n_bins_c + bin_c from the set's offset.
    """

    n_bins: Array  # int32 (n_features,) table width of each feature
    sets: tuple[FeatureSets, ...]  # one entry per size, the first of them without any set where no feature is used

    @staticmethod
    def over(n_bins: Array | list[int], max_size: int, used: Array | None = None) -> Layout:
        """Lay out the sets over the used features (all with two bins or more unless given)."""
        widths = np.asarray(n_bins, dtype=np.int32)
        features = np.flatnonzero(widths > 1) if used is None else np.asarray(used)
        if max_size < 1:
            raise DataError(f"max_size must be 1 or more: got {max_size}")
        sets, n_cells = [], 0
        check_size(widths[features], max_size)
        for size in range(1, max(1, min(max_size, features.size)) + 1):
            flat = chain.from_iterable(combinations(features.tolist(), size))
            members = np.fromiter(flat, dtype=np.int32).reshape(-1, size)
            offsets = np.concatenate([[0], np.cumsum(widths[members].astype(np.int64).prod(axis=1))]) + n_cells
            n_cells = int(offsets[-1])
            sets.append(FeatureSets(members, offsets, widths))
        return Layout(widths, tuple(sets))

    @property
    def n_cells(self) -> int:
        return int(self.sets[-1].offsets[-1])

    @property
    def n_sets(self) -> int:
        return sum(len(block.features) for block in self.sets)

    @cached_property
    def members(self) -> Array:
        """All feature sets as rows of one array, int32, -1 where a set has fewer features than the largest."""
        rows = [
            np.pad(one.features, ((0, 0), (0, len(self.sets) - i)), constant_values=-1)
            for i, one in enumerate(self.sets, 1)
        ]
        return np.concatenate(rows)

    def parts(self, max_cells: int) -> Iterator[FeatureSets]:
        """Yield all sets in order, in parts of at most max_cells cells (or one set)."""
        if not self.n_sets:
            yield self.sets[0]
        for block in self.sets:
            first = 0
            while first < len(block.features):
                last = int(np.searchsorted(block.offsets, block.offsets[first] + max_cells, side="right")) - 1
                last = min(max(last, first + 1), len(block.features))
                yield block.part(first, last)
                first = last


def size_of_work(n_bins: Array, max_size: int) -> tuple[int, int]:
    """Return how many sets of at most max_size features there are, and their cells, without laying them out.

    >>> size_of_work(np.full(45, 4), 2)
    (1035, 16020)
    """
    max_size = min(max_size, n_bins.size)
    n_cells = [1] + [0] * max_size  # of all sets of each size: the elementary symmetric sums of the widths
    for width in n_bins.tolist():
        for size in range(max_size, 0, -1):
            n_cells[size] += width * n_cells[size - 1]
    return sum(math.comb(n_bins.size, size) for size in range(1, max_size + 1)), sum(n_cells[1:])


def check_size(n_bins: Array, max_size: int) -> None:
    """Refuse feature sets that do not fit in memory, all together or one by itself."""
    max_size = min(max_size, max(1, n_bins.size))
    n_sets, widest = size_of_work(n_bins, max_size)[0], math.prod(sorted(n_bins.tolist())[-max_size:])
    if n_sets > MAX_SETS or widest > MAX_CELLS:
        raise TooLargeError(
            f"{n_bins.size:,} features in sets of up to {max_size} are {n_sets:,} feature sets, and the largest table "
            f"has {widest:,} cells: at most {MAX_SETS:,} sets and {MAX_CELLS:,} cells per table fit in memory; "
            "lower max_size, raise drop_weakest, or use fewer features or bins"
        )
