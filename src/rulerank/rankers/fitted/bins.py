"""Training rows as fitted rules see them: axes that are cut, and rows in their bins, in an order of their own.

Heavy values get bins of their own, the others share the rest alike. Beside its bins a row takes 34 bytes here; its
values, of a few columns at a time, are let go once they are in bins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rulerank._util.loops import in_blocks
from rulerank.dataset import Array
from rulerank.discretize.base import assign_bins, between
from rulerank.discretize.binning import bins_of_codes, kind_bins
from rulerank.rankers.rows import Labelled, content_keys, order_by_content

MAX_BINS = 254  # with the bin of missing values every bin number fits a byte
SAMPLE = 200_000  # rows that cuts are found on: more would not move them by what matters
ROUNDING = 1e-12  # of values of size 1
Find = Callable[[Sequence[str], Array], list[Any]]  # of names and columns X, a value for each column
Columns = Callable[[Find], list[Any]]  # what is found in all columns, some at a time, each of them whole


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
    assign = partial(assign_bins, X, flat, offsets, out)
    in_blocks(assign, len(X), n_jobs, min_block=100_000 // max(1, len(axes)))
    for feature, axis in enumerate(axes):
        if axis.codes is not None:
            out[feature] = bins_of_codes(X[:, feature], axis.codes)
    return out


class OrderedRows(NamedTuple):
    """Rows in the order of their content, query by query."""

    order: Array  # int64 (n_rows,) their places among the rows as they came
    numbers: Array  # int64 (n_rows,) of the query of each, in order
    grades: Array
    weights: Array  # of size 0 when every row counts one


def row_keys(data: Labelled) -> list[Labelled]:
    """Return, as a list of one part, rows of which a number that tells each from others stands for its features."""
    return [data._replace(X=content_keys(data.X))]


def ordered(parts: Sequence[Labelled]) -> OrderedRows:
    """Put the rows of all parts, as `row_keys` has them, in an order that their content alone says."""
    shifts = np.cumsum([0, *(len(part.query_ids) for part in parts)])
    queries = np.concatenate([part.queries + shift for part, shift in zip(parts, shifts, strict=False)])
    grades = np.concatenate([part.grades for part in parts])
    weights = np.concatenate([np.zeros(0), *(part.weights for part in parts if part.weights is not None)])
    order, numbers = order_by_content(np.concatenate([part.X for part in parts]), grades, queries)
    return OrderedRows(order, numbers, grades[order], weights[order] if weights.size else weights)


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """The rows that say anything, in bins, in the order of the folds."""

    bins: Array  # uint8 (n_features, n_rows)
    axes: list[Axis]
    centres: list[Array]  # of each feature, what stands for a bin in a straight line


def binned_rows(
    columns: Columns, n_kinds: Mapping[str, int], order: Array, places: Array, n_bins: int, n_jobs: int | None
) -> BinnedRows:
    """Put all columns into bins; order: of the rows as they came; `places` are those of the rows to keep, in it."""

    def bin_columns(features: Sequence[str], X: Array) -> list[tuple[Axis, Array, Array]]:
        values = X[order]
        kinds = {place: n_kinds[feature] for place, feature in enumerate(features) if feature in n_kinds}
        axes = find_axes(values, n_bins, n_jobs, kinds)
        values = values[places]
        bins = bins_on(values, axes, n_jobs)
        centres = bin_centres(values, bins, [axis.n_bins for axis in axes])
        centres = [np.zeros_like(own) if axis.category else own for own, axis in zip(centres, axes, strict=True)]
        return [*zip(axes, bins, centres, strict=True)]

    found = columns(bin_columns)
    return BinnedRows(np.stack([bins for _, bins, _ in found]), [one[0] for one in found], [one[2] for one in found])


def bin_centres(X: Array, bins: Array, n_bins: list[int]) -> list[Array]:
    """Return the mean value of each feature's bins, as deviations from the feature's mean.

    Bins without rows, and missing values, are at 0: they say neither more nor less than the average document.

    >>> X, bins = np.array([[1.0], [3.0], [np.nan]]), np.array([[0, 1, 2]], dtype=np.uint8)
    >>> [centres.round(9).tolist() for centres in bin_centres(X, bins, [3])]
    [[-1.0, 1.0, 0.0]]
    """
    found = []
    for f, n in enumerate(n_bins):
        values = X[:, f].astype(np.float64)
        known = ~np.isnan(values)
        if not known.any():
            found.append(np.zeros(n))
            continue
        largest = float(np.abs(values[known]).max()) or 1.0  # squares of huge values are not numbers
        values = np.where(known, values / largest, 0.0)
        counts = np.bincount(bins[f], minlength=n)
        means = np.bincount(bins[f], values, n) / np.maximum(counts, 1)
        mean = float(values.sum() / known.sum())
        spread = float(np.sqrt(np.square(np.where(known, values - mean, 0.0)).sum() / known.sum()))
        means = np.where(counts > 0, means - mean, 0.0) / (spread if spread > ROUNDING else 1.0)
        # a centre that is 0 but for rounding must be 0: a fold may have no other, and its weight would be astronomic
        means[np.abs(means) < ROUNDING] = 0.0
        means[-1] = 0.0
        found.append(means)
    return found
