"""A check of a new ranking against today's, by duels: the loop that page and terminal share.

The labels are the only state: a duel is over when both of its documents have a grade, so that a crash, an undo or a
second rater need nothing of their own. A query that had a label when the check began is never taken: a store notes
which label was the last then, so that a check goes on where it was after a restart.
"""

from __future__ import annotations

import threading
from collections.abc import Set
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from rulerank.dataset import Array
from rulerank.evaluation.comparison import Comparison
from rulerank.judging.duels import MOST, Duel, Duels, Outcome, compare_duels
from rulerank.judging.grades import CurrentLabels
from rulerank.judging.labels import JudgingTask, Plain
from rulerank.judging.pool import Pool

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

READY = 10 * MOST  # duels that are drawn beforehand: some are skipped
CLAIM_SECONDS = 900


@dataclass(frozen=True, slots=True)
class DuelTask(Plain):
    """Two documents of one query as a rater sees them, side by side."""

    query: str
    docs: tuple[JudgingTask, JudgingTask]
    number: int  # of the duel in this check, from 1


class Check:
    """Hand out duels of two rankings, and say how they stand.

    store: keeps the labels.
    new, today: scores of the pool's rows.
    judged: the queries that had labels when the check began; by default those that have some now.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.make_ranking(n_queries=8, docs_per_query=9, seed=0))
    >>> store = LabelStore(tempfile.mkdtemp() + "/labels.db")
    >>> check = Check(pool, store, new=pool.data.X[:, 1], today=pool.data.X[:, 0])
    >>> task = check.next("you")
    >>> for place, doc in enumerate(task.docs):
    ...     label = store.add(doc.query, doc.doc, place, "you")
    >>> check.comparison().n_trials, check.next("you").query != task.query
    (1, True)
    """

    def __init__(
        self,
        pool: Pool,
        store: LabelStore,
        new: Array,
        today: Array,
        seed: int = 0,
        judged: Set[str] | None = None,
    ) -> None:
        self.pool, self.store = pool, store
        self._lock = threading.Lock()
        self._current = CurrentLabels(pool, store)
        self._current.sync(store.state())
        if judged is None:
            judged = {pool.pairs[row][0] for row in self._current.by_row}
        duels = Duels(pool, new, today, judged, seed)
        self.changed = duels.changed
        self._drawn_from = duels
        self.duels = list(islice(duels, READY))

    def outcomes(self) -> list[Outcome]:
        """Return how the duels whose two documents have grades ended."""
        with self._lock:
            return self._outcomes()

    def comparison(self) -> Comparison:
        """Return which ranking wins them."""
        return compare_duels(self.outcomes())

    def next(self, rater: str) -> DuelTask | None:
        """Hand out a duel that no other rater has, the same one until both documents have a grade; None: no more."""
        with self._lock:
            found = compare_duels(self._outcomes())
            if found.is_over(MOST):
                return None
            skipped = set(self.store.skipped(rater))
            for duel in self.duels:
                pair = self.pool.pairs[duel.entered]
                if pair in skipped or self._fought(duel):
                    continue
                if self.store.claim(*pair, rater, seconds=CLAIM_SECONDS):
                    docs = [JudgingTask(*self.pool.pairs[row], **self.pool.shown(row)) for row in duel.shown]
                    return DuelTask(duel.query, (docs[0], docs[1]), found.n_trials + 1)
            return None

    def skip(self, rater: str, query: str) -> None:
        """Pass over a duel: this rater will not be asked again."""
        for duel in self.duels:
            if duel.query == query:
                self.store.skip(*self.pool.pairs[duel.entered], rater)

    def line(self) -> str:
        """Say what follows from the duels so far."""
        return self._drawn_from.line(self.comparison())

    def _fought(self, duel: Duel) -> bool:
        """Tell whether both documents have been looked at; one that cannot be judged ends a duel too."""
        return duel.entered in self._current.by_row and duel.left in self._current.by_row

    def _outcomes(self) -> list[Outcome]:
        self._current.sync(self.store.state())
        grades = self._current.grades
        return [
            Outcome(duel, grades[duel.entered], grades[duel.left])
            for duel in self.duels
            if duel.entered in grades and duel.left in grades
        ]
