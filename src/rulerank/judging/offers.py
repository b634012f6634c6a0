"""Which documents a rater may get, from the first to the last resort, and why there are none."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rulerank.dataset import Array
from rulerank.judging.current import CurrentLabels
from rulerank.judging.labels import Glance
from rulerank.judging.pool import Pool
from rulerank.sampling.chooser import Chooser

STOPPED = "the sampler asks for no more: the documents that are left look like documents that were judged"
WAITING = "other raters are judging the documents that are left"
SKIPPED = "you have skipped all documents left that the sampler would ask for"
EMPTY = "every document has been judged or skipped"

Offers = Iterable[tuple[int, int]]  # row, how many raters may hold it


class Stop(NamedTuple):
    """Why there is nothing more for a rater."""

    kind: str  # "natural": the sampler asks for no more; "skipped", "waiting": only for what this rater cannot get
    reason: str  # in words


class Asker(NamedTuple):
    """A rater who asks for a document, and the rows that matter."""

    rater: str
    held: list[int]  # handed to this rater before, the latest first
    claimed: Counter[int]  # by how many others
    skipped: set[int]  # by this rater
    beyond: set[int]  # they are judged and have no grade
    undecided: set[int]  # of these, what another rater may decide


class Offering:
    """Name the documents for a rater: the held, second opinions, what the sampler wants, and then the rest.

    current: the labels, which the caller keeps up; it also sees to it that one thread asks at a time.
    overlap: share of the documents, always the same ones, for which one more rater is wanted than the settings say.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.store import LabelStore
    >>> pool = Pool(rr.make_world(n_queries=2, docs_per_query=3, seed=0))
    >>> with LabelStore(tempfile.mkdtemp() + "/labels.db") as store:
    ...     offering = Offering(pool, CurrentLabels(pool, store), rr.SSAR(per_query=True), overlap=0.0)
    ...     asker = offering.asker("ann", store.glance("ann"))
    >>> row, n_raters = next(offering.offers(asker))
    >>> n_raters
    1
    """

    def __init__(self, pool: Pool, current: CurrentLabels, sampler: Any, overlap: float) -> None:
        self._pool, self._current, self._sampler, self._overlap = pool, current, sampler, overlap
        self._chooser: Chooser | None = None

    @property
    def closeness(self) -> float:
        """How near the sampler's stop is, from 0 to 1."""
        return self._ready().closeness

    def offers(self, asker: Asker, *, keep_going: bool = False) -> Iterator[tuple[int, int]]:
        """Yield rows to try, each with how many raters may hold it; keep_going: also what the sampler does not want."""
        yield from self._held(asker)
        yield from self._second_opinions(asker)
        yield from self._wanted(asker)
        if keep_going:
            yield from self._others(asker)

    def next_wanted(self, skip: Collection[int]) -> int | None:
        """Return the row that the sampler wants next, never one in skip; None: it asks for no more."""
        return self._ready().next(skip)

    def why_nothing(self, asker: Asker) -> Stop:
        """Say why there is no offer."""
        chooser, skip = self._ready(), asker.skipped | asker.beyond
        if chooser.next(skip) is not None:
            return Stop("waiting", WAITING)
        stopped = chooser.next(asker.beyond) is None
        everything = len(skip | self._current.judged) == len(self._pool)
        return Stop("natural" if stopped else "skipped", EMPTY if everything else STOPPED if stopped else SKIPPED)

    def asker(self, rater: str, glance: Glance) -> Asker:
        """Return a rater who asks, and the rows that matter then."""
        claims = [(self._pool.rows.get((claim.query, claim.doc)), claim.rater) for claim in glance.claims]
        return Asker(
            rater,
            held=[row for row, holder in reversed(claims) if row is not None and holder == rater],
            claimed=Counter(row for row, holder in claims if row is not None and holder != rater),
            skipped=self._pool.rows_in(glance.skipped),
            beyond=self._current.beyond,
            undecided=self._current.undecided,
        )

    def _held(self, asker: Asker) -> Offers:
        held = (row for row in asker.held if asker.rater not in self._current.by_row.get(row, {}))
        return ((row, self.n_raters(row) + 1) for row in held)

    def _second_opinions(self, asker: Asker) -> Offers:
        """Yield documents that others have graded, and fewer than shall; nothing that the lead has decided."""
        if not self._overlap and self._current.counting.settings.judgements == 1:
            return
        skip = asker.skipped | (asker.beyond - asker.undecided) | self._current.decided.keys()
        for row, by_rater in self._current.by_row.items():
            wanted = self.n_raters(row)
            if asker.rater not in by_rater and len(by_rater) + asker.claimed[row] < wanted and row not in skip:
                yield row, wanted

    def n_raters(self, row: int) -> int:
        """Say how many people shall judge a document."""
        wanted = self._current.counting.settings.judgements
        return wanted + 1 if self._overlap and self.lots[row] < self._overlap else wanted

    def _wanted(self, asker: Asker) -> Offers:
        """Yield what the sampler wants, past what is held by others, skipped or was said to be beyond judging."""
        chooser = self._ready()
        skip = asker.claimed.keys() | asker.skipped | asker.beyond
        while (row := chooser.next(skip)) is not None:
            yield row, 1
            skip.add(row)

    def _others(self, asker: Asker) -> Offers:
        """Yield all that nobody has judged, those of the queries with the fewest labels first, else at random."""
        by_query = np.bincount(self._pool.query_numbers[list(self._current.by_row)], minlength=len(self._pool.queries))
        n_labels = by_query[self._pool.query_numbers]  # of each row's query
        free = np.ones(len(self._pool), dtype=np.bool_)
        free[list(asker.claimed.keys() | asker.skipped | self._current.judged)] = False
        for fewest in np.unique(n_labels[free]):
            rows = np.flatnonzero(free & (n_labels == fewest))
            yield from ((row, 1) for row in rows[np.argsort(self.lots[rows])].tolist())

    @cached_property
    def lots(self) -> Array:
        """A number from 0 to 1 for each row that follows from the document's name alone."""
        digests = (hashlib.sha256("\0".join(pair).encode()).digest() for pair in self._pool.pairs)
        return np.array([int.from_bytes(digest[:7], "big") / 2**56 for digest in digests])

    def _ready(self) -> Chooser:
        """Return the chooser, told of all labels."""
        if self._chooser is None:
            self._chooser = Chooser(self._sampler, self._pool.data)
        self._chooser.tell(self._current.grades)
        return self._chooser
