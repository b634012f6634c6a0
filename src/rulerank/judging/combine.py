"""One grade of a document from those of several raters: median, mean, majority, or by how reliable each rater is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.judging.labels import agreed_grade

Doc = TypeVar("Doc")
Grades = Mapping[str, int | None]  # by rater; None: cannot be judged

STEPS = 100  # of the expectation and maximisation; it stops before when nothing changes
CLOSE = 1e-9
PRIOR_RIGHT = 2.0  # judgements' worth of "gives the true grade", before any is seen
PRIOR_WRONG = 1.0  # the same of "gives another grade", shared among all others


def combine(docs: Mapping[Doc, Grades], how: str = "median") -> dict[Doc, int]:
    """Return the grade of every document that somebody could grade.

    docs: the grades of each document by rater.
    how: "median", rounded down; "mean", rounded to the nearest grade, a half down; "majority", of equally frequent
        grades the one nearest to the median; "reliability", the most probable grade when each rater has errors of the
        own kind (`RaterModel`).

    >>> docs = {"a": {"ann": 0, "bob": 3, "eve": 3}, "b": {"ann": 1, "bob": None}, "c": {"bob": None}}
    >>> combine(docs), combine(docs, "mean"), combine(docs, "majority")
    ({'a': 3, 'b': 1}, {'a': 2, 'b': 1}, {'a': 3, 'b': 1})
    """
    if how not in COMBINATIONS:
        raise DataError(f"labels are combined by {', '.join(COMBINATIONS)}: got {how!r:.60}")
    given = {doc: {rater: grade for rater, grade in by.items() if grade is not None} for doc, by in docs.items()}
    given = {doc: by for doc, by in given.items() if by}
    if how == "reliability" and given:
        return RaterModel.fit(given).grades(given)
    return {doc: ONE_BY_ONE[how](sorted(by.values())) for doc, by in given.items()}


def _median(grades: list[int]) -> int:
    found = agreed_grade(grades)
    assert found is not None  # there is a grade
    return found


def _mean(grades: list[int]) -> int:
    total, n = 2 * sum(grades) - len(grades), 2 * len(grades)
    return -(-total // n)  # the smallest whole number from mean - 1/2 on: a half goes down


def _majority(grades: list[int]) -> int:
    counts, middle = Counter(grades), _median(grades)
    return min(counts, key=lambda grade: (-counts[grade], abs(grade - middle), grade))


ONE_BY_ONE: dict[str, Callable[[list[int]], int]] = {"median": _median, "mean": _mean, "majority": _majority}
COMBINATIONS = {  # how labels of several raters become one, and what to say of it
    "median": "the median of the raters, rounded down",
    "mean": "the mean of the raters, rounded",
    "majority": "what most raters say",
    "reliability": "the most probable grade by how reliable each rater is (Dawid and Skene)",
}


@dataclass(frozen=True, eq=False)
class RaterModel:
    """How often each rater gives which grade to documents of each true grade: A. Dawid and A. Skene (1979).

    Fitted by expectation and maximisation, with a few judgements' worth of "mostly right" for each rater, so that one
    who judged little is not believed to be perfect or useless.

    >>> docs = {doc: {"ann": doc % 2, "bob": doc % 2, "eve": 1 - doc % 2 if doc < 6 else doc % 2} for doc in range(20)}
    >>> model = RaterModel.fit(docs)
    >>> [round(model.accuracy(rater), 2) for rater in model.raters]
    [0.92, 0.92, 0.69]
    """

    levels: tuple[int, ...]  # the grades that were given, from the lowest
    raters: tuple[str, ...]
    shares: Array  # float64 (n_levels,) of documents with each true grade
    confusion: Array  # float64 (n_raters, true grade, given grade), rows sum to 1

    @classmethod
    def fit(cls, docs: Mapping[Doc, Mapping[str, int]]) -> RaterModel:
        """Learn from the grades of each document by rater."""
        if not docs:
            raise DataError("there are no labels to learn from how reliable raters are")
        levels = tuple(sorted({grade for by in docs.values() for grade in by.values()}))
        raters = tuple(sorted({rater for by in docs.values() for rater in by}))
        triples = _triples(docs, levels, raters)
        n_docs, n_levels = len(docs), len(levels)
        prior = np.full((n_levels, n_levels), PRIOR_WRONG / max(1, n_levels - 1))
        np.fill_diagonal(prior, PRIOR_RIGHT)
        truth = np.zeros((n_docs, n_levels))  # P(true grade of each document), at first the shares of its grades
        np.add.at(truth, (triples[:, 0], triples[:, 2]), 1.0)
        truth /= truth.sum(axis=1, keepdims=True)
        shares, confusion = _maximise(truth, triples, len(raters), prior)
        for _ in range(STEPS):
            before, truth = truth, _expect(shares, confusion, triples, n_docs)
            shares, confusion = _maximise(truth, triples, len(raters), prior)
            if np.abs(truth - before).max(initial=0) < CLOSE:
                break
        return cls(levels, raters, shares, confusion)

    def grades(self, docs: Mapping[Doc, Mapping[str, int]]) -> dict[Doc, int]:
        """Return the most probable grade of each document; of equally probable ones the lowest."""
        truth = self.probabilities(docs)
        best = np.argmax(truth > truth.max(axis=1, keepdims=True) - CLOSE, axis=1)
        return {doc: self.levels[place] for doc, place in zip(docs, best, strict=True)}

    def probabilities(self, docs: Mapping[Doc, Mapping[str, int]]) -> Array:
        """Return how probable each true grade of each document is, float64 (n_docs, n_levels)."""
        return _expect(self.shares, self.confusion, _triples(docs, self.levels, self.raters), len(docs))

    def accuracy(self, rater: str) -> float:
        """Return how often a rater gives the true grade, over documents as they are."""
        of_rater = self.confusion[self.raters.index(rater)]
        return float((self.shares * of_rater.diagonal()).sum())


def _triples(docs: Mapping[Doc, Mapping[str, int]], levels: tuple[int, ...], raters: tuple[str, ...]) -> Array:
    """Return (document, rater, grade) numbers of every judgement, int64 (n, 3)."""
    level, place = ({one: number for number, one in enumerate(of)} for of in (levels, raters))
    rows = [(n, place[r], level[g]) for n, by in enumerate(docs.values()) for r, g in sorted(by.items())]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _maximise(truth: Array, triples: Array, n_raters: int, prior: Array) -> tuple[Array, Array]:
    doc, rater, grade = triples.T
    n_levels = truth.shape[1]
    by_given = np.zeros((n_raters, n_levels, n_levels))
    np.add.at(by_given, (rater, grade), truth[doc])
    counts = by_given.swapaxes(1, 2) + prior
    return (truth.sum(axis=0) + 1) / (len(truth) + n_levels), counts / counts.sum(axis=2, keepdims=True)


def _expect(shares: Array, confusion: Array, triples: Array, n_docs: int) -> Array:
    doc, rater, grade = triples.T
    log = np.tile(np.log(shares), (n_docs, 1))
    np.add.at(log, doc, np.log(confusion[rater, :, grade]))
    truth = np.exp(log - log.max(axis=1, keepdims=True))
    return truth / truth.sum(axis=1, keepdims=True)
