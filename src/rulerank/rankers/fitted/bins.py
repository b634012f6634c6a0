"""Training rows as fitted rules see them: axes that are cut, rows in their bins, and the tables over these bins.

Heavy values get bins of their own, the others share the rest equally. Beside its bins a row takes 34 bytes here; its
values, of a few columns at a time, are released once they are in bins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rulerank._util.loops import between, in_blocks
from rulerank.dataset import Array
from rulerank.discretize.binning import bins_of_codes, kind_bins
from rulerank.rankers.fitted.trees import CATEGORIES, FALLING, RISING
from rulerank.rankers.rows import Labelled, content_keys, order_by_content
from rulerank.rules.additive import AdditiveTables, Table

MAX_BINS = 254  # with the bin of missing values every bin number fits a byte
SAMPLE = 200_000  # rows that cuts are found on: more would not move them by what matters
ROUNDING = 1e-12  # of values of size 1
Find = Callable[[Sequence[str], Array], list[Any]]  # of names and columns X, a value for each column
Columns = Callable[[Find], list[Any]]  # what is found in all columns, some at a time, each of them whole


class Settings(NamedTuple):
    """How finely and how fast to fit, by the number of rows: smooth between small data and large."""

    n_bins: int  # of a feature's own table
    pair_bins: int  # of each side of a pair's
    n_leaves: int  # of the tree that a round adds
    rate: float  # share of its votes that is added
    min_rows: float  # in a leaf

    @classmethod
    def of(cls, n_rows: int) -> Settings:
        """Return the settings for a number of rows.

        >>> Settings.of(10_000).n_bins, Settings.of(1_000_000).n_bins
        (64, 254)
        """
        much = min(max((n_rows / 50_000) ** 0.5, 1.0), 4.0)  # 1 up to 50,000 rows, 2 at 200,000, 4 at 800,000
        return cls(
            n_bins=min(MAX_BINS, round(64 * much)),
            pair_bins=round(16 * much**0.5),
            n_leaves=round(4 * min(much, 2.0)),
            rate=0.2 * min(much, 1.5),
            min_rows=min(20.0, max(3.0, n_rows / 50)),
        )


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
    out = np.empty((len(axes), len(X)), dtype=np.uint8)

    def work(first: int, last: int) -> None:
        for feature in range(first, last):
            axis, values = axes[feature], X[:, feature]
            if axis.codes is not None:
                out[feature] = bins_of_codes(values, axis.codes)
            else:
                bins = np.searchsorted(axis.cuts, values, side="right")
                out[feature] = np.where(np.isnan(values), axis.n_bins - 1, bins)

    in_blocks(work, len(axes), n_jobs, min_block=max(1, 50_000 // max(1, len(X))))
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


def worst_for_missing(centres: Array, sign: int) -> Array:
    """Return a feature's centres with the worst one for missing values, if votes must rise (1) or fall (-1).

    >>> worst_for_missing(np.array([-1.0, 2.0, 0.0]), -1).tolist()
    [-1.0, 2.0, 2.0]
    """
    if not sign:
        return centres
    return np.append(centres[:-1], centres[:-1].min() if sign > 0 else centres[:-1].max())


class TableCells(NamedTuple):
    """The tables that compete: of each row the cell, of each table its shape and where its votes begin."""

    singles: Array  # uint8[n_features, n] in the tables of one feature
    pairs: Array  # uint16[n_pairs, n] in the tables of pairs
    shapes: Array  # int64[n_tables, 2] numbers of bins
    kinds: Array  # int8[n_tables, 2] of the axes
    offsets: Array  # int64[n_tables + 1]


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

    def scores(self, votes: Array, rows: slice = slice(None)) -> Array:
        """Return the sum of all tables' votes for some rows."""
        scores = np.zeros(len(self.cells_of(0)[rows]))
        for table in range(len(self.sets)):
            scores += self.votes_of(votes, table).ravel()[self.cells_of(table)[rows]]
        return scores

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


def merge_turns(terms: Terms, votes: Array, weights: Array) -> Array:
    """Return the folds' votes with neighbouring bins of a feature merged where its curve turns by noise.

    Categories have no neighbours, missing values keep their bin, and the tables of pairs stay as they are.
    """
    votes = votes.copy()
    for t, features in enumerate(terms.sets):
        if len(features) == 1 and terms.cells.kinds[t, 0] != CATEGORIES:
            first, last = terms.cells.offsets[t], terms.cells.offsets[t + 1] - 1
            counts = np.bincount(terms.cells_of(t), weights if weights.size else None, last - first + 1)
            votes[:, first:last] = without_turns(votes[:, first:last], counts[:-1])
    return votes


def without_turns(votes: Array, counts: Array) -> Array:
    """Merge the two neighbouring bins whose step is least sure, until every step beside a turn is sure.

    A step is sure if the folds' mean is at least its standard error, that of a jackknife whose groups are the folds.
    votes: (n_folds, n_bins); counts: rows in the bins, which weigh their votes.

    >>> without_turns(np.array([[0.0, 2.0, 1.9, 3.0], [0.0, 2.0, 2.1, 3.0]]), np.ones(4)).tolist()
    [[0.0, 1.95, 1.95, 3.0], [0.0, 2.05, 2.05, 3.0]]
    """
    sizes = np.ones(votes.shape[1], dtype=np.int64)
    weights = np.maximum(counts.astype(np.float64), 1e-9)
    while sizes.size > 1:
        steps = np.diff(votes, axis=1)
        means, errors = steps.mean(axis=0), math.sqrt(len(votes) - 1) * steps.std(axis=0)
        turns = np.append(means[1:] * means[:-1] <= 0, False)
        beside = turns | np.append(False, turns[:-1]) | (means == 0)
        sureness = np.where(beside, np.abs(means) / np.maximum(errors, 1e-300), np.inf)
        least = int(sureness.argmin())
        if sureness[least] >= 1:
            break
        both = slice(least, least + 2)
        votes = np.insert(np.delete(votes, both, 1), least, np.average(votes[:, both], 1, weights[both]), 1)
        weights = np.insert(np.delete(weights, both), least, weights[both].sum())
        sizes = np.insert(np.delete(sizes, both), least, sizes[both].sum())
    return np.repeat(votes, sizes, axis=1)


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
