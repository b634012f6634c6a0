"""Chunks: training rows cut into the same pieces however they came, for sums of floats that must not depend on it.

A chunk holds the queries whose first row is one of so many neighbours, counted in the order in which queries appear. It
is the same whether the rows come from memory, from two files or from a hundred, and so is a sum that is formed within
chunks first and then over chunks, in the order of their numbers.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from rulerank.rankers.checked import Labelled

AT_ONCE = 8  # values that are added up in a row; then the sums of so many, and so on


class Chunks(Protocol):
    """Chunks of training data, each a value: `Labelled` rows, or what `mapped` made of them."""

    @property
    def n_chunks(self) -> int:
        """How many there are, those in which no query begins among them."""
        ...

    def mapped(self, change: Callable[[Any], Any]) -> Chunks:
        """Return the chunks as `change` makes each of them; they may be made anew whenever they are looked at."""
        ...

    def total(self, look: Callable[..., Any], extras: Sequence[Any] | None = None) -> Any:
        """Return the sum of look(chunk), or look(chunk, its extra), in the order of the chunks."""
        ...


class KeptChunks:
    """Chunks of data in memory: made once."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values  # None for a chunk in which no query begins

    @property
    def n_chunks(self) -> int:
        return len(self.values)

    def mapped(self, change: Callable[[Any], Any]) -> KeptChunks:
        return KeptChunks([None if value is None else change(value) for value in self.values])

    def total(self, look: Callable[..., Any], extras: Sequence[Any] | None = None) -> Any:
        return summed(
            [
                None if value is None else look(value) if extras is None else look(value, extras[number])
                for number, value in enumerate(self.values)
            ]
        )


def summed(values: Sequence[Any]) -> Any:
    """Add values up, eight neighbours at a time, then the sums of eight, and so on; None counts for nothing.

    >>> summed([1, None, 2, 3])
    6
    """
    while len(values) > 1:
        values = [added(values[first : first + AT_ONCE]) for first in range(0, len(values), AT_ONCE)]
    return values[0] if values else None


def added(values: Sequence[Any]) -> Any:
    """Add up neighbours, from the first to the last."""
    there = [value for value in values if value is not None]
    return functools.reduce(operator.add, there) if there else None


def cut(data: Labelled, size: int, before: int = 0) -> list[tuple[int, Labelled]]:
    """Return the pieces of rows that belong to each chunk, with its number; `before`: rows that came before these.

    >>> rows = Labelled(np.array([[1.0], [2.0], [3.0]]), np.zeros(3), np.array([0, 1, 0]), np.array(["a", "b"]))
    >>> [(number, piece.X.ravel().tolist()) for number, piece in cut(rows, 2)]
    [(0, [1.0, 3.0]), (1, [2.0])]
    """
    counts = np.bincount(data.queries, minlength=len(data.query_ids))
    bounds = np.concatenate([[0], np.cumsum(counts)])
    chunk = (bounds[:-1] + before) // size
    if chunk[0] == chunk[-1]:
        return [(int(chunk[0]), data)]
    if (np.diff(data.queries) < 0).any():
        order = np.argsort(data.queries, kind="stable")
        weights = None if data.weights is None else data.weights[order]
        data = data._replace(X=data.X[order], grades=data.grades[order], queries=data.queries[order], weights=weights)
    firsts = np.flatnonzero(np.diff(chunk, prepend=-1))
    pieces = []
    for first, last in zip(firsts, [*firsts[1:], len(counts)], strict=True):
        rows = slice(bounds[first], bounds[last])
        piece = Labelled(
            data.X[rows],
            data.grades[rows],
            data.queries[rows] - first,
            data.query_ids[first:last],
            None if data.weights is None else data.weights[rows],
            data.categories,
        )
        pieces.append((int(chunk[first]), piece))
    return pieces


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


def kept_chunks(data: Labelled, size: int) -> KeptChunks:
    """Cut data in memory."""
    values: list[Any] = [None] * (-(-data.X.shape[0] // size))
    for number, piece in cut(data, size):
        values[number] = piece
    return KeptChunks(values)
