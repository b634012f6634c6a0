"""RankBoost, FRank, AdaRank and ListNet as their papers have them, pair by pair: slow, obviously right."""

import math

import numpy as np

from plain.measures import expected_measure
from rulerank.evaluation import Measure


def pairs_of(grades, queries):
    """Every (better, worse) of one query."""
    n = len(grades)
    return [(i, j) for i in range(n) for j in range(n) if queries[i] == queries[j] and grades[i] > grades[j]]


def all_stumps(X):
    """What each possible stump says of every row; a missing value is taken either way."""
    for feature in range(X.shape[1]):
        values = X[:, feature]
        known = np.unique(values[~np.isnan(values)])
        thresholds = [*((known[:-1] + known[1:]) / 2), -math.inf]
        for threshold in thresholds:
            for missing in (0, 1) if np.isnan(values).any() else (0,):
                yield np.where(np.isnan(values), missing, values >= threshold).astype(float)


def r_of(says, pairs, scores):
    """RankBoost: weight of the pairs a stump orders rightly less that of those it orders wrongly, of all the weight."""
    weights = np.array([math.exp(scores[worse] - scores[better]) for better, worse in pairs])
    return sum(w * (float(says[b]) - float(says[a])) for w, (b, a) in zip(weights / weights.sum(), pairs, strict=True))


def exponential_loss(pairs, scores):
    return sum(math.exp(scores[worse] - scores[better]) for better, worse in pairs)


def right_and_wrong(says, pairs, queries, scores):
    """FRank: the weights of the pairs that a stump orders rightly and wrongly, and of all pairs."""
    n_pairs = {q: sum(queries[b] == q for b, _ in pairs) for q in set(queries)}
    right = wrong = total = 0.0
    for better, worse in pairs:
        chance = 1 / (1 + math.exp(scores[worse] - scores[better]))
        weight = math.sqrt(chance) * (1 - chance) / n_pairs[queries[better]]
        total += weight
        right += weight * (says[better] > says[worse])
        wrong += weight * (says[better] < says[worse])
    return right, wrong, total


def fidelity_gain(says, pairs, queries, scores):
    """FRank: what a stump gains, and its weight."""
    right, wrong, total = right_and_wrong(says, pairs, queries, scores)
    floor = total / (2 * len(pairs))
    right, wrong = max(right, floor), max(wrong, floor)
    return (math.sqrt(right) - math.sqrt(wrong)) ** 2, math.log(right / wrong) / 2


def fidelity_loss(pairs, queries, scores):
    n_pairs = {q: sum(queries[b] == q for b, _ in pairs) for q in set(queries)}
    return sum(
        (1 - math.sqrt(1 / (1 + math.exp(scores[worse] - scores[better])))) / n_pairs[queries[better]]
        for better, worse in pairs
    )


def cross_entropy(coef, X, grades, queries):
    """ListNet: the mean cross entropy over queries with different grades."""
    losses = []
    for q in sorted(set(queries)):
        own = np.asarray(queries) == q
        if len(set(grades[own])) > 1:
            wanted = np.exp(grades[own].astype(float))
            scores = X[own] @ coef
            chances = np.exp(scores - scores.max())
            losses.append(-(wanted / wanted.sum()) @ np.log(chances / chances.sum()))
    return np.mean(losses)


def adarank_rounds(X, grades, queries, measure, n_rounds):
    """AdaRank: the feature and the weight of each round."""
    kept = [q for q in sorted(set(queries)) if len(set(grades[queries == q])) > 1]

    def measured(scores):
        parts = [(scores[queries == q].tolist(), grades[queries == q].tolist()) for q in kept]
        return np.array([expected_measure(Measure.parse(measure), s, g, g) for s, g in parts])

    counts = np.full(len(kept), 1 / len(kept))
    rounds, barred, value = [], None, None
    scores = np.zeros(len(X))
    while len(rounds) < n_rounds and value != 1.0:
        means = [-1 if f == barred else measured(X[:, f]) @ counts for f in range(X.shape[1])]
        feature = next(f for f, mean in enumerate(means) if mean > max(means) - 1e-9)
        if means[feature] <= 0:  # the barred feature alone ranks anything, and would do so for ever
            break
        mean = min(means[feature], 1 - 0.001 / len(kept))
        weight = math.log((1 + mean) / (1 - mean)) / 2
        scores = scores + weight * X[:, feature]
        by_query = measured(scores)
        counts = np.exp(-by_query) / np.exp(-by_query).sum()
        barred = feature if value is not None and by_query.mean() <= value + 1e-9 else None
        value = by_query.mean()
        rounds.append((feature, weight))
    return rounds
