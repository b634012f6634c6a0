"""The labels of a pool's documents as they stand, kept up with what a store gets from this process and others."""

from __future__ import annotations

from rulerank.judging.labels import KeepsLabels, Label, State, agreed_grade
from rulerank.judging.pool import Pool


class CurrentLabels:
    """Every current label by row and rater, and the grade that each row has by them.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.make_world(n_queries=2, docs_per_query=3, seed=0))
    >>> with LabelStore(tempfile.mkdtemp() + "/labels.db") as store:
    ...     label = store.add(*pool.pairs[4], 2, "ann")
    ...     current = CurrentLabels(pool, store)
    ...     current.sync(store.state())
    >>> current.grades
    {4: 2}
    """

    def __init__(self, pool: Pool, store: KeepsLabels) -> None:
        self._pool, self._store = pool, store
        self._state: State | None = None  # of the store when labels were last read
        self._forget()

    def _forget(self) -> None:
        self.by_row: dict[int, dict[str, Label]] = {}  # row -> rater -> label, rows in the order of their first label
        self.grades: dict[int, int] = {}  # what the raters of each row agreed on, in the order of the first grade
        self.elsewhere: set[tuple[str, str, str]] = set()  # (query, doc, rater) of labels not in the pool

    def sync(self, state: State) -> None:
        """Read the labels that have come until the store had this state; all of them when one was withdrawn."""
        if state == self._state:
            return
        after = 0
        if self._state is not None and state.n_withdrawn == self._state.n_withdrawn:
            after = self._state.last_id
        else:
            self._forget()
        for label in self._store.labels(after=after):
            row = self._pool.rows.get((label.query, label.doc))
            if row is None:
                self.elsewhere.add((label.query, label.doc, label.rater))
            else:
                by_rater = self.by_row.setdefault(row, {})
                by_rater[label.rater] = label
                grade = agreed_grade(given.grade for given in by_rater.values())
                if grade is None:
                    self.grades.pop(row, None)
                else:
                    self.grades[row] = grade
        self._state = state
