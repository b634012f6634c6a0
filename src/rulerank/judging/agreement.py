"""Agreement of raters: Krippendorff's alpha, shares of equal grades by rater and by grade; and disputes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Generic, TypeVar

import numpy as np

from rulerank.dataset import Array
from rulerank.judging.labels import Label, Pair, Plain

Doc = TypeVar("Doc")

NO_COMMON = "no document was graded by two raters"
NO_SPREAD = "all grades are the same, so agreement cannot be separated from chance"
LEVEL = 0.9  # of intervals
Z = 1.6448536269514722  # of the normal distribution, for this level
LEAST_DOCS = 10  # minimum for the interval of a coefficient
TOO_FEW = f"fewer than {LEAST_DOCS} documents: too few for an interval"
NO_DIFFERENCE = "all documents agree equally: no interval can be estimated"


@dataclass(frozen=True, slots=True)
class Coefficient(Plain):
    """A coefficient of agreement, 1 for perfect and 0 for chance; with a reason if a part of it is unknown.

    >>> Coefficient(0.5, 12).to_dict()
    {'value': 0.5, 'n_docs': 12, 'low': None, 'high': None, 'reason': ''}
    """

    value: float | None
    n_docs: int  # graded by at least two raters
    low: float | None = None  # of its 90 % interval
    high: float | None = None
    reason: str = ""  # why there is no value, or no interval


def krippendorff_alpha(grades_by_doc: Iterable[Iterable[int | None]]) -> Coefficient:
    """Return Krippendorff's alpha for ordinal grades, and its 90 % interval.

    grades_by_doc: the grades of each document; None is ignored, and so are documents with fewer than two grades.
    The interval uses the jackknife's standard error over documents with Student's t; there is none for too few
    documents or if all agree equally.

    >>> found = krippendorff_alpha([[0, 0], [1, 1], [0, 1], [2]])
    >>> round(found.value, 3), found.reason
    (0.444, 'fewer than 10 documents: too few for an interval')
    """
    graded = ([grade for grade in grades if grade is not None] for grades in grades_by_doc)
    units = [grades for grades in graded if len(grades) > 1]
    n = len(units)
    if not n:
        return Coefficient(None, 0, reason=NO_COMMON)
    grades = sorted({grade for unit in units for grade in unit})
    counts = np.array([[unit.count(grade) for grade in grades] for unit in units], dtype=np.float64)
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, range(len(grades)), range(len(grades))] -= counts
    pairs /= (counts.sum(axis=1) - 1)[:, None, None]  # share of each pair of grades
    value = float(_alphas(pairs.sum(axis=0, keepdims=True), counts.sum(axis=0, keepdims=True))[0])
    if math.isnan(value):
        return Coefficient(None, n, reason=NO_SPREAD)
    if n < LEAST_DOCS:
        return Coefficient(value, n, reason=TOO_FEW)
    without_each = _alphas(pairs.sum(axis=0) - pairs, counts.sum(axis=0) - counts)
    if np.isnan(without_each).any() or np.ptp(without_each) < 1e-12:
        return Coefficient(value, n, reason=NO_DIFFERENCE)
    from scipy.special import stdtrit

    error = math.sqrt((n - 1) / n * float(((without_each - without_each.mean()) ** 2).sum()))
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    return Coefficient(value, n, max(-1.0, value - half), min(1.0, value + half))


def _alphas(observed: Array, totals: Array) -> Array:
    """Return alpha of each set of coincidences (n, grades, grades) and counts (n, grades); NaN if undefined."""
    below = np.cumsum(totals, axis=1) - totals / 2
    distances = (below[:, :, None] - below[:, None, :]) ** 2  # grades given in between, with half of both ends
    expected = (totals[:, :, None] * totals[:, None, :] * distances).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = 1 - (totals.sum(axis=1) - 1) * (observed * distances).sum(axis=(1, 2)) / expected
    return np.where(expected > 0, found, np.nan)


@dataclass(frozen=True, slots=True)
class Share(Plain):
    """How often raters agree: the mean over documents, and its 90 % Wilson interval with one trial per document.

    The values of documents lie between 0 and 1 and vary at most like a binary outcome, so the interval is conservative.
    Documents are assumed to be independent.

    >>> Share.of([1.0, 1.0, 0.5]).to_dict()
    {'value': 0.833, 'low': 0.374, 'high': 0.977, 'n_docs': 3}
    """

    value: float | None  # None: no document
    low: float | None
    high: float | None
    n_docs: int

    @classmethod
    def of(cls, shares: Sequence[float]) -> Share:
        """Return the mean over documents and its interval."""
        n = len(shares)
        if not n:
            return cls(None, None, None, 0)
        mean = fmean(shares)
        middle, half = mean + Z * Z / (2 * n), Z * math.sqrt(mean * (1 - mean) / n + Z * Z / (4 * n * n))
        low, high = ((middle + side * half) / (1 + Z * Z / n) for side in (-1, 1))
        return cls(round(mean, 3), round(max(0.0, low), 3), round(min(1.0, high), 3), n)


@dataclass(frozen=True, slots=True)
class RaterAgreement(Plain):
    """Agreement of a non-human rater with the human raters, on the documents that both have graded."""

    rater: str
    share: Share  # of documents with the same grade
    n_labels: int


def agreement_parts(labels: Iterable[Label]) -> tuple[dict[str, Share], dict[str, Share]]:
    """Return how often raters give the same grade, by rater and by grade; ignores "cannot judge".

    By rater: how often another rater of the document gives the same grade. By grade: if one rater gives it, how often
    another does too.

    >>> agreement_parts([])
    ({}, {})
    """
    docs: dict[Pair, dict[str, int]] = defaultdict(dict)
    for label in labels:
        if label.grade is not None:
            docs[label.query, label.doc][label.rater] = label.grade
    by_rater: dict[str, list[float]] = defaultdict(list)
    by_grade: dict[str, list[float]] = defaultdict(list)
    for given in docs.values():
        others = len(given) - 1
        if not others:
            continue
        counts = Counter(given.values())
        for rater, grade in given.items():
            by_rater[rater].append((counts[grade] - 1) / others)
        for grade, n in counts.items():
            by_grade[str(grade)].append((n - 1) / others)
    raters, grades = ({name: Share.of(by[name]) for name in sorted(by)} for by in (by_rater, by_grade))
    return raters, grades


def rater_agreement(rater: str, given: Mapping[Doc, int], people: Mapping[Doc, int]) -> RaterAgreement:
    """Return how well a non-human rater agrees with the combined grades of the human raters.

    >>> rater_agreement("gpt", {"a": 1, "b": 0, "c": 2}, {"a": 1, "b": 1}).share.value
    0.5
    """
    both = [doc for doc in given if doc in people]
    return RaterAgreement(rater, Share.of([float(given[doc] == people[doc]) for doc in both]), len(given))


@dataclass(frozen=True, slots=True)
class Dispute(Generic[Doc]):
    """A document with different grades by rater."""

    doc: Doc
    grades: Mapping[str, int]  # by rater
    spread: int  # the highest grade minus the lowest


def disputes(docs: Mapping[Doc, Mapping[str, int | None]], other_raters: Collection[str] = ()) -> list[Dispute[Doc]]:
    """Return the documents with different grades, the widest spread first, then those with more raters.

    Ignores "cannot be judged".
    other_raters: non-human ones; documents on which only they differ come last, and documents without a human grade are
    left out.

    >>> docs = {"a": {"ann": 0, "bob": 1}, "b": {"ann": 2, "bob": 2}, "c": {"ann": 0, "bob": 3, "eve": 3}}
    >>> [(one.doc, one.spread) for one in disputes(docs)]
    [('c', 3), ('a', 1)]
    >>> [one.doc for one in disputes(docs, other_raters=["eve", "ann"])]
    ['c', 'a']
    """
    people_agree: dict[Doc, bool] = {}
    found = []
    for doc, by_rater in docs.items():
        given = {rater: grade for rater, grade in by_rater.items() if grade is not None}
        by_people = {grade for rater, grade in given.items() if rater not in other_raters}
        if by_people and len(set(given.values())) > 1:
            people_agree[doc] = len(by_people) == 1
            found.append(Dispute(doc, given, max(given.values()) - min(given.values())))
    return sorted(found, key=lambda one: (people_agree[one.doc], -one.spread, -len(one.grades)))
