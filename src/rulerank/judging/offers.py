"""Which documents a rater may get, one at a time or as the list of a query, and why none is left.

The documents of a list are shown in random order, fixed per rater: showing the baseline order would bias raters.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulerank._util.parameters import is_whole
from rulerank.baseline import Baseline
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.judging.grades import CurrentLabels
from rulerank.judging.labels import Glance, JudgingTask, Plain, check_name
from rulerank.judging.pool import Pool
from rulerank.sampling.selection import Chooser

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore

STOPPED = "the sampler has stopped: the remaining documents are similar to judged ones"
WAITING = "other raters are judging the remaining documents"
EMPTY = "all documents have been judged or skipped"
MOST = 50  # documents per list
PATIENCE = 2  # a list is reserved for this many times as long as one document

Offers = Iterable[tuple[int, int]]  # row, how many raters may hold it


class Asker(NamedTuple):
    """A rater who asks for a document, with the rows that matter for the answer."""

    rater: str
    held: list[int]  # reserved for this rater, latest first
    claimed: Counter[int]  # number of other raters who reserved a row
    skipped: set[int]  # by this rater
    beyond: set[int]  # judged rows without a grade
    undecided: set[int]  # of these, the rows that another rater may settle


class Offering:
    """Chooses the documents for a rater: reserved ones, second opinions, the sampler's choice, then the rest.

    current: the labels; the caller keeps them in sync and lets one thread ask at a time.
    overlap: share of the documents, always the same ones, that get one more rater than the settings say.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.datasets.make_ranking(n_queries=2, docs_per_query=3, seed=0))
    >>> with LabelStore(tempfile.mkdtemp() + "/labels.db") as store:
    ...     offering = Offering(pool, CurrentLabels(pool, store), rr.SSAR(per_query=True), overlap=0.0)
    ...     asker = offering.asker("ann", store.glance("ann"))
    >>> row, n_raters = next(offering.offers(asker))
    >>> n_raters
    1
    """

    def __init__(self, pool: Pool, current: CurrentLabels, sampler: Any, overlap: float) -> None:
        self.pool, self.current, self.overlap = pool, current, overlap
        self._sampler = sampler
        self._chooser: Chooser | None = None

    @property
    def closeness(self) -> float:
        """Closeness to the sampler's stopping point, from 0 to 1."""
        return self._ready().closeness

    def offers(self, asker: Asker, *, keep_going: bool = False) -> Iterator[tuple[int, int]]:
        """Yield rows to try, each with its maximum number of raters; keep_going: also rows after the sampler's stop."""
        yield from self._held(asker)
        yield from self._second_opinions(asker)
        yield from self._wanted(asker)
        if keep_going:
            yield from self._others(asker)

    def next_wanted(self, skip: Collection[int]) -> int | None:
        """Return the sampler's next row that is not in skip; None if it has stopped."""
        return self._ready().next(skip)

    def why_nothing(self, asker: Asker) -> str:
        """Return why no document is left."""
        chooser, skip = self._ready(), asker.skipped | asker.beyond
        if chooser.next(skip) is not None:
            return WAITING
        return EMPTY if len(skip | self.current.judged) == len(self.pool) else STOPPED

    def asker(self, rater: str, glance: Glance) -> Asker:
        """Return a rater with the rows that matter."""
        claims = [(self.pool.rows.get((claim.query, claim.doc)), claim.rater) for claim in glance.claims]
        return Asker(
            rater,
            held=[row for row, holder in reversed(claims) if row is not None and holder == rater],
            claimed=Counter(row for row, holder in claims if row is not None and holder != rater),
            skipped=self.pool.rows_in(glance.skipped),
            beyond=self.current.beyond,
            undecided=self.current.undecided,
        )

    def _held(self, asker: Asker) -> Offers:
        held = (row for row in asker.held if asker.rater not in self.current.by_row.get(row, {}))
        return ((row, self.n_raters(row) + 1) for row in held)

    def _second_opinions(self, asker: Asker) -> Offers:
        """Yield documents that need another rater, without those that the admin has decided."""
        if not self.overlap and self.current.counting.settings.judgements == 1:
            return
        skip = asker.skipped | (asker.beyond - asker.undecided) | self.current.decided.keys()
        for row, by_rater in self.current.by_row.items():
            wanted = self.n_raters(row)
            if asker.rater not in by_rater and len(by_rater) + asker.claimed[row] < wanted and row not in skip:
                yield row, wanted

    def n_raters(self, row: int) -> int:
        """Return how many human raters shall judge a document."""
        wanted = self.current.counting.settings.judgements
        return wanted + 1 if self.overlap and self.lots[row] < self.overlap else wanted

    def _wanted(self, asker: Asker) -> Offers:
        """Yield the sampler's rows, without those reserved by others, skipped or judged without a grade."""
        chooser = self._ready()
        skip = asker.claimed.keys() | asker.skipped | asker.beyond
        while (row := chooser.next(skip)) is not None:
            yield row, 1
            skip.add(row)

    def _others(self, asker: Asker) -> Offers:
        """Yield the rows that nobody has judged, in random order, queries with the fewest labels first."""
        by_query = np.bincount(self.pool.query_numbers[list(self.current.by_row)], minlength=len(self.pool.queries))
        n_labels = by_query[self.pool.query_numbers]  # of each row's query
        free = np.ones(len(self.pool), dtype=np.bool_)
        free[list(asker.claimed.keys() | asker.skipped | self.current.judged)] = False
        for fewest in np.unique(n_labels[free]):
            rows = np.flatnonzero(free & (n_labels == fewest))
            yield from ((row, 1) for row in rows[np.argsort(self.lots[rows])].tolist())

    @cached_property
    def lots(self) -> Array:
        """A pseudo-random number from 0 to 1 for each row, a hash of the document's name."""
        digests = (hashlib.sha256("\0".join(pair).encode()).digest() for pair in self.pool.pairs)
        return np.array([int.from_bytes(digest[:7], "big") / 2**56 for digest in digests])

    def _ready(self) -> Chooser:
        """Return the chooser, with all labels."""
        if self._chooser is None:
            self._chooser = Chooser(self._sampler, self.pool.data)
        self._chooser.tell(self.current.grades)
        return self._chooser


@dataclass(frozen=True, slots=True)
class QueryList(Plain):
    """The top documents of a query in random order, as one rater sees them."""

    query: str
    docs: tuple[JudgingTask, ...]
    n_others: int  # number of the top documents that other raters have reserved or judged


class QueryLists:
    """Assigns lists to raters.

    lock: the lock of the judging loop, held while labels are read and lists assigned.

    >>> import rulerank as rr, tempfile
    >>> from rulerank.judging.loop import Judging
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.datasets.make_ranking(n_queries=3, docs_per_query=8, seed=0))
    >>> judging = Judging(pool, LabelStore(tempfile.mkdtemp() + "/labels.db"), max_grade=2, n_listed=5)
    >>> ann, ben = judging.lists.next("ann"), judging.lists.next("ben")
    >>> len(ann.docs), ann.query != ben.query
    (5, True)
    >>> judging.lists.next("ann") == ann
    True
    """

    def __init__(
        self,
        offering: Offering,
        store: LabelStore,
        lock: threading.RLock,
        baseline: Baseline | None,
        claim_seconds: float,
        n_docs: int,
    ) -> None:
        if not is_whole(n_docs, 1, MOST):
            raise DataError(f"a list must have 1 to {MOST} documents: got {n_docs!r}")
        self._n_docs = n_docs
        self._pool, self._current, self._offering = offering.pool, offering.current, offering
        self._store, self._lock, self._baseline = store, lock, baseline
        self._seconds = PATIENCE * claim_seconds

    def next(self, rater: str, *, keep_going: bool = False) -> QueryList | None:
        """Return the rater's list, the same one until all its documents are judged or skipped; None if none is left.

        keep_going: after the sampler's stop, continue with the remaining queries.
        """
        check_name("rater", rater)
        with self._lock:
            asker = self._asker(rater)
            for number in self._offers(asker, keep_going):
                rows = [row for row in self._tops[number].tolist() if row >= 0 and self._is_open(row, asker)]
                n_raters = self._n_raters(number)
                if self._claim(rows[0], rater, n_raters):  # decides between two concurrent requests
                    for row in rows[1:]:
                        self._claim(row, rater, n_raters)  # a row that another rater got meanwhile is left out
                    return self._shown(number, self._asker(rater))
            return None

    def of(self, rater: str, query: str) -> QueryList:
        """Return the list of a query, to continue or revise it."""
        check_name("rater", rater)
        with self._lock:
            return self._shown(self._number(query), self._asker(rater))

    def why_nothing(self, rater: str) -> str:
        """Return why no list is left."""
        with self._lock:
            asker = self._asker(rater)
            if self._open_rows(asker).any():
                return STOPPED
            listed = set(self._tops[self._tops >= 0].tolist())
            waiting = bool(listed & (set(asker.claimed) - self._current.by_row.keys()))
            return WAITING if waiting else EMPTY

    def _number(self, query: str) -> int:
        found = np.flatnonzero(np.asarray(self._pool.queries) == query)
        if not found.size:
            raise DataError(f"the pool has no query {query!r:.60}")
        return int(found[0])

    def _asker(self, rater: str) -> Asker:
        glance = self._store.glance(rater)
        self._current.sync(glance.state)
        return self._offering.asker(rater, glance)

    def _offers(self, asker: Asker, keep_going: bool) -> Iterator[int]:
        """Yield the numbers of queries with open documents: started ones, second opinions, then the sampler's."""
        open_rows, tops, numbers = self._open_rows(asker), self._tops, self._pool.query_numbers
        has_open = np.bincount(numbers[open_rows], minlength=len(tops)) > 0
        taken = np.zeros(len(tops), dtype=np.bool_)  # by another rater
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

    def _open_rows(self, asker: Asker) -> Array:
        """Return which rows are in a list and open for this rater: bool (n_rows,)."""
        is_open = np.zeros(len(self._pool), dtype=np.bool_)
        is_open[self._tops[self._tops >= 0]] = True
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
        """Return the number of raters of a list: as in the settings, one more for the share `overlap`."""
        wanted = self._current.counting.settings.judgements
        return wanted + (_lot("list", str(self._pool.queries[number])) < self._offering.overlap)

    def _claim(self, row: int, rater: str, n_raters: int) -> bool:
        return self._store.claim(*self._pool.pairs[row], rater, raters=n_raters, seconds=self._seconds)

    def _shown(self, number: int, asker: Asker) -> QueryList:
        query = str(self._pool.queries[number])
        docs = []
        rows = [row for row in self._tops[number].tolist() if row >= 0]
        for row in rows:
            label = self._current.by_row.get(row, {}).get(asker.rater)
            if label is not None:
                docs.append(self._pool.task(row).judged_as(label.grade))
            elif self._is_open(row, asker):
                docs.append(self._pool.task(row))
        docs.sort(key=lambda task: _lot(asker.rater, query, task.doc))
        return QueryList(query, tuple(docs), len(rows) - len(docs))

    @cached_property
    def _tops(self) -> Array:
        """The top rows of each query, best first, filled with -1: (n_queries, n_docs)."""
        pool, n_docs = self._pool, self._n_docs
        scores = np.zeros(len(pool)) if self._baseline is None else self._baseline.scores(pool.data)
        ties = np.arange(len(pool)) if self._baseline is None else self._offering.lots
        ranked = np.lexsort((ties, -scores, pool.query_numbers))
        n_queries = len(pool.queries)
        sizes = np.bincount(pool.query_numbers, minlength=n_queries)
        place = np.arange(len(pool)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        first = place < n_docs
        tops = np.full((n_queries, n_docs), -1)
        tops[np.repeat(np.arange(n_queries), sizes)[first], place[first]] = ranked[first]
        return tops


def _lot(*words: str) -> float:
    """Return a pseudo-random number from 0 to 1, a hash of the words."""
    digest = hashlib.blake2b("\0".join(words).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
