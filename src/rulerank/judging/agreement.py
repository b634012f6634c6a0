"""How well raters agree beyond chance: Cohen's kappa, Krippendorff's alpha, by rater, query and grade; and disputes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any, Generic, TypeVar

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.judging.labels import Label, Pair, Plain

Doc = TypeVar("Doc")

NO_COMMON = "no document was graded by two raters"
NO_SPREAD = "all grades are the same, so agreement by chance cannot be told from real agreement"
LEVEL = 0.9  # of intervals
Z = 1.6448536269514722  # of the normal distribution, for this level
LEAST_DOCS = 10  # below, no interval of a coefficient is to be believed
TOO_FEW = f"fewer than {LEAST_DOCS} documents: too few for an interval"
NO_DIFFERENCE = "no two documents differ in agreement: an interval cannot be told"
WEIGHTS = (None, "quadratic")
LEVELS = ("nominal", "ordinal")


@dataclass(frozen=True, slots=True)
class Coefficient(Plain):
    """A coefficient of agreement: 1 is perfect, 0 what chance gives; no value, with a reason, where it is not defined.

    >>> Coefficient(0.5, 12).to_dict()
    {'value': 0.5, 'n_docs': 12, 'reason': ''}
    """

    value: float | None
    n_docs: int  # graded by at least two raters
    reason: str = ""  # why there is no value


@dataclass(frozen=True, slots=True)
class RaterPair(Plain):
    """Two raters and how well they agree on the documents that both graded."""

    raters: tuple[str, str]
    kappa: Coefficient
    weighted: Coefficient  # the farther apart two grades, the more they disagree (quadratic)


@dataclass(frozen=True, slots=True)
class Agreement(Plain):
    """Agreement of all raters, and of every two that have documents in common."""

    n_docs: int  # graded by at least two raters
    nominal: Coefficient  # Krippendorff's alpha; grades are equal or not
    ordinal: Coefficient  # Krippendorff's alpha; grades have an order
    pairs: tuple[RaterPair, ...]


def cohen_kappa(first: Sequence[int], second: Sequence[int], weights: str | None = None) -> Coefficient:
    """Return Cohen's kappa of two raters' grades of the same documents; weights: None or "quadratic".

    >>> round(cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1]).value, 3)
    0.5
    >>> round(cohen_kappa([0, 1, 2, 2], [0, 1, 1, 2], weights="quadratic").value, 3)
    0.8
    """
    if len(first) != len(second):
        raise DataError(f"two raters' grades must be of the same documents: got {len(first)} and {len(second)}")
    _check(weights, WEIGHTS, "weights")
    if not first:
        return Coefficient(None, 0, NO_COMMON)
    grades = range(max(*first, *second) + 1)  # all of them: weights go by how far apart two are
    if len({*first, *second}) == 1:
        return Coefficient(None, len(first), NO_SPREAD)
    from sklearn.metrics import cohen_kappa_score  # slow to load

    return Coefficient(float(cohen_kappa_score(first, second, weights=weights, labels=[*grades])), len(first))


def krippendorff_alpha(grades_by_doc: Iterable[Sequence[int]], level: str = "nominal") -> Coefficient:
    """Return Krippendorff's alpha; grades_by_doc: the grades each document got; level: "nominal" or "ordinal".

    Documents with fewer than two grades tell nothing about agreement and do not count.

    >>> round(krippendorff_alpha([[0, 0], [1, 1], [0, 1], [2]]).value, 3)
    0.444
    """
    _check(level, LEVELS, "level")
    counts, pairs = _coincidences(grades_by_doc)
    if not len(counts):
        return Coefficient(None, 0, NO_COMMON)
    value = float(_alphas(pairs.sum(axis=0, keepdims=True), counts.sum(axis=0, keepdims=True), level)[0])
    return Coefficient(None, len(counts), NO_SPREAD) if math.isnan(value) else Coefficient(value, len(counts))


def alpha_interval(grades_by_doc: Iterable[Sequence[int]], level: str = "ordinal") -> tuple[float, float] | str:
    """Return the 90 % interval of Krippendorff's alpha, by leaving out one document at a time, or why there is none.

    The jackknife's standard error with Student's t. Too few documents, or none that differs from the others, give none.

    >>> alpha_interval([[0, 0], [1, 1]])
    'fewer than 10 documents: too few for an interval'
    """
    counts, pairs = _coincidences(grades_by_doc)
    n = len(counts)
    if n < LEAST_DOCS:
        return TOO_FEW
    without_each = _alphas(pairs.sum(axis=0) - pairs, counts.sum(axis=0) - counts, level)
    if np.isnan(without_each).any() or np.ptp(without_each) < 1e-12:
        return NO_DIFFERENCE
    from scipy.special import stdtrit

    error = math.sqrt((n - 1) / n * float(((without_each - without_each.mean()) ** 2).sum()))
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    value = float(_alphas(pairs.sum(axis=0, keepdims=True), counts.sum(axis=0, keepdims=True), level)[0])
    return max(-1.0, value - half), min(1.0, value + half)


def _coincidences(grades_by_doc: Iterable[Sequence[int]]) -> tuple[Array, Array]:
    """Return how often each document with two grades or more got each grade, and each pair of grades, as a share."""
    units = [grades for grades in grades_by_doc if len(grades) > 1]
    grades = sorted({grade for unit in units for grade in unit})
    counts = np.array([[unit.count(grade) for grade in grades] for unit in units], dtype=np.float64)
    counts = counts.reshape(len(units), len(grades))
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, range(len(grades)), range(len(grades))] -= counts
    return counts, pairs / (counts.sum(axis=1) - 1)[:, None, None]


def _alphas(observed: Array, totals: Array, level: str) -> Array:
    """Return alpha of each set of coincidences (n, grades, grades) and counts (n, grades); NaN: it is not defined."""
    if level == "nominal":
        distances = np.broadcast_to(1.0 - np.eye(totals.shape[1]), observed.shape)
    else:  # as far apart as there are grades given between them, half of both ends
        below = np.cumsum(totals, axis=1) - totals / 2
        distances = (below[:, :, None] - below[:, None, :]) ** 2
    expected = (totals[:, :, None] * totals[:, None, :] * distances).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = 1 - (totals.sum(axis=1) - 1) * (observed * distances).sum(axis=(1, 2)) / expected
    return np.where(expected > 0, found, np.nan)


def _check(name: Any, choices: tuple[Any, ...], what: str) -> None:
    if name not in choices:
        raise DataError(f"unknown {what} {name!r}; choose from {', '.join(map(repr, choices))}")


def _shared(labels: Iterable[Label]) -> dict[Pair, dict[str, int]]:
    """Return the grades by rater of the documents that two or more have graded; "cannot judge" is no grade."""
    docs: dict[Pair, dict[str, int]] = defaultdict(dict)
    for label in labels:
        if label.grade is not None:
            docs[label.query, label.doc][label.rater] = label.grade
    return {doc: given for doc, given in docs.items() if len(given) > 1}


def agreement(labels: Iterable[Label]) -> Agreement:
    """Return how well the raters of current labels agree.

    >>> agreement([]).nominal.reason
    'no document was graded by two raters'
    """
    docs = [*_shared(labels).values()]
    common: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for given in docs:
        for one, other in combinations(sorted(given), 2):
            common[one, other].append((given[one], given[other]))
    pairs = []
    for raters, both in sorted(common.items()):
        first, second = zip(*both, strict=True)
        pairs.append(RaterPair(raters, *(cohen_kappa(first, second, weights) for weights in WEIGHTS)))
    nominal, ordinal = (krippendorff_alpha([[*given.values()] for given in docs], level) for level in LEVELS)
    return Agreement(len(docs), nominal, ordinal, tuple(pairs))


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
        if found.value is None:
            return cls(None, None, None, found.n_docs, found.reason)
        interval = alpha_interval(docs)
        if isinstance(interval, str):
            return cls(round(found.value, 3), None, None, found.n_docs, interval)
        low, high = (round(end, 3) for end in interval)
        return cls(round(found.value, 3), low, high, found.n_docs, "")


@dataclass(frozen=True, slots=True)
class JudgeAgreement(Plain):
    """How well a judge who is no person agrees with the people, on the documents that both have graded."""

    judge: str
    share: Share  # of documents with the very grade that people gave
    weighted: Coefficient  # Cohen's kappa; the farther apart, the more they disagree
    n_labels: int


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
    by: dict[str, dict[Hashable, list[float]]] = {kind: defaultdict(list) for kind in ("rater", "query", "grade")}
    for (query, _), given in _shared(labels).items():
        others = len(given) - 1
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
