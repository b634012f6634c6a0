"""Where the axes of the tables are cut: heavy values get bins of their own, the others share the rest alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.discretize.base import between
from rulerank.discretize.categories import bins_of_codes, kind_bins
from rulerank.discretize.kernels import assign_bins

MAX_BINS = 254  # with the bin of missing values every bin number fits a byte
SAMPLE = 200_000  # rows that cuts are found on: more would not move them by what matters


@dataclass(frozen=True, eq=False)
class Axis:
    """How one feature is binned: finely for its own table, more coarsely for tables with others.

    A fine bin is the number of cuts that are not above the value; the last bin is that of missing values.
    """

    cuts: Array  # float64, ascending; of codes, between all of them
    codes: Array | None = None  # of a feature that names kinds: the bin of each code, and of kinds that come later

    @property
    def n_bins(self) -> int:
        """The number of bins, the one of missing values included."""
        return len(self.cuts) + 2 if self.codes is None else int(self.codes[-1]) + 2

    @property
    def category(self) -> bool:
        """Whether the bins have no order."""
        return self.codes is not None

    def spread_out(self, votes: Array, axis: int) -> Array:
        """Return votes by bin as votes by what lies between the cuts: equal kinds each have a bin of their own."""
        if self.codes is None:
            return votes
        return np.take(votes, np.append(self.codes, self.n_bins - 1), axis=axis)

    def coarser(self, counts: Array, k: int) -> tuple[Axis, Array]:
        """Return this axis with about k bins, given the rows in each fine bin, and the coarse bin of each fine one.

        >>> coarse, places = Axis(np.array([1.0, 2.0, 3.0])).coarser(np.array([5, 5, 5, 5, 0]), 2)
        >>> coarse.cuts.tolist(), places.tolist()
        ([2.0], [0, 0, 1, 1, 2])
        """
        if self.n_bins - 1 <= k:
            return self, np.arange(self.n_bins)
        if self.codes is not None:
            places = kind_bins(np.repeat(np.arange(counts.size - 1.0), counts[:-1]), counts.size - 2, k, 1)
            return Axis(self.cuts, places[self.codes]), np.append(places, places[-1] + 1)
        groups = group_values(counts[:-1], k)
        places = np.append(groups, groups[-1] + 1)
        return Axis(self.cuts[np.diff(groups) > 0]), places


def group_values(counts: Array, k: int) -> Array:
    """Return for each of some ascending values, given how many rows have it, the number of its bin.

    A value that holds at least one in k of the rows has a bin of its own; of those that are left again, and so on. The
    values between them fall into bins of equally many rows, as far as that goes.

    >>> group_values(np.array([50, 1, 1, 1, 1, 1, 1]), 3).tolist()
    [0, 1, 1, 1, 2, 2, 2]
    """
    light = np.ones(counts.size, dtype=bool)
    n_left, k_left = int(counts.sum()), k
    while True:
        heavy = light & (counts * max(k_left, 1) >= n_left) if k_left > 0 else np.zeros_like(light)
        if not heavy.any() or not n_left:
            break
        light &= ~heavy
        n_left -= int(counts[heavy].sum())
        k_left -= int(heavy.sum())
    rows = np.where(light, counts, 0)
    segment = np.cumsum(~light)  # light values between the same heavy ones
    in_segment = np.bincount(segment, rows, segment[-1] + 1)
    n_bins = np.maximum(1, np.rint(in_segment * max(k_left, 1) / max(n_left, 1))).astype(np.int64)
    before = np.cumsum(rows) - rows
    before = before - np.concatenate([[0.0], np.cumsum(in_segment)])[segment]  # within the segment
    middle = (before + rows / 2) / np.maximum(in_segment[segment], 1)
    place = np.minimum((middle * n_bins[segment]).astype(np.int64), n_bins[segment] - 1)
    changes = (np.diff(segment) != 0) | (np.diff(place) != 0) | (np.diff(light) != 0)
    return np.concatenate([[0], np.cumsum(changes)])


def find_axes(
    X: Array, k: int, n_jobs: int | None = None, n_kinds: Mapping[int, int] = MappingProxyType({})
) -> list[Axis]:
    """Return an axis of about k bins for each feature; n_kinds: how many kinds a feature names, of those that do.

    >>> [axis.cuts.tolist() for axis in find_axes(np.array([[0.0], [0.0], [1.0], [3.0]]), 3)]
    [[0.5, 2.0]]
    """
    rows = np.linspace(0, len(X) - 1, min(len(X), SAMPLE)).astype(np.int64) if len(X) > SAMPLE else slice(None)
    axes: list[Axis] = [Axis(np.zeros(0))] * X.shape[1]

    def work(first: int, last: int) -> None:
        for feature in range(first, last):
            if feature in n_kinds:
                n = n_kinds[feature]
                axes[feature] = Axis(np.arange(n) + 0.5, kind_bins(X[:, feature], n, k))
            else:
                axes[feature] = Axis(cuts_of(X[rows, feature], k))

    in_blocks(work, X.shape[1], n_jobs, min_block=max(1, 50_000 // max(1, len(X))))
    return axes


def cuts_of(values: Array, k: int) -> Array:
    """Return the cuts of one feature, halfway between the values on either side."""
    found, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if found.size < 2:
        return np.zeros(0)
    groups = group_values(counts, k)
    while groups[-1] + 1 > MAX_BINS:  # each heavy value may leave a small bin beside it
        k = k * 3 // 4
        groups = group_values(counts, k)
    edges = np.flatnonzero(np.diff(groups))
    return between(found[edges], found[edges + 1])


def bins_on(X: Array, axes: list[Axis], n_jobs: int | None = None) -> Array:
    """Return the fine bins of rows, uint8 (n_features, n_rows)."""
    cuts = [axis.cuts if axis.codes is None else np.zeros(0) for axis in axes]
    flat = np.concatenate([np.zeros(0), *cuts])
    offsets = np.cumsum([0, *map(len, cuts)], dtype=np.int64)
    X = np.ascontiguousarray(X)
    out = np.empty((len(axes), len(X)), dtype=np.uint8)

    def work(start: int, stop: int) -> None:
        assign_bins(X, flat, offsets, start, stop, out)

    in_blocks(work, len(X), n_jobs, min_block=100_000 // max(1, len(axes)))
    for feature, axis in enumerate(axes):
        if axis.codes is not None:
            out[feature] = bins_of_codes(X[:, feature], axis.codes)
    return out
