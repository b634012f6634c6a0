"""Fitted rules, slowly and obviously: the likelihood by its formula, trees by trying every split, votes one by one."""

import math
from itertools import pairwise

import numpy as np


def query_loss_plainly(scores, grades, weights, level, intercept):
    """The negative log-likelihood of one query and level at an intercept."""
    loss = 0.0
    for score, grade, weight in zip(scores, grades, weights, strict=True):
        if grade <= level:
            chance = 1.0 / (1.0 + math.exp(intercept - score))
            loss -= weight * math.log(chance if grade == level else 1.0 - chance)
    return loss


def best_intercept_plainly(scores, grades, weights, level):
    """Where the chances add up to what was seen, by bisection; None when all outcomes are equal."""
    kept = [(s, g, w) for s, g, w in zip(scores, grades, weights, strict=True) if g <= level and w > 0]
    passed = sum(w for _, g, w in kept if g == level)
    if not 0 < passed < sum(w for _, _, w in kept):
        return None
    low, high = -100.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        excess = sum(w / (1.0 + math.exp(middle - s)) for s, _, w in kept) - passed
        low, high = (middle, high) if excess > 0 else (low, middle)
    return (low + high) / 2


def profile_loss_plainly(scores, grades, weights):
    """The negative log-likelihood of one query, every level at its best intercept."""
    loss = 0.0
    for level in range(1, int(max(grades, default=0)) + 1):
        intercept = best_intercept_plainly(scores, grades, weights, level)
        if intercept is not None:
            loss += query_loss_plainly(scores, grades, weights, level, intercept)
    return loss


def add_cells_plainly(cells, pulls, first, last, sums):
    for i in range(first, last):
        sums[cells[i]] += pulls[i]


def tree_plainly(sums, counts, n_leaves, l2, min_rows):
    """Votes and gain of a best-first tree over an array (..., 2) of g and h by cell: every split of a leaf tried."""
    shape = sums.shape[:-1]
    leaves = [tuple((0, n) for n in shape)]

    def inside(box):
        return tuple(slice(low, high) for low, high in box)

    def gain_of(box):
        g, h = sums[inside(box)].reshape(-1, 2).sum(axis=0)
        return g * g / (h + l2)

    def splits(box):
        for axis, (low, high) in enumerate(box):
            for place in range(low + 1, high):
                left = (*box[:axis], (low, place), *box[axis + 1 :])
                right = (*box[:axis], (place, high), *box[axis + 1 :])
                line = (*box[:axis], (place, place + 1), *box[axis + 1 :])
                if (
                    min(counts[inside(left)].sum(), counts[inside(right)].sum()) >= min_rows
                    and counts[inside(line)].sum() > 0
                ):
                    yield gain_of(left) + gain_of(right) - gain_of(box), left, right

    while len(leaves) < n_leaves:
        found = [(gain, place, left, right) for place, box in enumerate(leaves) for gain, left, right in splits(box)]
        found = [one for one in found if one[0] > 1e-9]
        if not found:
            break
        _, place, left, right = max(found, key=lambda one: one[0])
        leaves[place] = left
        leaves.append(right)
    votes = np.zeros(shape)
    for box in leaves:
        g, h = sums[inside(box)].reshape(-1, 2).sum(axis=0)
        votes[inside(box)] = -g / (h + l2)
    return votes, sum(map(gain_of, leaves))


def agreement_plainly(bins, sets, pulls, odd, l2):
    """Sum over the cells of each set of g_even * g_odd / (h + l2)."""
    found = []
    for features in sets:
        cells = {}
        for i in range(len(pulls)):
            g, h = cells.setdefault(tuple(bins[f][i] for f in features), ([0.0, 0.0], [0.0]))
            g[odd[i]] += pulls[i][0]
            h[0] += pulls[i][1]
        found.append(sum(g[0] * g[1] / (h[0] + l2) for g, h in cells.values()))
    return found


def additive_scores_plainly(model, X):
    """base + one vote of each table, row by row."""
    return [
        model.base + sum(table.vote([float(row[f]) for f in table.features]) for table in model.tables) for row in X
    ]


def without_turns_plainly(votes, counts):
    """Merge groups of bins by hand: the least sure step beside a turn first, until all of these are sure."""
    groups = [[bin] for bin in range(votes.shape[1])]
    weights = [max(float(count), 1e-9) for count in counts]

    def vote(fold, group):
        return sum(weights[bin] * votes[fold, bin] for bin in group) / sum(weights[bin] for bin in group)

    while len(groups) > 1:
        steps = []
        for left, right in pairwise(groups):
            by_fold = [vote(fold, right) - vote(fold, left) for fold in range(len(votes))]
            mean = sum(by_fold) / len(by_fold)
            variance = sum((step - mean) ** 2 for step in by_fold) / len(by_fold)
            steps.append((mean, (variance * (len(by_fold) - 1)) ** 0.5))
        unsure = []
        for place, (mean, error) in enumerate(steps):
            others = [steps[other][0] for other in (place - 1, place + 1) if 0 <= other < len(steps)]
            if mean == 0 or any(mean * other <= 0 for other in others):
                unsure.append((abs(mean) / error, place))
        if not unsure or min(unsure)[0] >= 1:
            break
        place = min(unsure)[1]
        groups[place : place + 2] = [groups[place] + groups[place + 1]]
    return np.array([[vote(fold, group) for group in groups for _ in group] for fold in range(len(votes))])
