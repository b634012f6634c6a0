"""The labels of a pool's documents as they stand, kept up with what a store gets from this process and others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rulerank.judging.combine import MODELS, ONE_BY_ONE
from rulerank.judging.labels import Label, State
from rulerank.judging.pool import Pool
from rulerank.judging.rater_model import RaterModel
from rulerank.judging.team import Counting

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

GROWTH = 1.1  # how many more labels there must be until a model of the raters is learned again


class CurrentLabels:
    """Every current label by row and rater, and the grade that each row has by them and by the lead.

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

    def __init__(self, pool: Pool, store: LabelStore) -> None:
        self._pool, self._store = pool, store
        self._state: State | None = None  # of the store when labels were last read
        self.counting = Counting()
        self._forget()

    def _forget(self) -> None:
        self.by_row: dict[int, dict[str, Label]] = {}  # row -> person -> label, rows in the order of their first label
        self.by_judge: dict[int, dict[str, Label]] = {}  # the same of raters who are no people
        self.decided: dict[int, int | None] = {}  # by the lead
        self.grades: dict[int, int] = {}  # of each row, in the order of the first grade
        self.elsewhere: set[tuple[str, str, str]] = set()  # (query, doc, rater) of labels not in the pool
        self._model: RaterModel | None = None  # of the raters, where labels are combined by one
        self._n_labels = self._n_modelled = 0

    @property
    def beyond(self) -> set[int]:
        """The rows that somebody has judged and that have no grade."""
        return (self.by_row.keys() | self.decided.keys()) - self.grades.keys()

    @property
    def undecided(self) -> set[int]:
        """The rows that people have graded and that have no grade, their median falling between two."""
        without = self.by_row.keys() - self.grades.keys() - self.decided.keys()
        return {row for row in without if any(label.grade is not None for label in self.by_row[row].values())}

    @property
    def judged(self) -> set[int]:
        """The rows that a person has judged or the lead has decided."""
        return self.by_row.keys() | self.decided.keys()

    def others(self) -> dict[str, dict[int, int]]:
        """Return the grades of the judges that count in training, by judge and row."""
        training = [judge for judge in self.counting.settings.training_judges if judge in self.counting.judges]
        found = {
            judge: {row: by[judge].grade for row, by in self.by_judge.items() if judge in by} for judge in training
        }
        graded = {
            judge: {row: grade for row, grade in given.items() if grade is not None} for judge, given in found.items()
        }
        return {judge: given for judge, given in graded.items() if given}

    def sync(self, state: State, *, exact: bool = False) -> None:
        """Read the labels that have come until the store had this state; all of them when one was withdrawn.

        exact: learn a model of the raters, where labels are combined by one, from all of them; else it may be old.
        """
        if state != self._state:
            counts_as_before = not self._take_changes(state)
            if self._state is not None and state.n_withdrawn == self._state.n_withdrawn and counts_as_before:
                changed = self._take_labels(self._store.labels(after=self._state.last_id))
            else:
                self._forget()
                self._take_decisions()
                changed = self._take_labels(self._store.labels()) | self.decided.keys()
            self._settle(changed)
            self._state = state
        if exact and self._model is not None and self._n_labels != self._n_modelled:
            self._learn_raters()

    def _take_changes(self, state: State) -> bool:
        """Read what the lead has changed; tell whether there was anything."""
        if self._state is not None and state.changes == self._state.changes:
            return False
        before, self.counting = self.counting, Counting.now(self._store)
        return before != self.counting

    def _take_decisions(self) -> None:
        rows = ((self._pool.rows.get(pair), grade) for pair, grade in self.counting.decided.items())
        self.decided = {row: grade for row, grade in rows if row is not None}

    def _take_labels(self, labels: Iterable[Label]) -> set[int]:
        """Note labels, and return the rows that people gave some."""
        changed: set[int] = set()
        for label in labels:
            row = self._pool.rows.get((label.query, label.doc))
            if row is None:
                self.elsewhere.add((label.query, label.doc, label.rater))
            elif label.rater in self.counting.judges:
                self.by_judge.setdefault(row, {})[label.rater] = label
            else:
                self.by_row.setdefault(row, {})[label.rater] = label
                self._n_labels += 1
                changed.add(row)
        return changed

    def _settle(self, rows: Iterable[int]) -> None:
        """Find the grades of some rows, or of all when the raters have to be learned again."""
        ordered = sorted(rows, key=self._first_label)
        how = self.counting.settings.combine
        if how in MODELS:
            given = self._given(ordered)
            if self._is_old(given.values()):
                self._learn_raters()
                return
            found: Mapping[int, int | None] = self._model.grades(given) if self._model is not None and given else {}
        else:
            found = {row: ONE_BY_ONE[how](sorted(by.values())) for row, by in self._given(ordered).items()}
        self._note(ordered, found)

    def _is_old(self, given: Iterable[Mapping[str, int]]) -> bool:
        model = self._model
        if model is None or self._n_labels > GROWTH * self._n_modelled:
            return True
        return any(
            rater not in model.raters or grade not in model.levels for by in given for rater, grade in by.items()
        )

    def _learn_raters(self) -> None:
        given = self._given(self.by_row)
        known = {row: grade for row, grade in self.decided.items() if grade is not None}
        self._model = MODELS[self.counting.settings.combine](given, known) if given else None
        self._n_modelled = self._n_labels
        found = self._model.grades(given) if self._model is not None else {}
        self._note([*self.by_row, *(row for row in self.decided if row not in self.by_row)], found)

    def _given(self, rows: Iterable[int]) -> dict[int, dict[str, int]]:
        """Return the grades of rows by person, of those that have some."""
        all_given = (
            (row, {rater: label.grade for rater, label in self.by_row.get(row, {}).items() if label.grade is not None})
            for row in rows
        )
        return {row: given for row, given in all_given if given}

    def _note(self, rows: Iterable[int], found: Mapping[int, int | None]) -> None:
        for row in rows:
            grade = self.decided[row] if row in self.decided else found.get(row)
            if grade is None:
                self.grades.pop(row, None)
            else:
                self.grades[row] = grade

    def _first_label(self, row: int) -> int:
        return min((one.id for one in self.by_row.get(row, {}).values() if one.grade is not None), default=0)
