"""A new ranking beside today's on one query: what moved, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rulerank.dataset import Array
from rulerank.judging.labels import Plain
from rulerank.judging.pool import Pool
from rulerank.rankers.base import Ranker


@dataclass(frozen=True, eq=False)
class NewRanking:
    """The model that was trained last, and how it and today's ranking score the pool's rows."""

    ranker: Ranker
    method: str
    new: Array
    today: Array


@dataclass(frozen=True, slots=True)
class ComparedDoc(Plain):
    """A document's places in two rankings of its query, from 1."""

    doc: str
    title: str
    new: int
    today: int
    grade: int | None  # by the labels; None: it has none


@dataclass(frozen=True, slots=True)
class Comparison(Plain):
    """The documents of one query in the new order, each with its place of today."""

    query: str
    query_text: str | None
    method: str
    docs: tuple[ComparedDoc, ...]


def compare(pool: Pool, query: str, ranking: NewRanking, grades: Mapping[int, int]) -> Comparison:
    """Put both rankings of a query side by side; documents with the same score stay in the order of the pool."""
    rows = pool.rows_of(query)
    new, today = _places(ranking.new[rows]), _places(ranking.today[rows])
    docs = [
        ComparedDoc(
            doc=pool.pairs[row][1],
            title=pool.shown(row).get("title") or pool.names[row],
            new=int(new[i]),
            today=int(today[i]),
            grade=grades.get(row),
        )
        for i, row in enumerate(rows.tolist())
    ]
    query_text = pool.shown(int(rows[0])).get("query_text")
    return Comparison(query, query_text, ranking.method, tuple(sorted(docs, key=lambda doc: doc.new)))


def reasons(pool: Pool, row: int, ranker: Ranker, n_reasons: int = 5) -> tuple[str, ...]:
    """Say what adds most to a document's score among those of its query, or takes most away."""
    rows = pool.rows_of(pool.pairs[row][0])
    why = ranker.explain(pool.data[rows], int(np.flatnonzero(rows == row)[0]))
    return tuple(why.lines(n_reasons)[1:])


def _places(scores: Array) -> Array:
    """Return the place of each score, from 1, best first.

    >>> _places(np.array([0.5, 2.0, 0.5])).tolist()
    [2, 1, 3]
    """
    places = np.empty(scores.size, dtype=np.int64)
    places[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
    return places
