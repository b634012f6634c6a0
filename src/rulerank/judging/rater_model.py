"""How reliable each rater is, learned from where raters agree: one number a rater, or a table of grades a rater."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError

Doc = TypeVar("Doc")

STEPS = 100  # of the expectation and maximisation; it stops before when nothing changes
CLOSE = 1e-9
PRIOR_RIGHT = 8.0  # judgements' worth of "gives the true grade" of each rater, before any is seen
PRIOR_WRONG = 2.0  # the same of "gives another grade"
PRIOR_TABLE = 10.0  # judgements' worth of "as the one number says" in each row of a rater's table


@dataclass(frozen=True, eq=False)
class RaterModel:
    """Which grades each rater gives to documents of each true grade; the truth is not known, or of few documents only.

    The model of A. Dawid and A. Skene (1979), fitted by expectation and maximisation. `fit` has one number a rater: how
    often the true grade is given, all others being alike; ten judgements' worth of "mostly right" for each, so that one
    who judged little is not believed to be perfect or useless, and nobody is believed to be right less often than by
    chance. `fit_tables` goes on from there with a table of grades for each rater; every row of it has ten judgements'
    worth of what that number says: a rater who is always too kind is understood, one who judged little is not misread.

    >>> docs = {doc: {"ann": doc % 2, "bob": doc % 2, "eve": 1 - doc % 2 if doc < 6 else doc % 2} for doc in range(20)}
    >>> model = RaterModel.fit(docs)
    >>> model.raters, model.right.round(2).tolist()
    (('ann', 'bob', 'eve'), [0.93, 0.93, 0.74])
    """

    levels: tuple[int, ...]  # the grades that were given, from the lowest
    raters: tuple[str, ...]
    shares: Array  # float64 (n_levels,) of documents with each true grade
    tables: Array  # float64 (n_raters, n_levels, n_levels): P(given grade | true grade), rows are true grades

    @classmethod
    def fit(cls, docs: Mapping[Doc, Mapping[str, int]], known: Mapping[Doc, int] | None = None) -> RaterModel:
        """Learn one number a rater from the grades of each document by rater; known: true grades of some of them."""
        return _Given.of(docs, known).model(None)

    @classmethod
    def fit_tables(cls, docs: Mapping[Doc, Mapping[str, int]], known: Mapping[Doc, int] | None = None) -> RaterModel:
        """Learn a table of grades a rater."""
        given = _Given.of(docs, known)
        return given.model(given.model(None))

    @property
    def right(self) -> Array:
        """How often each rater gives the true grade, float64 (n_raters,)."""
        found: Array = np.einsum("rkk,k->r", self.tables, self.shares)
        return found

    def grades(self, docs: Mapping[Doc, Mapping[str, int]]) -> dict[Doc, int]:
        """Return the most probable grade of each document; of equally probable ones the lowest."""
        truth = self.probabilities(docs)
        best = np.argmax(truth > truth.max(axis=1, keepdims=True) - CLOSE, axis=1)
        return {doc: self.levels[place] for doc, place in zip(docs, best, strict=True)}

    def probabilities(self, docs: Mapping[Doc, Mapping[str, int]]) -> Array:
        """Return how probable each true grade of each document is, float64 (n_docs, n_levels).

        A rater or a grade that the model has not met says nothing.
        """
        return _expect(self.shares, self.tables, _triples(docs, self.levels, self.raters), len(docs))


@dataclass(frozen=True, eq=False)
class _Given:
    """Judgements as numbers, and what is known of the truth."""

    levels: tuple[int, ...]
    raters: tuple[str, ...]
    triples: Array  # int64 (n, 3): document, rater, grade
    known: Array  # float64 (n_docs, n_levels), rows of NaN where nothing is known

    @classmethod
    def of(cls, docs: Mapping[Any, Mapping[str, int]], known: Mapping[Any, int] | None) -> _Given:
        if not docs:
            raise DataError("there are no labels to learn from how reliable raters are")
        known = {doc: grade for doc, grade in (known or {}).items() if doc in docs}
        levels = tuple(sorted({grade for by in docs.values() for grade in by.values()} | {*known.values()}))
        raters = tuple(sorted({rater for by in docs.values() for rater in by}))
        sure = np.full((len(docs), len(levels)), np.nan)
        for number, doc in enumerate(docs):
            if doc in known:
                sure[number] = [grade == known[doc] for grade in levels]
        return cls(levels, raters, _triples(docs, levels, raters), sure)

    def model(self, start: RaterModel | None) -> RaterModel:
        """Return the model with one number a rater or, from there, the one with a table."""
        if start is None:
            maximise: Callable[[Array], Array] = self._numbers
            truth = np.zeros(self.known.shape)  # P(true grade) of each document, at first the shares of its grades
            np.add.at(truth, (self.triples[:, 0], self.triples[:, 2]), 1.0)
            truth /= truth.sum(axis=1, keepdims=True)
        else:
            prior = PRIOR_TABLE * start.tables
            maximise = lambda truth: self._tables(truth, prior)  # noqa: E731
            truth = _expect(start.shares, start.tables, self.triples, len(self.known))
        truth = self._sure(truth)
        shares, tables = self._shares(truth), maximise(truth)
        for _ in range(STEPS):
            before, truth = truth, self._sure(_expect(shares, tables, self.triples, len(self.known)))
            shares, tables = self._shares(truth), maximise(truth)
            if np.abs(truth - before).max() < CLOSE:
                break
        return RaterModel(self.levels, self.raters, shares, tables)

    def _sure(self, truth: Array) -> Array:
        return np.where(np.isnan(self.known), truth, self.known)

    def _shares(self, truth: Array) -> Array:
        found: Array = (truth.sum(axis=0) + 1) / (len(truth) + truth.shape[1])
        return found

    def _numbers(self, truth: Array) -> Array:
        doc, rater, grade = self.triples.T
        n_raters, n_levels = len(self.raters), truth.shape[1]
        hits = np.bincount(rater, weights=truth[doc, grade], minlength=n_raters) + PRIOR_RIGHT
        right = hits / (np.bincount(rater, minlength=n_raters) + PRIOR_RIGHT + PRIOR_WRONG)
        right = np.maximum(right, 1 / max(2, n_levels))
        tables = np.repeat(((1 - right) / max(1, n_levels - 1))[:, None, None], n_levels, axis=1)
        tables = np.repeat(tables, n_levels, axis=2)
        tables[:, range(n_levels), range(n_levels)] = right[:, None]
        return tables

    def _tables(self, truth: Array, prior: Array) -> Array:
        doc, rater, grade = self.triples.T
        n_levels = truth.shape[1]
        places = rater * n_levels + grade
        given = np.array([np.bincount(places, truth[doc, true], prior[:, 0].size) for true in range(n_levels)])
        counts = prior + given.reshape(n_levels, -1, n_levels).transpose(1, 0, 2)
        found: Array = counts / counts.sum(axis=2, keepdims=True)
        return found


def _triples(docs: Mapping[Doc, Mapping[str, int]], levels: tuple[int, ...], raters: tuple[str, ...]) -> Array:
    """Return (document, rater, grade) numbers of every judgement by these raters, int64 (n, 3)."""
    level, place = ({one: number for number, one in enumerate(of)} for of in (levels, raters))
    rows = [
        (number, place[rater], level[grade])
        for number, by in enumerate(docs.values())
        for rater, grade in sorted(by.items())
        if rater in place and grade in level
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _expect(shares: Array, tables: Array, triples: Array, n_docs: int) -> Array:
    doc, rater, grade = triples.T
    log = np.tile(np.log(shares), (n_docs, 1))
    np.add.at(log, doc, np.log(tables)[rater, :, grade])
    truth = np.exp(log - log.max(axis=1, keepdims=True))
    found: Array = truth / truth.sum(axis=1, keepdims=True)
    return found
