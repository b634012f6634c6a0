"""How well raters agree beyond chance: Cohen's kappa of two, Krippendorff's alpha of all. Exact fractions inside."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from rulerank.errors import DataError
from rulerank.judging.labels import Label

NO_COMMON = "no document was graded by two raters"
NO_SPREAD = "all grades are the same, so agreement by chance cannot be told from real agreement"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement: 1 is perfect, 0 what chance gives; NaN with a reason where it is not defined.

    >>> Coefficient(0.5, 12).to_dict()
    {'value': 0.5, 'n_docs': 12, 'reason': ''}
    """

    value: float
    n_docs: int  # graded by at least two raters
    reason: str = ""  # why there is no value

    def to_dict(self) -> dict[str, Any]:
        value = None if math.isnan(self.value) else self.value
        return {"value": value, "n_docs": self.n_docs, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters and how well they agree on the documents that both graded."""

    raters: tuple[str, str]
    kappa: Coefficient
    weighted: Coefficient  # the farther apart two grades, the more they disagree (quadratic)

    def to_dict(self) -> dict[str, Any]:
        return {"raters": list(self.raters), "kappa": self.kappa.to_dict(), "weighted": self.weighted.to_dict()}


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of all raters, and of every two that have documents in common."""

    n_docs: int  # graded by at least two raters
    nominal: Coefficient  # Krippendorff's alpha; grades are equal or not
    ordinal: Coefficient  # Krippendorff's alpha; grades have an order
    pairs: tuple[RaterPair, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "n_docs": self.n_docs,
            "nominal": self.nominal.to_dict(),
            "ordinal": self.ordinal.to_dict(),
            "pairs": [pair.to_dict() for pair in self.pairs],
        }


def cohen_kappa(first: Sequence[int], second: Sequence[int], weights: str | None = None) -> Coefficient:
    """Return Cohen's kappa of two raters' grades of the same documents; weights: None or "quadratic".

    >>> round(cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1]).value, 3)
    0.5
    >>> round(cohen_kappa([0, 1, 2, 2], [0, 1, 1, 2], weights="quadratic").value, 3)
    0.8
    """
    if len(first) != len(second):
        raise DataError(f"two raters' grades must be of the same documents: got {len(first)} and {len(second)}")
    distance = _chosen(weights, {None: _different, "quadratic": _squared}, "weights")
    n_docs = len(first)
    if not n_docs:
        return Coefficient(math.nan, 0, NO_COMMON)
    own, others = Counter(first), Counter(second)
    observed = sum(distance(a, b) for a, b in zip(first, second, strict=True))
    expected = Fraction(sum(n * m * distance(a, b) for a, n in own.items() for b, m in others.items()), n_docs)
    return _coefficient(Fraction(observed), expected, n_docs)


def krippendorff_alpha(grades_by_doc: Iterable[Sequence[int]], level: str = "nominal") -> Coefficient:
    """Return Krippendorff's alpha; grades_by_doc: the grades each document got; level: "nominal" or "ordinal".

    Documents with fewer than two grades tell nothing about agreement and do not count.

    >>> round(krippendorff_alpha([[0, 0], [1, 1], [0, 1], [2]]).value, 3)
    0.444
    """
    units = [Counter(grades) for grades in grades_by_doc if len(grades) > 1]
    if not units:
        _chosen(level, dict.fromkeys(LEVELS), "level")
        return Coefficient(math.nan, 0, NO_COMMON)
    totals: Counter[int] = sum(units, Counter())
    distance = _chosen(level, LEVELS, "level")(totals)
    n_grades = totals.total()
    observed = sum(
        (Fraction(_disagreement(unit, distance), unit.total() - 1) for unit in units),
        start=Fraction(0),
    )
    expected = Fraction(_disagreement(totals, distance), n_grades - 1)
    return _coefficient(observed, expected, len(units))


def agreement(labels: Iterable[Label]) -> Agreement:
    """Return how well the raters of current labels agree; "cannot judge" is no grade and does not count.

    >>> agreement([]).nominal.reason
    'no document was graded by two raters'
    """
    grades: dict[Hashable, dict[str, int]] = defaultdict(dict)
    for label in labels:
        if label.grade is not None:
            grades[label.query, label.doc][label.rater] = label.grade
    shared = [by_rater for by_rater in grades.values() if len(by_rater) > 1]
    common: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for by_rater in shared:
        for first, second in combinations(sorted(by_rater), 2):
            common[first, second].append((by_rater[first], by_rater[second]))
    pairs = []
    for raters, both in sorted(common.items()):
        first_grades, second_grades = [a for a, _ in both], [b for _, b in both]
        kappa, weighted = (cohen_kappa(first_grades, second_grades, weights) for weights in (None, "quadratic"))
        pairs.append(RaterPair(raters, kappa, weighted))
    nominal, ordinal = (krippendorff_alpha([[*by.values()] for by in shared], level) for level in LEVELS)
    return Agreement(len(shared), nominal, ordinal, tuple(pairs))


Distance = Callable[[int, int], int]


def _different(a: int, b: int) -> int:
    return int(a != b)


def _squared(a: int, b: int) -> int:
    return (a - b) ** 2


def _ordinal(totals: Counter[int]) -> Distance:
    """Grades are as far apart as there are grades given between them; doubled, so that it stays whole."""

    def distance(a: int, b: int) -> int:
        low, high = min(a, b), max(a, b)
        between = sum(n for grade, n in totals.items() if low <= grade <= high)
        return (2 * between - totals[a] - totals[b]) ** 2 if a != b else 0

    return distance


LEVELS: dict[str, Callable[[Counter[int]], Distance]] = {"nominal": lambda _: _different, "ordinal": _ordinal}


def _disagreement(counts: Counter[int], distance: Distance) -> int:
    return sum(n * m * distance(a, b) for a, n in counts.items() for b, m in counts.items())


def _coefficient(observed: Fraction, expected: Fraction, n_docs: int) -> Coefficient:
    if not expected:
        return Coefficient(math.nan, n_docs, NO_SPREAD)
    return Coefficient(float(1 - observed / expected), n_docs)


def _chosen(name: Any, choices: dict[Any, Any], what: str) -> Any:
    if name not in choices:
        raise DataError(f"unknown {what} {name!r}; choose from {', '.join(map(repr, choices))}")
    return choices[name]
