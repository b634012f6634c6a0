"""The labelling loop that page and terminal share: what a rater judges next, grade, skip, undo, and why it ends."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rulerank.core.checks import check_number, is_whole
from rulerank.dataset import MAX_GRADE
from rulerank.errors import DataError
from rulerank.judging.admin import LabelOverview, Panel, count_queries, count_raters
from rulerank.judging.agreement import agreement
from rulerank.judging.grades import CurrentLabels
from rulerank.judging.labels import JudgingTask, Label, Progress, StoreError, check_grade, check_name
from rulerank.judging.offers import Offering, QueryLists, Stop
from rulerank.judging.pool import FeatureValue, Pool
from rulerank.sampling.ssar import SSAR
from rulerank.sampling.strata import Strata
from rulerank.today import check_no_category, find_today, suggest_today

if TYPE_CHECKING:
    from rulerank.judging.check import Check
    from rulerank.judging.learning import Estimate, Learning, Lesson, SavedModel, Training
    from rulerank.judging.store import LabelStore
    from rulerank.rankers.base import Ranker


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
        self._stops: dict[str, Stop] = {}  # of the raters for whom there was nothing more when they last asked
        self._learning: Learning | None = None
        self.panel = Panel(pool, store, self._current, self._lock, max_grade)

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

    @property
    def stops_by_itself(self) -> bool:
        """Whether the sampler ends before all documents are labelled, as SSAR does."""
        return isinstance(self._sampler, SSAR)

    def stop(self, rater: str) -> Stop | None:
        """Say why there was nothing more for a rater when last asked; None: there was, or it was not asked."""
        return self._stops.get(rater)

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
                stops=self.stops_by_itself,
                done=stop is not None,
                reason="" if stop is None else stop.reason,
            )

    def estimate(self, query: str, doc: str) -> Estimate | None:
        """Say what a model of the other documents' labels makes of a document; None while labels are too few."""
        with self._lock:
            row, grades, learning = self.pool.row(query, doc), self.grades(), self.learning
        return learning.estimate(grades, row)

    def feature_values(self, query: str, doc: str) -> list[FeatureValue]:
        """Return a document's features, each with how many percent of the pool's values lie below."""
        return self.pool.feature_values(self.pool.row(query, doc))

    def overview(self) -> LabelOverview:
        """Return all labels at a glance, how well raters agree, and how good the model is."""
        with self._lock:
            self._current.sync(self.store.state(), exact=True)
            pool, learning, grades = self.pool, self.learning, dict(self._current.grades)
            labels = {row: dict(by_rater) for row, by_rater in self._current.by_row.items()}
            cannot_judge = len(self._current.beyond - self._current.undecided)
            closeness, elsewhere = self._offering.closeness, len(self._current.elsewhere)
        return LabelOverview(
            labelled=len(grades),
            cannot_judge=cannot_judge,
            pool_size=len(pool),
            elsewhere=elsewhere,
            closeness=closeness,
            queries=count_queries(pool, grades, labels),
            raters=count_raters(labels, pool, self.store),
            agreement=agreement(label for by_rater in labels.values() for label in by_rater.values()),
            rules=learning.top_rules(grades),
            standing=learning.standing(grades),
        )

    @property
    def usual_method(self) -> str:
        """What to train when nothing else is asked for; where other judges count, what has intercepts for them."""
        if self.store.settings().training_judges:
            with self._lock:
                self._current.sync(self.store.state())
                if self._current.others():
                    return "QI"
        return "RE-GR" if self.today is None else "Anchored"

    def train(self, path: str | os.PathLike[str], method: str | None = None) -> Ranker:
        """Train a ranker on the current labels, by default of the usual method, and save it to a model file."""
        learning, lesson = self._lesson()
        return learning.train(path, method or self.usual_method, lesson)

    def save_model(self, path: str | os.PathLike[str], method: str | None = None, *, wait: bool = True) -> SavedModel:
        """Train and save as `train` does, one at a time, and return what there is to say of it.

        wait: for another training to end, or raise a `BusyError`.
        """
        learning, lesson = self._lesson()
        return learning.save_model(path, method or self.usual_method, lesson, wait=wait)

    @property
    def training(self) -> Training | None:
        """The training that is under way, or else the last one; None: there was none since the start."""
        return None if self._learning is None else self._learning.training

    @property
    def check(self) -> Check | None:
        """The duels of the model that was trained last against today's ranking; None: none was trained yet."""
        return self.learning.check()

    @property
    def learning(self) -> Learning:
        """What is learned from the labels; loading what trains takes seconds, and no rater's first document waits."""
        from rulerank.judging.learning import Learning

        with self._lock:
            if self._learning is None:
                self._learning = Learning(self.pool, self.store, self.today, self.max_grade)
            return self._learning

    def _lesson(self) -> tuple[Learning, Lesson]:
        from rulerank.judging.learning import Lesson

        with self._lock:
            state = self.store.state()
            self._current.sync(state, exact=True)
            judged = {self.pool.pairs[row][0] for row in self._current.judged}
            lesson = Lesson(dict(self._current.grades), judged, state.last_id, self._current.others())
            return self.learning, lesson

    def grades(self) -> dict[int, int]:
        """Return the grade of every row that has one, by all raters."""
        with self._lock:
            self._current.sync(self.store.state())
            return dict(self._current.grades)

    def prepare(self) -> None:
        """Get ready for the first requests, in a thread of its own: what a rater asks for first comes first."""
        with suppress(StoreError):  # it was closed meanwhile, or whoever asks first is told
            with self._lock:
                self._current.sync(self.store.state())
                _ = self._offering.closeness
            self.learning.top_rules(self.grades())
