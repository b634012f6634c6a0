"""Parts as rankers learn from them: passes over parts, and cuts that are found a few columns at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from rulerank.core.progress import progress
from rulerank.dataset import Array
from rulerank.discretize import Discretizer, WithCategories
from rulerank.discretize.categories import kind_bins
from rulerank.errors import DataError
from rulerank.rankers.checked import Labelled
from rulerank.rankers.chunks import Chunks, cut, joined, summed
from rulerank.rankers.parts import Facts, TrainingParts, too_large
from rulerank.scale.part import Part, Shape, columns_of, labelled

ROW_BYTES = 34  # of a row of one column while its cuts are looked for: the value, its key, what the search needs


class Runner(Protocol):
    """Who looks at parts: this process, one part after the other, or a cluster."""

    def total(
        self, task: Callable[[Any], Any], items: Sequence[Any], label: str, end: Callable[[Any], Any] | None = None
    ) -> Any:
        """Return the sum of task(item) over all items, or what `end` makes of it where it was formed."""
        ...

    def listed(self, task: Callable[[Any], Any], items: Sequence[Any], label: str) -> list[Any]:
        """Return task(item) of each item, in their order."""
        ...

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
        ...

    def columns(
        self,
        read: Callable[[Any, Sequence[str]], tuple[Array, Array]],
        find: Callable[[Sequence[str], list[tuple[Array, Array]]], list[Any]],
        items: Sequence[Any],
        groups: Sequence[Sequence[str]],
    ) -> list[Any]:
        """Return find(group, [read(item, group) for all items]) of each group of columns, one after the other."""
        ...


class InProcess:
    """Looks at one part after the other, and holds no more than one and the sum so far."""

    def total(
        self, task: Callable[[Any], Any], items: Sequence[Any], label: str, end: Callable[[Any], Any] | None = None
    ) -> Any:
        result = None
        with progress(len(items), label) as bar:
            for item in items:
                found = task(item)
                if result is None:
                    result = found
                else:
                    result += found  # in place, where the sum can
                bar.advance()
        return result if end is None else end(result)

    def listed(self, task: Callable[[Any], Any], items: Sequence[Any], label: str) -> list[Any]:
        with progress(len(items), label) as bar:
            found = []
            for item in items:
                found.append(task(item))
                bar.advance()
        return found

    def chunks(
        self,
        read: Callable[[Any], Labelled],
        task: Callable[[Labelled, Any], Any],
        items: Sequence[Any],
        sizes: Sequence[int],
        size: int,
        extras: Sequence[Any],
    ) -> Any:
        found: list[Any] = [None] * len(extras)
        waiting: dict[int, list[Labelled]] = {}
        before = 0
        with progress(len(items), "looking at parts") as bar:
            for item, n_rows in zip(items, sizes, strict=True):
                for number, piece in cut(read(item), size, before):
                    waiting.setdefault(number, []).append(piece)
                before += n_rows
                done = before // size if item is not items[-1] else len(extras)
                for number in sorted(number for number in waiting if number < done):
                    found[number] = task(joined(waiting.pop(number)), extras[number])
                bar.advance()
        return summed(found)

    def columns(
        self,
        read: Callable[[Any, Sequence[str]], tuple[Array, Array]],
        find: Callable[[Sequence[str], list[tuple[Array, Array]]], list[Any]],
        items: Sequence[Any],
        groups: Sequence[Sequence[str]],
    ) -> list[Any]:
        found = []
        with progress(len(groups), "finding cuts") as bar:
            for group in groups:
                found += find(group, [read(item, group) for item in items])
                bar.advance()
        return found


@dataclass(frozen=True, eq=False)
class StreamedParts:
    """Parts that are read anew in every pass; `TrainingParts` for rankers."""

    parts: Sequence[Part]
    shape: Shape
    facts: Facts
    runner: Runner
    sizes: Sequence[int]  # rows of each part
    max_bytes: int  # for columns that are held at once
    changes: tuple[Callable[[Any], Any], ...] = ()

    def mapped(self, change: Callable[[Any], Any]) -> TrainingParts:
        return replace(self, changes=(*self.changes, change))

    def total(self, look: Callable[[Any], Any]) -> Any:
        return self.runner.total(partial(_look_at, self.shape, self.changes, look), self.parts, _label(look))

    def fitted(self, discretizer: Any) -> Any:
        """Find cuts, as many columns at a time as the memory allows: the same ones as all columns at once have."""
        inner = discretizer.inner if isinstance(discretizer, WithCategories) else discretizer
        if not isinstance(inner, Discretizer):
            raise DataError(
                f"{type(inner).__name__} looks at all rows at once, so that it cannot learn from parts: choose a "
                "discretizer of this library by name, or put X into bins first and train with discretizer=None"
            )
        kinds = discretizer.kinds if isinstance(discretizer, WithCategories) else {}
        names = self.facts.feature_names
        n_kinds = {names[feature]: len(own) for feature, own in kinds.items()}
        found = self.runner.columns(
            partial(_read_columns, self.shape),
            partial(_find_cuts, inner, n_kinds),
            self.parts,
            self._column_groups(),
        )
        inner.with_cuts([cuts for cuts, _ in found])
        if isinstance(discretizer, WithCategories):
            discretizer.bins = {feature: found[feature][1] for feature in kinds}
        return discretizer

    def by_column(self, find: Callable[[Sequence[str], Array], list[Any]]) -> list[Any]:
        """Look at columns, as many at a time as the memory allows; here, as what is found grows with the rows."""
        if not isinstance(self.runner, InProcess):
            raise DataError(
                "this ranker keeps the bins of all rows in one place, a byte for each value, and learns from parts "
                "in one process only: leave client out, and give files instead of a Dask data frame"
            )
        return self.runner.columns(
            partial(_read_columns, self.shape), partial(_find_in, find), self.parts, self._column_groups()
        )

    def _column_groups(self) -> list[tuple[str, ...]]:
        names = self.facts.feature_names
        at_once = max(1, self.max_bytes // (ROW_BYTES * (2 if self.shape.normalize else 1) * self.facts.n_rows))
        return [names[first : first + at_once] for first in range(0, len(names), at_once)]

    def chunked(self, n_rows: int) -> Chunks:
        return StreamedChunks(self, n_rows)

    def whole(self, why: str) -> Any:
        raise too_large(why)


@dataclass(frozen=True, eq=False)
class StreamedChunks:
    """Chunks that are read anew in every pass; `Chunks` for rankers."""

    parts: StreamedParts
    size: int
    changes: tuple[Callable[[Any], Any], ...] = ()

    def mapped(self, change: Callable[[Any], Any]) -> Chunks:
        return replace(self, changes=(*self.changes, change))

    @property
    def n_chunks(self) -> int:
        return -(-self.parts.facts.n_rows // self.size)

    def total(self, look: Callable[..., Any], extras: Sequence[Any] | None = None) -> Any:
        parts = self.parts
        return parts.runner.chunks(
            partial(_labelled, parts.shape),
            partial(_look_at_chunk, self.changes, look, extras is not None),
            parts.parts,
            parts.sizes,
            self.size,
            [None] * self.n_chunks if extras is None else extras,
        )


def _labelled(shape: Shape, part: Part) -> Labelled:
    return labelled(part, shape)


def _look_at_chunk(
    changes: tuple[Callable[[Any], Any], ...], look: Callable[..., Any], with_extra: bool, chunk: Labelled, extra: Any
) -> Any:
    value: Any = chunk
    for change in changes:
        value = change(value)
    return look(value, extra) if with_extra else look(value)


def _look_at(shape: Shape, changes: tuple[Callable[[Any], Any], ...], look: Callable[[Any], Any], part: Part) -> Any:
    value: Any = labelled(part, shape)
    for change in changes:
        value = change(value)
    return look(value)


def _read_columns(shape: Shape, part: Part, features: Sequence[str]) -> tuple[Array, Array]:
    return columns_of(part, shape, features)


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


def _find_in(
    find: Callable[[Sequence[str], Array], list[Any]], features: Sequence[str], pieces: list[tuple[Array, Array]]
) -> list[Any]:
    return find(features, _put_together(pieces)[0])


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


def _label(look: Callable[[Any], Any]) -> str:
    name = getattr(getattr(look, "func", look), "__name__", "passes")
    return {"of": "counting features", "count": "counting feature sets"}.get(name, "looking at parts")
