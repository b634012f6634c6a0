"""Rows of a log added up portion by portion: what is held are the keys that differ, and their sums.

Texts become numbers, the same in all portions, so that a key is a few numbers, which a table finds by hashing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from rulerank.clicks.adding_kernels import FREE, add_rows, fill_slots
from rulerank.dataset import Array

ROOM = 1 << 16  # keys at first
HALF = np.uint64(32)  # bits of a number in a key


class Sums:
    """Impressions and clicks, added up by two or three texts and the position.

    >>> sums = Sums(["query", "doc"])
    >>> rows = {"query": ["q", "p", "q"], "doc": ["a", "a", "a"], "position": 1, "impressions": 1, "clicks": [1, 0, 1]}
    >>> sums.add(pl.DataFrame(rows).select(sums.cells()))
    >>> sums.frame().sort("query").rows()
    [('p', 'a', 1, 1, 0), ('q', 'a', 1, 2, 2)]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        dtype = pl.Categorical(pl.Categories.random())  # lives as long as a column of it
        self._texts = {name: [pl.Series(name, [], dtype)] for name in texts}
        self._n = 0
        self._table = np.empty((ROOM, 4), dtype=np.uint64)  # the key's two words, impressions and clicks
        self._seen = np.empty(ROOM, dtype=np.int64)
        self._slots = np.full(2 * ROOM, FREE, dtype=np.int64)

    def cells(self) -> list[pl.Expr]:
        """Return the columns as `add` takes them; a position that is out of bounds is missing."""
        texts = [pl.col(name).cast(known[0].dtype) for name, known in self._texts.items()]
        return [
            *texts,
            pl.col("position").cast(pl.UInt32, strict=False),
            pl.col("impressions", "clicks").cast(pl.UInt64, strict=False),
        ]

    def add(self, rows: pl.DataFrame) -> None:
        """Add rows, none of whose cells is missing."""
        codes = [rows[name].to_physical().to_numpy().astype(np.uint64) for name in (*self._texts, "position")]
        first, second = codes[0] << HALF | codes[1], codes[-1] << HALF
        if len(self._texts) > 2:
            second |= codes[2]
        amounts = rows["impressions"].to_numpy(), rows["clicks"].to_numpy()
        n_before, done = self._n, 0
        while True:
            state = self._slots, self._table, self._seen, self._n
            self._n, done = add_rows(*state, first, second, amounts, done)
            if done == len(rows):
                break
            self._grow()
        new = pl.Series(self._seen[n_before : self._n])
        for name, known in self._texts.items():
            known.append(rows[name].gather(new))

    def frame(self) -> pl.DataFrame:
        """Return the keys, each once, and their sums."""
        texts = [pl.concat(known).cast(pl.String) for known in self._texts.values()]
        found = self._table[: self._n]
        numbers = {"position": found[:, 1] >> HALF, "impressions": found[:, 2], "clicks": found[:, 3]}
        return pl.DataFrame(texts + [pl.Series(name, one.astype(np.int64)) for name, one in numbers.items()])

    def _grow(self) -> None:
        room = 2 * len(self._table)
        self._table, self._seen = _longer(self._table, room), _longer(self._seen, room)
        self._slots = np.full(2 * room, FREE, dtype=np.int64)
        fill_slots(self._slots, self._table, self._n)


def _longer(rows: Array, room: int) -> Array:
    longer = np.empty((room, *rows.shape[1:]), dtype=rows.dtype)
    longer[: len(rows)] = rows
    return longer
