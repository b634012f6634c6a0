"""Parts as rankers learn from them: passes over parts, and cuts that are found a few columns at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from rulerank.core.progress import progress
from rulerank.dataset import Array
from rulerank.discretize import Discretizer, WithCategories
from rulerank.discretize.binning import kind_bins
from rulerank.errors import DataError
from rulerank.rankers import chunks
from rulerank.rankers.chunks import Sums, cut, summed
from rulerank.rankers.rows import Labelled
from rulerank.scale.part import Part, Shape, columns_of, labelled

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
        with progress(len(items), label) as bar:
            for item in items:
                found = task(item)
                if result is None:
                    result = found
                else:
                    result += found  # in place, where the sum can
                bar.advance()
        return result

    def listed(self, task: Callable[..., Any], items: Sequence[Any], label: str) -> list[Any]:
        """Return task(item) of each item, in their order."""
        found = []
        with progress(len(items), label) as bar:
            for item in items:
                found.append(self.later(task, item))
                bar.advance()
        return [*self.get(found)]

    def chunks(
        self,
        read: Callable[[Any], Labelled],
        task: Callable[[Labelled, Any], Any],
        items: Sequence[Any],
        sizes: Sequence[int],
        size: int,
        extras: Sequence[Any],
    ) -> Any:
        """Return the sum of task(chunk, extra) over all chunks of so many rows, in their order."""
        found: list[Any] = []
        waiting: dict[int, list[Any]] = {number: [] for number in range(len(extras))}
        before = 0
        with progress(len(items), "looking at parts") as bar:
            for item, n_rows in zip(items, sizes, strict=True):
                pieces = self.later(_cut, read, size, before, item)
                for number in range(before // size, (before + n_rows - 1) // size + 1):
                    waiting[number].append(self.later(dict.get, pieces, number))
                before += n_rows
                done = before // size if item is not items[-1] else len(extras)
                new = range(len(found), done)
                found += [self.later(_on_chunk, task, waiting.pop(number), extras[number]) for number in new]
                bar.advance()
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
        found = []
        with progress(len(groups), "finding cuts") as bar:
            for group in groups:
                found.append(self.later(find, group, [self.later(read, item, group) for item in items]))
                bar.advance()
        return [one for several in self.get(found) for one in several]


@dataclass(frozen=True, eq=False)
class StreamedParts:
    """Parts that are read anew in every pass."""

    parts: Sequence[Part]
    shape: Shape
    runner: Runner
    sizes: Sequence[int]  # rows of each part
    n_grades: int
    max_bytes: int  # for columns that are held at once

    @property
    def n_rows(self) -> int:
        return sum(self.sizes)

    def total(self, look: Callable[[Any], Any], prepare: Callable[[Labelled], Any] | None = None) -> Any:
        """Return the sum of look(part), or of look(prepare(part)), over all parts."""
        return self.runner.total(partial(_look_at, self.shape, prepare, look), self.parts, "looking at parts")

    def chunk_sums(self, prepare: Callable[[Labelled], Any]) -> Sums:
        """Return what adds up a function of chunks, which are made ready anew in every pass."""

        def total(look: Callable[[Any, Any], Any], extras: Sequence[Any]) -> Any:
            task = partial(_look_at_chunk, prepare, look)
            read = partial(labelled, shape=self.shape)
            return self.runner.chunks(read, task, self.parts, self.sizes, chunks.CHUNK_ROWS, extras)

        return total

    def find_cuts(self, discretizer: Any) -> None:
        """Find cuts, as many columns at a time as the memory allows: the same ones as all columns at once have."""
        inner = discretizer.inner if isinstance(discretizer, WithCategories) else discretizer
        if not isinstance(inner, Discretizer):
            raise DataError(
                f"{type(inner).__name__} looks at all rows at once, so that it cannot learn from parts: choose a "
                "discretizer of this library by name, or put X into bins first and train with discretizer=None"
            )
        kinds = discretizer.kinds if isinstance(discretizer, WithCategories) else {}
        n_kinds = {self.shape.feature_names[feature]: len(own) for feature, own in kinds.items()}
        found = self._by_column(partial(_find_cuts, inner, n_kinds))
        inner.with_cuts([cuts for cuts, _ in found])
        if isinstance(discretizer, WithCategories):
            discretizer.bins = {feature: found[feature][1] for feature in kinds}

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
        at_once = max(1, self.max_bytes // (ROW_BYTES * (2 if self.shape.normalize else 1) * self.n_rows))
        groups = [names[first : first + at_once] for first in range(0, len(names), at_once)]
        return self.runner.columns(partial(columns_of, shape=self.shape), find, self.parts, groups)


def _cut(read: Callable[[Any], Labelled], size: int, before: int, part: Any) -> dict[int, Labelled]:
    return dict(cut(read(part), size, before))


def _on_chunk(task: Callable[[Labelled, Any], Any], pieces: list[Labelled | None], extra: Any) -> Any:
    there = [piece for piece in pieces if piece is not None]
    return task(joined(there), extra) if there else None


def joined(pieces: Sequence[Labelled]) -> Labelled:
    """Put pieces of one chunk together."""
    if len(pieces) == 1:
        return pieces[0]
    assert not any(issparse(piece.X) for piece in pieces)
    shifts = np.cumsum([0, *(len(piece.query_ids) for piece in pieces)])
    return Labelled(
        np.concatenate([piece.X for piece in pieces]),
        np.concatenate([piece.grades for piece in pieces]),
        np.concatenate([piece.queries + shift for piece, shift in zip(pieces, shifts, strict=False)]),
        np.concatenate([piece.query_ids for piece in pieces]),
        None,
        pieces[0].categories,
    )


def _look_at(shape: Shape, prepare: Callable[[Labelled], Any] | None, look: Callable[[Any], Any], part: Part) -> Any:
    rows = labelled(part, shape)
    return look(rows if prepare is None else prepare(rows))


def _look_at_chunk(
    prepare: Callable[[Labelled], Any], look: Callable[[Any, Any], Any], chunk: Labelled, extra: Any
) -> Any:
    return look(prepare(chunk), extra)


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
