"""What the folds learn: a straight line, then rounds of boosting on the tables of features, then on those of pairs too.

Pairs are those of which two halves of the queries pull cells the same way, by documents that the model was not fitted
to: under noise the products of the halves' sums are as often negative as positive, so that the score of a pair without
information is about zero, however many cells it has.

A row of grade g is compared at the levels max(g, 1) .. K-1 of its query: it passes level g and fails those above. The
loops, which check nothing, read tables as `trees.py` describes them; those of one feature come first.

pulls       float64[n, 2]           first and second derivative of the loss by each score
losses      float64[n_queries]
votes       float64[n_cells]        of all tables; at the end those of the best round
counts      float64[n_cells]        rows that a fold learns from, or what they count
windows     int64[n_windows, 4]     queries [a, b) and [c, d) of each window; one window is looked at in a round
held        int64[2]                queries [a, b) that are held out
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from rulerank._util.loops import compiled, in_blocks, one_blas_thread
from rulerank.dataset import Array, starts_of
from rulerank.rankers.fitted.bins import BinnedRows, Settings, TableCells, lay_out, worst_for_missing
from rulerank.rankers.fitted.trees import Cells, add_cells, grow_tree, smooth
from rulerank.rankers.linear.likelihood import Outcomes, QueryLikelihood
from rulerank.rankers.linear.newton import minimise

L2 = 10.0  # rows' worth of curvature that a vote is shrunken by
LINEAR_L2 = 100.0
LINEAR_ROWS = 100_000  # rows that a straight line is fitted to at most
NOTHING_LEFT = 0.01  # of the loss of equal scores: with features that decide everything it would fall for ever
SCREEN_ROWS = 200_000  # rows that pairs are looked for on
SCREEN_FEATURES = 150  # all pairs of more would take long: the ones with the strongest tables are looked at
SCREEN_BINS = 8
WINDOW_ROWS = 150_000  # looked at in one round
PATIENCE, MOST_ROUNDS = 50, 100_000  # rounds without a gain, and in all
TOLERANCE = 1e-6  # share of the loss that counts as a gain
LONGEST = 2.0  # step of an intercept: a straight line says nothing beyond
TURNS = 3  # a table competes in one of so many rounds
AT_ONCE = 2048  # rows whose pulls stay in the nearest cache while all tables count them
SETTLE = 20  # steps that bring intercepts to their place, from wherever


class GradedRows(NamedTuple):
    """Rows in the order of their queries, with the scores and intercepts that boosting moves."""

    scores: Array  # float64[n]
    grades: Array  # int16[n]
    weights: Array  # float64[n], or of size 0 when every row counts one
    bounds: Array  # int64[n_queries + 1] where each query's rows begin
    intercepts: Array  # float64[n_queries, K - 1], not finite where all outcomes are equal: left out


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

    def learned_rows(self, fold: int) -> Array:
        """The rows that a fold learns from."""
        first, last = self.bounds[self.held_out(fold)]
        return np.concatenate([np.arange(first), np.arange(last, self.grades.size)])

    def windows(self, fold: int, n_rows: int) -> Array:
        """Cut what a fold learns from into windows of about n_rows rows, whole queries each, int64 (n_windows, 4)."""
        a, b = self.held_out(fold).tolist()
        queries = np.concatenate([np.arange(a), np.arange(b, self.n_queries)])
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
        outcomes = Outcomes.of(self.grades, self.queries, self.weights if self.weights.size else None)
        intercepts = np.where(outcomes.informative, outcomes.intercepts(), np.inf)
        return GradedRows(scores, self.grades, self.weights, self.bounds, intercepts)

    def losses(self, scores: Array) -> Array:
        """Return the negative log-likelihood of each query, its intercepts at their best."""
        losses, rows = np.zeros(self.n_queries), self.at(scores)
        for _ in range(SETTLE):
            add_losses(rows, 0, self.n_queries, losses)
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
        folds, rows = self.folds, self.folds.learned_rows(fold)
        if rows.size <= LINEAR_ROWS:
            return rows
        last = folds.queries[rows[LINEAR_ROWS]]
        return rows[: int(np.searchsorted(rows, folds.bounds[last]))]

    def take_rounds(self) -> None:
        """Take rounds in each fold from where it stands."""
        terms, folds, offsets = self.terms, self.folds, self.terms.cells.offsets
        losses = folds.losses(np.zeros(folds.grades.size))

        def rounds(fold: int) -> None:
            learned = folds.learned_rows(fold)
            weights = folds.weights[learned] if folds.weights.size else None
            counts = [
                np.bincount(terms.cells_of(t)[learned], weights, offsets[t + 1] - offsets[t])
                for t in range(len(terms.sets))
            ]
            scores = terms.scores(self.votes[fold])
            held, windows = folds.held_out(fold), folds.windows(fold, WINDOW_ROWS)
            enough = NOTHING_LEFT * float(losses[slice(*held)].sum())
            where = np.concatenate(counts).astype(np.float64), windows, held, self.votes[fold]
            self.n_rounds[fold] += boost(terms.cells, folds.at(scores), self.settings, enough, *where)

        self._in_folds(rounds)

    def out_of_fold_scores(self) -> Array:
        """Return the score of each row by the fold that has not learned from it."""
        held = [slice(*self.folds.bounds[self.folds.held_out(fold)]) for fold in range(self.folds.n_folds)]
        return np.concatenate([self.terms.scores(self.votes[fold], rows) for fold, rows in enumerate(held)])

    def chosen_pairs(self, most: int) -> list[tuple[int, int]]:
        """Return the pairs of features on which two halves of the queries agree best."""
        candidates, folds = self.pair_candidates(), self.folds
        if not len(candidates):
            return []
        n_queries = int(np.searchsorted(folds.bounds, SCREEN_ROWS, side="right")) - 1
        n_rows = int(folds.bounds[max(1, min(folds.n_queries, n_queries))])
        pulls, rows = np.zeros((folds.grades.size, 2)), folds.at(self.out_of_fold_scores())
        for _ in range(SETTLE):
            add_pulls(rows, 0, folds.n_queries, pulls)
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


@compiled
def compare(margin: float, passes: bool, weight: float) -> tuple[float, float, float]:
    """Return how far the chance of passing is from what was seen, its curvature, and exp(-|margin|)."""
    small = math.exp(-abs(margin))
    inverse = 1.0 / (1.0 + small)
    chance = inverse if margin >= 0 else small * inverse
    return weight * (chance - (1.0 if passes else 0.0)), weight * small * inverse * inverse, small


@compiled
def newton_step(excess: float, total: float) -> float:
    """Return how far an intercept moves."""
    return min(max(excess / total if total > 0.0 else 0.0, -LONGEST), LONGEST)


@compiled
def add_pulls(rows: GradedRows, first: int, last: int, pulls: Array) -> None:
    """Write the derivatives of the queries first..last-1, their intercepts moved by one step of Newton.

    The step is taken into account to first order, so that the pulls of a query and level add up to 0: adding a number
    to all scores of a query changes nothing. One exponential per comparison, where solving for the intercept takes
    four or five.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, rows.bounds[q + 1] - rows.bounds[q])
    residuals = np.empty(longest)
    curvatures = np.empty(longest)
    for q in range(first, last):
        start, stop = rows.bounds[q], rows.bounds[q + 1]
        for i in range(start, stop):
            pulls[i, 0] = 0.0
            pulls[i, 1] = 0.0
        for level in range(1, rows.intercepts.shape[1] + 1):
            intercept = rows.intercepts[q, level - 1]
            if not math.isfinite(intercept):
                continue
            excess = 0.0
            total = 0.0
            for i in range(start, stop):
                if rows.grades[i] > level:
                    continue
                weight = rows.weights[i] if rows.weights.size else 1.0
                residual, curvature, _ = compare(rows.scores[i] - intercept, rows.grades[i] == level, weight)
                residuals[i - start] = residual
                curvatures[i - start] = curvature
                excess += residual
                total += curvature
            step = newton_step(excess, total)
            rows.intercepts[q, level - 1] = intercept + step
            for i in range(start, stop):
                if rows.grades[i] <= level:
                    pulls[i, 0] += residuals[i - start] - step * curvatures[i - start]
                    pulls[i, 1] += curvatures[i - start]


@compiled
def add_losses(rows: GradedRows, first: int, last: int, losses: Array) -> float:
    """Write the negative log-likelihood of the queries first..last-1 at the best intercepts, by one step of Newton.

    The intercepts move. Return the sum.
    """
    whole = 0.0
    for q in range(first, last):
        losses[q] = 0.0
        for level in range(1, rows.intercepts.shape[1] + 1):
            intercept = rows.intercepts[q, level - 1]
            if not math.isfinite(intercept):
                continue
            excess = 0.0
            total = 0.0
            loss = 0.0
            for i in range(rows.bounds[q], rows.bounds[q + 1]):
                if rows.grades[i] > level:
                    continue
                margin = rows.scores[i] - intercept
                passes = rows.grades[i] == level
                weight = rows.weights[i] if rows.weights.size else 1.0
                residual, curvature, small = compare(margin, passes, weight)
                excess += residual
                total += curvature
                loss += weight * (math.log1p(small) + max(-margin if passes else margin, 0.0))
            step = newton_step(excess, total)
            rows.intercepts[q, level - 1] = intercept + step
            losses[q] += loss - step * excess + 0.5 * step * step * total
        whole += losses[q]
    return whole


@compiled
def add_step(tables: TableCells, t: int, votes: Array, scores: Array) -> None:
    """Add the votes of one table."""
    if t < tables.singles.shape[0]:
        add_cell_votes(tables.singles[t], votes, scores)
    else:
        add_cell_votes(tables.pairs[t - tables.singles.shape[0]], votes, scores)


@compiled
def add_cell_votes(cells: Array, votes: Array, scores: Array) -> None:
    for i in range(scores.size):
        scores[i] += votes[cells[i]]


@compiled
def boost(
    tables: TableCells, rows: GradedRows, settings: Settings, enough: float, counts: Array, windows: Array, held: Array,
    votes: Array,
) -> int:  # fmt: skip
    """Take steps until the loss of the held-out queries is `enough`, or has not fallen for long; return the best round.

    In each round some tables compete, and the one that gains most takes a step.
    """
    offsets = tables.offsets
    n_tables = offsets.size - 1
    n_singles = tables.singles.shape[0]
    pulls = np.zeros((rows.scores.size, 2))
    sums = np.zeros((votes.size, 2))
    step = np.zeros(votes.size)
    now = votes.copy()
    losses = np.zeros(rows.bounds.size - 1)
    for _ in range(SETTLE):
        best_loss = add_losses(rows, held[0], held[1], losses)
        for w in range(windows.shape[0]):
            for part in range(0, 4, 2):
                add_pulls(rows, windows[w, part], windows[w, part + 1], pulls)
    marked, marked_round, best_round = best_loss, 0, 0
    every = windows.shape[0]
    for r in range(MOST_ROUNDS):
        if best_loss <= enough:
            break
        window = windows[r % windows.shape[0]]
        for part in range(0, 4, 2):
            add_pulls(rows, window[part], window[part + 1], pulls)
        for t in range(n_tables):
            if (t + r) % TURNS == 0:
                sums[offsets[t] : offsets[t + 1]] = 0.0
        for part in range(0, 4, 2):
            start, stop = rows.bounds[window[part]], rows.bounds[window[part + 1]]
            for first in range(start, stop, AT_ONCE):
                last = min(first + AT_ONCE, stop)
                for t in range(n_tables):
                    if (t + r) % TURNS == 0:
                        mine = sums[offsets[t] : offsets[t + 1]]
                        if t < n_singles:
                            add_cells(tables.singles[t], pulls, first, last, mine)
                        else:
                            add_cells(tables.pairs[t - n_singles], pulls, first, last, mine)
        best, best_gain = -1, 0.0
        for t in range(n_tables):
            if (t + r) % TURNS == 0:
                a, b = offsets[t], offsets[t + 1]
                cells = Cells(sums[a:b], counts[a:b], tables.shapes[t], tables.kinds[t])
                gain = grow_tree(cells, settings.n_leaves, L2, settings.min_rows, step[a:b])
                if gain > best_gain:
                    best, best_gain = t, gain
        if best >= 0:
            a, b = offsets[best], offsets[best + 1]
            taken = step[a:b]
            smooth(taken, tables.shapes[best], tables.kinds[best])
            for cell in range(taken.size):
                taken[cell] *= settings.rate
                now[a + cell] += taken[cell]
            add_step(tables, best, taken, rows.scores)
        if (r + 1) % every == 0:
            loss = add_losses(rows, held[0], held[1], losses)
            if loss < best_loss:
                best_loss, best_round = loss, r + 1
                votes[:] = now
            if best_loss < marked - TOLERANCE * abs(marked):
                marked, marked_round = best_loss, r + 1
            elif r + 1 - marked_round >= PATIENCE:
                break
    return best_round


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
    score = partial(score_pairs, bins, n_bins, pairs, pulls, odd, l2, out)
    in_blocks(score, len(pairs), n_jobs, min_block=max(1, 200_000 // max(1, len(pulls))))
    return out


@compiled
def score_pairs(
    bins: Array, n_bins: Array, pairs: Array, pulls: Array, odd: Array, l2: float, out: Array, start: int, stop: int
) -> None:
    """Write a score of the pairs start..stop-1: sum over cells of g_even * g_odd / (h + l2), in halves of the queries.

    bins uint8[n_features, n], n_bins int64[n_features], pairs int64[n_pairs, 2], odd uint8[n]
    """
    most = n_bins.max() ** 2
    g = np.zeros((most, 2))
    h = np.zeros(most)
    for s in range(start, stop):
        width = n_bins[pairs[s, 1]]
        size = n_bins[pairs[s, 0]] * width
        g[:size] = 0.0
        h[:size] = 0.0
        first, second = bins[pairs[s, 0]], bins[pairs[s, 1]]
        for i in range(odd.size):
            cell = first[i] * width + second[i]
            g[cell, odd[i]] += pulls[i, 0]
            h[cell] += pulls[i, 1]
        score = 0.0
        for cell in range(size):
            score += g[cell, 0] * g[cell, 1] / (h[cell] + l2)
        out[s] = score
