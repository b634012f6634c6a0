"""Count and vote: tables of all cells, built once where they fit the memory budget, else set after set in each pass.

And the rules in them, as a person reads them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, overload

import numpy as np

from rulerank._util.loops import in_blocks, progress
from rulerank.dataset import MAX_GRADE, Array
from rulerank.errors import ModelFileError, TooLargeError
from rulerank.rules.layout import MAX_BINS, MAX_SETS, FeatureSets, Layout, size_of_work
from rulerank.rules.tables import BLOCK, UNIT, Counter, Counts, Rows, Training, add_votes, find_cells, n_tallies
from rulerank.rules.votes import LiftVotes, Votes, vote_table

PASS_BYTES = 1 << 21  # of votes made at a time where tables are not kept: they should stay in the cache
EACH_BYTES = 1 << 27  # of votes of single documents, looked up in one pass
ItemText = Callable[[int, int], str]  # (feature, bin) -> what a person reads
FORMER = ("squares", "square_units")  # counts that files of version 0.1 hold, and nothing reads
MAX_SIZE = 30  # a set of more features has more than `layout.MAX_CELLS` cells


@dataclass(frozen=True, slots=True)
class Item:
    """One feature lies in one bin.

    >>> print(Item(0, 2, "BM25 in [0.36, 0.55)"))
    BM25 in [0.36, 0.55)
    >>> print(Item(3, 1))
    f4=1
    """

    feature: int
    bin: int
    text: str = ""

    def __str__(self) -> str:
        return self.text or f"f{self.feature + 1}={self.bin}"


@dataclass(frozen=True, slots=True)
class Rule:
    """If every item holds, the document has this grade.

    >>> rule = Rule((Item(0, 2, "BM25 in [0.36, 0.55)"), Item(1, 0, "tf < 0.28")), grade=0, hits=17, covered=20)
    >>> print(rule)
    BM25 in [0.36, 0.55) & tf < 0.28 -> 0 (17 of 20)
    >>> rule.confidence
    0.85
    """

    items: tuple[Item, ...]
    grade: int
    hits: int  # training rows where the items and the grade hold
    covered: int  # training rows where the items hold

    @property
    def confidence(self) -> float:
        return self.hits / self.covered

    def __str__(self) -> str:
        return f"{' & '.join(map(str, self.items))} -> {self.grade} ({self.hits} of {self.covered})"


class Tables(NamedTuple):
    """The counts of all cells, and the votes derived from them."""

    counts: Counts
    votes: Array


@dataclass(frozen=True, eq=False)
class Engine:
    """The learned counts and votes, or the training rows to count in each pass.

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
    kept: Tables | Rows  # rows where the tables would not fit

    @staticmethod
    def learn(
        rows: Rows,
        layout: Layout,
        scheme: Votes,
        training: Training,
        *,
        memory_budget: float = 1024,
        n_jobs: Any = None,
    ) -> Engine:
        """Build the tables if they take at most memory_budget MiB, else keep the rows."""
        if table_mib(layout, scheme, training) > memory_budget:
            return Engine(layout, scheme, training, n_jobs, rows)
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
        return Engine(layout, scheme, training, n_jobs, Tables(counts, np.concatenate(tables)))

    @property
    def whole(self) -> Tables:
        """The tables of all cells; an error where they are not kept."""
        if isinstance(self.kept, Tables):
            return self.kept
        raise TooLargeError(
            f"{table_size(self.layout, self.scheme, self.training)}, more than memory_budget, so they are not kept: "
            "predict, explain and rules_for still work, but the list of all rules and additive tables do not; fit "
            "again with a larger memory_budget, a lower max_size or fewer bins"
        )

    def to_state(self) -> dict[str, Any]:
        """Return the counts, or the rows where counts are not kept, as plain values and arrays."""
        used = self.layout.sets[0].features[:, 0]
        left_out = ("tallies", "starts") if self.scheme.thetas is None else ()
        name, kept = ("counts", self.kept.counts) if isinstance(self.kept, Tables) else ("rows", self.kept)
        return {
            "n_bins": self.layout.n_bins,
            "used": used,
            "max_size": min(len(self.layout.sets), used.size),
            "training": vars(self.training),
            name: _without(vars(kept), *left_out),
        }

    @staticmethod
    def from_state(state: dict[str, Any], scheme: Votes, n_jobs: int | None = None) -> Engine:
        """Return the engine that `to_state` described, its votes derived anew."""
        check_saved(state, scheme)
        layout = Layout.over(state["n_bins"], max(1, state["max_size"]), state["used"])
        training = Training(**state["training"])
        if "rows" in state:
            return Engine(layout, scheme, training, n_jobs, Rows(**state["rows"]))
        saved = {"tallies": np.zeros((layout.n_cells, 0), dtype=np.int64)} | _without(state["counts"], *FORMER)
        return Engine.from_counts(layout, scheme, training, Counts(**saved), n_jobs=n_jobs)

    def sums(self, bins: Array) -> Array:
        """Add up the votes for documents given as bins uint8 (n_features, n_documents)."""
        sums = np.zeros((bins.shape[1], self.scheme.width(self.training)))
        for part, _, votes in self.tables():
            add = partial(add_votes, bins, part, votes, sums)
            in_blocks(add, bins.shape[1], self.n_jobs, min_block=BLOCK)
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
            votes.append(self._votes_at(part, voted, row_bins, cells))
            counts.append(counted.at(cells))
        return Counts.joined(counts), np.concatenate(votes)

    def votes_of_each(self, bins: Array) -> Iterator[Array]:
        """Yield the votes of each document's cells, as `votes_of` gives them: many documents in each pass."""
        documents, n_sets, width = np.ascontiguousarray(bins.T), self.layout.n_sets, self.scheme.width(self.training)
        at_once = max(1, EACH_BYTES // max(1, 8 * n_sets * width))
        for first in range(0, len(documents), at_once):
            own = documents[first : first + at_once]
            votes, start = np.empty((len(own), n_sets, width)), 0
            for part, _, voted in self.tables():
                stop = start + len(part.features)
                cells = np.empty(stop - start, dtype=np.int64)
                for document, row_bins in enumerate(own):
                    votes[document, start:stop] = self._votes_at(part, voted, row_bins, cells)
                start = stop
            yield from votes

    def _votes_at(self, sets: FeatureSets, votes: Array, row_bins: Array, cells: Array) -> Array:
        """Find one document's cells in some sets, and return their votes."""
        find_cells(row_bins, sets, cells)
        own = np.where(cells[:, None] < 0, 0.0, votes[cells])
        if isinstance(self.scheme, LiftVotes) and self.scheme.additive:
            own[:, 1] = self.scheme.set_weights(sets, self.training)
        return own

    def seen_bins(self, feature: int) -> Array:
        """Return the bins of one feature that training rows have."""
        if isinstance(self.kept, Rows):
            return np.unique(self.kept.bins[feature])
        singles = self.layout.sets[0]
        place = int(np.searchsorted(singles.features[:, 0], feature))
        own = self.kept.counts.grades[singles.offsets[place] : singles.offsets[place + 1]]
        return np.flatnonzero(own.any(axis=1))

    def tables(self) -> Iterator[tuple[FeatureSets, Counts, Array]]:
        """Yield all sets in parts, with the counts and votes of their cells: as kept, or counted for this pass."""
        if isinstance(self.kept, Tables):
            for block in self.layout.sets:
                yield block, *self.kept
            return
        counting = counter(self.kept, self.scheme, self.n_jobs)
        with progress(self.layout.n_sets, "counting feature sets") as bar:
            for part in self.layout.parts(PASS_BYTES // (8 * self.scheme.width(self.training))):
                counts = counting.count(part)
                yield part, counts, vote_table(self.scheme, counts, part, self.training, self.n_jobs)
                bar.advance(len(part.features))


def count(rows: Rows, layout: Layout, scheme: Votes, n_jobs: int | None = None) -> Counts:
    """Count rows, or a shard of them that holds whole queries, into all cells of a layout, as a scheme needs it."""
    return counter(rows, scheme, n_jobs).over(layout)


def counter(rows: Rows, scheme: Votes, n_jobs: int | None) -> Counter:
    """Return what counts rows as a scheme needs it."""
    return Counter(rows, expected=scheme.needs_expected, thetas=scheme.thetas, n_jobs=n_jobs)


def table_mib(layout: Layout, scheme: Votes, training: Training) -> float:
    """Return how many MiB the counts and votes of all cells take."""
    tallies = n_tallies(scheme.thetas, training.n_grades)
    cell = 4 * training.n_grades + 8 * (scheme.needs_expected + tallies + scheme.width(training))
    return layout.n_cells * cell / 2**20


def table_size(layout: Layout, scheme: Votes, training: Training) -> str:
    """Say how large the tables are."""
    return f"the tables of all {layout.n_sets:,} feature sets take {table_mib(layout, scheme, training):,.0f} MiB"


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
        held = _check_counts(state["counts"], n_cells, n_grades, scheme).max(axis=0, initial=0)
    else:
        _must(n_sets <= MAX_SETS, f"it would lay out {n_sets:,} feature sets")
        held = np.bincount(_check_rows(state["rows"], n_bins, used, n_grades, scheme), minlength=n_grades)
    n_by_grade = _array(training["n_by_grade"], "n_by_grade", "i8", (n_grades,), 0, 2**53)
    _must((held <= n_by_grade).all(), "it counts more rows of a grade than there are")


def _check_counts(counts: dict[str, Array], n_cells: int, n_grades: int, scheme: Votes) -> Array:
    grades = _array(counts["grades"], "counts", "i4", (n_cells, n_grades))
    # votes that need no expectations are saved without
    n_expected = n_cells if scheme.needs_expected or len(counts["expected"]) else 0
    _array(counts["expected"], "expected", "i8", (n_expected,))
    if scheme.thetas is not None:
        _array(counts["tallies"], "tallies", "i8", (n_cells, n_tallies(scheme.thetas, n_grades)), low=None)
    return grades


def _check_rows(rows: dict[str, Any], n_bins: Array, used: Array, n_grades: int, scheme: Votes) -> Array:
    grades = _array(rows["grades"], "grades", "u1", (None,), 0, n_grades - 1)
    _must(grades.size and rows["n_grades"] == n_grades, "it holds no rows, or other grades than it says")
    bins = _array(rows["bins"], "bins", "u1", (n_bins.size, grades.size))
    _must((bins[used].max(axis=1) < n_bins[used]).all(), "rows have bins outside the tables")
    for name in ("expected", "spread"):
        _array(rows[name], name, "i8", grades.shape, 0, int(n_grades**2 / UNIT))
    if scheme.thetas is not None:
        starts = _array(rows["starts"], "starts", "i8", (None,))
        covers = starts.size > 1 and (starts[0], starts[-1]) == (0, grades.size) and (np.diff(starts) > 0).all()
        _must(covers, "its queries do not cover its rows")
    return grades


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


class RuleBook(Sequence[Rule]):
    """The rules of an engine, made when looked at: smaller antecedents first, then by features, bins and grade."""

    def __init__(self, engine: Engine, item_text: ItemText) -> None:
        self._counts = engine.whole.counts.grades
        self._layout = engine.layout
        self._item_text = item_text
        self._cells, self._grades = np.nonzero(self._counts >= engine.training.min_rows)

    def __len__(self) -> int:
        return int(self._cells.size)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> list[Rule]: ...
    def __getitem__(self, index: Any) -> Rule | list[Rule]:
        if isinstance(index, slice):
            return [self._rule(i) for i in range(*index.indices(len(self)))]
        return self._rule(range(len(self))[index])

    def __iter__(self) -> Iterator[Rule]:
        return map(self._rule, range(len(self)))

    def __repr__(self) -> str:
        return f"RuleBook({len(self):,} rules)"

    def _rule(self, number: int) -> Rule:
        cell, grade = int(self._cells[number]), int(self._grades[number])
        by_grade = self._counts[cell]
        block = next(block for block in self._layout.sets if cell < block.offsets[-1])
        row = int(np.searchsorted(block.offsets, cell, side="right")) - 1
        members = block.features[row]
        bins = np.unravel_index(cell - int(block.offsets[row]), self._layout.n_bins[members])
        items = describe_items(members, np.array(bins), self._item_text)
        return Rule(items, grade, int(by_grade[grade]), int(by_grade.sum()))


def describe_items(features: Array, bins: Array, item_text: ItemText) -> tuple[Item, ...]:
    """Make the items of an antecedent."""
    return tuple(Item(int(f), int(b), item_text(int(f), int(b))) for f, b in zip(features, bins, strict=True))
