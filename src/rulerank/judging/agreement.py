"""How well raters agree beyond chance: Cohen's kappa, Krippendorff's alpha, by rater, query and grade; and disputes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from statistics import fmean
from typing import Any, Generic, TypeVar

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.judging.labels import Label, Plain

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


Doc = TypeVar("Doc")

LEVEL = 0.9  # of intervals
Z = 1.6448536269514722  # of the normal distribution, for this level
LEAST_DOCS = 10  # below, no interval of a coefficient is to be believed
TOO_FEW = f"fewer than {LEAST_DOCS} documents: too few for an interval"
NO_DIFFERENCE = "no two documents differ in agreement: an interval cannot be told"


@dataclass(frozen=True, slots=True)
class Share(Plain):
    """How often raters agree: the mean over documents, and its 90 % interval (Wilson's, a document being one trial).

    What a document adds lies between 0 and 1, so it varies at most as much as a yes or no: the interval is not too
    narrow. Documents are taken to be independent of each other.

    >>> Share.of([1.0, 1.0, 0.5]).to_dict()
    {'value': 0.833, 'low': 0.374, 'high': 0.977, 'n_docs': 3}
    """

    value: float | None  # None: there is no document
    low: float | None
    high: float | None
    n_docs: int

    @classmethod
    def of(cls, shares: Sequence[float]) -> Share:
        """Return the mean of what each document says, and its interval."""
        n = len(shares)
        if not n:
            return cls(None, None, None, 0)
        mean = fmean(shares)
        middle, half = mean + Z * Z / (2 * n), Z * math.sqrt(mean * (1 - mean) / n + Z * Z / (4 * n * n))
        low, high = ((middle + side * half) / (1 + Z * Z / n) for side in (-1, 1))
        return cls(round(mean, 3), round(max(0.0, low), 3), round(min(1.0, high), 3), n)


@dataclass(frozen=True, slots=True)
class Part(Plain):
    """The agreement of one rater with the others, within one query, or on one grade."""

    name: str
    share: Share


@dataclass(frozen=True, slots=True)
class Alpha(Plain):
    """Krippendorff's alpha of all raters, the order of grades counting, with its 90 % interval or why there is none.

    >>> Alpha.of([[0, 0], [1, 1]]).to_dict()
    {'value': 1.0, 'low': None, 'high': None, 'n_docs': 2, 'reason': 'fewer than 10 documents: too few for an interval'}
    """

    value: float | None
    low: float | None
    high: float | None
    n_docs: int  # graded by at least two raters
    reason: str  # why there is no value, or no interval

    @classmethod
    def of(cls, grades_by_doc: Iterable[Sequence[int]]) -> Alpha:
        """Return alpha of the grades of each document."""
        docs = [*grades_by_doc]
        found = krippendorff_alpha(docs, "ordinal")
        if math.isnan(found.value):
            return cls(None, None, None, found.n_docs, found.reason)
        interval = alpha_interval(docs)
        if isinstance(interval, str):
            return cls(round(found.value, 3), None, None, found.n_docs, interval)
        low, high = (round(end, 3) for end in interval)
        return cls(round(found.value, 3), low, high, found.n_docs, "")


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How well a judge who is no person agrees with the people, on the documents that both have graded."""

    judge: str
    share: Share  # of documents with the very grade that people gave
    weighted: Coefficient  # Cohen's kappa; the farther apart, the more they disagree
    n_labels: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "judge": self.judge,
            "share": self.share.to_dict(),
            "weighted": self.weighted.to_dict(),
            "n_labels": self.n_labels,
        }


@dataclass(frozen=True, slots=True)
class AgreementParts(Plain):
    """Where raters agree and where they do not."""

    raters: tuple[Part, ...]  # how often another rater of the document says the same
    queries: tuple[Part, ...]  # how often two raters of a document say the same
    grades: tuple[Part, ...]  # where one rater gave this grade: how often another did, too


def agreement_parts(labels: Iterable[Label]) -> AgreementParts:
    """Return how often raters say the same, by rater, by query and by grade; "cannot judge" is no grade.

    >>> agreement_parts([]).raters
    ()
    """
    docs: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for label in labels:
        if label.grade is not None:
            docs[label.query, label.doc][label.rater] = label.grade
    by: dict[str, dict[Hashable, list[float]]] = {kind: defaultdict(list) for kind in ("rater", "query", "grade")}
    for (query, _), given in docs.items():
        others = len(given) - 1
        if not others:
            continue
        counts = {grade: [*given.values()].count(grade) for grade in given.values()}
        for rater, grade in given.items():
            by["rater"][rater].append((counts[grade] - 1) / others)
        for grade, n in counts.items():
            by["grade"][grade].append((n - 1) / others)
        by["query"][query].append(sum(n * (n - 1) for n in counts.values()) / (others * (others + 1)))
    raters, queries, grades = (
        tuple(Part(str(name), Share.of(found)) for name, found in sorted(by[kind].items(), key=lambda one: str(one[0])))
        for kind in ("rater", "query", "grade")
    )
    return AgreementParts(raters, queries, grades)


def judge_agreement(judge: str, given: Mapping[Doc, int], people: Mapping[Doc, int]) -> JudgeAgreement:
    """Return how well a judge agrees with what the people came to; both give the grades of documents.

    >>> judge_agreement("gpt", {"a": 1, "b": 0, "c": 2}, {"a": 1, "b": 1}).share.value
    0.5
    """
    both = [doc for doc in given if doc in people]
    share = Share.of([float(given[doc] == people[doc]) for doc in both])
    weighted = cohen_kappa([given[doc] for doc in both], [people[doc] for doc in both], "quadratic")
    return JudgeAgreement(judge, share, weighted, len(given))


def alpha_interval(grades_by_doc: Iterable[Sequence[int]], level: str = "ordinal") -> tuple[float, float] | str:
    """Return the 90 % interval of Krippendorff's alpha, by leaving out one document at a time, or why there is none.

    The jackknife's standard error with Student's t. Too few documents, or none that differs from the others, give none.

    >>> alpha_interval([[0, 0], [1, 1]])
    'fewer than 10 documents: too few for an interval'
    """
    units = [grades for grades in grades_by_doc if len(grades) > 1]
    n = len(units)
    if n < LEAST_DOCS:
        return TOO_FEW
    alphas = _without_each(units, level)
    if np.isnan(alphas).any() or np.ptp(alphas) < 1e-12:
        return NO_DIFFERENCE
    from scipy.special import stdtrit

    error = math.sqrt((n - 1) / n * float(((alphas - alphas.mean()) ** 2).sum()))
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    value = krippendorff_alpha(units, level).value
    return max(-1.0, value - half), min(1.0, value + half)


def _without_each(units: Sequence[Sequence[int]], level: str) -> Array:
    """Return alpha without each of the documents, float64 (n_docs,); NaN where it is not defined."""
    grades = sorted({grade for unit in units for grade in unit})
    counts = np.array([[unit.count(grade) for grade in grades] for unit in map(list, units)], dtype=np.float64)
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, range(len(grades)), range(len(grades))] -= counts
    coincidences = pairs / (counts.sum(axis=1) - 1)[:, None, None]
    observed, totals = coincidences.sum(axis=0) - coincidences, counts.sum(axis=0) - counts
    if level == "nominal":
        distances = np.broadcast_to(1.0 - np.eye(len(grades)), observed.shape)
    else:  # as far apart as there are grades given between them, half of both ends
        below = np.cumsum(totals, axis=1) - totals / 2
        distances = (below[:, :, None] - below[:, None, :]) ** 2
    expected = (totals[:, :, None] * totals[:, None, :] * distances).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = 1 - (totals.sum(axis=1) - 1) * (observed * distances).sum(axis=(1, 2)) / expected
    return np.where(expected > 0, found, np.nan)


@dataclass(frozen=True, slots=True)
class Dispute(Generic[Doc]):
    """A document with different grades, by whom."""

    doc: Doc
    grades: Mapping[str, int]  # by rater
    spread: int  # the highest grade minus the lowest
    apart: float  # how far two raters are apart, on average over all pairs of them


def disputes(docs: Mapping[Doc, Mapping[str, int | None]], judges: Collection[str] = ()) -> list[Dispute[Doc]]:
    """Return the documents whose raters gave different grades: the widest spread first, then the farthest apart.

    "Cannot be judged" is no grade. Of equal disputes the one with more raters comes first, then the order of docs.
    judges: raters who are no people; what only they see otherwise than people comes behind what people differ on, and
    a document that no person has graded is no dispute.

    >>> docs = {"a": {"ann": 0, "bob": 1}, "b": {"ann": 2, "bob": 2}, "c": {"ann": 0, "bob": 3, "eve": 3}}
    >>> [(one.doc, one.spread) for one in disputes(docs)]
    [('c', 3), ('a', 1)]
    >>> [one.doc for one in disputes(docs, judges=["eve", "ann"])]
    ['c', 'a']
    """
    people_agree: dict[Doc, bool] = {}
    found = []
    for doc, by_rater in docs.items():
        given = {rater: grade for rater, grade in by_rater.items() if grade is not None}
        by_people = {grade for rater, grade in given.items() if rater not in judges}
        if by_people and len(set(given.values())) > 1:
            people_agree[doc] = len(by_people) == 1
            gaps = [abs(a - b) for a, b in combinations(given.values(), 2)]
            spread = max(given.values()) - min(given.values())
            found.append(Dispute(doc, given, spread, sum(gaps) / len(gaps)))
    return sorted(found, key=lambda one: (people_agree[one.doc], -one.spread, -one.apart, -len(one.grades)))
