"""The labelling loop: what a rater judges next, grade, skip, undo, and why it ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from rulerank.core.parameters import check_number, is_whole
from rulerank.dataset import MAX_GRADE
from rulerank.errors import DataError
from rulerank.judging.admin import LabelOverview, alpha_of_people, count_queries, count_raters
from rulerank.judging.grades import CurrentLabels
from rulerank.judging.labels import (
    BusyError,
    JudgingTask,
    Label,
    Progress,
    StoreError,
    check_grade,
    check_name,
)
from rulerank.judging.offers import Offering, QueryLists
from rulerank.judging.pool import Pool
from rulerank.sampling.ssar import SSAR
from rulerank.sampling.strata import Strata
from rulerank.today import check_no_category, find_today, suggest_today

if TYPE_CHECKING:
    from rulerank.judging.duels import Check
    from rulerank.judging.learning import SavedModel
    from rulerank.judging.store import LabelStore


MANY = 99  # raters of a document: whoever takes a label back gets its document, whoever else has it


class Judging:
    """Hand out the documents of a pool in the sampler's order, keep the grades in a store, learn from them.

    Threads may share one; processes may share its store, each with its own. A document goes to one rater; a share
    `overlap` of the documents, always the same ones, goes to a second rater once the first has graded it.

    Parameters
    ----------
    store: keeps the labels.
    sampler: chooses what to judge; by default strata of today's ranking where that is named, else SSAR query by query.
    today: the feature that ranks the documents now, which models start from and are compared with; by default the one
        whose name says so, if there is one.
    max_grade: grades go from 0 to this.
    overlap: share of the documents that two raters judge.
    claim_seconds: how long a document stays with the rater it was handed to.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.make_ranking(n_queries=3, docs_per_query=5, seed=0))
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
        today: str | None = None,
        max_grade: int = 4,
        overlap: float = 0.0,
        claim_seconds: float = 900,
    ) -> None:
        if not is_whole(max_grade, 1, MAX_GRADE):
            raise DataError(f"max_grade must be a whole number from 1 to {MAX_GRADE}: got {max_grade!r}")
        check_number("overlap", overlap, 0, 1, "a share of the documents")
        check_number("claim_seconds", claim_seconds, 1, 1e9, "how long a document stays with a rater")
        names = pool.data.feature_names
        self.today = suggest_today(names) if today is None else find_today(names, today)
        if self.today is not None:
            check_no_category(self.today, pool.data.categories)
        if sampler is None:
            sampler = SSAR(per_query=True) if today is None else Strata(today=today)
        self.pool, self.store = pool, store
        self.max_grade, self.overlap, self.claim_seconds = max_grade, overlap, claim_seconds
        self._sampler = sampler
        self._lock = threading.RLock()
        self._current = CurrentLabels(pool, store)
        self._offering = Offering(pool, self._current, sampler, overlap)
        self.lists = QueryLists(self._offering, store, self._lock, self.today, claim_seconds)
        self._stops: dict[str, str] = {}  # why there was nothing more for a rater who asked last
        self._one_training = threading.Lock()  # at a time: warnings are caught for all threads
        self.check: Check | None = None  # the model that was trained here last beside the baseline

    @contextmanager
    def current(self, *, exact: bool = False) -> Iterator[CurrentLabels]:
        """Hold on to the labels of now: `with judging.current() as current`."""
        with self._lock:
            self._current.sync(self.store.state(), exact=exact)
            yield self._current

    def next(self, rater: str, *, keep_going: bool = False) -> JudgingTask | None:
        """Hand out the next document, the same one until it is judged or skipped; None: `progress` says why.

        keep_going: when the sampler has stopped, go on with the queries that have the fewest labels.
        """
        check_name("rater", rater)
        with self._lock:
            glance = self.store.glance(rater)
            self._current.sync(glance.state)
            asker = self._offering.asker(rater, glance)
            for row, n_raters in self._offering.offers(asker, keep_going=keep_going):
                if self.store.claim(*self.pool.pairs[row], rater, raters=n_raters, seconds=self.claim_seconds):
                    self._stops.pop(rater, None)
                    return self.task(*self.pool.pairs[row])
            self._stops[rater] = self._offering.why_nothing(asker)
            return None

    def task(self, query: str, doc: str) -> JudgingTask:
        """Return what a rater sees of a document."""
        return JudgingTask(query, doc, **self.pool.shown(self.pool.row(query, doc)))

    # a judgement's id, made where the key was pressed, is kept with it: what is sent twice counts once

    def grade(
        self,
        rater: str,
        query: str,
        doc: str,
        grade: int | None,
        *,
        judgement: str | None = None,
        once: bool = False,
        page: str | None = None,
    ) -> Label:
        """Keep a grade, None when the document cannot be judged; it need not have been handed out.

        once: without an id, a grade that is in force already is no new label.
        page: where it was given (`labels.PAGES`), for the history.
        """
        self.pool.row(query, doc)
        grade = check_grade(grade, self.max_grade)
        return self.store.add(query, doc, grade, rater, judgement=judgement, once=once, page=page)

    def skip(self, rater: str, query: str, doc: str, *, judgement: str | None = None) -> None:
        """Pass over a document: this rater will not be asked again."""
        self.pool.row(query, doc)
        self.store.skip(query, doc, rater, judgement=judgement)

    def undo(self, rater: str, *, judgement: str | None = None, page: str | None = None) -> Label | None:
        """Withdraw the rater's latest label and hand its document to the rater again; None: there is none."""
        label = self.store.undo(rater, judgement=judgement, page=page)
        if label is not None and (label.query, label.doc) in self.pool.rows:
            self.store.claim(label.query, label.doc, rater, raters=MANY, seconds=self.claim_seconds)
        return label

    def progress(self, rater: str) -> Progress:
        """Say how far this rater and all together have come."""
        check_name("rater", rater)
        with self._lock:
            glance = self.store.glance(rater)
            self._current.sync(glance.state)
            given = [by_rater[rater].grade for by_rater in self._current.by_row.values() if rater in by_rater]
            labelled, stop = len(self._current.grades), self._stops.get(rater)
            return Progress(
                rater=rater,
                mine=sum(grade is not None for grade in given),
                labelled=labelled,
                cannot_judge=len(self._current.beyond - self._current.undecided),
                skipped=len(self.pool.rows_in(glance.skipped)),
                pool_size=len(self.pool),
                closeness=self._offering.closeness,
                stops=isinstance(self._sampler, SSAR),
                done=stop is not None,
                reason=stop or "",
            )

    def overview(self) -> LabelOverview:
        """Return all labels at a glance, and how well raters agree."""
        with self.current(exact=True) as current:
            return LabelOverview(
                labelled=len(current.grades),
                cannot_judge=len(current.beyond - current.undecided),
                pool_size=len(self.pool),
                elsewhere=len(current.elsewhere),
                closeness=self._offering.closeness,
                queries=count_queries(self.pool, current),
                raters=count_raters(self.pool, self.store, current),
                agreement=alpha_of_people(current),
            )

    @property
    def usual_method(self) -> str:
        """What to train when nothing else is asked for; where other judges count, what has intercepts for them."""
        with self.current() as current:
            if current.others():
                return "QI"
        return "RE-GR" if self.today is None else "Anchored"

    def save_model(self, path: str | os.PathLike[str], method: str | None = None, *, wait: bool = True) -> SavedModel:
        """Train a ranker on the current labels, by default of the usual method, save it and say what came of it.

        wait: for another training to end, or raise a `BusyError`.
        """
        from rulerank.judging.learning import Lesson, train  # which takes seconds to load

        if not self._one_training.acquire(blocking=wait):
            raise BusyError("a model is being trained, and only one is at a time: wait until it is saved")
        try:
            with self.current(exact=True) as current:
                judged = {self.pool.pairs[row][0] for row in current.judged}
                assert current.state is not None  # it is synced
                lesson = Lesson(dict(current.grades), judged, current.state.last_id, current.others())
            chosen = method or self.usual_method
            saved, self.check = train(path, chosen, self.pool, self.store, self.today, lesson)
            return saved
        finally:
            self._one_training.release()

    def grades(self) -> dict[int, int]:
        """Return the grade of every row that has one, by all raters."""
        with self.current() as current:
            return dict(current.grades)

    def prepare(self) -> None:
        """Get ready for the first requests, in a thread of its own: what a rater asks for first comes first."""
        with suppress(StoreError), self.current():  # closed meanwhile, or whoever asks first is told
            _ = self._offering.closeness
