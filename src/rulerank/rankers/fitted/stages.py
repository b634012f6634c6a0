"""What the folds learn stage by stage: a straight line, then rounds on the tables of features, then on those of pairs.

Pairs are those of which two halves of the queries pull cells the same way, by documents that the model was not fitted
to: under noise the products of the halves' sums are as often negative as positive, so that the score of a pair that has
nothing to say is about zero, however many cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rulerank._util.loops import in_blocks, one_blas_thread
from rulerank.dataset import Array, starts_of
from rulerank.rankers.fitted import boosting
from rulerank.rankers.fitted.bins import MAX_BINS, Axis, BinnedRows
from rulerank.rankers.fitted.boosting import GradedRows, Pace, TableCells
from rulerank.rankers.fitted.trees import CATEGORIES, FALLING, RISING
from rulerank.rankers.linear.likelihood import QueryLikelihood
from rulerank.rankers.linear.newton import minimise
from rulerank.rules.additive import AdditiveTables, Table

FEW_LABELS, FEW_QUERIES = 500, 15  # below either only a straight line is fitted: more would be noise
L2 = 10.0  # rows' worth of curvature that a vote is shrunken by
LINEAR_L2 = 100.0
LINEAR_ROWS = 100_000  # rows that a straight line is fitted to at most
SETTLED = 20  # steps of intercepts
NOTHING_LEFT = 0.01  # of the loss of equal scores: what is left once features tell all but everything
SCREEN_ROWS = 200_000  # rows that pairs are looked for on
SCREEN_FEATURES = 150  # all pairs of more would take long: the ones with the strongest tables are looked at
SCREEN_BINS = 8
PATIENCE, TOLERANCE, MOST_ROUNDS = 50, 1e-6, 100_000  # as `Pace` has them
WINDOW_ROWS = 150_000  # looked at in one round


@dataclass(frozen=True, slots=True)
class Settings:
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

    def pace(self, enough: float) -> Pace:
        """Return how far rounds go, until the loss of what is held out is `enough`."""
        return Pace(self.n_leaves, self.rate, L2, self.min_rows, PATIENCE, TOLERANCE, enough, MOST_ROUNDS)


@dataclass(frozen=True, eq=False)
class TrainingFolds:
    """Rows in the order of their queries; fold f holds out the queries fold_bounds[f] .. fold_bounds[f + 1] - 1."""

    grades: Array  # int16 (n,)
    weights: Array  # float64 (n,), or of size 0
    bounds: Array  # int64 (n_queries + 1,) where each query's rows begin
    fold_bounds: Array  # int64 (n_folds + 1,)

    @property
    def n_folds(self) -> int:
        return self.fold_bounds.size - 1

    @property
    def n_queries(self) -> int:
        return self.bounds.size - 1

    @property
    def queries(self) -> Array:
        """The query of each row."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.bounds))

    def held_out(self, fold: int) -> Array:
        """The queries [a, b) that a fold does not learn from."""
        return self.fold_bounds[fold : fold + 2]

    def learned(self, fold: int) -> Array:
        """The queries [a, b) and [c, d) that a fold learns from."""
        a, b = self.held_out(fold).tolist()
        return np.array([0, a, b, self.n_queries])

    def windows(self, fold: int, n_rows: int) -> Array:
        """Cut what a fold learns from into windows of about n_rows rows, whole queries each, int64 (n_windows, 4)."""
        _, a, b, last = self.learned(fold).tolist()
        queries = np.concatenate([np.arange(a), np.arange(b, last)])
        sizes = np.diff(self.bounds)[queries]
        n_windows = max(1, math.ceil(int(sizes.sum()) / n_rows))
        which = np.minimum((np.cumsum(sizes) - 1) * n_windows // max(1, int(sizes.sum())), n_windows - 1)
        found = np.zeros((n_windows, 4), dtype=np.int64)
        for window in range(n_windows):
            own = queries[which == window]
            for place, part in ((0, own[own < a]), (2, own[own >= b])):
                if part.size:
                    found[window, place : place + 2] = part[0], part[-1] + 1
        return found

    def at(self, scores: Array) -> GradedRows:
        """Return the rows at some scores, and intercepts to begin with, infinite where a level says nothing."""
        n_levels = max(1, int(self.grades.max(initial=0)))
        intercepts = np.full((self.n_queries, n_levels), np.inf)
        weights = self.weights if self.weights.size else np.ones(self.grades.size)
        queries = self.queries
        for level in range(1, n_levels + 1):
            n = np.bincount(queries, weights * (self.grades <= level), self.n_queries)
            passed = np.bincount(queries, weights * (self.grades == level), self.n_queries)
            both = (passed > 0) & (passed < n)
            intercepts[both, level - 1] = np.log((n[both] - passed[both]) / passed[both])
        return GradedRows(scores, self.grades, self.weights, self.bounds, intercepts)

    def losses(self, scores: Array) -> Array:
        """Return the negative log-likelihood of each query, its intercepts at their best."""
        losses, rows = np.zeros(self.n_queries), self.at(scores)
        for _ in range(SETTLED):
            boosting.add_losses(rows, 0, self.n_queries, losses)
        return losses


def deal(numbers: Array, grades: Array, weights: Array, n_folds: int, seed: int) -> tuple[Array, TrainingFolds]:
    """Put rows, sorted by query number, in the order of folds: return their places and the folds.

    Queries whose documents all have the same grade say nothing and are left out.

    >>> places, folds = deal(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), np.zeros(0), 2, seed=0)
    >>> places.tolist(), folds.bounds.tolist(), folds.n_folds
    ([0, 1], [0, 2], 1)
    """
    n_queries = int(numbers[-1]) + 1
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    differ = np.maximum.reduceat(grades, starts) > np.minimum.reduceat(grades, starts)
    rank = np.empty(n_queries, dtype=np.int64)
    rank[np.random.default_rng(seed).permutation(n_queries)] = np.arange(n_queries)
    places = np.argsort(rank[numbers], kind="stable")
    places = places[differ[numbers[places]]]
    bounds = starts_of(rank[numbers[places]])
    n_left = bounds.size - 1
    n_folds = max(1, min(n_folds, n_left))
    fold_bounds = np.array([n_left * fold // n_folds for fold in range(n_folds + 1)], dtype=np.int64)
    return places, TrainingFolds(grades[places], weights[places] if weights.size else weights, bounds, fold_bounds)


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


class Stages:
    """What the folds come to, stage by stage: `votes` of the tables of `terms`, and how many rounds they took."""

    def __init__(
        self, binned: BinnedRows, folds: TrainingFolds, monotone: Array, settings: Settings, n_jobs: int | None
    ) -> None:
        self.binned, self.folds, self.monotone, self.settings, self.n_jobs = binned, folds, monotone, settings, n_jobs
        self.terms = lay_out(binned.bins, binned.axes, monotone)
        self.votes = np.zeros((folds.n_folds, self.terms.n_cells))
        self.n_rounds = np.zeros(folds.n_folds, dtype=np.int64)  # of each fold, up to its best

    def learn(self, max_pairs: int) -> None:
        """Learn a straight line in each fold, take rounds, choose pairs, and take rounds with them."""
        queries = self.folds.queries

        def line(fold: int) -> None:
            rows = self._linear_rows(fold)
            self.votes[fold] = linear_votes(self.binned, self.folds, rows, queries, self.monotone)[0]

        self._in_folds(line)
        self.take_rounds()
        pairs = self.chosen_pairs(max_pairs) if max_pairs else []
        if pairs:
            before = self.votes
            self.terms = lay_out(self.binned.bins, self.binned.axes, self.monotone, pairs, self.settings.pair_bins)
            self.votes = np.zeros((len(before), self.terms.n_cells))
            self.votes[:, : before.shape[1]] = before
            self.take_rounds()

    def _in_folds(self, work: Callable[[int], None]) -> None:
        def some(first: int, last: int) -> None:
            for fold in range(first, last):
                work(fold)

        in_blocks(some, self.folds.n_folds, self.n_jobs)

    def _linear_rows(self, fold: int) -> Array:
        """Return the rows that a fold's straight line is learned from: all, or as many whole queries as are enough."""
        folds = self.folds
        _, a, b, _ = folds.learned(fold).tolist()
        rows = np.concatenate([np.arange(folds.bounds[a]), np.arange(folds.bounds[b], folds.grades.size)])
        if rows.size <= LINEAR_ROWS:
            return rows
        last = folds.queries[rows[LINEAR_ROWS]]
        return rows[: int(np.searchsorted(rows, folds.bounds[last]))]

    def take_rounds(self) -> None:
        """Take rounds in each fold from where it stands."""
        terms, folds, offsets = self.terms, self.folds, self.terms.cells.offsets
        enough = NOTHING_LEFT * folds.losses(np.zeros(folds.grades.size))

        def rounds(fold: int) -> None:
            counts = np.zeros(terms.n_cells)
            learned = folds.bounds[folds.learned(fold)]
            for t in range(len(terms.sets)):
                own = counts[offsets[t] : offsets[t + 1]]
                for a, b in (learned[:2], learned[2:]):
                    boosting.count_cells(terms.cells_of(t), folds.weights, a, b, own)
            scores = np.zeros(folds.grades.size)
            boosting.add_votes(terms.cells, self.votes[fold], scores)
            held, windows = folds.held_out(fold), folds.windows(fold, WINDOW_ROWS)
            pace = self.settings.pace(float(enough[slice(*held)].sum()))
            own_rows = folds.at(scores)
            self.n_rounds[fold] += boosting.boost(terms.cells, own_rows, pace, counts, windows, held, self.votes[fold])

        self._in_folds(rounds)

    def out_of_fold_scores(self) -> Array:
        """Return the score of each row by the fold that has not learned from it."""
        cells, scores = self.terms.cells, np.zeros(self.folds.grades.size)
        for fold in range(self.folds.n_folds):
            rows = slice(*self.folds.bounds[self.folds.held_out(fold)])
            own = cells._replace(singles=cells.singles[:, rows], pairs=cells.pairs[:, rows])
            boosting.add_votes(own, self.votes[fold], scores[rows])
        return scores

    def chosen_pairs(self, most: int) -> list[tuple[int, int]]:
        """Return the pairs of features on which two halves of the queries agree best."""
        candidates, folds = self.pair_candidates(), self.folds
        if not len(candidates):
            return []
        n_queries = int(np.searchsorted(folds.bounds, SCREEN_ROWS, side="right")) - 1
        n_rows = int(folds.bounds[max(1, min(folds.n_queries, n_queries))])
        pulls, rows = np.zeros((folds.grades.size, 2)), folds.at(self.out_of_fold_scores())
        for _ in range(SETTLED):
            boosting.add_pulls(rows, 0, folds.n_queries, pulls)
        odd = (folds.queries[:n_rows] % 2).astype(np.uint8)
        coarse = np.empty((len(self.binned.axes), n_rows), dtype=np.uint8)
        n_bins = np.empty(len(coarse), dtype=np.int64)
        for f, (axis, bins) in enumerate(zip(self.binned.axes, self.binned.bins, strict=True)):
            found, places = axis.coarser(np.bincount(bins, minlength=axis.n_bins), SCREEN_BINS)
            coarse[f], n_bins[f] = places.astype(np.uint8)[bins[:n_rows]], found.n_bins
        scores = agreement(coarse, n_bins, candidates, pulls[:n_rows], odd, L2, self.n_jobs)
        best = np.argsort(-scores, kind="stable")[:most]
        return [(int(candidates[s, 0]), int(candidates[s, 1])) for s in best if scores[s] > 0]

    def pair_candidates(self) -> Array:
        """Return all pairs of features that have more than one bin, or of the strongest when there are very many."""
        sizes = np.zeros(len(self.binned.axes))
        for f, (axis, bins) in enumerate(zip(self.binned.axes, self.binned.bins, strict=True)):
            if axis.n_bins > 2:
                votes = self.terms.votes_of(self.votes.mean(axis=0), f)
                counts = np.bincount(bins, minlength=votes.size)
                mean = float(votes @ counts) / counts.sum()
                sizes[f] = 1e-12 + float(np.square(votes - mean) @ counts)
        used = np.sort(np.argsort(-sizes, kind="stable")[:SCREEN_FEATURES])
        return np.array(list(combinations(used[sizes[used] > 0].tolist(), 2)), dtype=np.int64).reshape(-1, 2)


def linear_votes(
    binned: BinnedRows, folds: TrainingFolds, rows: Array, queries: Array, monotone: Array
) -> tuple[Array, Array]:
    """Return the votes of all features' bins, weight times centre, and their standard errors, learned from some rows.

    A weight whose sign the user ruled out is taken out, and the others are learned again. Where the user gives a sign,
    missing values are at the worst centre.
    """
    centres = [worst_for_missing(own, int(sign)) for own, sign in zip(binned.centres, monotone, strict=True)]
    matrix = np.stack([own[binned.bins[f, rows]] for f, own in enumerate(centres)], axis=1)
    row_weights = folds.weights[rows] if folds.weights.size else None
    kept = np.array([bool(np.any(own)) for own in centres])
    while True:
        weights, errors = np.zeros((2, len(centres)))
        if kept.any():
            X = np.ascontiguousarray(matrix[:, kept])
            likelihood = QueryLikelihood(X, folds.grades[rows], queries[rows], LINEAR_L2, 1, row_weights)
            with one_blas_thread():
                found = minimise(likelihood, int(kept.sum()))
            factors = likelihood.rows.factors
            weights[kept] = found.x * factors
            errors[kept] = np.sqrt(np.diagonal(found.covariance).clip(0)) * factors
        wrong = kept & (weights * monotone < 0)
        if not wrong.any():
            break
        kept &= ~wrong
    votes = [weight * own for weight, own in zip(weights, centres, strict=True)]
    return np.concatenate(votes), np.concatenate(
        [error * np.abs(own) for error, own in zip(errors, centres, strict=True)]
    )


def worst_for_missing(centres: Array, sign: int) -> Array:
    """Return a feature's centres with the worst one for missing values, if votes must rise (1) or fall (-1).

    >>> worst_for_missing(np.array([-1.0, 2.0, 0.0]), -1).tolist()
    [-1.0, 2.0, 2.0]
    """
    if not sign:
        return centres
    return np.append(centres[:-1], centres[:-1].min() if sign > 0 else centres[:-1].max())


def agreement(
    bins: Array, n_bins: Array, pairs: Array, pulls: Array, odd: Array, l2: float, n_jobs: int | None
) -> Array:
    """Return a score for each pair of features: sum over cells of g_even * g_odd / (h + l2).

    >>> bins = np.array([[0, 1, 0, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> pulls, odd = np.array([[1.0, 1], [-1, 1], [1, 1], [-1, 1]]), np.array([0, 0, 1, 1], dtype=np.uint8)
    >>> agreement(bins, np.array([2, 2]), np.array([[0, 1]]), pulls, odd, 2.0, 1).tolist()
    [0.5]
    """
    out = np.zeros(len(pairs))
    most = int(np.prod(n_bins[pairs], axis=1).max(initial=0))

    def work(first: int, last: int) -> None:
        boosting.score_pairs(bins, n_bins, pairs[first:last], pulls, odd, l2, most, out[first:last])

    in_blocks(work, len(pairs), n_jobs, min_block=max(1, 200_000 // max(1, len(pulls))))
    return out


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
