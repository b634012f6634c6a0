"""From labels to grades: combine the labels of several raters; the admin's decisions come first.

`combine` has the methods, `RaterModel` estimates the reliability of raters, `Counting` holds the current settings and
decisions, and `CurrentLabels` keeps the grades of a pool in sync with its store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from rulerank.dataset import Array
from rulerank.judging.labels import COMBINATIONS, Label, Pair, Settings, State, check_combination
from rulerank.judging.pool import Pool

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

Doc = TypeVar("Doc")

STEPS = 100  # of expectation maximisation at most
CLOSE = 1e-9
PRIOR_RIGHT = 8.0  # prior count of correct judgements per rater
PRIOR_WRONG = 2.0  # prior count of wrong judgements per rater
PRIOR_TABLE = 10.0  # prior count per row of a rater's confusion matrix, from the single reliability
GROWTH = 1.1  # growth of the number of labels after which the rater model is fitted again


def combine(
    docs: Mapping[Doc, Mapping[str, int | None]], how: str = "median", decided: Mapping[Doc, int | None] | None = None
) -> dict[Doc, int]:
    """Return the combined grade of every document that has one.

    docs: the grades of each document by rater; None: cannot be judged.
    how: "median", without a grade if it falls between two, such as 0 and 1; "mean", rounded, halves down; "majority",
        of equally frequent grades the one nearest to the median; "reliability", the most probable grade with one
        reliability per rater; "dawid-skene", the same with a confusion matrix per rater (`RaterModel`).
    decided: the admin's decisions, which override the raters (None: cannot be judged); rater models use them as known.

    >>> docs = {"a": {"ann": 0, "bob": 3, "eve": 3}, "b": {"ann": 1, "bob": None}, "c": {"bob": None}}
    >>> combine(docs), combine(docs, "mean"), combine(docs, "majority")
    ({'a': 3, 'b': 1}, {'a': 2, 'b': 1}, {'a': 3, 'b': 1})
    >>> combine({"d": {"ann": 0, "bob": 1}}), combine({"d": {"ann": 0, "bob": 1}}, decided={"d": 1})
    ({}, {'d': 1})
    >>> combine(docs, decided={"a": 1, "b": None})
    {'a': 1}
    """
    check_combination(how)
    decided = decided or {}
    given = _graded(docs)
    if how in MODELS and given:
        known = {doc: grade for doc, grade in decided.items() if grade is not None}
        found: Mapping[Doc, int | None] = MODELS[how](given, known).grades(given)
    else:
        found = {doc: ONE_BY_ONE[how](by.values()) for doc, by in given.items()}
    return {doc: grade for doc, grade in {**found, **decided}.items() if grade is not None}


def median_grade(grades: Iterable[int]) -> int | None:
    """Return the median of grades; None if it falls between two grades.

    >>> median_grade([3]), median_grade([0, 2, 4]), median_grade([1, 3]), median_grade([0, 1])
    (3, 2, 2, None)
    """
    found = median(grades)
    return int(found) if found == int(found) else None


def _mean(grades: Iterable[int]) -> int:
    given = [*grades]
    total, n = 2 * sum(given) - len(given), 2 * len(given)
    return -(-total // n)  # rounds halves down


def _majority(grades: Iterable[int]) -> int:
    counts = Counter(grades)
    middle = int(median(counts.elements()))
    return min(counts, key=lambda grade: (-counts[grade], abs(grade - middle), grade))


def _graded(docs: Mapping[Doc, Mapping[str, int | None]]) -> dict[Doc, dict[str, int]]:
    """Return the grades by rater of the documents that have any."""
    given = {doc: {rater: grade for rater, grade in by.items() if grade is not None} for doc, by in docs.items()}
    return {doc: by for doc, by in given.items() if by}


@dataclass(frozen=True, eq=False)
class RaterModel:
    """Estimates which grades each rater gives to documents of each true grade (A. Dawid and A. Skene, 1979).

    Fitted by expectation maximisation. `fit` estimates one reliability per rater, the share of correct grades, with
    errors spread evenly over the other grades. A prior of ten judgements keeps raters with few labels from looking
    perfect or useless, and no rater is below chance. With tables it then estimates a confusion matrix per rater, with
    ten prior judgements per row from the reliability: it corrects raters who are systematically lenient or strict.

    >>> docs = {doc: {"ann": doc % 2, "bob": doc % 2, "eve": 1 - doc % 2 if doc < 6 else doc % 2} for doc in range(20)}
    >>> model = RaterModel.fit(docs)
    >>> model.raters, model.tables[:, 0, 0].round(2).tolist()
    (('ann', 'bob', 'eve'), [0.93, 0.93, 0.74])
    """

    levels: tuple[int, ...]  # the grades that were given, from the lowest
    raters: tuple[str, ...]
    shares: Array  # float64 (n_levels,) of documents with each true grade
    tables: Array  # float64 (n_raters, n_levels, n_levels): P(given grade | true grade), rows are true grades

    @classmethod
    def fit(
        cls, docs: Mapping[Doc, Mapping[str, int]], known: Mapping[Doc, int] | None = None, *, tables: bool = False
    ) -> RaterModel:
        """Fit one reliability per rater and, with tables, from there one matrix per rater; known: some true grades."""
        true = {doc: grade for doc, grade in (known or {}).items() if doc in docs}
        levels = tuple(sorted({grade for by in docs.values() for grade in by.values()} | {*true.values()}))
        raters = tuple(sorted({rater for by in docs.values() for rater in by}))
        triples = _triples(docs, levels, raters)
        sure = np.full((len(docs), len(levels)), np.nan)  # rows of NaN where the true grade is unknown
        for number, doc in enumerate(docs):
            if doc in true:
                sure[number] = [grade == true[doc] for grade in levels]

        def climb(truth: Array, maximise: Callable[[Array], Array]) -> RaterModel:
            """Iterate from P(true grade) of each document until convergence."""
            last = np.full(truth.shape, np.inf)
            for _ in range(STEPS + 1):
                truth = np.where(np.isnan(sure), truth, sure)
                shares = (truth.sum(axis=0) + 1) / (len(truth) + truth.shape[1])
                model = cls(levels, raters, shares, maximise(truth))
                if np.abs(truth - last).max() < CLOSE:
                    break
                last, truth = truth, _expect(model.shares, model.tables, triples, len(docs))
            return model

        truth = np.zeros(sure.shape)  # starts with the shares of a document's grades
        np.add.at(truth, (triples[:, 0], triples[:, 2]), 1.0)
        model = climb(truth / truth.sum(axis=1, keepdims=True), lambda truth: _numbers(truth, triples, len(raters)))
        if not tables:
            return model
        prior, truth = PRIOR_TABLE * model.tables, _expect(model.shares, model.tables, triples, len(docs))
        return climb(truth, lambda truth: _tables(truth, triples, prior))

    def grades(self, docs: Mapping[Doc, Mapping[str, int]]) -> dict[Doc, int]:
        """Return the most probable grade of each document, the lowest of equally probable ones."""
        truth = self.probabilities(docs)
        best = np.argmax(truth > truth.max(axis=1, keepdims=True) - CLOSE, axis=1)
        return {doc: self.levels[place] for doc, place in zip(docs, best, strict=True)}

    def probabilities(self, docs: Mapping[Doc, Mapping[str, int]]) -> Array:
        """Return the probability of each true grade of each document, float64 (n_docs, n_levels).

        Unknown raters and grades are ignored.
        """
        return _expect(self.shares, self.tables, _triples(docs, self.levels, self.raters), len(docs))


def _numbers(truth: Array, triples: Array, n_raters: int) -> Array:
    """Return the matrices from one reliability per rater, given P(true grade) of each document."""
    doc, rater, grade = triples.T
    n_levels = truth.shape[1]
    hits = np.bincount(rater, weights=truth[doc, grade], minlength=n_raters) + PRIOR_RIGHT
    right = hits / (np.bincount(rater, minlength=n_raters) + PRIOR_RIGHT + PRIOR_WRONG)
    right = np.maximum(right, 1 / max(2, n_levels))
    wrong = (1 - right) / max(1, n_levels - 1)
    tables = np.tile(wrong[:, None, None], (1, n_levels, n_levels))
    tables[:, range(n_levels), range(n_levels)] = right[:, None]
    return tables


def _tables(truth: Array, triples: Array, prior: Array) -> Array:
    """Return the matrices of raters, given P(true grade) of each document and prior counts."""
    doc, rater, grade = triples.T
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


ONE_BY_ONE: dict[str, Callable[[Iterable[int]], int | None]] = {
    "median": median_grade,
    "mean": _mean,
    "majority": _majority,
}
MODELS: dict[str, Callable[..., RaterModel]] = {
    "reliability": RaterModel.fit,
    "dawid-skene": partial(RaterModel.fit, tables=True),
}


class Counting(NamedTuple):
    """Settings, kinds of raters and decisions, which turn labels into grades.

    Labels of human raters are combined by `settings.combine`; the admin's decisions override them. Labels of non-human
    raters are kept apart: `CurrentLabels.others` has those that training uses.
    """

    settings: Settings = Settings()
    other_raters: Mapping[str, str] = {}  # non-human raters and their kinds
    decided: Mapping[Pair, int | None] = {}  # by the admin; None: cannot be judged

    @classmethod
    def now(cls, store: LabelStore) -> Counting:
        """Return the current state of a store."""
        decided = {(one.query, one.doc): one.grade for one in store.decisions()}
        return cls(store.settings(), store.other_raters(), decided)

    @property
    def training_raters(self) -> list[str]:
        """The non-human raters that training uses."""
        return [rater for rater in self.settings.training_raters if rater in self.other_raters]

    def people(self, labels: Iterable[Label]) -> dict[Pair, dict[str, int | None]]:
        """Return the grades of each document by human rater."""
        given: dict[Pair, dict[str, int | None]] = {}
        for label in labels:
            if label.rater not in self.other_raters:
                given.setdefault((label.query, label.doc), {})[label.rater] = label.grade
        return given

    def grades(self, labels: Iterable[Label], how: str | None = None) -> dict[Pair, int]:
        """Return the grade of every document that has one; how: overrides `settings.combine`."""
        return combine(self.people(labels), how or self.settings.combine, self.decided)

    def sentence(self) -> str:
        """Return how labels become grades, in words.

        >>> print(Counting(Settings(combine="majority")).sentence())
        If several raters judged a document, its grade is the majority. Decisions of the admin override it.
        """
        how = COMBINATIONS[self.settings.combine]
        text = f"If several raters judged a document, its grade is {how}. Decisions of the admin override it."
        if not self.other_raters:
            return text
        names = ", ".join(self.training_raters)
        trains = f"training uses {names}, with separate intercepts" if names else "training does not use them"
        return f"{text} Labels of non-human raters ({', '.join(sorted(self.other_raters))}) are kept apart; {trains}."


def grades_of(labels: Iterable[Label], raters: Iterable[str]) -> dict[str, dict[Pair, int]]:
    """Return the grades of these raters, by rater."""
    given: dict[str, dict[Pair, int]] = {rater: {} for rater in raters}
    for label in labels:
        if label.rater in given and label.grade is not None:
            given[label.rater][label.query, label.doc] = label.grade
    return given


class CurrentLabels:
    """The current labels by row and rater, and the combined grade of each row.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.datasets.make_ranking(n_queries=2, docs_per_query=3, seed=0))
    >>> with LabelStore(tempfile.mkdtemp() + "/labels.db") as store:
    ...     label = store.add(*pool.pairs[4], 2, "ann")
    ...     current = CurrentLabels(pool, store)
    ...     current.sync(store.state())
    >>> current.grades
    {4: 2}
    """

    def __init__(self, pool: Pool, store: LabelStore) -> None:
        self._pool, self._store = pool, store
        self.state: State | None = None  # of the store at the last sync
        self.counting = Counting()
        self._forget()

    def _forget(self) -> None:
        self.by_row: dict[
            int, dict[str, Label]
        ] = {}  # row -> human rater -> label, rows in the order of their first label
        self.by_other_rater: dict[int, dict[str, Label]] = {}  # the same of non-human raters
        self.decided: dict[int, int | None] = {}  # by the admin
        self.grades: dict[int, int] = {}  # of each row, in the order of the first grade
        self.elsewhere: set[tuple[str, str, str]] = set()  # (query, doc, rater) of labels not in the pool
        self._n_labels = self._n_modelled = 0  # now, and when the rater model was last fitted

    @property
    def beyond(self) -> set[int]:
        """The rows that are judged and have no grade."""
        return self.judged - self.grades.keys()

    @property
    def undecided(self) -> set[int]:
        """The rows that human raters have graded and that have no grade: their median falls between two grades."""
        return {*self._people(self.by_row.keys() - self.grades.keys() - self.decided.keys())}

    @property
    def judged(self) -> set[int]:
        """The rows that a human rater has judged or the admin has decided."""
        return self.by_row.keys() | self.decided.keys()

    def labels_of(self, row: int) -> list[Label]:
        """Return all labels of a document, oldest first."""
        given = self.by_row.get(row, {}) | self.by_other_rater.get(row, {})
        return sorted(given.values(), key=lambda label: label.id)

    def grades_of(self, raters: Iterable[str]) -> dict[str, dict[int, int]]:
        """Return the grades of non-human raters, by rater and row."""
        given: dict[str, dict[int, int]] = {rater: {} for rater in raters}
        for row, by in self.by_other_rater.items():
            for rater, label in by.items():
                if rater in given and label.grade is not None:
                    given[rater][row] = label.grade
        return given

    def others(self) -> dict[str, dict[int, int]]:
        """Return the grades of the non-human raters that training uses, by rater and row."""
        return {rater: given for rater, given in self.grades_of(self.counting.training_raters).items() if given}

    def sync(self, state: State, *, exact: bool = False) -> None:
        """Read the labels up to this state of the store; all of them if one was withdrawn.

        exact: if labels are combined by a rater model, fit it to all of them.
        """
        if state != self.state:
            before, counting = self.state, self.counting
            if before is None or state.changes != before.changes:
                self.counting = Counting.now(self._store)
            if before is not None and state.n_withdrawn == before.n_withdrawn and counting == self.counting:
                changed = self._take(self._store.labels(after=before.last_id))
            else:
                self._forget()
                rows = self._pool.rows
                self.decided = {rows[pair]: grade for pair, grade in self.counting.decided.items() if pair in rows}
                changed = self._take(self._store.labels()) | self.decided.keys()
            self._settle(changed)
            self.state = state
        if exact and self._n_labels != self._n_modelled and self.counting.settings.combine in MODELS:
            self._n_modelled = 0
            self._settle(())

    def _take(self, labels: Iterable[Label]) -> set[int]:
        """Record labels, and return the rows with new labels of human raters."""
        changed: set[int] = set()
        for label in labels:
            row = self._pool.rows.get((label.query, label.doc))
            if row is None:
                self.elsewhere.add((label.query, label.doc, label.rater))
            elif label.rater in self.counting.other_raters:
                self.by_other_rater.setdefault(row, {})[label.rater] = label
            else:
                self.by_row.setdefault(row, {})[label.rater] = label
                self._n_labels += 1
                changed.add(row)
        return changed

    def _settle(self, changed: Collection[int]) -> None:
        """Update the grades of rows. A rater model is fitted again after enough new labels; until then: the median."""
        how = self.counting.settings.combine
        if how in MODELS:
            if self._n_labels > GROWTH * self._n_modelled:
                changed, self._n_modelled = self.judged, self._n_labels
            else:
                how = "median"
        decided = {row: self.decided[row] for row in changed if row in self.decided}
        found = combine(self._people(changed), how, decided)
        for row in sorted(changed, key=self._first_label):
            self.grades.pop(row, None)
            if row in found:
                self.grades[row] = found[row]

    def _people(self, rows: Iterable[int]) -> dict[int, dict[str, int]]:
        """Return the grades of rows by human rater."""
        return _graded({row: {who: one.grade for who, one in self.by_row.get(row, {}).items()} for row in rows})

    def _first_label(self, row: int) -> int:
        return min((one.id for one in self.by_row.get(row, {}).values() if one.grade is not None), default=0)
