"""The loops of boosting: gradients of the query-intercept likelihood, rounds over tables, and a score of pairs.

Nothing here checks its arguments; `stages.py` does. A row of grade g is compared at the levels max(g, 1) .. K-1 of its
query: it passes level g and fails those above. Tables are as `trees.py` has them; those of one feature come first.

pulls       float64[n, 2]           first and second derivative of the loss by each score
losses      float64[n_queries]
votes       float64[n_cells]        of all tables; at the end those of the best round
windows     int64[n_windows, 4]     queries [a, b) and [c, d) of each window; one window is looked at in a round
held        int64[2]                queries [a, b) that are held out
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rulerank._util.loops import compiled
from rulerank.dataset import Array
from rulerank.rankers.fitted.trees import Cells, add_cells, grow_tree, smooth

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


class TableCells(NamedTuple):
    """The tables that compete: of each row the cell, of each table its shape and where its votes begin."""

    singles: Array  # uint8[n_features, n] in the tables of one feature
    pairs: Array  # uint16[n_pairs, n] in the tables of pairs
    shapes: Array  # int64[n_tables, 2] numbers of bins
    kinds: Array  # int8[n_tables, 2] of the axes
    offsets: Array  # int64[n_tables + 1]


class Pace(NamedTuple):
    """How far a round goes, and when the last one is over."""

    n_leaves: int  # of the tree that a round adds
    rate: float  # share of its votes that is added
    l2: float
    min_rows: float  # in a leaf
    patience: int  # rounds without a gain
    tolerance: float  # share of the loss that counts as a gain within these rounds
    enough: float  # a loss that is the end: where features tell everything, it would fall for ever
    most_rounds: int


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
def add_votes(tables: TableCells, votes: Array, scores: Array) -> None:
    """Add up the votes of every table for every row."""
    for t in range(tables.offsets.size - 1):
        add_step(tables, t, votes[tables.offsets[t] : tables.offsets[t + 1]], scores)


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
def count_cells(cells: Array, weights: Array, first: int, last: int, counts: Array) -> None:
    for i in range(first, last):
        counts[cells[i]] += weights[i] if weights.size else 1.0


@compiled
def boost(
    tables: TableCells, rows: GradedRows, pace: Pace, counts: Array, windows: Array, held: Array, votes: Array
) -> int:
    """Take steps until the loss of the held-out queries has not fallen for `patience` rounds; return the best round.

    In each round some tables compete, and the one that gains most takes a step. A fall of the loss counts when it is
    more than `tolerance` of it.
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
    for r in range(pace.most_rounds):
        if best_loss <= pace.enough:
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
                gain = grow_tree(cells, pace.n_leaves, pace.l2, pace.min_rows, step[a:b])
                if gain > best_gain:
                    best, best_gain = t, gain
        if best >= 0:
            a, b = offsets[best], offsets[best + 1]
            taken = step[a:b]
            smooth(taken, tables.shapes[best], tables.kinds[best])
            for cell in range(taken.size):
                taken[cell] *= pace.rate
                now[a + cell] += taken[cell]
            add_step(tables, best, taken, rows.scores)
        if (r + 1) % every == 0:
            loss = add_losses(rows, held[0], held[1], losses)
            if loss < best_loss:
                best_loss, best_round = loss, r + 1
                votes[:] = now
            if best_loss < marked - pace.tolerance * abs(marked):
                marked, marked_round = best_loss, r + 1
            elif r + 1 - marked_round >= pace.patience:
                break
    return best_round


@compiled
def score_pairs(
    bins: Array, n_bins: Array, pairs: Array, pulls: Array, odd: Array, l2: float, most: int, out: Array
) -> None:
    """Write a score of each pair: sum over cells of g_even * g_odd / (h + l2), in halves of the queries.

    bins uint8[n_features, n], n_bins int64[n_features], pairs int64[n_pairs, 2], odd uint8[n], most: cells of a pair.
    """
    g = np.zeros((most, 2))
    h = np.zeros(most)
    for s in range(pairs.shape[0]):
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
