"""Impressions and clicks of documents at positions, added up: the value that a click log becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars as pl

from rulerank.clicks.joining import Match, match_pool
from rulerank.core.words import counted
from rulerank.dataset import Array, Dataset, check_column
from rulerank.errors import DataError
from rulerank.io.table_columns import shared_strings
from rulerank.shown import Shown

KEYS = ("query", "doc", "position", "device")
COUNTS = ("impressions", "clicks")


@dataclass(frozen=True, eq=False)
class ClickCounts:
    """One row per query, document and position, sorted by them: how often it was shown there, and clicked.

    >>> counts = ClickCounts(["q1", "q1"], ["a", "b"], position=[1, 2], impressions=[100, 100], clicks=[30, 4])
    >>> counts
    ClickCounts(1 query, 2 documents, 2 positions, 200 impressions, 34 clicks)
    """

    query: Array  # (n_rows,) text: the query's id, or what was typed
    doc: Array  # (n_rows,) text
    position: Array  # int32 from 1, the top
    impressions: Array  # int64 from 1
    clicks: Array  # int64 from 0 to the impressions
    device: Array | None = None  # (n_rows,) text, where devices are kept apart

    def __post_init__(self) -> None:
        frame = _checked({field.name: getattr(self, field.name) for field in fields(self)})
        keys = keys_of(frame)
        twice = frame.filter(frame.select(keys).is_duplicated())
        if len(twice):
            one = ", ".join(f"{name} {twice[name][0]!r}" for name in keys)
            raise DataError(f"{one} is there more than once: add the rows up first (ClickCounts.add_up)")
        for name, column in _arrays(frame.sort(keys)).items():
            object.__setattr__(self, name, column)

    @classmethod
    def add_up(
        cls, query: Any, doc: Any, position: Any, clicks: Any, impressions: Any = None, device: Any = None
    ) -> ClickCounts:
        """Add up rows that may be there several times; without impressions each row is one.

        >>> ClickCounts.add_up(["q", "q"], ["a", "a"], position=[1, 1], clicks=[0, 1])
        ClickCounts(1 query, 1 document, 1 position, 2 impressions, 1 click)
        """
        impressions = np.ones(len(clicks), dtype=np.int64) if impressions is None else impressions
        columns = {"query": query, "doc": doc, "position": position, "impressions": impressions, "clicks": clicks}
        return cls.from_frame(_checked(columns | {"device": device}))

    @classmethod
    def from_frame(cls, frame: pl.DataFrame) -> ClickCounts:
        """Add up the rows of a frame: query, doc, position, impressions and clicks, and maybe device."""
        return cls(**_arrays(frame.group_by(keys_of(frame)).agg(pl.col(*COUNTS).sum())))

    def __len__(self) -> int:
        return int(self.position.size)

    def __repr__(self) -> str:
        n_docs = len(set(zip(self.query, self.doc, strict=True)))
        return (
            f"ClickCounts({counted(len(set(self.query)), 'query', 'queries')}, {counted(n_docs, 'document')}, "
            f"{counted(np.unique(self.position).size, 'position')}, "
            f"{counted(int(self.impressions.sum()), 'impression')}, {counted(int(self.clicks.sum()), 'click')})"
        )

    def frame(self) -> pl.DataFrame:
        """Return the columns as a Polars frame.

        >>> ClickCounts(["q"], ["a"], [1], [100], [30]).frame().rows()
        [('q', 'a', 1, 100, 30)]
        """
        return _frame({field.name: getattr(self, field.name) for field in fields(self)})

    def match(self, pool: Dataset, *, by: str | None = None) -> Match:
        """Return where each row's document stands in the pool; `by` as in `join`."""
        return match_pool(self.frame(), pool, by)

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


def _checked(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return the columns as a frame after looking at every value."""
    shown = Shown(*(columns[name] for name in ("position", *COUNTS, "device")))
    ids = {name: check_column(name, columns[name], len(shown)) for name in ("query", "doc")}
    for name, column in ids.items():
        empty = next((row for row, one in enumerate(column.tolist()) if one is None or one == ""), None)
        if empty is not None:
            raise DataError(f"{name} must not be empty: row {empty} has nothing there")
    counts = {name: getattr(shown, name) for name in ("position", *COUNTS, "device")}
    return _frame(ids | counts)


def _frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    texts = {name: columns[name] for name in ("query", "doc", "device") if columns[name] is not None}
    made = [pl.Series(name, [str(one) for one in column.tolist()], dtype=pl.String) for name, column in texts.items()]
    frame = pl.DataFrame(made + [pl.Series(name, columns[name]) for name in ("position", *COUNTS)])
    return frame.select(*keys_of(frame), *COUNTS)


def _arrays(frame: pl.DataFrame) -> dict[str, Array]:
    return {
        name: shared_strings(column) if column.dtype == pl.String else column.to_numpy()
        for name, column in zip(frame.columns, frame.iter_columns(), strict=True)
    }
