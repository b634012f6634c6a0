"""The engine once more, obvious and slow: the oracle of the tests. One document at a time, straight from the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
) -> float:
    """Score one document by the definitions, over the features that have two bins or more in training.

    >>> score_plainly([(0, 0), (1, 0), (1, 1)], [0, 1, 1], [0, 0, 0], (0, 1), max_size=1)
    0.5
    """
    min_rows = max(1, math.ceil(round(min_support * len(train), 9)))
    features = [f for f in range(len(document)) if len({row[f] for row in train}) > 1]
    sets = [members for size in range(1, max_size + 1) for members in combinations(features, size)]
    cells = [[i for i, row in enumerate(train) if all(row[f] == document[f] for f in members)] for members in sets]
    if votes == "mean":
        return _mean(cells, grades, min_rows)
    surprises = [g - _query_mean(grades, queries, q) for g, q in zip(grades, queries, strict=True)]
    above = below = 0.0
    for members, rows in zip(sets, cells, strict=True):
        if len(rows) >= min_rows:
            weight, shrink = 1.0, 20
            if votes == "evidence":
                weight, shrink = sum(_strength(train, grades, queries, f) for f in members) / len(members), 10
            above += weight * sum(surprises[i] for i in rows) / (len(rows) + shrink)
            below += weight
    return sum(grades) / len(grades) + (above / below if below else 0.0)


def _mean(cells: list[list[int]], grades: Sequence[int], min_rows: int) -> float:
    strengths: dict[int, float] = {}
    for grade in sorted(set(grades)):
        thetas = []
        for rows in cells:
            hits = sum(grades[i] == grade for i in rows)
            if hits >= min_rows:
                thetas.append(hits / len(rows))
        if thetas:
            strengths[grade] = sum(thetas) / len(thetas)
    if not strengths:
        return sum(grades) / len(grades)
    return sum(grade * s for grade, s in strengths.items()) / sum(strengths.values())


def _strength(train: Sequence[Row], grades: Sequence[int], queries: Sequence[int], feature: int) -> float:
    """Return the mean over rows of the squared surprise of the bin they fall into."""
    total = 0.0
    for bin in {row[feature] for row in train}:
        rows = [i for i, row in enumerate(train) if row[feature] == bin]
        surprise = sum(grades[i] - _query_mean(grades, queries, queries[i]) for i in rows)
        if abs(surprise) > len(rows) * 2**-28:
            variance = sum(_query_variance(grades, queries, queries[i]) for i in rows)
            total += len(rows) * surprise**2 / (variance + 1e-9)
    return total / len(train)


def _query_mean(grades: Sequence[int], queries: Sequence[int], query: int) -> float:
    own = [g for g, q in zip(grades, queries, strict=True) if q == query]
    return sum(own) / len(own)


def _query_variance(grades: Sequence[int], queries: Sequence[int], query: int) -> float:
    own = [g for g, q in zip(grades, queries, strict=True) if q == query]
    return sum(g * g for g in own) / len(own) - (sum(own) / len(own)) ** 2
