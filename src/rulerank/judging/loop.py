"""The judging loop: which document a rater judges next, and what is made of the labels. It knows no page."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rulerank.core.checks import check_number, is_whole
from rulerank.dataset import MAX_GRADE, Array
from rulerank.errors import DataError
from rulerank.judging.agreement import agreement
from rulerank.judging.counts import count_queries, count_rater
from rulerank.judging.curve import Curve
from rulerank.judging.labels import Label, agreed_grade, check_grade, check_name
from rulerank.judging.pool import Pool
from rulerank.judging.store import Glance, LabelStore, State
from rulerank.judging.train import PoolModel
from rulerank.judging.views import Estimate, FeatureValue, Overview, Progress, Task
from rulerank.rankers.base import Ranker
from rulerank.sampling.chooser import Chooser

STOPPED = "the sampler asks for no more: the documents that are left look like documents that were judged"
WAITING = "other raters are judging the documents that are left"
EMPTY = "every document has been judged or skipped"

Offers = Iterable[tuple[int, int]]  # row, how many raters may hold it


class Asking(NamedTuple):
    """A rater who asks for a document, and the rows that matter."""

    rater: str
    held: list[int]  # handed to this rater before, the latest first
    claimed: set[int]  # by others
    skipped: set[int]  # by this rater
    beyond: set[int]  # nobody could judge them


class Judging:
    """Hand out the documents of a pool in the sampler's order, keep the grades in a store, learn from them.

    Threads may share one; processes may share its store, each with its own. A document goes to one rater; a share
    `overlap` of the documents, always the same ones, goes to a second rater once the first has graded it.

    Parameters
    ----------
    sampler: chooses what to judge; by default SSAR query by query.
    max_grade: grades go from 0 to this.
    overlap: share of the documents that two raters judge.
    claim_seconds: how long a document stays with the rater it was handed to.

    >>> import tempfile, rulerank as rr
    >>> pool = Pool(rr.make_world(n_queries=3, docs_per_query=5, seed=0))
    >>> judging = Judging(pool, LabelStore(tempfile.mkdtemp() + "/labels.db"), max_grade=2)
    >>> task = judging.next("ann")
    >>> judging.next("ann") == task
    True
    >>> label = judging.grade("ann", task.query, task.doc, 1)
    >>> judging.progress("ann").mine
    1
    """

    def __init__(
        self,
        pool: Pool,
        store: LabelStore,
        *,
        sampler: Any = None,
        max_grade: int = 4,
        overlap: float = 0.0,
        claim_seconds: float = 900,
    ) -> None:
        if not is_whole(max_grade, 1, MAX_GRADE):
            raise DataError(f"max_grade must be a whole number from 1 to {MAX_GRADE}: got {max_grade!r}")
        check_number("overlap", overlap, 0, 1, "a share of the documents")
        check_number("claim_seconds", claim_seconds, 1, 1e9, "how long a document stays with a rater")
        if sampler is None:
            from rulerank.sampling.ssar import SSAR

            sampler = SSAR(per_query=True)
        self.pool, self.store = pool, store
        self.max_grade, self.overlap, self.claim_seconds = max_grade, overlap, claim_seconds
        self._sampler = sampler
        self._lock = threading.RLock()
        self._state: State | None = None  # of the store when labels were last read
        self._labels: dict[int, dict[str, Label]] = {}  # row -> rater -> label, rows in the order of their first label
        self._grades: dict[int, int] = {}  # what the raters of each row agreed on, in the order of the first grade
        self._elsewhere: set[tuple[str, str, str]] = set()  # (query, doc, rater) of labels not in the pool
        self._chooser: Chooser | None = None
        self._why_done: dict[str, str] = {}
        self._model = PoolModel(pool, max_grade)
        self._curve = Curve(self._model)

    def next(self, rater: str, *, keep_going: bool = False) -> Task | None:
        """Hand out the next document, the same one until it is judged or skipped; None: `progress` says why.

        keep_going: when the sampler has stopped, go on with the queries that have the fewest labels.
        """
        check_name("rater", rater)
        with self._lock:
            glance = self.store.glance(rater)
            self._sync(glance.state)
            asking = self._asking(rater, glance)
            for rows in (self._held, self._second_opinions, self._wanted, self._others if keep_going else _none):
                for row, n_raters in rows(asking):
                    if self.store.claim(*self.pool.pairs[row], rater, raters=n_raters, seconds=self.claim_seconds):
                        self._why_done.pop(rater, None)
                        return self.task(*self.pool.pairs[row])
            self._why_done[rater] = self._why_nothing(asking)
            return None

    def task(self, query: str, doc: str) -> Task:
        """Return what a rater sees of a document."""
        return Task(query, doc, **self.pool.shown(self.pool.row(query, doc)))

    def grade(self, rater: str, query: str, doc: str, grade: int | None) -> Label:
        """Keep a grade, None when the document cannot be judged; it need not have been handed out."""
        self.pool.row(query, doc)
        return self.store.add(query, doc, check_grade(grade, self.max_grade), rater)

    def skip(self, rater: str, query: str, doc: str) -> None:
        """Pass over a document: this rater will not be asked again."""
        self.pool.row(query, doc)
        self.store.skip(query, doc, rater)

    def undo(self, rater: str) -> Label | None:
        """Withdraw the rater's latest label and hand its document to the rater again; None: there is none."""
        label = self.store.undo(rater)
        if label is not None and (label.query, label.doc) in self.pool.rows:
            self.store.claim(label.query, label.doc, rater, raters=2, seconds=self.claim_seconds)
        return label

    def progress(self, rater: str) -> Progress:
        """Say how far this rater and all together have come."""
        check_name("rater", rater)
        with self._lock:
            glance = self.store.glance(rater)
            self._sync(glance.state)
            given = [by_rater[rater].grade for by_rater in self._labels.values() if rater in by_rater]
            labelled = len(self._grades)
            return Progress(
                rater=rater,
                mine=sum(grade is not None for grade in given),
                labelled=labelled,
                cannot_judge=len(self._labels) - labelled,
                skipped=len(self._rows(glance.skipped)),
                pool_size=len(self.pool),
                closeness=self._ready().closeness,
                done=rater in self._why_done,
                reason=self._why_done.get(rater, ""),
            )

    def estimate(self, query: str, doc: str) -> Estimate | None:
        """Say what a model of the other documents' labels makes of a document; None while labels are too few."""
        row = self.pool.row(query, doc)
        return self._model.estimate(self._current_grades(), row)

    def feature_values(self, query: str, doc: str) -> list[FeatureValue]:
        """Return a document's features, each with how many percent of the pool's values lie below."""
        return self.pool.feature_values(self.pool.row(query, doc))

    def overview(self) -> Overview:
        """Return all labels at a glance, how well raters agree, and how good the model is."""
        grades = self._current_grades()
        with self._lock:
            labels = {row: dict(by_rater) for row, by_rater in self._labels.items()}
            closeness, elsewhere = self._ready().closeness, len(self._elsewhere)
        raters = sorted({rater for by_rater in labels.values() for rater in by_rater})
        return Overview(
            labelled=len(grades),
            cannot_judge=len(labels) - len(grades),
            pool_size=len(self.pool),
            elsewhere=elsewhere,
            closeness=closeness,
            queries=count_queries(self.pool, grades, labels),
            raters=tuple(count_rater(rater, labels, len(self._rows(self.store.skipped(rater)))) for rater in raters),
            agreement=agreement(label for by_rater in labels.values() for label in by_rater.values()),
            rules=self._model.top_rules(grades),
            curve=self._curve.points(grades),
        )

    def train(self, path: str | os.PathLike[str], method: str = "RE-GR") -> Ranker:
        """Train a ranker on the current labels and save it to a model file."""
        grades = self._current_grades()
        if len(set(grades.values())) < 2:
            n_docs = "no document has a grade" if not grades else f"all {len(grades)} labels have the same grade"
            raise DataError(f"nothing can be learned yet: {n_docs}; judge documents of different grades first")
        ranker = self._model.train_method(method, grades)
        ranker.save(path)
        return ranker

    def _current_grades(self) -> dict[int, int]:
        with self._lock:
            self._sync(self.store.state())
            return dict(self._grades)

    def _sync(self, state: State) -> None:
        """Read the labels that have come, from this process or another."""
        if state == self._state:
            return
        after = 0
        if self._state is not None and state.n_withdrawn == self._state.n_withdrawn:
            after = self._state.last_id
        else:
            self._labels, self._grades, self._elsewhere = {}, {}, set()
        for label in self.store.labels(after=after):
            row = self.pool.rows.get((label.query, label.doc))
            if row is None:
                self._elsewhere.add((label.query, label.doc, label.rater))
            else:
                by_rater = self._labels.setdefault(row, {})
                by_rater[label.rater] = label
                grade = agreed_grade(given.grade for given in by_rater.values())
                if grade is None:
                    self._grades.pop(row, None)
                else:
                    self._grades[row] = grade
        self._state = state

    def _ready(self) -> Chooser:
        """Return the chooser, told of all labels."""
        if self._chooser is None:
            self._chooser = Chooser(self._sampler, self.pool.data)
        self._chooser.tell(self._grades)
        return self._chooser

    def _asking(self, rater: str, glance: Glance) -> Asking:
        claims = [(self.pool.rows.get((claim.query, claim.doc)), claim.rater) for claim in glance.claims]
        return Asking(
            rater,
            held=[row for row, holder in reversed(claims) if row is not None and holder == rater],
            claimed={row for row, holder in claims if row is not None and holder != rater},
            skipped=self._rows(glance.skipped),
            beyond=self._labels.keys() - self._grades.keys(),
        )

    # the rows to try for a rater, each with how many may hold it; from the first to the last resort

    def _held(self, asking: Asking) -> Offers:
        return ((row, 2) for row in asking.held if asking.rater not in self._labels.get(row, {}))

    def _second_opinions(self, asking: Asking) -> Offers:
        """Yield documents for two that one other rater has graded."""
        if not self.overlap:
            return
        skip = asking.claimed | asking.skipped | asking.beyond
        for row, by_rater in self._labels.items():
            shared = len(by_rater) == 1 and self._lots[row] < self.overlap
            if shared and asking.rater not in by_rater and row not in skip:
                yield row, 2

    def _wanted(self, asking: Asking) -> Offers:
        """Yield what the sampler wants, past what is held by others, skipped or was said to be beyond judging."""
        chooser = self._ready()
        skip = asking.claimed | asking.skipped | asking.beyond
        while (row := chooser.next(skip)) is not None:
            yield row, 1
            skip.add(row)

    def _others(self, asking: Asking) -> Offers:
        """Yield all that nobody has judged, those of the queries with the fewest labels first, else at random."""
        by_query = np.bincount(self.pool.query_numbers[list(self._labels)], minlength=len(self.pool.queries))
        n_labels = by_query[self.pool.query_numbers]  # of each row's query
        free = np.ones(len(self.pool), dtype=np.bool_)
        free[list(asking.claimed | asking.skipped | self._labels.keys())] = False
        for fewest in np.unique(n_labels[free]):
            rows = np.flatnonzero(free & (n_labels == fewest))
            yield from ((row, 1) for row in rows[np.argsort(self._lots[rows])].tolist())

    def _why_nothing(self, asking: Asking) -> str:
        skip = asking.skipped | asking.beyond
        if self._ready().next(skip) is not None:
            return WAITING
        return EMPTY if len(skip | self._labels.keys()) == len(self.pool) else STOPPED

    def _rows(self, pairs: list[tuple[str, str]]) -> set[int]:
        return {self.pool.rows[pair] for pair in pairs if pair in self.pool.rows}

    @cached_property
    def _lots(self) -> Array:
        """A number from 0 to 1 for each row that follows from the document's name alone."""
        digests = (hashlib.sha256("\0".join(pair).encode()).digest() for pair in self.pool.pairs)
        return np.array([int.from_bytes(digest[:7], "big") / 2**56 for digest in digests])


def _none(asking: Asking) -> Offers:
    return ()
