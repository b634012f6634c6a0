"""Stable rules once more, obvious and slow: the oracle of the tests. One document at a time, in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from plain.engine import Row, score_plainly

GENERAL = 10  # rows' worth of the general mean grade mixed into each cell's mean grade


def score_stably(
    train: Sequence[Row],
    grades: Sequence[int],
    queries: Sequence[int],
    document: Row,
    *,
    max_size: int,
    min_support: float = 0.0,
    min_queries: int = 2,
    stability: str = "agreement",
) -> float:
    """Score one document by what the queries say of its cells; by all rules when no cell is stable.

    >>> round(score_stably([(0,), (1,), (0,), (1,)], [0, 1, 0, 1], [0, 0, 1, 1], (1,), max_size=1), 4)
    0.8333
    """
    min_rows = max(1, math.ceil(round(min_support * len(train), 9)))
    general = Fraction(sum(grades), len(grades))
    above, below = 0.0, 0.0
    for members, rows in _cells(train, document, max_size):
        holding = sorted({queries[i] for i in rows})
        if len(rows) < min_rows or len(holding) < min_queries:
            continue
        own = {q: [i for i in rows if queries[i] == q] for q in holding}
        sums = {q: _above(own[q], grades, queries) for q in holding}
        lifts = [sums[q] / len(own[q]) for q in holding]
        agree = [lift for lift in lifts if lift * sum(lifts) > 0]
        strength = sum(_strength(train, grades, queries, f) for f in members) / len(members)
        weight = strength * len(agree) / len(holding)
        value = float(sum(lifts) / (len(holding) + 1))
        above += weight * value
        below += weight
    if below == 0:
        return score_plainly(
            train,
            grades,
            queries,
            document,
            max_size=max_size,
            min_support=min_support,
            votes="evidence",
            additive=False,
        )
    return float(general) + above / below


def score_literally(
    train: Sequence[Row],
    grades: Sequence[int],
    queries: Sequence[int],
    document: Row,
    *,
    max_size: int,
    phi: str,
    min_support: float = 0.0,
    min_queries: int = 1,
    in_the_mean: bool = False,
) -> float:
    """Score one document by the rules whose confidence in each query is within phi, a decimal, of the overall one.

    in_the_mean: it is enough that the mean of the confidences in the queries is.

    >>> score_literally([(0,), (1,), (0,), (1,)], [0, 1, 0, 1], [0, 0, 1, 1], (1,), max_size=1, phi="0.1")
    1.0
    """
    min_rows = max(1, math.ceil(round(min_support * len(train), 9)))
    confidences: dict[int, list[float]] = {}
    for _, rows in _cells(train, document, max_size):
        for grade in {grades[i] for i in rows}:
            overall = _confidence(rows, grades, grade)
            own = [[i for i in rows if queries[i] == q] for q in {queries[i] for i in rows}]
            thetas = [_confidence(part, grades, grade) for part in own]
            thetas = [sum(thetas, Fraction()) / len(thetas)] if in_the_mean else thetas
            stable = all(abs(overall - theta) <= Fraction(phi) for theta in thetas)
            if stable and len(own) >= min_queries and overall * len(rows) >= min_rows:
                confidences.setdefault(grade, []).append(float(overall))
    if not confidences:
        return score_plainly(train, grades, queries, document, max_size=max_size, min_support=min_support)
    means = {grade: sum(found) / len(found) for grade, found in confidences.items()}
    return sum(grade * mean for grade, mean in means.items()) / sum(means.values())


def _cells(train: Sequence[Row], document: Row, max_size: int) -> list[tuple[tuple[int, ...], list[int]]]:
    """Return the sets of features that have two bins or more, with the rows that share the document's bins in them."""
    features = [f for f in range(len(document)) if len({row[f] for row in train}) > 1]
    sets = [members for size in range(1, max_size + 1) for members in combinations(features, size)]
    return [(s, [i for i, row in enumerate(train) if all(row[f] == document[f] for f in s)]) for s in sets]


def _confidence(rows: Sequence[int], grades: Sequence[int], grade: int) -> Fraction:
    return Fraction(sum(grades[i] == grade for i in rows), len(rows))


def _above(rows: Sequence[int], grades: Sequence[int], queries: Sequence[int]) -> Fraction:
    """Return the sum of what the rows' grades have above the mean grade of their query."""
    return sum((grades[i] - _moment(grades, queries, queries[i], 1) for i in rows), Fraction())


def _strength(train: Sequence[Row], grades: Sequence[int], queries: Sequence[int], feature: int) -> float:
    """Return the mean over rows of the squared surprise of the bin they fall into."""
    total = 0.0
    for bin in {row[feature] for row in train}:
        rows = [i for i, row in enumerate(train) if row[feature] == bin]
        variance = sum(
            _moment(grades, queries, queries[i], 2) - _moment(grades, queries, queries[i], 1) ** 2 for i in rows
        )
        total += len(rows) * float(_above(rows, grades, queries)) ** 2 / (float(variance) + 1e-9)
    return total / len(train)


def _moment(grades: Sequence[int], queries: Sequence[int], query: int, power: int) -> Fraction:
    own = [g**power for g, q in zip(grades, queries, strict=True) if q == query]
    return Fraction(sum(own), len(own))
