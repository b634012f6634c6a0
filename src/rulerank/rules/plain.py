"""The engine once more, obvious and slow: the oracle of the tests. One document at a time, straight from the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Row = Sequence[int]  # one bin per feature


def score_plainly(
    train: Sequence[Row],
    grades: Sequence[int],
    queries: Sequence[int],
    document: Row,
    *,
    max_size: int,
    min_support: float = 0.0,
    votes: str = "mean",
    drop_weakest: float = 0.0,
) -> float:
    """Score one document by the definitions, over the features that have two bins or more in training.

    >>> score_plainly([(0, 0), (1, 0), (1, 1)], [0, 1, 1], [0, 0, 0], (0, 1), max_size=1)
    0.5
    """
    grades = [int(grade) for grade in grades]  # NumPy's integers do not mix with fractions
    min_rows = max(1, math.ceil(round(min_support * len(train), 9)))
    features = [f for f in range(len(document)) if len({row[f] for row in train}) > 1]
    strength = {f: strength_plainly(train, grades, queries, f) for f in features}
    weakest_first = sorted(features, key=lambda f: strength[f])
    features = sorted(weakest_first[int(drop_weakest * len(features)) :])
    sets = [members for size in range(1, max_size + 1) for members in combinations(features, size)]
    cells = [[i for i, row in enumerate(train) if all(row[f] == document[f] for f in members)] for members in sets]
    if votes == "mean":
        return _mean(cells, grades, min_rows)
    above = below = Fraction(0)
    for members, rows in zip(sets, cells, strict=True):
        if len(rows) >= min_rows:
            weight, shrink = Fraction(1), 20
            if votes == "evidence":
                weight, shrink = sum((strength[f] for f in members), Fraction(0)) / len(members), 10
            above += weight * sum(_surprise(grades, queries, i) for i in rows) / (len(rows) + shrink)
            below += weight
    return float(Fraction(sum(grades), len(grades)) + (above / below if below else 0))


def strength_plainly(train: Sequence[Row], grades: Sequence[int], queries: Sequence[int], feature: int) -> Fraction:
    """Return the mean over rows of the squared surprise of the bin they fall into."""
    total = Fraction(0)
    for bin in {row[feature] for row in train}:
        rows = [i for i, row in enumerate(train) if row[feature] == bin]
        surprise = sum((_surprise(grades, queries, i) for i in rows), Fraction(0))
        variance = sum((_query_variance(grades, queries, queries[i]) for i in rows), Fraction(1, 10**9))
        total += len(rows) * surprise**2 / variance
    return total / len(train)


def _mean(cells: list[list[int]], grades: Sequence[int], min_rows: int) -> float:
    strengths: dict[int, Fraction] = {}
    for grade in sorted(set(grades)):
        thetas = []
        for rows in cells:
            hits = sum(grades[i] == grade for i in rows)
            if hits >= min_rows:
                thetas.append(Fraction(hits, len(rows)))
        if thetas:
            strengths[grade] = sum(thetas, Fraction(0)) / len(thetas)
    if not strengths:
        return sum(grades) / len(grades)
    return float(sum(grade * s for grade, s in strengths.items()) / sum(strengths.values()))


def _surprise(grades: Sequence[int], queries: Sequence[int], row: int) -> Fraction:
    """Return how far a row's grade lies above the mean grade of its query."""
    own = _own(grades, queries, queries[row])
    return grades[row] - Fraction(sum(own), len(own))


def _query_variance(grades: Sequence[int], queries: Sequence[int], query: int) -> Fraction:
    own = _own(grades, queries, query)
    return Fraction(sum(g * g for g in own), len(own)) - Fraction(sum(own), len(own)) ** 2


def _own(grades: Sequence[int], queries: Sequence[int], query: int) -> list[int]:
    return [int(g) for g, q in zip(grades, queries, strict=True) if q == query]
