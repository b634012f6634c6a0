"""Impressions and clicks of documents at positions, added up: the value that a click log becomes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from rulerank.clicks.joining import Match, match_pool
from rulerank.core.words import counted
from rulerank.dataset import Array, Dataset, check_column
from rulerank.errors import DataError
from rulerank.shown import Shown

KEYS = ("query", "doc", "position", "device")
COUNTS = ("impressions", "clicks")


@dataclass(frozen=True, eq=False, init=False)
class ClickCounts:
    """One row per query, document and position, sorted by them: how often it was shown there, and clicked.

    The columns are arrays: `query` and `doc` (text; a query is its id, or what was typed), `position` (from 1, the
    top), `impressions` (from 1), `clicks` (from 0 to the impressions), and `device` (text; None where none is kept).

    >>> counts = ClickCounts(["q1", "q1"], ["a", "b"], position=[1, 2], impressions=[100, 100], clicks=[30, 4])
    >>> counts
    ClickCounts(1 query, 2 documents, 2 positions, 200 impressions, 34 clicks)
    >>> counts.clicks.tolist()
    [30, 4]
    """

    table: pl.DataFrame  # the columns as Polars holds them: without a Python object per cell, a large log fits

    def __init__(self, query: Any, doc: Any, position: Any, impressions: Any, clicks: Any, device: Any = None) -> None:
        frame = _checked(query, doc, position, impressions, clicks, device)
        keys = keys_of(frame)
        if frame.select(keys).n_unique() < len(frame):
            twice = frame.filter(frame.select(keys).is_duplicated())
            one = ", ".join(f"{name} {twice[name][0]!r}" for name in keys)
            raise DataError(f"{one} is there more than once: add the rows up first (ClickCounts.add_up)")
        object.__setattr__(self, "table", frame.sort(keys))

    @classmethod
    def add_up(
        cls, query: Any, doc: Any, position: Any, clicks: Any, impressions: Any = None, device: Any = None
    ) -> ClickCounts:
        """Add up rows that may be there several times; without impressions each row is one.

        >>> ClickCounts.add_up(["q", "q"], ["a", "a"], position=[1, 1], clicks=[0, 1])
        ClickCounts(1 query, 1 document, 1 position, 2 impressions, 1 click)
        """
        impressions = np.ones(len(clicks), dtype=np.int64) if impressions is None else impressions
        frame = _checked(query, doc, position, impressions, clicks, device)
        return cls.from_checked(frame.group_by(keys_of(frame)).agg(pl.col(*COUNTS).sum()))

    @classmethod
    def from_checked(cls, frame: pl.DataFrame) -> ClickCounts:
        """Return the counts that a frame holds, whose values were looked at and whose keys are there once."""
        counts = cls.__new__(cls)
        keys = keys_of(frame)
        typed = frame.with_columns(pl.col("position").cast(pl.Int32), pl.col(*COUNTS).cast(pl.Int64))
        object.__setattr__(counts, "table", typed.select(*keys, *COUNTS).sort(keys))
        return counts

    @cached_property
    def query(self) -> Array:
        """Text (n_rows,): the query's id, or what was typed."""
        return _texts(self.table["query"])

    @cached_property
    def doc(self) -> Array:
        """Text (n_rows,): the document's id."""
        return _texts(self.table["doc"])

    @cached_property
    def position(self) -> Array:
        """int32 (n_rows,): from 1, the top."""
        return self.table["position"].to_numpy()

    @cached_property
    def impressions(self) -> Array:
        """int64 (n_rows,): from 1."""
        return self.table["impressions"].to_numpy()

    @cached_property
    def clicks(self) -> Array:
        """int64 (n_rows,): from 0 to the impressions."""
        return self.table["clicks"].to_numpy()

    @cached_property
    def device(self) -> Array | None:
        """Text (n_rows,): on which device; None where devices are not kept apart."""
        return _texts(self.table["device"]) if "device" in self.table.columns else None

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        sums = self.table.select(pl.col(*COUNTS).sum()).row(0)
        n_queries, n_positions = self.table["query"].n_unique(), self.table["position"].n_unique()
        return (
            f"ClickCounts({counted(n_queries, 'query', 'queries')}, "
            f"{counted(self.table.select('query', 'doc').n_unique(), 'document')}, "
            f"{counted(n_positions, 'position')}, {counted(sums[0], 'impression')}, {counted(sums[1], 'click')})"
        )

    def match(self, pool: Dataset, *, by: str | None = None) -> Match:
        """Return where each row's document stands in the pool; `by` as in `join`."""
        return match_pool(self.table, pool, by)

    def join(self, pool: Dataset, *, by: str | None = None) -> Dataset:
        """Return the pool's documents that were shown, one row per position, in the pool's order.

        Each row carries the pool's features, grade and texts, and `shown`: its position, impressions and clicks.
        Documents of the log that the pool does not hold are left out; `rulerank clicks` says how many.

        by: "id" where the log names queries as the pool's qid does, "text" where it holds what was typed and the pool
            has that as query_text or query; None takes the one by which more impressions are found.

        >>> pool = Dataset([[0.5], [0.1]], [-1, -1], ["q", "q"], docid=["a", "b"])
        >>> ClickCounts(["q", "q"], ["a", "a"], [1, 2], [100, 90], [30, 4]).join(pool)
        Dataset(2 rows, 1 query, 1 feature, grades not labelled: 2, 190 impressions, 34 clicks)
        """
        return self.match(pool, by=by).joined(pool)


def keys_of(frame: pl.DataFrame | pl.LazyFrame) -> list[str]:
    """Return the columns that tell rows apart: query, doc, position, and the device where it is kept."""
    there = frame.collect_schema().names()
    return [name for name in KEYS if name in there]


def _checked(query: Any, doc: Any, position: Any, impressions: Any, clicks: Any, device: Any) -> pl.DataFrame:
    """Return the columns as a frame after looking at every value."""
    shown = Shown(position, impressions, clicks, device)
    texts = {"query": check_column("query", query, len(shown)), "doc": check_column("doc", doc, len(shown))}
    for name, column in texts.items():
        empty = next((row for row, one in enumerate(column.tolist()) if one is None or one == ""), None)
        if empty is not None:
            raise DataError(f"{name} must not be empty: row {empty} has nothing there")
    texts |= {} if shown.device is None else {"device": shown.device}
    made = [pl.Series(name, [str(one) for one in column.tolist()], dtype=pl.String) for name, column in texts.items()]
    frame = pl.DataFrame(made + [pl.Series(name, getattr(shown, name)) for name in ("position", *COUNTS)])
    return frame.select(*keys_of(frame), *COUNTS)


def _texts(column: pl.Series) -> Array:
    """Return an object array in which equal texts are one object."""
    known = column.unique()
    codes = column.cast(pl.Enum(known)).to_physical().to_numpy()
    return np.array(known.to_list(), dtype=object)[codes]
