"""One scale for all queries, found on a pool without its grades, and the intervals of features on it.

A number added to all scores of a query changes no ranking. So a model needs no mean of a query when it scores, only one
deviation per feature: the root mean square of the differences to the mean of the query. BM25 spreads more in queries
where it is high, and so the values of the baseline ranking are logged: sign(x) log(1 + |x| / unit), where unit is their
deviation within queries. A baseline that is a sum of features is the sum of these on the scale.

Search engines run trees, which take values in steps and not as they are. A feature has some 250 steps, half of them
equally wide and half of them with equally many documents; the baseline ranking has 2,000, and more of them above its
highest value, as queries differ in how high it gets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rulerank.dataset import Array
from rulerank.discretize.base import equal_frequency_cuts
from rulerank.rules.additive import Table

MOST_REPEATED = 20  # times a row counts on average where rows are weighted
N_BINS = 5  # intervals that rules vote for
N_STEPS, N_BASELINE_STEPS = 128, 1024  # of each kind
N_BEYOND, BEYOND = 256, math.log(16)  # steps of the baseline ranking up to 16 times the highest value of the pool


class Steps(NamedTuple):
    """A feature as a step function: a value of each interval between cuts, the last one of missing values."""

    cuts: Array  # of the feature as it is
    values: Array  # (n_cuts + 2,) on the pooled scale before it is divided by the deviation
    shares: Array  # (n_cuts + 2,) of the documents of the pool

    def bins(self, cuts: Array) -> Array:
        """Return in which interval between some of the cuts each of these intervals lies.

        >>> Steps(np.array([1.0, 2.0]), np.zeros(4), np.zeros(4)).bins(np.array([2.0])).tolist()
        [0, 0, 1, 2]
        """
        return np.append(np.searchsorted(cuts, np.append(-np.inf, self.cuts), side="right"), cuts.size + 1)


class PooledScale(NamedTuple):
    """How a pool spreads within its queries."""

    units: Array  # (n_columns,) of the logarithm of the baseline ranking; 0: not logged
    centre: Array  # (n_columns,) the baseline ranking as weights, of deviation 1 within queries
    fill: Array  # (n_columns,) of missing values: the mean; of the baseline ranking a little below all others
    deviations: Array  # (n_columns,) within queries, 1 where none has a difference
    means: Array  # (n_queries, n_columns) of the values on the scale
    cuts: tuple[Array, ...]  # of each column, into intervals of equally many documents
    steps: tuple[Steps, ...]

    @classmethod
    def of(cls, X: Array, queries: Array, signs: Array, *, logged: bool) -> PooledScale:
        """Measure a pool; signs: of each column 1 in the baseline ranking, -1 if its lowest value comes first, or 0.

        >>> X, queries = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 7.0], [6.0, 7.0]]), np.array([0, 0, 1, 1])
        >>> scale = PooledScale.of(X, queries, np.array([1, 0]), logged=False)
        >>> scale.deviations.round(3).tolist(), scale.standard(X[:2], scale.means[queries[:2]]).round(3).tolist()
        ([1.581, 1.0], [[-0.632, 0.0], [0.632, 0.0]])
        """
        n_queries, n_columns = int(queries.max(initial=-1)) + 1, X.shape[1]
        sizes = np.bincount(queries, minlength=n_queries)
        fill, deviations, means = np.zeros(n_columns), np.ones(n_columns), np.zeros((n_queries, n_columns))
        units, cuts, steps = np.zeros(n_columns), [], []
        total = np.zeros(len(X))
        for number, sign in enumerate(signs.tolist()):
            values = np.asarray(X[:, number], dtype=np.float64)
            known = values[~np.isnan(values)]
            fill[number] = _behind(known, sign) if sign else known.mean() if known.size else 0.0
            filled = np.where(np.isnan(values), fill[number], values)
            if sign and logged:
                units[number] = within_queries(filled, queries, sizes)[1]
                filled = signed_log(filled, units[number])
            means[:, number], deviations[number] = within_queries(filled, queries, sizes)
            total += sign * filled / deviations[number]
            cuts.append(equal_frequency_cuts(values, N_BINS))
            steps.append(_steps(values, filled, fill[number], units[number], cuts[-1]))
        spread = within_queries(total, queries, sizes)[1] if np.count_nonzero(signs) > 1 else 1.0
        return cls(units, signs / spread, fill, deviations, means, tuple(cuts), tuple(steps))

    def standard(self, X: Array, means: Array) -> Array:
        """Return rows on the scale, where `means` are those of their queries, float64 (n_rows, n_columns)."""
        rows = np.where(np.isnan(X), self.fill, X).astype(np.float64)
        logged = self.units > 0
        rows[:, logged] = signed_log(rows[:, logged], self.units[logged])
        found: Array = (rows - means) / self.deviations
        return found


def repeated_rows(weights: Array | None, n_rows: int) -> Array:
    """Return the rows to measure the scale on, each as often as it counts: weights of 2 are two equal rows.

    Weights that are not whole, or very large, count in proportion: `MOST_REPEATED` times on average.

    >>> repeated_rows(np.array([2.0, 1.0]), 2).tolist(), repeated_rows(None, 2).tolist()
    ([0, 0, 1], [0, 1])
    """
    if weights is None:
        return np.arange(n_rows)
    if (weights % 1).any() or weights.sum() > MOST_REPEATED * n_rows:
        weights = np.maximum(np.rint(weights * (MOST_REPEATED * n_rows / weights.sum())), 1)
    return np.repeat(np.arange(n_rows), weights.astype(np.int64))


def signed_log(values: Array, unit: Any) -> Array:
    """Return sign(x) log(1 + |x| / unit).

    >>> signed_log(np.array([-1.0, 0.0, 3.0]), 1.0).round(3).tolist()
    [-0.693, 0.0, 1.386]
    """
    found: Array = np.sign(values) * np.log1p(np.abs(values) / unit)
    return found


def within_queries(values: Array, queries: Array, sizes: Array) -> tuple[Array, float]:
    """Return the mean of each query, and the deviation from it over the queries that have differences, or 1.

    >>> within_queries(np.array([1.0, 3.0, 7.0, 7.0]), np.array([0, 0, 1, 1]), np.array([2, 2]))
    (array([2., 7.]), 1.0)
    """
    means = np.bincount(queries, values, minlength=sizes.size) / np.maximum(sizes, 1)
    low, high = np.full(sizes.size, np.inf), np.full(sizes.size, -np.inf)
    np.minimum.at(low, queries, values)
    np.maximum.at(high, queries, values)
    varies = high > low
    own = varies[queries]
    square = float(((values[own] - means[queries[own]]) ** 2).sum()) / max(1, int(sizes[varies].sum()))
    return means, math.sqrt(square) or 1.0


def _behind(known: Array, sign: int) -> float:
    """Return the value for documents whose baseline value is missing: a deviation worse than any other."""
    return sign * (float((sign * known).min()) - (float(known.std()) or 1.0)) if known.size else -float(sign)


def _steps(values: Array, scaled: Array, fill: float, unit: float, cuts: Array) -> Steps:
    """Return a column as steps; unit: of its logarithm, 0 where it has none; cuts: others that are wanted."""
    missing = np.isnan(values)
    known = scaled[~missing]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    if unit:
        low, high = min(low, 0.0), max(high, 0.0)
        beyond = np.linspace(0.0, BEYOND, N_BEYOND + 1)
        outer = np.concatenate([low - beyond if low < 0 else [], high + beyond if high > 0 else []])
        edges = np.union1d(_edges(known, low, high, N_BASELINE_STEPS), outer)
        own = np.union1d(np.sign(edges) * unit * np.expm1(np.abs(edges)), cuts)
        marks = signed_log(np.append(own, fill), unit)
    else:
        own = np.union1d(_edges(known, low, high, N_STEPS), cuts)
        marks = np.append(own, fill)
    places = np.where(missing, own.size + 1, np.searchsorted(own, values, side="right"))
    counts = np.bincount(places, minlength=own.size + 2)
    bounds = np.concatenate([[min([low, *marks[:-1][:1]])], marks[:-1], [max([high, *marks[:-1][-1:]])]])
    found = np.append((bounds[:-1] + bounds[1:]) / 2, marks[-1])
    held = counts > 0
    found[held] = np.bincount(places, scaled, minlength=own.size + 2)[held] / counts[held]
    return Steps(own, found, counts / max(1, counts.sum()))


def _edges(known: Array, low: float, high: float, n_steps: int) -> Array:
    """Return cuts into steps that are equally wide, and into steps of equally many documents."""
    even = np.linspace(low, high, n_steps + 1)[1:-1] if low < high else np.zeros(0)
    return np.union1d(even, equal_frequency_cuts(known, n_steps))


class Items(NamedTuple):
    """Which bins of which features have a vote: all intervals, and missing where training saw that."""

    cuts: tuple[Array, ...]  # of each feature
    features: Array  # int (n_items,) ascending
    bins: Array  # int (n_items,) ascending within a feature

    @classmethod
    def of(cls, cuts: Sequence[Array], X: Array) -> Items:
        """List them; a feature that is the same everywhere has none.

        >>> X = np.array([[1.0, 5.0, 7.0], [2.0, np.nan, 7.0]])
        >>> items = Items.of([np.array([1.5]), np.zeros(0), np.zeros(0)], X)
        >>> items.features.tolist(), items.bins.tolist()
        ([0, 0, 1, 1], [0, 1, 0, 1])
        """
        pairs = []
        for feature, own in enumerate(cuts):
            n_bins = len(own) + 1 + bool(np.isnan(X[:, feature]).any())
            pairs += [(feature, bin) for bin in range(n_bins) if n_bins > 1]
        found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return cls(tuple(cuts), found[:, 0], found[:, 1])

    def hold(self, X: Array) -> Array:
        """Tell which items hold of each row: 1 or 0, float64 (n_rows, n_items).

        >>> Items((np.array([2.0]),), np.array([0, 0]), np.array([0, 1])).hold(np.array([[1.0], [2.0]])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        held = np.zeros((len(X), self.features.size))
        for feature in np.unique(self.features).tolist():
            cuts, values = self.cuts[feature], X[:, feature]
            bins = np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right"))
            own = np.flatnonzero(self.features == feature)
            held[:, own] = bins[:, None] == self.bins[own][None, :]
        return held

    def tables(self, votes: Array, errors: Array) -> tuple[Table, ...]:
        """Return the votes as a table of each feature; a bin that has no item votes 0."""
        made = []
        for feature in np.unique(self.features).tolist():
            own = np.flatnonzero(self.features == feature)
            cuts = self.cuts[feature]
            by_bin, spread = np.zeros(len(cuts) + 2), np.zeros(len(cuts) + 2)
            by_bin[self.bins[own]], spread[self.bins[own]] = votes[own], errors[own]
            made.append(Table((feature,), (cuts,), by_bin, spread))
        return tuple(made)
