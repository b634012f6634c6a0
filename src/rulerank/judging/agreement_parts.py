"""Agreement rater by rater, query by query and grade by grade, each with how sure it is: few documents say little."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeVar

import numpy as np

from rulerank.dataset import Array
from rulerank.judging.agreement import Coefficient, cohen_kappa, krippendorff_alpha
from rulerank.judging.labels import Label, Plain

Doc = TypeVar("Doc")

LEVEL = 0.9  # of intervals
Z = 1.6448536269514722  # of the normal distribution, for this level
LEAST_DOCS = 10  # below, no interval of a coefficient is to be believed
TOO_FEW = f"fewer than {LEAST_DOCS} documents: too few for an interval"
NO_SPREAD = "no two documents differ in agreement: an interval cannot be told"


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
        return NO_SPREAD
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
