"""Count and vote: from tables built once when they fit the memory budget, else in one pass over the sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from rulerank.core.progress import progress
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.errors import TooLargeError
from rulerank.rules import kernels
from rulerank.rules.layout import FeatureSets, Layout
from rulerank.rules.saved import check_saved
from rulerank.rules.tables import Counter, Counts, Rows
from rulerank.rules.votes import LiftVotes, Training, Votes, vote_table

PASS_BYTES = 1 << 21  # of votes between two looks at the documents when nothing is kept: they should stay in the cache
NO_SETS = FeatureSets(np.zeros((0, 1), dtype=np.int32), np.zeros(1, dtype=np.int64))

AnyCounts = TypeVar("AnyCounts", bound=Counts)


@dataclass(frozen=True, eq=False)
class Engine:
    """The learned counts (or the rows to count when they are needed) and the votes derived from them.

    >>> rows = Rows.of([[0, 1, 1], [0, 0, 1]], [0, 1, 1], [0, 0, 0])
    >>> from rulerank.rules.votes import VOTES
    >>> training = Training.of(rows, min_rows=1, strength=np.ones(2))
    >>> layout = Layout.over(rows.n_bins(), max_size=1)
    >>> engine = Engine.learn(rows, layout, VOTES["mean"], training)
    >>> engine.score(np.array([[0, 1], [0, 0]], dtype=np.uint8)).tolist()
    [0.4, 0.6]
    """

    rows_type: ClassVar[type[Rows]] = Rows  # an engine that counts more says in what it is kept
    counts_type: ClassVar[type[Counts]] = Counts

    layout: Layout
    scheme: Votes
    training: Training
    n_jobs: int | None
    rows: Rows | None  # kept only when the tables would not fit
    counts: Counts | None
    votes: Array | None

    @classmethod
    def learn(
        cls,
        rows: Rows,
        layout: Layout,
        scheme: Votes,
        training: Training,
        *,
        memory_budget: float = 1 << 30,
        n_jobs: int | None = None,
    ) -> Self:
        """Build the tables if they take at most memory_budget bytes, else keep the rows."""
        if layout.n_cells * cls.cell_bytes(scheme, training) > memory_budget:
            return cls(layout, scheme, training, n_jobs, rows, None, None)
        return cls.from_counts(layout, scheme, training, cls.count(rows, layout, scheme, n_jobs), n_jobs=n_jobs)

    @classmethod
    def count(cls, rows: Rows, layout: Layout, scheme: Votes, n_jobs: int | None = None) -> Counts:
        """Count rows, or a shard of them that holds whole queries, into all cells of a layout."""
        counter = cls.counter(rows, layout.n_bins, scheme, n_jobs)
        with progress(layout.n_sets, "counting feature sets") as bar:
            return joined([counter.count(block, bar.advance) for block in layout.sets or (NO_SETS,)])

    @classmethod
    def counter(cls, rows: Rows, n_bins: Array, scheme: Votes, n_jobs: int | None) -> Counter:
        """Return what counts the rows as the scheme needs them."""
        return Counter(rows, n_bins, expected=scheme.needs_expected, n_jobs=n_jobs)

    @classmethod
    def cell_bytes(cls, scheme: Votes, training: Training) -> int:
        """Return how much memory the counts and votes of one cell take."""
        return 4 * training.n_grades + 8 * scheme.needs_expected + 8 * scheme.width(training)

    @classmethod
    def from_counts(
        cls, layout: Layout, scheme: Votes, training: Training, counts: Counts, *, n_jobs: int | None = None
    ) -> Self:
        """Derive the votes of counts that were learned before, or added up from shards."""
        tables = [np.empty((0, scheme.width(training)))]
        for block in layout.sets:
            own = slice(int(block.offsets[0]), int(block.offsets[-1]))
            part = block.part(0, len(block.features))
            tables.append(vote_table(scheme, picked(counts, own), part, training, n_jobs))
        return cls(layout, scheme, training, n_jobs, None, counts, np.concatenate(tables))

    def to_state(self) -> dict[str, Any]:
        """Return the counts (or the rows, where counts are not kept) as plain values and arrays."""
        used = self.layout.sets[0].features[:, 0] if self.layout.sets else np.zeros(0, dtype=np.int32)
        state: dict[str, Any] = {
            "n_bins": self.layout.n_bins,
            "used": used,
            "max_size": len(self.layout.sets),
            "training": vars(self.training),
        }
        kept = {"rows": self.rows} if self.counts is None else {"counts": self.counts}
        return state | {name: vars(value) for name, value in kept.items()}

    @classmethod
    def from_state(cls, state: dict[str, Any], scheme: Votes, n_jobs: int | None = None) -> Self:
        """Return the engine that `to_state` described, its votes derived anew."""
        check_saved(state, scheme)
        layout = Layout.over(state["n_bins"], max(1, state["max_size"]), state["used"])
        training = Training(**state["training"])
        if "rows" in state:
            return cls(layout, scheme, training, n_jobs, cls.rows_type(**state["rows"]), None, None)
        return cls.from_counts(layout, scheme, training, cls.counts_type(**state["counts"]), n_jobs=n_jobs)

    def sums(self, bins: Array) -> Array:
        """Add up the votes for documents given as bins uint8 (n_features, n_documents)."""
        sums = np.zeros((bins.shape[1], self.scheme.width(self.training)))
        for part, _, votes in self.tables():
            self._look_up(bins, part, votes, sums)
        if isinstance(self.scheme, LiftVotes) and self.scheme.additive:
            sums[:, 1] = self.scheme.total_weight(self.layout, self.training)  # bins never seen weigh as others do
        return sums

    def score(self, bins: Array) -> Array:
        """Score documents given as bins."""
        return self.scheme.scores(self.sums(bins), self.training)

    def cells_of(self, row_bins: Array) -> Counts:
        """Return the counts of one document's cell in each feature set, in order; zeros where it has none."""
        parts = []
        for block in self.layout.sets or (NO_SETS,):
            if self.counts is None:
                assert self.rows is not None
                counter = self.counter(self.rows, self.layout.n_bins, self.scheme, self.n_jobs)
                parts.append(counter.count_like(block, row_bins))
                continue
            cells = np.empty(len(block.features), dtype=np.int64)
            kernels.find_cells(row_bins, block.features, self.layout.n_bins, block.offsets, cells)
            parts.append(picked(self.counts, cells))
        return joined(parts)

    def votes_of(self, row_bins: Array) -> tuple[Counts, Array]:
        """Return counts and votes of one document's cell in each feature set, in order; zeros where it has none."""
        counts, votes = [], []
        for part, counted, voted in self.tables():
            cells = np.empty(len(part.features), dtype=np.int64)
            kernels.find_cells(row_bins, part.features, self.layout.n_bins, part.offsets, cells)
            counts.append(picked(counted, cells))
            votes.append(voted[cells])
            votes[-1][cells < 0] = 0.0
            if isinstance(self.scheme, LiftVotes) and self.scheme.additive:
                votes[-1][:, 1] = self.scheme.set_weights(part, self.training)
        return joined(counts), np.concatenate(votes)

    def seen_bins(self, feature: int) -> Array:
        """Return the bins of one feature that training rows have."""
        if self.rows is not None:
            return np.unique(self.rows.bins[feature])
        assert self.counts is not None
        singles = self.layout.sets[0]
        place = int(np.searchsorted(singles.features[:, 0], feature))
        own = self.counts.grades[singles.offsets[place] : singles.offsets[place + 1]]
        return np.flatnonzero(own.any(axis=1))

    def all_counts(self) -> Counts:
        """Return the counts of every cell, or say why they are not kept."""
        if self.counts is None:
            need = self.layout.n_cells * self.cell_bytes(self.scheme, self.training)
            raise TooLargeError(
                f"the tables of all {self.layout.n_sets:,} feature sets take {need / 2**20:,.0f} MiB, more than the "
                "memory budget, so they are not kept; raise memory_budget, lower max_size, or ask for the rules of one "
                "document with rules_for(x)"
            )
        return self.counts

    def tables(self) -> Iterator[tuple[FeatureSets, Counts, Array]]:
        """Yield all sets in parts, with their counts and votes: those that are kept, or made for this moment only."""
        if self.counts is not None and self.votes is not None:
            for block in self.layout.sets or (NO_SETS,):
                yield block, self.counts, self.votes
            return
        assert self.rows is not None
        counter = self.counter(self.rows, self.layout.n_bins, self.scheme, self.n_jobs)
        max_cells = PASS_BYTES // (8 * self.scheme.width(self.training))
        with progress(self.layout.n_sets, "counting feature sets") as bar:
            for part in self.layout.parts(max_cells):
                counts = counter.count(part)
                yield part, counts, vote_table(self.scheme, counts, part, self.training, self.n_jobs)
                bar.advance(len(part.features))

    def _look_up(self, bins: Array, sets: FeatureSets, votes: Array, sums: Array) -> None:
        def work(start: int, stop: int) -> None:
            kernels.add_votes(bins, sets.features, self.layout.n_bins, sets.offsets, votes, start, stop, sums)

        in_blocks(work, bins.shape[1], self.n_jobs, min_block=kernels.BLOCK)


def picked(counts: AnyCounts, cells: slice | Array) -> AnyCounts:
    """Return the counts of some cells, zeros for the cell -1; what is not counted stays empty.

    >>> picked(Counts(np.array([[1, 2], [3, 4]]), np.zeros(0)), np.array([1, -1])).grades.tolist()
    [[3, 4], [0, 0]]
    """
    arrays = [array[cells] if len(array) else array for array in vars(counts).values()]
    if not isinstance(cells, slice):
        for array in arrays:
            if len(array):
                array[cells < 0] = 0
    return type(counts)(*arrays)


def joined(parts: Sequence[AnyCounts]) -> AnyCounts:
    """Put the counts of parts of a layout one after the other."""
    return type(parts[0])(
        *(np.concatenate(arrays) for arrays in zip(*(vars(part).values() for part in parts), strict=True))
    )
