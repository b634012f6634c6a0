"""Judging the list of a query: its first documents of today on one page, handed to one rater at a time.

What is shown does not lead: the documents stand in an order drawn by lot, the same for a rater whenever the list is
shown and another for every rater, unless the lead wants today's order to be seen. What a model would change is told
once the list is judged.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.judging.current import CurrentLabels
from rulerank.judging.labels import JudgingTask, Plain, check_name
from rulerank.judging.offers import Asker, Offering, Stop
from rulerank.judging.pool import Pool
from rulerank.today import Today

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

MOST = 50  # documents of a list
STOPPED = "the sampler asks for no more: the documents that are left look like documents that were judged"
WAITING = "other raters have the lists that are left"
EMPTY = "every list has been judged or skipped"
PATIENCE = 2  # times as long as one document, a list stays with its rater


@dataclass(frozen=True, slots=True)
class ListChoices:
    """What the lead has chosen for lists."""

    n_docs: int = 10
    come_first: bool = False  # before one document at a time
    shows_rank: bool = False  # and today's order: it leads raters to agree with today's ranking

    def __post_init__(self) -> None:
        if not is_whole(self.n_docs, 1, MOST):
            raise DataError(f"a list has from 1 to {MOST} documents: got {self.n_docs!r}")


@dataclass(frozen=True, slots=True)
class ListedDoc(Plain):
    """A document of a list, what this rater has said of it, and its place today."""

    task: JudgingTask
    judged: bool
    grade: int | None
    rank: int  # by today's ranking, from 1; without one in the order of the pool


@dataclass(frozen=True, slots=True)
class QueryList(Plain):
    """The first documents of a query as one rater sees them, in an order that tells nothing."""

    query: str
    docs: tuple[ListedDoc, ...]
    n_others: int  # of the first documents, those that other raters have or have had


class QueryLists:
    """Hand out lists to raters and show them again.

    lock: held while labels are read and lists handed out, the one of the judging loop.

    >>> import rulerank as rr, tempfile
    >>> from rulerank.judging.loop import Judging
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.make_world(n_queries=3, docs_per_query=8, seed=0))
    >>> judging = Judging(pool, LabelStore(tempfile.mkdtemp() + "/labels.db"), max_grade=2)
    >>> ann, ben = judging.lists.next("ann", 5), judging.lists.next("ben", 5)
    >>> len(ann.docs), sorted(doc.rank for doc in ann.docs), ann.query != ben.query
    (5, [1, 2, 3, 4, 5], True)
    >>> judging.lists.next("ann", 5) == ann
    True
    """

    def __init__(
        self,
        pool: Pool,
        store: LabelStore,
        current: CurrentLabels,
        offering: Offering,
        lock: threading.RLock,
        today: Today | None,
        overlap: float,
        claim_seconds: float,
    ) -> None:
        self._pool, self._store, self._current, self._offering = pool, store, current, offering
        self._lock, self._today, self._overlap = lock, today, overlap
        self._seconds = PATIENCE * claim_seconds
        self._known: tuple[tuple[int, int], Array] | None = None  # (documents of the pool, of a list), and the tops

    def next(self, rater: str, n_docs: int = 10, *, keep_going: bool = False) -> QueryList | None:
        """Hand out a list, the same one until each of its documents is judged or skipped; None: there is none left.

        keep_going: when the sampler has stopped, go on with the queries that are left.
        """
        check_name("rater", rater)
        with self._lock:
            asker = self._asker(rater)
            tops = self._tops(n_docs)
            for number in self._offers(asker, tops, keep_going):
                rows = [row for row in tops[number].tolist() if row >= 0 and self._is_open(row, asker)]
                n_raters = self._n_raters(number)
                if self._claim(rows[0], rater, n_raters):  # decides between two who ask at once
                    for row in rows[1:]:
                        self._claim(row, rater, n_raters)  # one that is lost is in no list of this rater
                    return self._shown(number, tops, self._asker(rater))
            return None

    def of(self, rater: str, query: str, n_docs: int = 10) -> QueryList:
        """Show the list of a query, whoever has it: to go on with it, or to revise it."""
        check_name("rater", rater)
        with self._lock:
            return self._shown(self._number(query), self._tops(n_docs), self._asker(rater))

    def why_nothing(self, rater: str, n_docs: int = 10) -> Stop:
        """Say why there is no list."""
        with self._lock:
            asker, tops = self._asker(rater), self._tops(n_docs)
            if self._open_rows(asker, tops).any():
                return Stop("natural", STOPPED)
            listed = set(tops[tops >= 0].tolist())
            waiting = bool(listed & (set(asker.claimed) - self._current.by_row.keys()))
            return Stop("waiting", WAITING) if waiting else Stop("natural", EMPTY)

    def _number(self, query: str) -> int:
        found = np.flatnonzero(np.asarray(self._pool.queries) == query)
        if not found.size:
            raise DataError(f"the pool has no query {query!r:.60}")
        return int(found[0])

    def _asker(self, rater: str) -> Asker:
        glance = self._store.glance(rater)
        self._current.sync(glance.state)
        return self._offering.asker(rater, glance)

    def _offers(self, asker: Asker, tops: Array, keep_going: bool) -> Iterator[int]:
        """Yield the numbers of queries with something to judge: begun ones, second opinions, then the sampler's."""
        open_rows = self._open_rows(asker, tops)
        numbers = self._pool.query_numbers
        has_open = np.bincount(numbers[open_rows], minlength=len(tops)) > 0
        taken = np.zeros(len(tops), dtype=np.bool_)  # by another rater, who is at it
        for row in asker.claimed:
            number = int(numbers[row])
            taken[number] |= row in tops[number]
        begun = dict.fromkeys(int(numbers[row]) for row in asker.held if open_rows[row])
        seen = set(begun)
        yield from begun
        free = has_open & ~taken
        for row in self._current.by_row:
            number = int(numbers[row])
            if number not in seen and free[number] and self._n_raters(number) > 1:
                seen.add(number)
                yield number
        skip = set(np.flatnonzero(~free[numbers]).tolist()) | asker.beyond
        while (wanted := self._offering.next_wanted(skip)) is not None:
            number = int(numbers[wanted])
            skip |= set(np.flatnonzero(numbers == number).tolist())
            if number not in seen:
                seen.add(number)
                yield number
        if keep_going:
            yield from (int(number) for number in np.flatnonzero(free) if int(number) not in seen)

    def _open_rows(self, asker: Asker, tops: Array) -> Array:
        """Tell of each row whether it is in a list and this rater may judge it: bool (n_rows,)."""
        is_open = np.zeros(len(self._pool), dtype=np.bool_)
        is_open[tops[tops >= 0]] = True
        is_open[[*asker.claimed, *asker.skipped]] = False
        for row in self._current.judged:
            is_open[row] = is_open[row] and self._is_open(row, asker)
        return is_open

    def _is_open(self, row: int, asker: Asker) -> bool:
        by_rater = self._current.by_row.get(row, {})
        if asker.rater in by_rater or row in asker.skipped or row in asker.claimed:
            return False
        if (row in asker.beyond and row not in asker.undecided) or row in self._current.decided:
            return False
        return len(by_rater) < self._n_raters(int(self._pool.query_numbers[row]))

    def _n_raters(self, number: int) -> int:
        """How many raters get a list, one after the other: as the settings say, one more for the share `overlap`."""
        wanted = self._current.counting.settings.judgements
        return wanted + (_lot("list", str(self._pool.queries[number])) < self._overlap)

    def _claim(self, row: int, rater: str, n_raters: int) -> bool:
        return self._store.claim(*self._pool.pairs[row], rater, raters=n_raters, seconds=self._seconds)

    def _shown(self, number: int, tops: Array, asker: Asker) -> QueryList:
        query = str(self._pool.queries[number])
        docs = []
        rows = [row for row in tops[number].tolist() if row >= 0]
        for rank, row in enumerate(rows, start=1):
            label = self._current.by_row.get(row, {}).get(asker.rater)
            if label is None and not self._is_open(row, asker):
                continue
            task = JudgingTask(*self._pool.pairs[row], **self._pool.shown(row))
            docs.append(ListedDoc(task, label is not None, None if label is None else label.grade, rank))
        docs.sort(key=lambda doc: _lot(asker.rater, query, doc.task.doc))
        return QueryList(query, tuple(docs), len(rows) - len(docs))

    def _tops(self, n_docs: int) -> Array:
        """Return the rows of each query's first documents, the best first and then -1: (n_queries, n_docs)."""
        if not is_whole(n_docs, 1, MOST):
            raise DataError(f"a list has from 1 to {MOST} documents: got {n_docs!r}")
        pool = self._pool
        if self._known is not None and self._known[0] == (len(pool), n_docs):
            return self._known[1]
        scores = np.zeros(len(pool)) if self._today is None else self._today.scores(pool.data.X)
        ties = np.arange(len(pool)) if self._today is None else self._offering.lots
        ranked = np.lexsort((ties, -scores, pool.query_numbers))
        n_queries = len(pool.queries)
        sizes = np.bincount(pool.query_numbers, minlength=n_queries)
        place = np.arange(len(pool)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        first = place < n_docs
        tops = np.full((n_queries, n_docs), -1)
        tops[np.repeat(np.arange(n_queries), sizes)[first], place[first]] = ranked[first]
        self._known = (len(pool), n_docs), tops
        return tops


def _lot(*words: str) -> float:
    """Return a number from 0 to 1 that follows from words alone."""
    digest = hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
