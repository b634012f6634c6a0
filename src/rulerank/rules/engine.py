"""Count and vote: from tables built once when they fit the memory budget, else in one pass over the sets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rulerank.core.progress import progress
from rulerank.core.threads import in_blocks
from rulerank.dataset import MAX_GRADE, Array
from rulerank.errors import ModelFileError, TooLargeError
from rulerank.rules import kernels
from rulerank.rules.layout import MAX_BINS, MAX_SETS, FeatureSets, Layout, size_of_work
from rulerank.rules.tables import Counter, Counts, Rows, Training, n_tallies
from rulerank.rules.votes import LiftVotes, Votes, vote_table

PASS_BYTES = 1 << 21  # of votes between two looks at the documents when nothing is kept: they should stay in the cache
FORMER = ("squares", "square_units")  # counts that files of version 0.1 hold, and nothing reads
MAX_SIZE = 30  # a set of more features has more than `layout.MAX_CELLS` cells


@dataclass(frozen=True, eq=False)
class Engine:
    """The learned counts (or the rows to count when they are needed) and the votes derived from them.

    >>> rows = Rows.of([[0, 1, 1], [0, 0, 1]], [0, 1, 1], [0, 0, 0])
    >>> from rulerank.rules.tables import BinCounts
    >>> from rulerank.rules.votes import VOTES
    >>> engine = Engine.learn(rows, Layout.over([2, 2], max_size=1), VOTES["mean"], BinCounts.of(rows).training(1))
    >>> engine.score(np.array([[0, 1], [0, 0]], dtype=np.uint8)).tolist()
    [0.4, 0.6]
    """

    layout: Layout
    scheme: Votes
    training: Training
    n_jobs: int | None
    rows: Rows | None  # kept only when the tables would not fit
    counts: Counts | None
    votes: Array | None

    @staticmethod
    def learn(
        rows: Rows,
        layout: Layout,
        scheme: Votes,
        training: Training,
        *,
        memory_budget: float = 1 << 30,
        n_jobs: int | None = None,
    ) -> Engine:
        """Build the tables if they take at most memory_budget bytes, else keep the rows."""
        if table_bytes(layout, scheme, training) > memory_budget:
            return Engine(layout, scheme, training, n_jobs, rows, None, None)
        counts = count(rows, layout, scheme, n_jobs)
        return Engine.from_counts(layout, scheme, training, counts, n_jobs=n_jobs)

    @staticmethod
    def from_counts(
        layout: Layout, scheme: Votes, training: Training, counts: Counts, *, n_jobs: int | None = None
    ) -> Engine:
        """Derive the votes of counts that were learned before, or added up from shards."""
        tables = []
        for block in layout.sets:
            own = counts.at(slice(int(block.offsets[0]), int(block.offsets[-1])))
            tables.append(vote_table(scheme, own, block.part(0, len(block.features)), training, n_jobs))
        return Engine(layout, scheme, training, n_jobs, None, counts, np.concatenate(tables))

    def to_state(self) -> dict[str, Any]:
        """Return the counts (or the rows, where counts are not kept) as plain values and arrays."""
        used = self.layout.sets[0].features[:, 0]
        state: dict[str, Any] = {
            "n_bins": self.layout.n_bins,
            "used": used,
            "max_size": min(len(self.layout.sets), used.size),
            "training": vars(self.training),
        }
        kept = {"rows": self.rows} if self.counts is None else {"counts": self.counts}
        if self.scheme.thetas is None:
            return state | {name: _without(vars(value), "starts", "tallies") for name, value in kept.items()}
        return state | {name: vars(value) for name, value in kept.items()}

    @staticmethod
    def from_state(state: dict[str, Any], scheme: Votes, n_jobs: int | None = None) -> Engine:
        """Return the engine that `to_state` described, its votes derived anew."""
        check_saved(state, scheme)
        layout = Layout.over(state["n_bins"], max(1, state["max_size"]), state["used"])
        training = Training(**state["training"])
        if "rows" in state:
            return Engine(layout, scheme, training, n_jobs, Rows(**state["rows"]), None, None)
        saved = {"tallies": np.zeros((layout.n_cells, 0), dtype=np.int64)} | _without(state["counts"], *FORMER)
        return Engine.from_counts(layout, scheme, training, Counts(**saved), n_jobs=n_jobs)

    def sums(self, bins: Array) -> Array:
        """Add up the votes for documents given as bins uint8 (n_features, n_documents)."""
        sums = np.zeros((bins.shape[1], self.scheme.width(self.training)))
        for part, _, votes in self.tables():
            add = partial(kernels.add_votes, bins, part, votes, sums)
            in_blocks(add, bins.shape[1], self.n_jobs, min_block=kernels.BLOCK)
        if isinstance(self.scheme, LiftVotes) and self.scheme.additive:
            sums[:, 1] = self.scheme.total_weight(self.layout, self.training)  # bins never seen weigh as others do
        return sums

    def score(self, bins: Array) -> Array:
        """Score documents given as bins."""
        return self.scheme.scores(self.sums(bins), self.training)

    def votes_of(self, row_bins: Array) -> tuple[Counts, Array]:
        """Return counts and votes of one document's cell in each feature set, in order; zeros where it has none."""
        counts, votes = [], []
        for part, counted, voted in self.tables():
            cells = np.empty(len(part.features), dtype=np.int64)
            kernels.find_cells(row_bins, part, cells)
            counts.append(counted.at(cells))
            votes.append(voted[cells])
            votes[-1][cells < 0] = 0.0
            if isinstance(self.scheme, LiftVotes) and self.scheme.additive:
                votes[-1][:, 1] = self.scheme.set_weights(part, self.training)
        return Counts.joined(counts), np.concatenate(votes)

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
            need = table_bytes(self.layout, self.scheme, self.training)
            raise TooLargeError(
                f"the tables of all {self.layout.n_sets:,} feature sets take {need / 2**20:,.0f} MiB, more than the "
                "memory budget, so they are not kept; raise memory_budget, lower max_size, or ask for the rules of one "
                "document with rules_for(x)"
            )
        return self.counts

    def tables(self) -> Iterator[tuple[FeatureSets, Counts, Array]]:
        """Yield all sets in parts, with their counts and votes: those that are kept, or made for this moment only."""
        if self.counts is not None and self.votes is not None:
            for block in self.layout.sets:
                yield block, self.counts, self.votes
            return
        assert self.rows is not None
        counting = counter(self.rows, self.scheme, self.n_jobs)
        max_cells = PASS_BYTES // (8 * self.scheme.width(self.training))
        with progress(self.layout.n_sets, "counting feature sets") as bar:
            for part in self.layout.parts(max_cells):
                counts = counting.count(part)
                yield part, counts, vote_table(self.scheme, counts, part, self.training, self.n_jobs)
                bar.advance(len(part.features))


def count(rows: Rows, layout: Layout, scheme: Votes, n_jobs: int | None = None) -> Counts:
    """Count rows, or a shard of them that holds whole queries, into all cells of a layout, as a scheme needs it."""
    return counter(rows, scheme, n_jobs).over(layout)


def counter(rows: Rows, scheme: Votes, n_jobs: int | None) -> Counter:
    """Return what counts rows as a scheme needs it."""
    return Counter(rows, expected=scheme.needs_expected, thetas=scheme.thetas, n_jobs=n_jobs)


def table_bytes(layout: Layout, scheme: Votes, training: Training) -> int:
    """Return how much memory the counts and votes of all cells take."""
    tallies = n_tallies(scheme.thetas, training.n_grades)
    return layout.n_cells * (4 * training.n_grades + 8 * (scheme.needs_expected + tallies + scheme.width(training)))


def _without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def check_saved(state: dict[str, Any], scheme: Votes) -> None:
    """Refuse a state that `Engine.to_state` cannot have made with such votes: the loops trust every number in it."""
    n_bins = _array(state["n_bins"], "n_bins", "i4", (None,), 0, MAX_BINS)
    used = _array(state["used"], "used", "i4", (None,), 0, n_bins.size - 1)
    _must((np.diff(used) > 0).all() and (n_bins[used] > 1).all(), "its features are not in order, or have one bin")
    max_size = _whole(state["max_size"], "max_size", 0, min(used.size, MAX_SIZE))
    _must(max_size > 0 or used.size == 0, "it uses features in sets of none")
    training = state["training"]
    n_grades = _whole(training["n_grades"], "n_grades", 1, MAX_GRADE + 1)
    _whole(training["min_rows"], "min_rows", 1, 2**62)
    mean = training["mean_grade"]
    _must(isinstance(mean, float) and math.isfinite(mean), f"mean_grade is {mean!r}")
    _array(training["strength"], "strength", "f8", n_bins.shape)
    _must(("rows" in state) != ("counts" in state), "it must hold either counts or rows")
    n_sets, n_cells = size_of_work(n_bins[used], max_size)
    if "counts" in state:
        _check_counts(state["counts"], n_cells, n_grades, scheme)
        needed = state["counts"]["grades"].max(axis=0, initial=0)
    else:
        _must(n_sets <= MAX_SETS, f"it would lay out {n_sets:,} feature sets")
        _check_rows(state["rows"], n_bins, used, n_grades, scheme)
        needed = np.bincount(state["rows"]["grades"], minlength=n_grades)
    n_by_grade = _array(training["n_by_grade"], "n_by_grade", "i8", (n_grades,), 0, 2**53)
    _must((needed <= n_by_grade).all(), "it counts more rows of a grade than there are")


def _check_counts(counts: dict[str, Array], n_cells: int, n_grades: int, scheme: Votes) -> None:
    _array(counts["grades"], "counts", "i4", (n_cells, n_grades))
    # votes that need no expectations are saved without
    n_expected = n_cells if scheme.needs_expected or len(counts["expected"]) else 0
    _array(counts["expected"], "expected", "i8", (n_expected,))
    if scheme.thetas is not None:
        _array(counts["tallies"], "tallies", "i8", (n_cells, n_tallies(scheme.thetas, n_grades)), low=None)


def _check_rows(rows: dict[str, Any], n_bins: Array, used: Array, n_grades: int, scheme: Votes) -> None:
    grades = _array(rows["grades"], "grades", "u1", (None,), 0, n_grades - 1)
    _must(grades.size > 0 and rows["n_grades"] == n_grades, "it holds no rows, or other grades than it says")
    bins = _array(rows["bins"], "bins", "u1", (n_bins.size, grades.size))
    _must((bins[used].max(axis=1) < n_bins[used]).all(), "rows have bins outside the tables")
    for name in ("expected", "spread"):
        _array(rows[name], name, "i8", grades.shape)
    if scheme.thetas is not None:
        starts = _array(rows["starts"], "starts", "i8", (None,))
        covers = starts.size > 1 and (starts[0], starts[-1]) == (0, grades.size) and (np.diff(starts) > 0).all()
        _must(covers, "its queries do not cover its rows")


def _array(
    value: Any, name: str, dtype: str, shape: tuple[int | None, ...], low: int | None = 0, high: int | None = None
) -> Array:
    """Return the array if its type, shape (None: any) and range are right."""
    _must(isinstance(value, np.ndarray), f"{name} is not an array")
    array: Array = value
    _must(array.dtype == dtype, f"{name} must be of {np.dtype(dtype)}: got {array.dtype}")
    fits = array.ndim == len(shape) and all(want in (None, got) for want, got in zip(shape, array.shape, strict=True))
    _must(fits, f"{name} must have the shape {shape}: got {array.shape}")
    if array.size:
        fits = (low is None or low <= array.min()) and (high is None or array.max() <= high)
        _must(fits, f"{name} must be from {low} to {high}: got {array.min()} to {array.max()}")
    return array


def _whole(value: Any, name: str, low: int, high: int) -> int:
    _must(type(value) is int and low <= value <= high, f"{name} must be from {low} to {high}: got {value!r}")
    return int(value)


def _must(holds: object, otherwise: str) -> None:
    if not holds:
        raise ModelFileError(f"the rules are damaged: {otherwise}")
