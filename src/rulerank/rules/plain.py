"""The engine once more, obvious and slow: the oracle of the tests. One document at a time, straight from the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
    cells = list(_cells(train, document, max_size))
    mean_grade = sum(grades) / len(grades)
    if votes == "mean":
        return _mean(cells, grades, min_rows, mean_grade)
    cells = [rows for rows in cells if len(rows) >= min_rows]
    return (_evidence if votes == "evidence" else _residual)(cells, grades, queries, mean_grade)


def _cells(train: Sequence[Row], document: Row, max_size: int) -> Iterator[list[int]]:
    """Yield, for every set of features, the training rows that share the document's bins there."""
    features = [f for f in range(len(document)) if len({row[f] for row in train}) > 1]
    for size in range(1, max_size + 1):
        for members in combinations(features, size):
            yield [i for i, row in enumerate(train) if all(row[f] == document[f] for f in members)]


def _mean(cells: list[list[int]], grades: Sequence[int], min_rows: int, mean_grade: float) -> float:
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
        return mean_grade
    return sum(grade * s for grade, s in strengths.items()) / sum(strengths.values())


def _evidence(cells: list[list[int]], grades: Sequence[int], queries: Sequence[int], mean_grade: float) -> float:
    above = below = 0.0
    for rows in cells:
        if not rows:
            continue
        seen = sum(grades[i] for i in rows)
        surprise = seen - sum(_query_mean(grades, queries, queries[i]) for i in rows)
        spread = sum(_query_variance(grades, queries, queries[i]) for i in rows)
        weight = abs(surprise) / math.sqrt(spread + 1e-9) if abs(surprise) > len(rows) * 2**-28 else 0.0
        above += weight * (seen + 10 * mean_grade) / (len(rows) + 10)
        below += weight
    return above / below if below else mean_grade


def _residual(cells: list[list[int]], grades: Sequence[int], queries: Sequence[int], mean_grade: float) -> float:
    values = []
    for rows in cells:
        if rows:
            surprise = sum(grades[i] - _query_mean(grades, queries, queries[i]) for i in rows)
            values.append(surprise / (len(rows) + 20))
    return sum(values) / len(values) if values else 0.0


def _query_mean(grades: Sequence[int], queries: Sequence[int], query: int) -> float:
    own = [g for g, q in zip(grades, queries, strict=True) if q == query]
    return sum(own) / len(own)


def _query_variance(grades: Sequence[int], queries: Sequence[int], query: int) -> float:
    own = [g for g, q in zip(grades, queries, strict=True) if q == query]
    return sum(g * g for g in own) / len(own) - (sum(own) / len(own)) ** 2
