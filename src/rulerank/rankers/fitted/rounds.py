"""The loop over rounds: in each, some tables compete, and the one that gains most takes a step.

singles     uint8[n_features, n]         bin of each row in the tables of one feature, which come first
higher      uint16[n_higher, n]          cell of each row in the tables of pairs
shapes      int64[n_tables, 2]           numbers of bins; kinds int8[n_tables, 2]: both as in `trees.py`
offsets     int64[n_tables + 1]          where each table's votes begin
votes       float64[n_cells]             of all tables; at the end those of the best round
counts      float64[n_cells]             rows to learn from in each cell
scores      float64[n]                   kept up to date; at the end those of the last round
windows     int64[n_windows, 4]          queries [a, b) and [c, d) of each window; one window is looked at in a round
held        int64[2]                     queries [a, b) that are held out
losses      float64[n_queries]           at the end those of the held-out queries in the best round
The rest is as `gradient.py` has it.
"""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array
from rulerank.rankers.fitted.gradient import add_losses, add_pulls
from rulerank.rankers.fitted.trees import add_cells, grow_tree, smooth

TURNS = 3  # a table competes in one of so many rounds
AT_ONCE = 2048  # rows whose pulls stay in the nearest cache while all tables count them
SETTLE = 20  # steps that bring intercepts to their place, from wherever


@compiled
def add_votes(singles: Array, higher: Array, offsets: Array, votes: Array, scores: Array) -> None:
    """Add up the votes of every table for every row."""
    for t in range(offsets.size - 1):
        if t < singles.shape[0]:
            add_step(singles[t], votes[offsets[t] : offsets[t + 1]], scores)
        else:
            add_step(higher[t - singles.shape[0]], votes[offsets[t] : offsets[t + 1]], scores)


@compiled
def add_step(cells: Array, votes: Array, scores: Array) -> None:
    for i in range(scores.size):
        scores[i] += votes[cells[i]]


@compiled
def count_cells(cells: Array, weights: Array, first: int, last: int, counts: Array) -> None:
    for i in range(first, last):
        counts[cells[i]] += weights[i] if weights.size else 1.0


@compiled
def boost(
    singles: Array,
    higher: Array,
    shapes: Array,
    kinds: Array,
    offsets: Array,
    votes: Array,
    counts: Array,
    scores: Array,
    grades: Array,
    weights: Array,
    bounds: Array,
    intercepts: Array,
    windows: Array,
    held: Array,
    losses: Array,
    n_leaves: int,
    rate: float,
    l2: float,
    min_rows: float,
    patience: int,
    tolerance: float,
    enough: float,
    most: int,
) -> int:
    """Take steps until the loss of the held-out queries has not fallen for `patience` rounds; return the best round.

    A fall counts when it is more than `tolerance` of the loss. A loss of `enough` or less is the end: where features
    tell everything, it would fall for ever.
    """
    n_tables = offsets.size - 1
    n_singles = singles.shape[0]
    pulls = np.zeros((scores.size, 2))
    sums = np.zeros((votes.size, 2))
    step = np.zeros(votes.size)
    now = votes.copy()
    own = np.zeros(losses.size)
    for _ in range(SETTLE):
        best_loss = add_losses(scores, grades, weights, bounds, held[0], held[1], intercepts, losses)
        for w in range(windows.shape[0]):
            for part in range(0, 4, 2):
                add_pulls(scores, grades, weights, bounds, windows[w, part], windows[w, part + 1], intercepts, pulls)
    marked, marked_round, best_round = best_loss, 0, 0
    every = windows.shape[0]
    for r in range(most):
        if best_loss <= enough:
            break
        window = windows[r % windows.shape[0]]
        for part in range(0, 4, 2):
            add_pulls(scores, grades, weights, bounds, window[part], window[part + 1], intercepts, pulls)
        for t in range(n_tables):
            if (t + r) % TURNS == 0:
                sums[offsets[t] : offsets[t + 1]] = 0.0
        for part in range(0, 4, 2):
            start, stop = bounds[window[part]], bounds[window[part + 1]]
            for first in range(start, stop, AT_ONCE):
                last = min(first + AT_ONCE, stop)
                for t in range(n_tables):
                    if (t + r) % TURNS == 0:
                        mine = sums[offsets[t] : offsets[t + 1]]
                        if t < n_singles:
                            add_cells(singles[t], pulls, first, last, mine)
                        else:
                            add_cells(higher[t - n_singles], pulls, first, last, mine)
        best, best_gain = -1, 0.0
        for t in range(n_tables):
            if (t + r) % TURNS == 0:
                a, b = offsets[t], offsets[t + 1]
                gain = grow_tree(sums[a:b], counts[a:b], shapes[t], kinds[t], n_leaves, l2, min_rows, step[a:b])
                if gain > best_gain:
                    best, best_gain = t, gain
        if best >= 0:
            a, b = offsets[best], offsets[best + 1]
            taken = step[a:b]
            smooth(taken, shapes[best], kinds[best])
            for cell in range(taken.size):
                taken[cell] *= rate
                now[a + cell] += taken[cell]
            if best < n_singles:
                add_step(singles[best], taken, scores)
            else:
                add_step(higher[best - n_singles], taken, scores)
        if (r + 1) % every == 0:
            loss = add_losses(scores, grades, weights, bounds, held[0], held[1], intercepts, own)
            if loss < best_loss:
                best_loss, best_round = loss, r + 1
                votes[:] = now
                losses[held[0] : held[1]] = own[held[0] : held[1]]
            if best_loss < marked - tolerance * abs(marked):
                marked, marked_round = best_loss, r + 1
            elif r + 1 - marked_round >= patience:
                break
    return best_round
