"""What the queries, each by itself, say of every cell: counted beside the grades, in the same parts and budget.

All are sums of integers (or largest values, for the extremes of theta): the same bits in any order of the queries, and
the sums of two shards that hold whole queries add up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.errors import DataError, ModelFileError
from rulerank.rules.engine import Engine, joined, picked
from rulerank.rules.layout import FeatureSets
from rulerank.rules.stable.kernels import EXTREMES, THETAS, tally_queries
from rulerank.rules.tables import UNIT, Counter, Counts, Rows
from rulerank.rules.votes import Parts, Training, Votes, vote_table

THETA_UNIT = 2.0**-40  # of a confidence within one query
SETS_AT_ONCE = 1 << 16
FORMER = ("squares", "square_units")  # counts that files of version 0.1 hold, and nothing reads


@dataclass(frozen=True, eq=False)
class QueryRows(Rows):
    """Training rows with those of one query side by side."""

    starts: Array  # int64 (n_queries + 1,) first row of each query, and the number of rows

    @staticmethod
    def along(rows: Rows, queries: Array) -> QueryRows:
        """Add where each query starts to rows that are sorted by query."""
        if queries.shape != (rows.n_rows,) or (np.diff(queries) < 0).any():
            raise DataError(f"expected the queries of {rows.n_rows} rows in order: got {queries[:5].tolist()} ...")
        starts = np.concatenate([[0], np.flatnonzero(np.diff(queries)) + 1, [rows.n_rows]])
        return QueryRows(**vars(rows), starts=starts.astype(np.int64))


@dataclass(frozen=True, eq=False)
class QueryCounts(Counts):
    """Training rows per cell and grade, with what each query by itself says of the cell.

    A query's lift of a cell: by how much the mean grade of its rows there is above the mean grade of all its rows.
    """

    tallies: Array  # int64 (n_cells, n_tallies) columns as in the kernels; lifts in UNITs, thetas in THETA_UNITs

    def __add__(self, other: Counts) -> QueryCounts:
        """Join two shards that hold whole queries."""
        if not isinstance(other, QueryCounts):
            return NotImplemented
        tallies = self.tallies + other.tallies
        if self._holds_extremes():
            tallies[:, THETAS:] = np.maximum(self.tallies, other.tallies)[:, THETAS:]
        sums = super().__add__(other)
        return QueryCounts(sums.grades, sums.expected, tallies)

    def __iadd__(self, other: Counts) -> Self:
        """Take another shard in, without a third table."""
        if not isinstance(other, QueryCounts):
            return NotImplemented
        super().__iadd__(other)
        added = THETAS if self._holds_extremes() else self.tallies.shape[1]
        self.tallies[:, :added] += other.tallies[:, :added]
        np.maximum(self.tallies[:, added:], other.tallies[:, added:], out=self.tallies[:, added:])
        return self

    def __sub__(self, other: Counts) -> QueryCounts:
        """Take whole queries away."""
        if not isinstance(other, QueryCounts) or self._holds_extremes():
            return NotImplemented  # what the largest confidence would be without a query is not known
        sums = super().__sub__(other)
        return QueryCounts(sums.grades, sums.expected, self.tallies - other.tallies)

    def _holds_extremes(self) -> bool:
        return self.tallies.shape[1] == n_tallies(EXTREMES, self.grades.shape[1])


class QueryCounter(Counter):
    """Counts training rows into the cells of feature sets, and lets every query have its say."""

    rows: QueryRows

    def __init__(self, rows: QueryRows, n_bins: Array, *, thetas: int, n_jobs: int | None = None) -> None:
        super().__init__(rows, n_bins, expected=False, n_jobs=n_jobs)
        self._n_tallies = n_tallies(thetas, rows.n_grades)
        n = np.diff(rows.starts)
        total = np.add.reduceat(rows.grades.astype(np.int64), rows.starts[:-1])
        self._excess = rows.grades * np.repeat(n, n) - np.repeat(total, n)

    def count(self, sets: FeatureSets, done: Callable[[int], None] | None = None) -> QueryCounts:
        """Count all sets; `done` is told after each stretch how many sets are ready."""
        stretch = max(64, 10**8 // self.rows.n_rows)
        parts = []
        for first in range(0, max(1, len(sets.features)), stretch):
            part = sets.part(first, min(first + stretch, len(sets.features)))
            parts.append(self._tally(super().count(part, done), self.rows.bins, part, self.n_bins))
        return joined(parts)

    def count_like(self, sets: FeatureSets, row_bins: Array) -> QueryCounts:
        """Count, for each set, the training rows that fall into the same cell as one document."""
        counts = super().count_like(sets, row_bins)
        # in bins "the same as the document's" and "another", its cell is the first of every set
        other = (self.rows.bins != row_bins[:, None]).astype(np.uint8)
        n_cells = 2 ** sets.features.shape[1]
        parts = []
        for first in range(0, max(1, len(sets.features)), SETS_AT_ONCE):
            features = sets.features[first : first + SETS_AT_ONCE]
            part = FeatureSets(features, np.arange(len(features) + 1) * n_cells)
            none = Counts(np.zeros((len(features) * n_cells, 0), dtype=np.int32), counts.expected[:0])
            tallied = self._tally(none, other, part, np.full_like(self.n_bins, 2))
            parts.append(picked(tallied, slice(None, None, n_cells)))
        tallied = joined(parts)
        return QueryCounts(counts.grades, counts.expected, tallied.tallies)

    def _tally(self, counts: Counts, bins: Array, sets: FeatureSets, n_bins: Array) -> QueryCounts:
        rows, n_cells = self.rows, len(counts.grades)
        expected = np.zeros(n_cells, dtype=np.int64)
        tallies = np.zeros((n_cells, self._n_tallies), dtype=np.int64)

        def work(first: int, last: int) -> None:
            tally_queries(
                bins,
                rows.grades,
                rows.starts,
                self._excess,
                rows.expected,
                rows.n_grades,
                1 / UNIT,
                1 / THETA_UNIT,
                sets.features,
                n_bins,
                sets.offsets,
                first,
                last,
                expected,
                tallies,
            )

        in_blocks(work, len(sets.features), self.n_jobs, min_block=4)
        return QueryCounts(counts.grades, expected, tallies)


class QueryVotes(ABC):
    """Base of the schemes that read QueryCounts; the methods are those of `Votes`."""

    needs_expected = True
    needs_thetas = 0  # columns per grade: none, SUMS or EXTREMES

    @abstractmethod
    def width(self, training: Training) -> int: ...

    @abstractmethod
    def fill(
        self, counts: Counts, sets: FeatureSets, training: Training, first: int, last: int, votes: Array
    ) -> None: ...

    @abstractmethod
    def scores(self, sums: Array, training: Training) -> Array: ...

    @abstractmethod
    def parts(self, votes: Array, training: Training) -> Parts: ...


class QueryEngine(Engine):
    """An engine whose scheme sees what each query by itself says of a cell."""

    rows_type: ClassVar[type[Rows]] = QueryRows
    counts_type: ClassVar[type[Counts]] = QueryCounts

    @classmethod
    def counter(cls, rows: Rows, n_bins: Array, scheme: Votes, n_jobs: int | None) -> QueryCounter:
        """Return what counts the rows as the scheme needs them."""
        assert isinstance(rows, QueryRows)
        assert isinstance(scheme, QueryVotes)
        return QueryCounter(rows, n_bins, thetas=scheme.needs_thetas, n_jobs=n_jobs)

    @classmethod
    def cell_bytes(cls, scheme: Votes, training: Training) -> int:
        """Return how much memory the counts and votes of one cell take."""
        assert isinstance(scheme, QueryVotes)
        return super().cell_bytes(scheme, training) + 8 * (n_tallies(scheme.needs_thetas, training.n_grades))

    @classmethod
    def from_state(cls, state: dict[str, Any], scheme: Votes, n_jobs: int | None = None) -> Self:
        """Return the engine that `to_state` described, its votes derived anew."""
        assert isinstance(scheme, QueryVotes)
        if "rows" in state:
            _check_starts(state["rows"]["starts"], len(state["rows"]["grades"]))
        else:
            _check_tallies(state["counts"], n_tallies(scheme.needs_thetas, state["training"]["n_grades"]))
            kept = {name: array for name, array in state["counts"].items() if name not in FORMER}
            state = state | {"counts": kept}
        return super().from_state(state, scheme, n_jobs)

    def votes_of(self, row_bins: Array) -> tuple[QueryCounts, Array]:
        """Return counts and votes of one document's cell in each feature set, in order."""
        counts = self.cells_of(row_bins)
        assert isinstance(counts, QueryCounts)
        tables, first = [np.empty((0, self.scheme.width(self.training)))], 0
        for block in self.layout.sets:
            sets = FeatureSets(block.features, np.arange(len(block.features) + 1))
            own = picked(counts, slice(first, first + len(block.features)))
            tables.append(vote_table(self.scheme, own, sets, self.training, self.n_jobs))
            first += len(block.features)
        return counts, np.concatenate(tables)


def n_tallies(thetas: int, n_grades: int) -> int:
    """Return how many columns of tallies there are, so many of them per grade for confidences."""
    return THETAS + n_grades * thetas


def _check_starts(starts: Array, n_rows: int) -> None:
    ends = starts.dtype == np.int64 and starts.ndim == 1 and starts.size > 1 and (starts[0], starts[-1]) == (0, n_rows)
    if not (ends and (np.diff(starts) > 0).all()):
        raise ModelFileError("the rules are damaged: its queries do not cover its rows")


def _check_tallies(counts: dict[str, Array], width: int) -> None:
    n_cells, tallies = len(counts["grades"]), counts["tallies"]
    if tallies.dtype != np.int64 or tallies.shape != (n_cells, width):
        raise ModelFileError(
            f"the rules are damaged: tallies must have the shape {(n_cells, width)}: got {tallies.shape}"
        )
