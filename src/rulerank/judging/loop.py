"""The judging loop: next document, grade, skip, undo, progress and training."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from rulerank._util.parameters import check_number, is_whole
from rulerank.baseline import find_baseline, suggest_baseline
from rulerank.dataset import MAX_GRADE
from rulerank.errors import DataError
from rulerank.judging.admin import LabelOverview, alpha_of_people, count_queries, count_raters
from rulerank.judging.grades import CurrentLabels
from rulerank.judging.labels import BusyError, JudgingTask, Label, Progress, StoreError, check_grade, check_name
from rulerank.judging.offers import Offering, QueryLists
from rulerank.judging.pool import Pool
from rulerank.sampling.ssar import SSAR
from rulerank.sampling.strata import StratifiedSampler

if TYPE_CHECKING:
    from rulerank.judging.learning import SavedModel
    from rulerank.judging.side_by_side import Check
    from rulerank.judging.store import LabelStore


MANY = 99  # raters per document, for undo: the rater gets the document back even if others have it


class Judging:
    """Assigns the documents of a pool to raters in the sampler's order, stores their grades, and trains on them.

    Threads can share an instance; processes can share its store. Each document goes to one rater; a share `overlap` of
    the documents, always the same ones, goes to a second rater after the first has graded it.

    Parameters
    ----------
    store: keeps the labels.
    sampler: chooses what to judge; by default strata of the baseline ranking if one is given, else SSAR query by query.
    baseline: the feature that ranks the documents now, which models start from and are compared with; by default
        guessed from the feature names.
    max_grade: the highest grade; the lowest is 0.
    overlap: share of the documents that two raters judge.
    claim_seconds: how long a document is reserved for a rater.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.datasets.make_ranking(n_queries=3, docs_per_query=5, seed=0))
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
        baseline: Any = None,
        max_grade: int = 4,
        overlap: float = 0.0,
        claim_seconds: float = 900,
    ) -> None:
        if not is_whole(max_grade, 1, MAX_GRADE):
            raise DataError(f"max_grade must be an integer from 1 to {MAX_GRADE}: got {max_grade!r}")
        check_number("overlap", overlap, 0, 1, "a share of the documents")
        check_number("claim_seconds", claim_seconds, 1, 1e9, "how long a document is reserved for a rater")
        names = pool.data.feature_names
        suggested = suggest_baseline(names) if baseline is None else baseline
        self.baseline = None if suggested is None else find_baseline(names, suggested, pool.data.categories)
        if sampler is None:
            sampler = SSAR(per_query=True) if baseline is None else StratifiedSampler(baseline=baseline)
        self.pool, self.store = pool, store
        self.max_grade, self.overlap, self.claim_seconds = max_grade, overlap, claim_seconds
        self._sampler = sampler
        self._lock = threading.RLock()
        self._current = CurrentLabels(pool, store)
        self._offering = Offering(pool, self._current, sampler, overlap)
        self.lists = QueryLists(self._offering, store, self._lock, self.baseline, claim_seconds)
        self._stops: dict[str, str] = {}  # why no document was left, by rater
        self._one_training = threading.Lock()  # at a time: catching warnings affects all threads
        self.check: Check | None = None  # compares the latest model with the baseline

    @contextmanager
    def current(self, *, exact: bool = False) -> Iterator[CurrentLabels]:
        """Hold the current labels: `with judging.current() as current`."""
        with self._lock:
            self._current.sync(self.store.state(), exact=exact)
            yield self._current

    def next(self, rater: str, *, keep_going: bool = False) -> JudgingTask | None:
        """Return the next document, the same one until it is judged or skipped; None: `progress` has the reason.

        keep_going: after the sampler's stop, continue with the queries that have the fewest labels.
        """
        check_name("rater", rater)
        with self._lock:
            glance = self.store.glance(rater)
            self._current.sync(glance.state)
            asker = self._offering.asker(rater, glance)
            for row, n_raters in self._offering.offers(asker, keep_going=keep_going):
                if self.store.claim(*self.pool.pairs[row], rater, raters=n_raters, seconds=self.claim_seconds):
                    self._stops.pop(rater, None)
                    return self.pool.task(row)
            self._stops[rater] = self._offering.why_nothing(asker)
            return None

    def task(self, query: str, doc: str) -> JudgingTask:
        """Return a document as raters see it."""
        return self.pool.task(self.pool.row(query, doc))

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
        """Store a grade (None: cannot be judged) of any document of the pool.

        judgement: an id that makes a repeated request count once.
        once: without an id, do not store a grade that is current already.
        page: where it was given (`labels.PAGES`), for the history.
        """
        self.pool.row(query, doc)
        grade = check_grade(grade, self.max_grade)
        return self.store.add(query, doc, grade, rater, judgement=judgement, once=once, page=page)

    def skip(self, rater: str, query: str, doc: str, *, judgement: str | None = None) -> None:
        """Skip a document: this rater will not get it again."""
        self.pool.row(query, doc)
        self.store.skip(query, doc, rater, judgement=judgement)

    def undo(self, rater: str, *, judgement: str | None = None, page: str | None = None) -> Label | None:
        """Withdraw the rater's latest label and reserve its document for the rater; None if there is none."""
        label = self.store.undo(rater, judgement=judgement, page=page)
        if label is not None and (label.query, label.doc) in self.pool.rows:
            self.store.claim(label.query, label.doc, rater, raters=MANY, seconds=self.claim_seconds)
        return label

    def progress(self, rater: str) -> Progress:
        """Return the progress of this rater and of all together."""
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
        """Return counts of all labels, and the agreement of raters."""
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
        """The default method; with non-human raters the one with separate intercepts."""
        with self.current() as current:
            if current.others():
                return "QI"
        return "RE-GR" if self.baseline is None else "Anchored"

    def save_model(self, path: str | os.PathLike[str], method: str | None = None, *, wait: bool = True) -> SavedModel:
        """Train a ranker on the current labels and save it.

        wait: wait for another training to end; if False, raise a `BusyError`.
        """
        from rulerank.judging.learning import Lesson, train  # loading takes seconds

        if not self._one_training.acquire(blocking=wait):
            raise BusyError("a model is being trained already: wait until it is saved")
        try:
            with self.current(exact=True) as current:
                judged = {self.pool.pairs[row][0] for row in current.judged}
                assert current.state is not None  # after a sync
                lesson = Lesson(dict(current.grades), judged, current.state.last_id, current.others())
            chosen = method or self.usual_method
            saved, self.check = train(path, chosen, self.pool, self.store, self.baseline, lesson)
            return saved
        finally:
            self._one_training.release()

    def grades(self) -> dict[int, int]:
        """Return the grade of every row that has one."""
        with self.current() as current:
            return dict(current.grades)

    def prepare(self) -> None:
        """Warm up for the first requests, in a separate thread."""
        with suppress(StoreError), self.current():  # a closed store is reported by the first request
            _ = self._offering.closeness
