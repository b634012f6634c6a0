"""From labels to grades: several raters' labels of a document become one, what the lead has decided counts first.

`combine` has the ways, `RaterModel` learns how reliable raters are, `Counting` is what counts now, and
`CurrentLabels` keeps the grades of a pool up with its store.
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
from rulerank.errors import DataError
from rulerank.judging.labels import COMBINATIONS, Label, Pair, Settings, State, check_combination
from rulerank.judging.pool import Pool

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

Doc = TypeVar("Doc")

STEPS = 100  # of the expectation and maximisation; it stops before when nothing changes
CLOSE = 1e-9
PRIOR_RIGHT = 8.0  # judgements' worth of "gives the true grade" of each rater, before any is seen
PRIOR_WRONG = 2.0  # the same of "gives another grade"
PRIOR_TABLE = 10.0  # judgements' worth of "as the one number says" in each row of a rater's table
GROWTH = 1.1  # how many more labels there must be until a model of the raters is learned again


def combine(
    docs: Mapping[Doc, Mapping[str, int | None]], how: str = "median", decided: Mapping[Doc, int | None] | None = None
) -> dict[Doc, int]:
    """Return the grade of every document that somebody could grade and on which the raters' median is a grade.

    docs: the grades of each document by rater; None: cannot be judged.
    how: "median", and no grade where it falls between two, as of 0 and 1; "mean", rounded to the nearest grade, a half
        down; "majority", of equally frequent grades the one nearest to the median; "reliability", the most probable
        grade by how often each rater seems to be right; "dawid-skene", the same with a table of grades for each rater
        (`RaterModel`).
    decided: what the lead has said of some documents, which counts whatever raters say (None: cannot be judged); models
        of raters learn from it.

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
        found: Mapping[Doc, int | None] = MODELS[how](given, _graded_by_lead(decided)).grades(given)
    else:
        found = {doc: ONE_BY_ONE[how](by.values()) for doc, by in given.items()}
    return {doc: grade for doc, grade in {**found, **decided}.items() if grade is not None}


def median_grade(grades: Iterable[int]) -> int | None:
    """Return the median of grades; None where it falls between two: of two who say 0 and 1 neither is more right.

    >>> median_grade([3]), median_grade([0, 2, 4]), median_grade([1, 3]), median_grade([0, 1])
    (3, 2, 2, None)
    """
    found = median(grades)
    return int(found) if found == int(found) else None


def _mean(grades: Iterable[int]) -> int:
    given = [*grades]
    total, n = 2 * sum(given) - len(given), 2 * len(given)
    return -(-total // n)  # the smallest whole number from mean - 1/2 on: a half goes down


def _majority(grades: Iterable[int]) -> int:
    counts = Counter(grades)
    middle = int(median(counts.elements()))
    return min(counts, key=lambda grade: (-counts[grade], abs(grade - middle), grade))


def _graded(docs: Mapping[Doc, Mapping[str, int | None]]) -> dict[Doc, dict[str, int]]:
    """Return the grades of the documents that have some."""
    given = {doc: {rater: grade for rater, grade in by.items() if grade is not None} for doc, by in docs.items()}
    return {doc: by for doc, by in given.items() if by}


def _graded_by_lead(decided: Mapping[Doc, int | None]) -> dict[Doc, int]:
    return {doc: grade for doc, grade in decided.items() if grade is not None}


@dataclass(frozen=True, eq=False)
class RaterModel:
    """Which grades each rater gives to documents of each true grade; the truth is not known, or of few documents only.

    The model of A. Dawid and A. Skene (1979), fitted by expectation and maximisation. `fit` has one number a rater: how
    often the true grade is given, all others being alike; ten judgements' worth of "mostly right" for each, so that one
    who judged little is not believed to be perfect or useless, and nobody is believed to be right less often than by
    chance. With tables it goes on from there with a table of grades for each rater; every row of it has ten judgements'
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
    def fit(
        cls, docs: Mapping[Doc, Mapping[str, int]], known: Mapping[Doc, int] | None = None, *, tables: bool = False
    ) -> RaterModel:
        """Learn from the grades of each document by rater; known: true grades of some; tables: a table a rater."""
        return _fit(docs, known or {}, tables=tables)

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


def _fit(docs: Mapping[Doc, Mapping[str, int]], known: Mapping[Doc, int], *, tables: bool) -> RaterModel:
    """Learn one number a rater and then, from there, a table a rater."""
    if not docs:
        raise DataError("there are no labels to learn from how reliable raters are")
    true = {doc: known[doc] for doc in docs if doc in known}
    levels = tuple(sorted({grade for by in docs.values() for grade in by.values()} | {*true.values()}))
    raters = tuple(sorted({rater for by in docs.values() for rater in by}))
    triples = _triples(docs, levels, raters)
    sure = np.full((len(docs), len(levels)), np.nan)  # rows of NaN where the truth is not known
    for number, doc in enumerate(docs):
        if doc in true:
            sure[number] = [grade == true[doc] for grade in levels]

    def climb(truth: Array, maximise: Callable[[Array], Array]) -> RaterModel:
        """Go on from P(true grade) of each document until nothing changes."""
        last = np.full(truth.shape, np.inf)
        for _ in range(STEPS + 1):
            truth = np.where(np.isnan(sure), truth, sure)
            shares = (truth.sum(axis=0) + 1) / (len(truth) + truth.shape[1])
            model = RaterModel(levels, raters, shares, maximise(truth))
            if np.abs(truth - last).max() < CLOSE:
                break
            last, truth = truth, _expect(model.shares, model.tables, triples, len(docs))
        return model

    truth = np.zeros(sure.shape)  # at first the shares of a document's grades
    np.add.at(truth, (triples[:, 0], triples[:, 2]), 1.0)
    model = climb(truth / truth.sum(axis=1, keepdims=True), lambda truth: _numbers(truth, triples, len(raters)))
    if not tables:
        return model
    prior, truth = PRIOR_TABLE * model.tables, _expect(model.shares, model.tables, triples, len(docs))
    return climb(truth, lambda truth: _tables(truth, triples, prior))


def _numbers(truth: Array, triples: Array, n_raters: int) -> Array:
    """Return the tables of raters of whom one number is known, by P(true grade) of each document."""
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
    """Return the tables of raters by P(true grade) of each document, and counts to begin with."""
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
    """What turns labels into grades.

    People's labels of a document become one grade as `settings.combine` says; what the lead has decided counts instead.
    Labels of other judges are never among them: `others` has those of the judges that count in training.
    """

    settings: Settings = Settings()
    judges: Mapping[str, str] = {}  # raters who are no people, and what they are
    decided: Mapping[Pair, int | None] = {}  # by the lead; None: cannot be judged

    @classmethod
    def now(cls, store: LabelStore) -> Counting:
        """Return what counts now."""
        decided = {(one.query, one.doc): one.grade for one in store.decisions()}
        return cls(store.settings(), store.judges(), decided)

    @property
    def training_judges(self) -> list[str]:
        """The raters who are no people and yet count in training."""
        return [judge for judge in self.settings.training_judges if judge in self.judges]

    def people(self, labels: Iterable[Label]) -> dict[Pair, dict[str, int | None]]:
        """Return the grades of each document by the people who judged it."""
        given: dict[Pair, dict[str, int | None]] = {}
        for label in labels:
            if label.rater not in self.judges:
                given.setdefault((label.query, label.doc), {})[label.rater] = label.grade
        return given

    def grades(self, labels: Iterable[Label], how: str | None = None) -> dict[Pair, int]:
        """Return the grade of every document that people or the lead could grade; how: another way to combine."""
        return combine(self.people(labels), how or self.settings.combine, self.decided)

    def sentence(self) -> str:
        """Say how labels become grades.

        >>> print(Counting(Settings(combine="majority")).sentence())
        A document that several people judged has what most raters say; what the lead has decided counts first.
        """
        how = COMBINATIONS[self.settings.combine]
        text = f"A document that several people judged has {how}; what the lead has decided counts first."
        if not self.judges:
            return text
        names = ", ".join(self.training_judges)
        trains = f"{names}, with intercepts of their own" if names else "none of them"
        return (
            f"{text} Labels of other judges ({', '.join(sorted(self.judges))}) are no people's; in training: {trains}."
        )


def grades_of(labels: Iterable[Label], raters: Iterable[str]) -> dict[str, dict[Pair, int]]:
    """Return the grades that raters gave, by rater."""
    given: dict[str, dict[Pair, int]] = {rater: {} for rater in raters}
    for label in labels:
        if label.rater in given and label.grade is not None:
            given[label.rater][label.query, label.doc] = label.grade
    return given


class CurrentLabels:
    """Every current label by row and rater, and the grade that each row has by them and by the lead.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.make_ranking(n_queries=2, docs_per_query=3, seed=0))
    >>> with LabelStore(tempfile.mkdtemp() + "/labels.db") as store:
    ...     label = store.add(*pool.pairs[4], 2, "ann")
    ...     current = CurrentLabels(pool, store)
    ...     current.sync(store.state())
    >>> current.grades
    {4: 2}
    """

    def __init__(self, pool: Pool, store: LabelStore) -> None:
        self._pool, self._store = pool, store
        self.state: State | None = None  # of the store when labels were last read
        self.counting = Counting()
        self._forget()

    def _forget(self) -> None:
        self.by_row: dict[int, dict[str, Label]] = {}  # row -> person -> label, rows in the order of their first label
        self.by_judge: dict[int, dict[str, Label]] = {}  # the same of raters who are no people
        self.decided: dict[int, int | None] = {}  # by the lead
        self.grades: dict[int, int] = {}  # of each row, in the order of the first grade
        self.elsewhere: set[tuple[str, str, str]] = set()  # (query, doc, rater) of labels not in the pool
        self._n_labels = self._n_modelled = 0  # now, and when a model of the raters was learned, if one combines labels

    @property
    def beyond(self) -> set[int]:
        """The rows that somebody has judged and that have no grade."""
        return self.judged - self.grades.keys()

    @property
    def undecided(self) -> set[int]:
        """The rows that people have graded and that have no grade, their median falling between two."""
        return {*self._people(self.by_row.keys() - self.grades.keys() - self.decided.keys())}

    @property
    def judged(self) -> set[int]:
        """The rows that a person has judged or the lead has decided."""
        return self.by_row.keys() | self.decided.keys()

    def labels_of(self, row: int) -> list[Label]:
        """Return what people and other judges say of a document, in the order of time."""
        given = self.by_row.get(row, {}) | self.by_judge.get(row, {})
        return sorted(given.values(), key=lambda label: label.id)

    def grades_of(self, judges: Iterable[str]) -> dict[str, dict[int, int]]:
        """Return the grades that raters who are no people have given, by judge and row."""
        given: dict[str, dict[int, int]] = {judge: {} for judge in judges}
        for row, by in self.by_judge.items():
            for judge, label in by.items():
                if judge in given and label.grade is not None:
                    given[judge][row] = label.grade
        return given

    def others(self) -> dict[str, dict[int, int]]:
        """Return the grades of the judges that count in training, by judge and row."""
        return {judge: given for judge, given in self.grades_of(self.counting.training_judges).items() if given}

    def sync(self, state: State, *, exact: bool = False) -> None:
        """Read the labels that have come until the store had this state; all of them when one was withdrawn.

        exact: learn a model of the raters, where labels are combined by one, from all of them.
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

    def _settle(self, changed: Collection[int]) -> None:
        """Find the grades of rows. A model of raters is learned again when labels have grown; till then, the median."""
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
        """Return the grades of rows by person, of those that have some."""
        return _graded({row: {who: one.grade for who, one in self.by_row.get(row, {}).items()} for row in rows})

    def _first_label(self, row: int) -> int:
        return min((one.id for one in self.by_row.get(row, {}).values() if one.grade is not None), default=0)
