"""Passes over parts: a first look at all of them, sums over them, and cuts that are found a few columns at a time.

The first look reads grades and query ids only, so that a mistake in the last part is found before long work.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from rulerank._util.loops import one_blas_thread, tracked
from rulerank.dataset import Array, has_contrast, no_contrast, query_keys
from rulerank.discretize import Discretizer
from rulerank.discretize.binning import kind_bins
from rulerank.errors import DataError, ReadError
from rulerank.io.tables import BASE_COLUMNS, LOG_COLUMNS
from rulerank.rankers.linear import likelihood
from rulerank.rankers.linear.likelihood import BlockedLikelihood, QueryLikelihood, Spread, cut, n_blocks, summed
from rulerank.rankers.linear.newton import Point
from rulerank.rankers.rows import Labelled

from .part import DatasetPart, Part, Shape, TablePart, check_features, columns_of, counted_rows, labelled, lacks

ROW_BYTES = 34  # of a row of one column while its cuts are looked for: the value, its key, what the search needs


class Runner:
    """Looks at one part after the other in this process, and holds no more than one and the sum so far.

    `later` and `get` are all that another place to work has to do otherwise.
    """

    on_a_cluster = False

    def later(self, task: Callable[..., Any], *args: Any) -> Any:
        """Return what a task gives, now or later."""
        return task(*args)

    def get(self, value: Any) -> Any:
        """Return what `later` promised, or a list of that."""
        return value

    def total(self, task: Callable[[Any], Any], items: Sequence[Any], label: str) -> Any:
        """Return the sum of task(item) over all items."""
        result = None
        for item in tracked(items, label):
            found = task(item)
            if result is None:
                result = found
            else:
                result += found  # in place, where the sum can
        return result

    def listed(self, task: Callable[..., Any], items: Sequence[Any], label: str) -> list[Any]:
        """Return task(item) of each item, in their order."""
        return [*self.get([self.later(task, item) for item in tracked(items, label)])]

    def blocks(
        self,
        read: Callable[[Any], Labelled],
        task: Callable[[Labelled, Any], Any],
        items: Sequence[Any],
        sizes: Sequence[int],
        size: int,
        extras: Sequence[Any],
    ) -> Any:
        """Return the sum of task(block, extra) over all blocks of `size` rows, in their order."""
        found: list[Any] = []
        waiting: dict[int, list[Any]] = {number: [] for number in range(len(extras))}
        before = 0
        for item, n_rows in tracked([*zip(items, sizes, strict=True)], "looking at parts"):
            pieces = self.later(_cut, read, size, before, item)
            for number in range(before // size, (before + n_rows - 1) // size + 1):
                waiting[number].append(self.later(dict.get, pieces, number))
            before += n_rows
            done = before // size if item is not items[-1] else len(extras)
            new = range(len(found), done)
            found += [self.later(_on_block, task, waiting.pop(number), extras[number]) for number in new]
        return self.get(self.summed(found))

    def summed(self, values: list[Any]) -> Any:
        """Add up, in the order that memory has."""
        return summed(values)

    def columns(
        self,
        read: Callable[[Any, Sequence[str]], tuple[Array, Array]],
        find: Callable[[Sequence[str], list[tuple[Array, Array]]], list[Any]],
        items: Sequence[Any],
        groups: Sequence[Sequence[str]],
    ) -> list[Any]:
        """Return find(group, [read(item, group) for all items]) of each group of columns, one after the other."""
        found = [
            self.later(find, group, [self.later(read, item, group) for item in items])
            for group in tracked(groups, "finding cuts")
        ]
        return [one for several in self.get(found) for one in several]


@dataclass(frozen=True, eq=False)
class StreamedParts:
    """Parts that are read anew in every pass."""

    parts: Sequence[Part]
    shape: Shape
    runner: Runner
    survey: Survey
    max_bytes: int  # for columns that are held at once

    def total(self, look: Callable[[Any], Any], prepare: Callable[[Labelled], Any] | None = None) -> Any:
        """Return the sum of look(part), or of look(prepare(part)), over all parts."""
        return self.runner.total(partial(_look_at, self.shape, prepare, look), self.parts, "looking at parts")

    def block_sums(self, task: Callable[[Labelled, Any], Any], extras: Sequence[Any] | None = None) -> Any:
        """Return the sum of task(block, its extra) over all blocks of rows, each read anew."""
        extras = [None] * n_blocks(self.survey.n_rows) if extras is None else extras
        read = partial(labelled, shape=self.shape)
        return self.runner.blocks(read, task, self.parts, self.survey.sizes, likelihood.BLOCK_ROWS, extras)

    def find_cuts(self, discretizer: Any) -> None:
        """Find cuts, as many columns at a time as the memory allows: the same ones as all columns at once have."""
        n_kinds = {self.shape.feature_names[feature]: len(own) for feature, own in discretizer.kinds.items()}
        found = self._by_column(partial(_find_cuts, discretizer.inner, n_kinds))
        discretizer.inner.with_cuts([cuts for cuts, _ in found])
        if discretizer.kinds:
            discretizer.bins = {feature: found[feature][1] for feature in discretizer.kinds}

    def columns(self, find: Callable[[Sequence[str], Array], list[Any]]) -> list[Any]:
        """Look at columns, as many at a time as the memory allows; here, as what is found grows with the rows."""
        if self.runner.on_a_cluster:
            raise DataError(
                "this ranker keeps the bins of all rows in one place, a byte for each value, and learns from parts "
                "in one process only: leave client out, and give files instead of a Dask data frame"
            )
        return self._by_column(lambda features, pieces: find(features, _put_together(pieces)[0]))

    def _by_column(self, find: Callable[[Sequence[str], list[tuple[Array, Array]]], list[Any]]) -> list[Any]:
        names = self.shape.feature_names
        at_once = max(1, self.max_bytes // (ROW_BYTES * (2 if self.shape.normalize else 1) * self.survey.n_rows))
        groups = [names[first : first + at_once] for first in range(0, len(names), at_once)]
        return self.runner.columns(partial(columns_of, shape=self.shape), find, self.parts, groups)


class Sums(tuple[Any, ...]):
    """What was found in some blocks; that of neighbours is added up entry by entry.

    >>> Sums((1, ("a",))) + Sums((2, ("b",)))
    (3, ('a', 'b'))
    """

    def __add__(self, other: Any) -> Sums:
        return Sums(map(operator.add, self, other))


class StreamedLikelihood(BlockedLikelihood):
    """The same over blocks that are read anew at every look.

    The next look begins where the intercepts of a block were found last, so they go along and come back.
    """

    def __init__(self, parts: StreamedParts, make: Callable[[Labelled], QueryLikelihood], l2: float) -> None:
        self.parts, self.make, self.l2 = parts, make, l2
        self.spread, query_ids, self.n_comparisons, self.n_informative = parts.block_sums(partial(_facts_of, make))
        self.query_ids = np.concatenate(query_ids)
        self.scale, self.factors = self.spread.scale()
        self.extras: list[tuple[int, Array | None]] = [
            (number, None) for number in range(n_blocks(parts.survey.n_rows))
        ]
        self.best: list[Array] = []

    def __call__(self, coef: Array) -> Point:
        point, found = self.parts.block_sums(partial(_point_of, self.make, coef, self.spread), self.extras)
        for number, own, _ in found:
            self.extras[number] = number, own
        self.best = [best for _, _, best in found]
        return cast(Point, point.shrunken(coef, self.l2))

    def intercepts(self) -> Array:
        return np.concatenate(self.best)


def _facts_of(make: Callable[[Labelled], QueryLikelihood], rows: Labelled, _: Any) -> Sums:
    own = make(rows)
    return Sums((own.rows.spread, (rows.query_ids,), own.n_comparisons, int(own.used.sum())))


def _point_of(
    make: Callable[[Labelled], QueryLikelihood],
    coef: Array,
    spread: Spread,
    rows: Labelled,
    extra: tuple[int, Array | None],
) -> Sums:
    """Return what one look at a block found, and its intercepts: number, as found, and in the rows' units."""
    number, intercepts = extra
    own = make(rows)
    own.rows.put_on(spread)
    if intercepts is not None:
        own.intercepts = intercepts.copy()  # they are moved in place
    with one_blas_thread():
        return Sums((own(coef), ((number, own.intercepts, own.best_intercepts(coef)),)))


def _cut(read: Callable[[Any], Labelled], size: int, before: int, part: Any) -> dict[int, Labelled]:
    return dict(cut(read(part), size, before))


def _on_block(task: Callable[[Labelled, Any], Any], pieces: list[Labelled | None], extra: Any) -> Any:
    there = [piece for piece in pieces if piece is not None]
    return task(joined(there), extra) if there else None


def joined(pieces: Sequence[Labelled]) -> Labelled:
    """Put the pieces of one block together."""
    if len(pieces) == 1:
        return pieces[0]
    shifts = np.cumsum([0, *(len(piece.query_ids) for piece in pieces)])
    X, grades, ids = (
        np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("X", "grades", "query_ids")
    )
    queries = np.concatenate([piece.queries + shift for piece, shift in zip(pieces, shifts, strict=False)])
    return Labelled(X, grades, queries, ids, None, pieces[0].categories)


def _look_at(shape: Shape, prepare: Callable[[Labelled], Any] | None, look: Callable[[Any], Any], part: Part) -> Any:
    rows = labelled(part, shape)
    return look(rows if prepare is None else prepare(rows))


def _find_cuts(
    discretizer: Discretizer, n_kinds: dict[str, int], features: Sequence[str], pieces: list[tuple[Array, Array]]
) -> list[tuple[Array, Array | None]]:
    """Return the cuts of some columns, given in pieces with the grades, and the bins of those that name kinds."""
    X, grades = _put_together(pieces)
    cuts = discretizer.cuts_in(X, grades)
    return [
        (own, kind_bins(X[:, i], n_kinds[name]) if name in n_kinds else None)
        for i, (name, own) in enumerate(zip(features, cuts, strict=True))
    ]


def _put_together(pieces: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return columns and grades of all rows."""
    n_rows = sum(len(grades) for _, grades in pieces)
    X = np.empty((n_rows, pieces[0][0].shape[1]), dtype=pieces[0][0].dtype)
    grades = np.empty(n_rows, dtype=np.int16)
    place = 0
    while pieces:  # each is let go once it is copied
        values, own = pieces.pop(0)
        X[place : place + len(own)], grades[place : place + len(own)] = values, own
        place += len(own)
        del values, own
    return X, grades


@dataclass(frozen=True, eq=False)
class Survey:
    """What one part holds, or all of them."""

    sizes: tuple[int, ...]  # rows of each part that count
    n_queries: int
    n_left_out: int
    highest: int  # grade
    contrast: bool  # whether any query has documents of two grades
    hashes: Array  # uint64, of the query ids

    @property
    def n_rows(self) -> int:
        return sum(self.sizes)

    def check_contrast(self, purpose: str) -> None:
        """Refuse parts in which every query has one grade, as `check_contrast` does in memory."""
        if not self.contrast:
            raise no_contrast("each query has one grade only", purpose)


def survey_part(shape: Shape, part: Part) -> Survey:
    """Look at one part."""
    check_part(shape, part)
    keys = part.keys()
    if not keys.grades.size:
        raise DataError(f"{part.name}: the part is empty: it has no rows; leave it out")
    used = counted_rows(part.name, keys.grades, shape)
    grades, queries = keys.grades[used], keys.queries[used]
    n_left_out, highest = keys.grades.size - grades.size, int(keys.grades.max())
    contrast = has_contrast(grades, queries)
    return Survey(
        (grades.size,), np.unique(queries).size, n_left_out, highest, contrast, query_keys(keys.query_ids)[:, 0]
    )


def look_at_all(parts: Sequence[Part], shape: Shape, runner: Runner) -> Survey:
    """Look at every part, and refuse parts that share a query."""
    found: list[Survey] = runner.listed(partial(survey_part, shape), parts, "looking at queries")
    hashes = np.concatenate([one.hashes for one in found])
    numbers = np.repeat(np.arange(len(found)), [one.hashes.size for one in found])
    order = np.lexsort((numbers, hashes))
    hashes, numbers = hashes[order], numbers[order]
    same = np.flatnonzero(hashes[1:] == hashes[:-1])[:1000]
    check_whole(sorted({(int(numbers[i]), int(numbers[i + 1])) for i in same}), parts, runner)
    n_queries, n_left_out = (sum(getattr(one, name) for one in found) for name in ("n_queries", "n_left_out"))
    highest, contrast = max(one.highest for one in found), any(one.contrast for one in found)
    return Survey(tuple(one.n_rows for one in found), n_queries, n_left_out, highest, contrast, hashes)


def check_part(shape: Shape, part: Part) -> None:
    """Refuse a part whose columns are not those of the first, or that carries clicks where it is learned from."""
    if not shape.own_kinds:
        check_no_clicks(part)
    if isinstance(part, DatasetPart):
        if not shape.own_kinds:
            part.values(shape, shape.feature_names)
        return
    schema = part.schema()
    if part.columns.grade not in schema:
        raise ReadError(part.name, None, lacks(part.columns.grade, part.columns, schema))
    if not part.zeros:
        check_features(part.name, shape.feature_names, [*schema])
    for name in shape.feature_names:
        if not shape.own_kinds and name in schema:
            part.check_type(shape, name, schema[name])


def check_whole(twice: Sequence[tuple[int, int]], parts: Sequence[Part], runner: Runner) -> None:
    """Refuse parts that share a query."""
    for first, second in twice:
        one, other = runner.listed(_ids_of, [parts[first], parts[second]], "looking at queries")
        shared = [query for query in other if query in one]
        if shared:  # and not two ids with the same hash
            which = f"query {shared[0]!r}" if len(shared) == 1 else f"{len(shared):,} queries, such as {shared[0]!r}"
            raise DataError(
                f"{parts[first].name} and {parts[second].name} both have rows of {which}: parts must hold whole "
                "queries; sort the rows by query before they are cut into parts (a Dask frame: shuffle(on='qid')), or "
                "give different queries different ids"
            )


def _ids_of(part: Part) -> dict[str, None]:
    return dict.fromkeys(str(one) for one in part.keys().query_ids)


def _looked_at(part: Part) -> tuple[tuple[str, ...], Mapping[str, tuple[str, ...]]]:
    check_no_clicks(part)
    if isinstance(part, TablePart) and any(column in part.schema() for column in BASE_COLUMNS):
        warnings.warn(
            f"{part.name}: {' and '.join(BASE_COLUMNS)} are not used in parts: documents that are candidates only "
            "because they are judged count too (in Python, `TextFeatures.dataset(judged_extra=False)` leaves them out)",
            stacklevel=2,
        )
    return part.look()


def check_no_clicks(part: Part) -> None:
    """Refuse to learn from a part that carries clicks: what positions do is found from all rows at once."""
    if isinstance(part, TablePart):
        check_no_click_columns(part.name, part.schema())
    elif part.data.impressions is not None:
        check_no_click_columns(part.name, LOG_COLUMNS)


def check_no_click_columns(name: str, columns: Collection[str]) -> None:
    """Refuse to learn from columns that hold clicks, and say what to do."""
    if any(column in columns for column in LOG_COLUMNS):
        raise DataError(
            f"{name} has clicks, and training from clicks needs the data in memory: put them into one table, as "
            "`rulerank clicks` does with all files of a log, and train on that: rulerank train TABLE, in Python "
            "rr.read_table and fit"
        )


def shape_of(parts: Sequence[Part], runner: Runner, *, labelled_only: bool) -> Shape:
    """Return the features of the parts: those of the first, or of the widest where all are LETOR text."""
    names, categories = runner.listed(_looked_at, parts[:1], "looking at columns")[0]
    if all(isinstance(part, TablePart) and part.zeros for part in parts):
        names = max((part.look()[0] for part in parts), key=len)
    if not names:
        raise DataError(f"{parts[0].name} has no features: expected LETOR text, or a table with columns of numbers")
    return Shape(tuple(names), dict(categories), labelled_only=labelled_only)
