"""Which documents of a judged list a model would move most: told afterwards, by a model that saw none of its labels."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from rulerank.judging.labels import Plain
from rulerank.judging.pool import Pool
from rulerank.rankers.base import Ranker
from rulerank.today import Today
from rulerank.training.few_labels import few_label_ranker
from rulerank.training.in_pool import Grades, PoolLearner, rows_and_grades

LEAST_LABELS = 10  # of other queries
LEAST_PLACES = 2  # that a document must move to be named
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Move(Plain):
    """A document that a model would put elsewhere in its list."""

    doc: str
    title: str | None
    rank: int  # in the list by today's ranking, from 1
    new_rank: int
    reason: str  # what moves it most, in the model's own words


@dataclass(frozen=True, slots=True)
class Moves(Plain):
    """What a model of the other queries' labels would change in a list."""

    n_labels: int  # that it learned from
    moves: tuple[Move, ...]  # the longest first


class MoveFinder:
    """Say what a model that starts from today's ranking would move.

    >>> import rulerank as rr
    >>> from rulerank.today import find_today
    >>> pool = Pool(rr.make_world(n_queries=12, docs_per_query=10, seed=0))
    >>> finder = MoveFinder(pool, find_today(pool.data.feature_names, "bm25_body"))
    >>> found = finder.find(pool.own_grades, pool.rows_of("q1").tolist())
    >>> found.n_labels, all(abs(move.rank - move.new_rank) >= 2 for move in found.moves)
    (110, True)
    """

    def __init__(self, pool: Pool, today: Today) -> None:
        self._pool, self._today = pool, today
        self._lock = threading.Lock()
        self._learner: PoolLearner | None = None  # made when first needed: it looks at the whole pool

    def find(self, grades: Grades, listed: Sequence[int]) -> Moves | None:
        """Return the moves in a list, rows of one query by today's ranking; None: too few labels of other queries."""
        query = self._pool.pairs[listed[0]][0]
        others = {row: grade for row, grade in grades.items() if self._pool.pairs[row][0] != query}
        if len(others) < LEAST_LABELS or len(set(others.values())) < 2:
            return None
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that few labels say little is told by their number
            if self._learner is None or len(self._learner.pool) != len(self._pool):
                ranker = few_label_ranker("Anchored").set_params(today=self._today.option)
                self._learner = PoolLearner(ranker, self._pool.data)
            ranker = self._learner.fit(*rows_and_grades(dict(sorted(others.items()))))
        rows = self._pool.rows_of(query)
        scores = dict(zip(rows.tolist(), ranker.predict(self._pool.data[rows]).tolist(), strict=True))
        new_order = sorted(listed, key=lambda row: -scores[row])  # level ones stay as they are
        found = []
        for rank, row in enumerate(listed, start=1):
            new_rank = new_order.index(row) + 1
            if abs(new_rank - rank) >= LEAST_PLACES:
                found.append((row, rank, new_rank))
        found.sort(key=lambda move: -abs(move[1] - move[2]))
        moves = [
            Move(
                doc=self._pool.pairs[row][1],
                title=self._pool.shown(row).get("title"),
                rank=rank,
                new_rank=new_rank,
                reason=self._reason(ranker, rows.tolist(), row, up=new_rank < rank),
            )
            for row, rank, new_rank in found[:MOST_NAMED]
        ]
        return Moves(len(others), tuple(moves))

    def _reason(self, ranker: Ranker, rows: list[int], row: int, *, up: bool) -> str:
        """Return the line of the explanation that says most for a move of this direction."""
        data = self._pool.data
        lines = ranker.explain(data.X[rows], row=rows.index(row)).lines(data.X.shape[1])[1:]
        return next((line for line in lines if line.startswith("+" if up else "-")), lines[0] if lines else "")
