"""Additive tables: a score that is a base plus one vote of each table, looked up by the bins of one to three features.

What explain sums, export writes and serve scores with. Votes lie on a grid, multiples of a power of two so coarse that
no partial sum is ever rounded: every order of addition, in any program, gives the same bits.

The arrays of the loops, which check nothing:

X                                   float[n_rows, n_features]    NaN = missing
cuts, cut_offsets                   of each feature, those of all its tables together
places, place_starts                from a feature's bin there to the index on one axis of a table, times its stride
votes, vote_starts, table_features  of each table, -1 where it has fewer than three features
used                                int64[n_used]                the features that some table has
values, features                    float64[n_rows, n_terms], int32[n_terms, size]: what terms add, and their features
out                                 float64[n_rows], float64[n_rows, n_terms], or float64[n_rows, n_features], added to
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from rulerank._util.loops import compiled, in_blocks
from rulerank._util.words import counted, in_words, listed, on_scale, written_cuts
from rulerank.dataset import Array
from rulerank.errors import DataError, ModelFileError

MAX_SIZE = 3  # features of a table
BITS = 24  # of a sum of votes, as a float32 has: engines that add in float32 give the same bits as `score`
DOUBLE_BITS = 50  # where only doubles are added; a double has 53
ROWS_PER_THREAD = 4096
Plan = tuple[Array, Array, Array, Array, Array, Array, Array, Array]  # a tuple without names: the loops begin sooner


@dataclass(frozen=True, eq=False, repr=False)
class Contributions:
    """Scores as sums: a base value, and the contribution of each term.

    A term is a feature, features together (`bm25 & length`: a table of both, or the rules over both) or the baseline
    ranking. The rows of `values` with their `base` sum to the scores of `predict`.

    >>> found = Contributions(np.array([1.0]), np.array([[0.5, 0.25]]), ("bm25", "bm25 & length"), ((0,), (0, 1)))
    >>> found.scores.tolist(), found.by_feature(2).tolist()
    ([1.75], [[0.625, 0.125]])
    """

    base: Array  # float64 (n_rows,)
    values: Array  # float64 (n_rows, n_terms)
    terms: tuple[str, ...]
    features: tuple[tuple[int, ...], ...]  # of each term: columns; the baseline ranking is the one after the last

    @staticmethod
    def of(base: Array, values: Array, features: Sequence[tuple[int, ...]], names: Sequence[str]) -> Contributions:
        """Return contributions whose terms are called by the names of their features."""
        return Contributions(
            base, values, tuple(" & ".join(names[f] for f in own) for own in features), tuple(features)
        )

    def __repr__(self) -> str:
        return f"Contributions({counted(len(self.base), 'row')}, {counted(len(self.terms), 'term')})"

    @property
    def scores(self) -> Array:
        """The sums, added up one after the other as models do."""
        return np.cumsum(np.column_stack([self.base, self.values]), axis=1)[:, -1]

    def by_feature(self, n_features: int) -> Array:
        """Return the contributions by feature, (n_rows, n_features): a term counts equally for each of its features."""
        shares = np.zeros((len(self.base), n_features))
        add_shares(self.values, padded(self.features), shares)
        return shares


def padded(sets: Sequence[Sequence[int]]) -> Array:
    """Return sets of features as the rows of one array, -1 where a set has fewer than the largest.

    >>> padded([(3,), (0, 1)]).tolist()
    [[3, -1], [0, 1]]
    """
    out = np.full((len(sets), max(map(len, sets), default=1)), -1, dtype=np.int32)
    for place, members in enumerate(sets):
        out[place, : len(members)] = members
    return out


def features_of(sets: Array) -> list[tuple[int, ...]]:
    """Return the rows of such an array as sets of features.

    >>> features_of(np.array([[3, -1], [0, 1]]))
    [(3,), (0, 1)]
    """
    return [tuple(feature for feature in members if feature >= 0) for members in sets.tolist()]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Votes by the bins of one to three features.

    A value's bin is the number of cuts that are not above it: bins are intervals [low, high). Every axis has one more
    index, the last, for missing values.

    >>> bm25 = Table((0,), (np.array([2.0, 5.0]),), np.array([-0.5, 0.25, 1.0, 0.0]))
    >>> [bm25.vote([value]) for value in (1.0, 2.0, 7.0, math.nan)]
    [-0.5, 0.25, 1.0, 0.0]
    """

    features: tuple[int, ...]
    cuts: tuple[Array, ...]  # of each feature: float64, ascending
    votes: Array  # float64, an axis of len(cuts) + 2 for each feature
    spread: Array | None = None  # the same shape: how far votes usually lie from these, were the data others

    def __post_init__(self) -> None:
        shape = tuple(len(own) + 2 for own in self.cuts)
        if not 1 <= len(self.features) <= MAX_SIZE or len(set(self.features)) < len(self.features):
            raise DataError(f"a table has 1 to {MAX_SIZE} different features: got {self.features}")
        if len(self.cuts) != len(self.features) or self.votes.shape != shape:
            raise DataError(f"cuts of {shape} bins need as many votes: got {self.votes.shape}")
        if self.spread is not None and self.spread.shape != shape:
            raise DataError(f"cuts of {shape} bins need as many spreads: got {self.spread.shape}")
        if any((np.diff(own) <= 0).any() or not np.isfinite(own).all() for own in self.cuts):
            raise DataError(f"the cuts of the table of {self.features} are not finite and ascending")

    def __repr__(self) -> str:
        bins = " x ".join(str(n_bins - 1) for n_bins in self.votes.shape)
        return f"Table({listed([str(one) for one in self.features])}: {bins} bins)"

    def bins(self, values: Sequence[float]) -> tuple[int, ...]:
        """Return the bin on each axis of a document, given as the values of the table's features."""
        return tuple(
            len(own) + 1 if math.isnan(value) else int(np.searchsorted(own, value, side="right"))
            for own, value in zip(self.cuts, values, strict=True)
        )

    def vote(self, values: Sequence[float]) -> float:
        """Return the vote for a document, given as the values of the table's features."""
        return float(self.votes[self.bins(values)])


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveTables:
    """A whole model: score = base + sum of the tables' votes + sum of weights times values.

    Models of rules have tables alone, linear ones weights alone; rules that move the ranking of a model have both.
    Where there is a baseline ranking, its parts are the first tables, or the weights of its columns.

    >>> one = Table((0,), (np.array([2.0]),), np.array([-0.5, 0.5, 0.0]))
    >>> two = Table((0, 1), (np.array([2.0]), np.zeros(0)), np.array([[0.25, 0.0], [0.0, 0.0], [0.0, 0.0]]))
    >>> model = AdditiveTables(1.0, (one, two), ("bm25", "length"))
    >>> model.score(np.array([[1.0, 3.0], [4.0, 3.0], [math.nan, math.nan]])).tolist()
    [0.75, 1.5, 1.0]
    """

    base: float
    tables: tuple[Table, ...]
    feature_names: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # feature: what its codes 0, 1, ... name
    weights: Array | None = None  # float64 (n_features,), of the values as they are
    fill: Array | None = None  # the same: what stands for a missing value in the weighted sum; None: the sum is missing
    baseline: tuple[int, ...] = ()  # columns of the baseline ranking, ascending: a feature or several that are added
    from_model: bool = False  # its column is the last, and no feature: a model's scores

    def __post_init__(self) -> None:
        n_features = len(self.feature_names)
        for table in self.tables:
            if not all(0 <= feature < n_features for feature in table.features):
                raise DataError(f"there are {n_features} features, numbered from 0: got a table of {table.features}")
            for feature, cuts in zip(table.features, table.cuts, strict=True):
                kinds = self.categories.get(self.feature_names[feature])
                if kinds is not None and len(cuts) != len(kinds):
                    raise DataError(f"{len(kinds)} categories need as many cuts: got {len(cuts)}")

    def __repr__(self) -> str:
        weights = "" if self.weights is None else f", {counted(int((self.weights != 0).sum()), 'weight')}"
        features = counted(len(self.feature_names), "feature")
        return f"AdditiveTables(base {self.base:.4g}, {counted(len(self.tables), 'table')}{weights}, {features})"

    def item_text(self, table: int, axis: int, bin: int, scale: str | None = None, dates: Collection[str] = ()) -> str:
        """Say in words what it means that a document has this bin on one axis of a table.

        scale: what values are put on by query; dates: features whose values are days since 1970-01-01.

        >>> votes = np.array([0.5, -0.5, 0.0, 0.0])
        >>> model = AdditiveTables(
        ...     0.0, (Table((0,), (np.array([0.5, 1.5]),), votes),), ("genre",), {"genre": ("Drama", "War")}
        ... )
        >>> [model.item_text(0, 0, bin) for bin in range(4)]
        ['genre is Drama', 'genre is War', 'genre is one not seen in training', 'genre is missing']
        """
        own = self.tables[table]
        name = self.feature_names[own.features[axis]]
        kinds = self.categories.get(name)
        if kinds is None:
            key = (table, axis, name in dates and scale is None)
            shown = self._shown.get(key) or self._shown.setdefault(key, written_cuts(own.cuts[axis], dates=key[2]))
            return on_scale(in_words(name, bin, shown), name, scale)
        if bin == len(kinds):
            return f"{name} is one not seen in training"
        return f"{name} is {'missing' if bin > len(kinds) else kinds[bin]}"

    @cached_property
    def _shown(self) -> dict[tuple[int, int, bool], list[str]]:
        return {}  # cuts as they are written, once they have been

    @cached_property
    def finest(self) -> dict[int, tuple[int, int]]:
        """Of each feature that has one, the table, and its axis, that cuts it most finely; small tables come first."""
        best: dict[int, tuple[int, int, int, int]] = {}
        for t, table in enumerate(self.tables):
            for axis, (feature, cuts) in enumerate(zip(table.features, table.cuts, strict=True)):
                found = (len(cuts), -len(table.features), -t, axis)
                best[feature] = max(best.get(feature, found), found)
        return {feature: (-minus, axis) for feature, (_, _, minus, axis) in best.items()}

    def score(self, X: Array, n_jobs: int | None = None) -> Array:
        """Return the score of each row of X, float32 or float64 (n_rows, n_features), NaN where a value is missing."""
        X = self._checked(X)
        out = np.empty(len(X))
        plan = self._plan

        def work(start: int, stop: int) -> None:
            add_table_votes(X, plan, self.base, start, stop, out)
            if self.weights is not None:
                add_weighted(X, self.weights, self.weights if self.fill is None else self.fill,
                             self.fill is not None, start, stop, out)  # fmt: skip

        in_blocks(work, len(X), n_jobs, min_block=ROWS_PER_THREAD)
        return out

    def contributions(self, X: Any) -> Contributions:
        """Return what each table adds to the score of each row, and each weighted value.

        >>> pair = Table((0, 1), (np.array([2.0]), np.zeros(0)), np.array([[0.5, 0.0], [1.0, 0.0], [0.0, 0.0]]))
        >>> found = AdditiveTables(1.0, (pair,), ("bm25", "length")).contributions(np.array([[1.0, 3.0], [4.0, 3.0]]))
        >>> found.terms, found.values.tolist()
        (('bm25 & length',), [[0.5], [1.0]])
        """
        X = self._checked(X)
        terms, features, columns = self._terms
        values = np.empty((len(X), len(terms)))
        find_table_votes(X, self._plan, values)
        if self.weights is not None:
            own = X[:, columns]
            own = own if self.fill is None else np.where(np.isnan(own), self.fill[columns], own)
            values[:, len(self.tables) :] = own * self.weights[columns]
        return Contributions(np.full(len(X), self.base), values, terms, features)

    @property
    def baseline_in_table(self) -> bool:
        """Whether the first tables are the parts of the baseline ranking."""
        return bool(self.baseline) and self.weights is None

    @property
    def n_features(self) -> int:
        """How many features there are; the baseline ranking is the part after them."""
        return len(self.feature_names) - self.from_model

    @cached_property
    def _terms(self) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...], Array]:
        """The terms in words, their features, and the columns of those that are weighted values."""
        columns = np.zeros(0, dtype=np.int64)
        if self.weights is not None:  # a linear model has a term for each feature
            columns = np.flatnonzero(self.weights) if self.tables else np.arange(len(self.feature_names))
        sets = [table.features for table in self.tables]
        names = [" & ".join(self.feature_names[f] for f in own) for own in sets]
        if self.baseline_in_table:
            for place in range(len(self.baseline)):
                sets[place], names[place] = (self.n_features,), baseline_name(names[place])
        names += [
            baseline_name(self.feature_names[f]) if f in self.baseline else self.feature_names[f] for f in columns
        ]
        weighed = [(self.n_features if f in self.baseline else f,) for f in columns.tolist()]
        return tuple(names), (*sets, *weighed), columns

    def _checked(self, X: Array) -> Array:
        X = np.ascontiguousarray(X)
        if X.ndim != 2 or X.shape[1] != len(self.feature_names) or X.dtype not in (np.float32, np.float64):
            raise DataError(
                f"X must be float32 or float64 with {len(self.feature_names)} features: "
                f"got {X.dtype} of shape {X.shape}"
            )
        return X

    def on_grid(self, bits: int = BITS) -> AdditiveTables:
        """Return the same model rounded so that no sum of its votes ever rounds."""
        largest = abs(self.base) + sum(float(np.abs(table.votes).max(initial=0.0)) for table in self.tables)
        exponent = (math.frexp(largest)[1] if largest > 0 else 0) - bits
        unit = math.ldexp(1.0, max(exponent, -1000))
        tables = tuple(replace(table, votes=np.rint(table.votes / unit) * unit) for table in self.tables)
        return replace(self, base=round(self.base / unit) * unit, tables=tables)

    def to_state(self) -> dict[str, Any]:
        """Return the model as plain values and arrays, for a model file."""
        return {
            "base": self.base,
            "categories": {name: list(kinds) for name, kinds in self.categories.items()},
            "tables": [
                vars(table) | {"features": list(table.features), "cuts": list(table.cuts)} for table in self.tables
            ],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], feature_names: tuple[str, ...]) -> AdditiveTables:
        """Return the model that `to_state` described, bit for bit."""
        try:
            tables = tuple(
                Table(
                    tuple(one["features"]),
                    tuple(np.asarray(cuts, dtype=np.float64) for cuts in one["cuts"]),
                    np.asarray(one["votes"], dtype=np.float64),
                    None if one["spread"] is None else np.asarray(one["spread"], dtype=np.float64),
                )
                for one in state["tables"]
            )
            kinds = {name: tuple(names) for name, names in state["categories"].items()}
            return cls(float(state["base"]), tables, feature_names, kinds)
        except (AttributeError, DataError, KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the tables cannot be read ({error}); save the model again") from error

    @cached_property
    def _plan(self) -> Plan:
        """Lay the tables out for the loop: one search per feature, then a look into each of its tables.

        cuts, cut_offsets: of each feature, those of all its tables together.
        places, place_starts: from a feature's bin there to the index on one axis, times the axis' stride.
        votes, vote_starts, table_features (n_tables, 3): -1 where a table has fewer features.
        """
        n_features = len(self.feature_names)
        cuts: list[Array] = [np.zeros(0)] * n_features
        for table in self.tables:
            for feature, own in zip(table.features, table.cuts, strict=True):
                cuts[feature] = np.union1d(cuts[feature], own)
        features = np.full((len(self.tables), MAX_SIZE), -1, dtype=np.int64)
        place_starts = np.zeros((len(self.tables), MAX_SIZE), dtype=np.int64)
        places: list[Array] = [np.zeros(0, dtype=np.int64)]
        n_places = 0
        for t, table in enumerate(self.tables):
            for j, (feature, own) in enumerate(zip(table.features, table.cuts, strict=True)):
                stride = math.prod(table.votes.shape[j + 1 :])
                whole = cuts[feature]
                # a bin of the whole begins at the cut before it; below the first cut everything is 0
                index = np.searchsorted(own, np.append(-np.inf, whole), side="right")
                places.append(np.append(index, len(own) + 1) * stride)
                features[t, j], place_starts[t, j] = feature, n_places
                n_places += whole.size + 2
        sizes = [table.votes.size for table in self.tables]
        return (
            np.concatenate([np.zeros(0), *cuts]),
            np.cumsum([0, *map(len, cuts)], dtype=np.int64),
            np.concatenate(places).astype(np.int64),
            place_starts,
            np.concatenate([np.zeros(0), *(table.votes.ravel() for table in self.tables)]),
            np.cumsum([0, *sizes], dtype=np.int64),
            features,
            np.unique(features[features >= 0]).astype(np.int64),
        )


def baseline_name(feature: str) -> str:
    """Return what the baseline ranking's part is called.

    >>> baseline_name("bm25(all)"), baseline_name("score of FittedRules")
    ('baseline ranking bm25(all)', 'baseline ranking of FittedRules')
    """
    return f"baseline ranking {feature.removeprefix('score ')}"


@compiled
def find_bins(X: Array, row: int, cuts: Array, cut_offsets: Array, used: Array, bins: Array) -> None:
    """Write the bin of each used feature of one row."""
    for j in range(used.size):
        f = used[j]
        value = X[row, f]
        low, high = cut_offsets[f], cut_offsets[f + 1]
        if value != value:
            bins[f] = high - low + 1
            continue
        start = low
        while low < high:
            middle = (low + high) // 2
            if cuts[middle] <= value:
                low = middle + 1
            else:
                high = middle
        bins[f] = low - start


@compiled
def cell_of(t: int, bins: Array, places: Array, place_starts: Array, vote_starts: Array, table_features: Array) -> int:
    """Return where the vote of one table for a row of these bins is."""
    cell = vote_starts[t]
    for j in range(3):
        f = table_features[t, j]
        if f < 0:
            break
        cell += places[place_starts[t, j] + bins[f]]
    return cell


@compiled
def add_table_votes(X: Array, plan: Plan, base: float, first: int, last: int, out: Array) -> None:
    """Write the scores of the rows first..last-1; the plan is `AdditiveTables._plan`."""
    cuts, cut_offsets, places, place_starts, votes, vote_starts, table_features, used = plan
    bins = np.zeros(cut_offsets.size - 1, dtype=np.int64)
    for row in range(first, last):
        find_bins(X, row, cuts, cut_offsets, used, bins)
        score = base
        for t in range(table_features.shape[0]):
            score += votes[cell_of(t, bins, places, place_starts, vote_starts, table_features)]
        out[row] = score


@compiled
def find_table_votes(X: Array, plan: Plan, out: Array) -> None:
    """Write the vote of each table for each row into the first columns of out."""
    cuts, cut_offsets, places, place_starts, votes, vote_starts, table_features, used = plan
    bins = np.zeros(cut_offsets.size - 1, dtype=np.int64)
    for row in range(X.shape[0]):
        find_bins(X, row, cuts, cut_offsets, used, bins)
        for t in range(table_features.shape[0]):
            out[row, t] = votes[cell_of(t, bins, places, place_starts, vote_starts, table_features)]


@compiled
def add_weighted(X: Array, weights: Array, fill: Array, filled: bool, first: int, last: int, out: Array) -> None:
    """Add weight times value to the scores of the rows first..last-1, features in order; fill stands for NaN."""
    for row in range(first, last):
        total = 0.0
        for f in range(weights.size):
            value = X[row, f]
            if filled and value != value:
                value = fill[f]
            total += value * weights[f]
        out[row] += total


@compiled
def add_shares(values: Array, features: Array, out: Array) -> None:
    """Add what each term adds to each row to the features of the term, to each the same; features: -1 is none."""
    for row in range(values.shape[0]):
        for t in range(features.shape[0]):
            size = 0
            while size < features.shape[1] and features[t, size] >= 0:
                size += 1
            for j in range(size):
                out[row, features[t, j]] += values[row, t] / size
