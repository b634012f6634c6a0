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
PRIOR_RIGHT = 8.0  # judgements' worth of "gives the true grade" of each rater, before any is seen
PRIOR_WRONG = 2.0  # the same of "gives another grade"


def combine(docs: Mapping[Doc, Grades], how: str = "median") -> dict[Doc, int]:
    """Return the grade of every document that somebody could grade.

    docs: the grades of each document by rater.
    how: "median", rounded down; "mean", rounded to the nearest grade, a half down; "majority", of equally frequent
        grades the one nearest to the median; "reliability", the most probable grade by how often each rater seems to
        be right (`RaterModel`).

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
    "reliability": "the most probable grade by how reliable each rater is",
}


@dataclass(frozen=True, eq=False)
class RaterModel:
    """How often each rater gives the true grade, and another one, all alike, else; the truth is not known.

    The model of A. Dawid and A. Skene (1979) with one number a rater instead of a table of grades: with tables, raters
    who guess were taken for the truth. Fitted by expectation and maximisation, with ten judgements' worth of "mostly
    right" for each rater, so that one who judged little is not believed to be perfect or useless; nobody is believed to
    be right less often than by chance.

    >>> docs = {doc: {"ann": doc % 2, "bob": doc % 2, "eve": 1 - doc % 2 if doc < 6 else doc % 2} for doc in range(20)}
    >>> model = RaterModel.fit(docs)
    >>> model.raters, model.right.round(2).tolist()
    (('ann', 'bob', 'eve'), [0.93, 0.93, 0.74])
    """

    levels: tuple[int, ...]  # the grades that were given, from the lowest
    raters: tuple[str, ...]
    shares: Array  # float64 (n_levels,) of documents with each true grade
    right: Array  # float64 (n_raters,) how often each gives the true grade

    @classmethod
    def fit(cls, docs: Mapping[Doc, Mapping[str, int]]) -> RaterModel:
        """Learn from the grades of each document by rater."""
        if not docs:
            raise DataError("there are no labels to learn from how reliable raters are")
        levels = tuple(sorted({grade for by in docs.values() for grade in by.values()}))
        raters = tuple(sorted({rater for by in docs.values() for rater in by}))
        triples = _triples(docs, levels, raters)
        truth = np.zeros((len(docs), len(levels)))  # P(true grade) of each document, at first the shares of its grades
        np.add.at(truth, (triples[:, 0], triples[:, 2]), 1.0)
        truth /= truth.sum(axis=1, keepdims=True)
        shares, right = _maximise(truth, triples, len(raters))
        for _ in range(STEPS):
            before, truth = truth, _expect(shares, right, triples, len(docs))
            shares, right = _maximise(truth, triples, len(raters))
            if np.abs(truth - before).max() < CLOSE:
                break
        return cls(levels, raters, shares, right)

    def grades(self, docs: Mapping[Doc, Mapping[str, int]]) -> dict[Doc, int]:
        """Return the most probable grade of each document; of equally probable ones the lowest."""
        truth = self.probabilities(docs)
        best = np.argmax(truth > truth.max(axis=1, keepdims=True) - CLOSE, axis=1)
        return {doc: self.levels[place] for doc, place in zip(docs, best, strict=True)}

    def probabilities(self, docs: Mapping[Doc, Mapping[str, int]]) -> Array:
        """Return how probable each true grade of each document is, float64 (n_docs, n_levels)."""
        return _expect(self.shares, self.right, _triples(docs, self.levels, self.raters), len(docs))


def _triples(docs: Mapping[Doc, Mapping[str, int]], levels: tuple[int, ...], raters: tuple[str, ...]) -> Array:
    """Return (document, rater, grade) numbers of every judgement, int64 (n, 3)."""
    level, place = ({one: number for number, one in enumerate(of)} for of in (levels, raters))
    rows = [(n, place[r], level[g]) for n, by in enumerate(docs.values()) for r, g in sorted(by.items())]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _maximise(truth: Array, triples: Array, n_raters: int) -> tuple[Array, Array]:
    doc, rater, grade = triples.T
    n_levels = truth.shape[1]
    hits = np.bincount(rater, weights=truth[doc, grade], minlength=n_raters) + PRIOR_RIGHT
    right = hits / (np.bincount(rater, minlength=n_raters) + PRIOR_RIGHT + PRIOR_WRONG)
    return (truth.sum(axis=0) + 1) / (len(truth) + n_levels), np.maximum(right, 1 / max(2, n_levels))


def _expect(shares: Array, right: Array, triples: Array, n_docs: int) -> Array:
    doc, rater, grade = triples.T
    n_others = max(1, shares.size - 1)
    log = np.tile(np.log(shares), (n_docs, 1))
    # what every grade but the given one has in common drops out
    np.add.at(log, (doc, grade), np.log(right[rater]) - np.log((1 - right[rater]) / n_others))
    truth = np.exp(log - log.max(axis=1, keepdims=True))
    return truth / truth.sum(axis=1, keepdims=True)
