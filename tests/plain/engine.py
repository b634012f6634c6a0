"""The engine once more, obvious and slow: the oracle of the tests. One document at a time, straight from the rows."""

import math
from fractions import Fraction
from itertools import combinations


def sets_of(train, max_size, features=None):
    """Return all sets of at most max_size features, by default of those that have two bins or more.

    >>> sets_of([(0, 0, 7), (1, 1, 7)], 2)
    [(0,), (1,), (0, 1)]
    """
    features = features_of(train) if features is None else features
    return [members for size in range(1, max_size + 1) for members in combinations(features, size)]


def features_of(train):
    return [f for f in range(len(train[0])) if len({row[f] for row in train}) > 1]


def rows_like(train, document, members):
    """Return the rows that share the document's bins of some features."""
    return [i for i, row in enumerate(train) if all(row[f] == document[f] for f in members)]


def least_rows(train, min_support):
    return max(1, math.ceil(round(min_support * len(train), 9)))


def score_plainly(
    train, grades, queries, document, *, max_size, min_support=0.0, votes="mean", metric="confidence",
    drop_weakest=0.0, additive=True,
):  # fmt: skip
    """Score one document by the definitions, over the features that have two bins or more in training.

    >>> score_plainly([(0, 0), (1, 0), (1, 1)], [0, 1, 1], [0, 0, 0], (0, 1), max_size=1)
    0.5
    """
    grades = [int(grade) for grade in grades]  # NumPy's integers do not mix with fractions
    min_rows, features = least_rows(train, min_support), features_of(train)
    strength = {f: strength_plainly(train, grades, queries, f) for f in features}
    weakest_first = sorted(features, key=lambda f: strength[f])
    features = sorted(weakest_first[int(drop_weakest * len(features)) :])
    sets = sets_of(train, max_size, features)
    cells = [rows_like(train, document, members) for members in sets]
    if votes == "mean":
        return _mean(cells, grades, min_rows, metric)
    above = below = Fraction(0)
    for members, rows in zip(sets, cells, strict=True):
        weight, shrink = Fraction(1), 20
        if votes == "evidence":
            weight, shrink = sum((strength[f] for f in members), Fraction(0)) / len(members), 10
        if len(rows) >= min_rows:
            above += weight * sum(surprise(grades, queries, i) for i in rows) / (len(rows) + shrink)
        if len(rows) >= min_rows or additive:
            below += weight
    return float(Fraction(sum(grades), len(grades)) + (above / below if below else 0))


def strength_plainly(train, grades, queries, feature):
    """Return the mean over rows of the squared surprise of the bin they fall into."""
    total = Fraction(0)
    for bin in {row[feature] for row in train}:
        rows = [i for i, row in enumerate(train) if row[feature] == bin]
        above = sum((surprise(grades, queries, i) for i in rows), Fraction(0))
        variance = sum((_query_variance(grades, queries, queries[i]) for i in rows), Fraction(1, 10**9))
        total += len(rows) * above**2 / variance
    return total / len(train)


def theta_plainly(metric, hits, covered, of_grade, n_rows, *, plus_one=True):
    """Return the strength of a rule as the papers define it, signed where they have it so.

    plus_one: strength with the ones that keep it finite; without them, what is below is at least a millionth.

    >>> theta_plainly("yule_q", hits=3, covered=4, of_grade=5, n_rows=10)
    Fraction(5, 7)
    """
    a, b, c, d = hits, covered - hits, of_grade - hits, n_rows - covered - of_grade + hits
    gain = Fraction(a, covered) - Fraction(of_grade, n_rows)
    if metric == "added_value":
        return gain
    if metric == "certainty":
        return gain / (1 - Fraction(of_grade, n_rows)) if of_grade < n_rows else Fraction(0)
    if metric == "confidence":
        return Fraction(a, covered)
    if metric == "strength" and not plus_one:
        against = Fraction(b, n_rows - of_grade) if of_grade < n_rows else Fraction(0)
        return Fraction(a, of_grade) * Fraction(a, covered) / max(against, Fraction(1, 10**6))
    if metric == "strength":
        return Fraction(a, of_grade) * Fraction(a, covered) / Fraction(b + 1, n_rows - of_grade + 1)
    if metric == "relative_confidence":
        return gain * Fraction(covered, n_rows)
    if a * d + b * c == 0:
        return Fraction(0)
    if metric == "yule_q":
        return Fraction(a * d - b * c, a * d + b * c)
    return (math.sqrt(a * d) - math.sqrt(b * c)) / (math.sqrt(a * d) + math.sqrt(b * c))


def _vote(metric, hits, covered, of_grade, n_rows):
    """Return the strength of a rule where it is never negative, else mapped onto 0 .. 1."""
    theta = theta_plainly(metric, hits, covered, of_grade, n_rows)
    if metric in ("confidence", "strength"):
        return theta
    if metric == "relative_confidence":
        theta *= 4
    if metric == "certainty" and theta < 0:
        theta *= Fraction(n_rows - of_grade, of_grade)
    return (theta + 1) / 2


def _mean(cells, grades, min_rows, metric):
    strengths = {}
    for grade in sorted(set(grades)):
        thetas = []
        for rows in cells:
            hits = sum(grades[i] == grade for i in rows)
            if hits >= min_rows:
                thetas.append(_vote(metric, hits, len(rows), list(grades).count(grade), len(grades)))
        if thetas:
            strengths[grade] = sum(thetas, Fraction(0)) / len(thetas)
    total = sum(strengths.values())
    if not total:
        return sum(grades) / len(grades)
    return float(sum(grade * s for grade, s in strengths.items()) / total)


def surprise(grades, queries, row):
    """Return how far a row's grade lies above the mean grade of its query."""
    own = _own(grades, queries, queries[row])
    return grades[row] - Fraction(sum(own), len(own))


def _query_variance(grades, queries, query):
    own = _own(grades, queries, query)
    return Fraction(sum(g * g for g in own), len(own)) - Fraction(sum(own), len(own)) ** 2


def _own(grades, queries, query):
    return [int(g) for g, q in zip(grades, queries, strict=True) if q == query]
