"""Chunks: training rows cut into the same pieces however they came, for sums of floats that must not depend on it.

A chunk holds the queries whose first row is one of so many neighbours, counted in the order in which queries appear. It
is the same whether the rows come from memory, from two files or from a hundred, and so is a sum that is formed within
chunks first and then over chunks, in the order of their numbers.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from rulerank.rankers.rows import Labelled

CHUNK_ROWS = 2**17  # of 46 features 24 MiB: what may travel when a chunk lies in two parts
AT_ONCE = 8  # values that are added up in a row; then the sums of so many, and so on
Sums = Callable[[Callable[[Any, Any], Any], Sequence[Any]], Any]  # of look(chunk, its extra) over all chunks, in order


class Summable:
    """Base of data classes that add up field by field: numbers and arrays are added, tuples follow each other."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(operator.add, vars(self).values(), vars(other).values()))


def in_memory(chunks: Sequence[Labelled | None], prepare: Callable[[Labelled], Any]) -> Sums:
    """Return what adds up a function of chunks, each made ready once; None is one in which no query begins."""
    made = [None if chunk is None else prepare(chunk) for chunk in chunks]

    def total(look: Callable[[Any, Any], Any], extras: Sequence[Any]) -> Any:
        pairs = zip(made, extras, strict=True)
        return summed([None if chunk is None else look(chunk, extra) for chunk, extra in pairs])

    return total


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
    data = data.by_query()
    firsts = np.flatnonzero(np.diff(chunk, prepend=-1))
    pieces = []
    for first, last in zip(firsts, [*firsts[1:], len(counts)], strict=True):
        piece = data.rows(slice(bounds[first], bounds[last]))
        pieces.append(
            (int(chunk[first]), piece._replace(queries=piece.queries - first, query_ids=data.query_ids[first:last]))
        )
    return pieces


def chunked(data: Labelled) -> list[Labelled | None]:
    """Cut data in memory into all its chunks; None is one in which no query begins."""
    chunks: list[Labelled | None] = [None] * n_chunks(data.X.shape[0])
    for number, piece in cut(data, CHUNK_ROWS):
        chunks[number] = piece
    return chunks


def n_chunks(n_rows: int) -> int:
    """Return how many chunks so many rows have, those in which no query begins among them."""
    return -(-n_rows // CHUNK_ROWS)
