"""The training rows of a ranker that learns on: in bins, query by query, in an order that only their content decides.

A new label changes what its query leads one to expect, and with it what the query's other rows count. So a ranker that
is to add or remove rows exactly must know the rows of each query: a byte for each feature, a grade, and which query.
Queries are known by a hash of their name: the same query is found again, and no name is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError, ModelFileError
from rulerank.rules.layout import MAX_BINS
from rulerank.rules.tables import Rows


@dataclass(frozen=True, eq=False)
class LooseRows:
    """Training rows in bins as they came: those of two shards add up, and `in_order` sorts them once it matters."""

    bins: Array  # uint8 (n_features, n_rows)
    grades: Array  # (n_rows,)
    queries: Array  # int64 (n_rows,) numbers of the ids
    query_ids: Array

    def __add__(self, other: LooseRows) -> LooseRows:
        return LooseRows(
            np.concatenate([self.bins, other.bins], axis=1),
            np.concatenate([self.grades, other.grades]),
            np.concatenate([self.queries, other.queries + len(self.query_ids)]),
            np.concatenate([self.query_ids, other.query_ids]),
        )

    def in_order(self) -> KeptRows | None:
        """Return the rows sorted; None when different queries, such as 1 and "1", have the same name."""
        keys, number = np.unique(query_keys(self.query_ids), axis=0, return_inverse=True)
        if len(keys) < len(self.query_ids):
            return None
        return KeptRows.sorted(self.bins, self.grades, number.reshape(-1)[self.queries], keys)


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Training rows in bins, sorted by query, then by bins, then by grade.

    >>> def rows(bins, grades, queries, ids):
    ...     return LooseRows(np.array(bins, dtype=np.uint8), np.array(grades), np.array(queries), ids).in_order()
    >>> kept = rows([[1, 0, 1]], [2, 0, 0], [0, 0, 1], ["a", "b"])
    >>> one = rows([[1]], [1], [0], ["b"])
    >>> more = kept.with_rows(one)
    >>> more.n_rows, more.without(one).n_rows, kept.rows(3).n_rows
    (4, 3, 3)
    """

    bins: Array  # uint8 (n_features, n_rows)
    grades: Array  # uint8 (n_rows,)
    starts: Array  # int64 (n_queries + 1,) first row of each query, and the number of rows
    keys: Array  # uint64 (n_queries, 2) which query it is, ascending

    @staticmethod
    def sorted(bins: Array, grades: Array, numbers: Array, keys: Array) -> KeptRows:
        """Sort rows whose queries have these ascending keys; queries without rows are left out."""
        graded = grades.astype(np.uint8)
        order = np.argsort(_records(bins, graded, numbers), kind="stable")
        sizes = np.bincount(numbers, minlength=len(keys))
        return KeptRows(_columns(bins, order), graded[order], _starts(sizes[sizes > 0]), keys[sizes > 0])

    @property
    def n_rows(self) -> int:
        return int(self.grades.size)

    @property
    def n_grades(self) -> int:
        """The highest grade and one more: the grades that tables need."""
        return int(self.grades.max()) + 1

    @property
    def numbers(self) -> Array:
        """The query number of each row, int64 (n_rows,)."""
        return np.repeat(np.arange(len(self.keys)), np.diff(self.starts))

    def rows(self, n_grades: int) -> Rows:
        """Return the rows as they are counted."""
        return Rows.of(self.bins, self.grades, self.numbers, n_grades)

    def of_queries(self, keys: Array) -> KeptRows:
        """Return the rows of those queries that are here."""
        return self._some(_among(self.keys, keys))

    def with_rows(self, more: KeptRows) -> KeptRows:
        """Return these rows and some more."""
        known = self.of_queries(more.keys)
        return self._put_back(more.keys, _joined([known, more]))

    def without(self, less: KeptRows) -> KeptRows:
        """Return all rows but some, each of which must be here as often as it is to be removed."""
        known = self.of_queries(less.keys)
        if len(known.keys) < len(less.keys):
            raise DataError(f"{_missing(less, ~_among(less.keys, self.keys))}: they were never added")
        numbers = np.concatenate([known.numbers, less.numbers])  # the same queries, in the same order
        bins = np.concatenate([known.bins, less.bins], axis=1)
        records = _records(bins, np.concatenate([known.grades, less.grades]), numbers)
        kinds = np.unique(records, return_inverse=True)[1].reshape(-1)
        own, away = kinds[: known.n_rows], kinds[known.n_rows :]
        n_away = np.bincount(away, minlength=kinds.max() + 1)
        short = np.maximum(n_away - np.bincount(own, minlength=n_away.size), 0).sum()
        if short:
            raise DataError(
                f"{short:,} of the {less.n_rows:,} rows to remove are not among the rows of their queries that the "
                "ranker has learned from, in these bins and with this grade; nothing is removed"
            )
        # rows of a kind lie side by side: the first of each go
        order = np.argsort(own, kind="stable")
        nth = np.empty(own.size, dtype=np.int64)
        nth[order] = np.arange(own.size) - np.searchsorted(own[order], own[order])
        stay = nth >= n_away[own]
        if stay.sum() + self.n_rows == known.n_rows:
            raise DataError("these are all the rows that the ranker has learned from: without them it knows nothing")
        left = KeptRows.sorted(known.bins[:, stay], known.grades[stay], known.numbers[stay], known.keys)
        return self._put_back(less.keys, left)

    def check(self, n_bins: Array) -> None:
        """Refuse rows of a file that no training can have kept, given how many bins each feature may have."""
        arrays = {"bins": ("u1", 2), "grades": ("u1", 1), "starts": ("i8", 1), "keys": ("u8", 2)}
        good = all(
            isinstance(array, np.ndarray) and array.dtype == arrays[name][0] and array.ndim == arrays[name][1]
            for name, array in vars(self).items()
        )
        good = good and self.bins.shape == (n_bins.size, self.n_rows) and self.keys.shape == (self.starts.size - 1, 2)
        good = good and self.n_rows > 0 and (self.starts[0], self.starts[-1]) == (0, self.n_rows)
        good = good and bool((np.diff(self.starts) > 0).all() and (self.bins.max(axis=1) < n_bins).all())
        if good:
            (high, low), (next_high, next_low) = self.keys[:-1].T, self.keys[1:].T
            good = bool(((high < next_high) | ((high == next_high) & (low < next_low))).all())
        if not good or self.bins.max() >= MAX_BINS:
            raise ModelFileError("the rows that it keeps are damaged")

    def _some(self, chosen: Array) -> KeptRows:
        rows = np.repeat(chosen, np.diff(self.starts))
        starts = _starts(np.diff(self.starts)[chosen])
        return KeptRows(np.ascontiguousarray(self.bins[:, rows]), self.grades[rows], starts, self.keys[chosen])

    def _put_back(self, keys: Array, new: KeptRows) -> KeptRows:
        """Return these rows with those of some queries replaced."""
        rest = ~_among(self.keys, keys)
        all_keys = np.concatenate([self.keys[rest], new.keys])
        order = np.lexsort((all_keys[:, 1], all_keys[:, 0]))
        first = np.concatenate([self.starts[:-1][rest], new.starts[:-1] + self.n_rows])[order]
        sizes = np.concatenate([np.diff(self.starts)[rest], np.diff(new.starts)])[order]
        starts = _starts(sizes)
        rows = np.arange(starts[-1]) + np.repeat(first - starts[:-1], sizes)
        bins = _columns(np.concatenate([self.bins, new.bins], axis=1), rows)
        return KeptRows(bins, np.concatenate([self.grades, new.grades])[rows], starts, all_keys[order])


def query_keys(ids: Sequence[Any] | Array) -> Array:
    """Return a key of 128 bits for the name of each query, uint64 (n_queries, 2): 7, 7.0 and "7" are one name.

    >>> keys = query_keys([7, "7", 7.0, "seven"])
    >>> (keys[:3] == keys[0]).all(), (keys[3] == keys[0]).any()
    (np.True_, np.False_)
    """
    names = np.asarray(ids).tolist() if isinstance(ids, np.ndarray) else list(ids)
    whole = (int(one) if isinstance(one, float) and one.is_integer() else one for one in names)
    digests = b"".join(hashlib.blake2b(str(one).encode(), digest_size=16).digest() for one in whole)
    return np.frombuffer(digests, dtype=">u8").reshape(-1, 2).astype(np.uint64)


def _records(bins: Array, grades: Array, numbers: Array) -> Array:
    """Return each row as bytes that sort as rows do: by query, bins, grade."""
    n_features, n_rows = bins.shape
    out = np.empty((n_rows, n_features + 9), dtype=np.uint8)
    out[:, :8] = numbers.astype(">u8").view(np.uint8).reshape(-1, 8)
    out[:, 8:-1] = bins.T
    out[:, -1] = grades
    return out.view(np.dtype((np.void, out.shape[1]))).reshape(-1)


def _joined(parts: Sequence[KeptRows]) -> KeptRows:
    """Return the rows of all parts, which may have queries in common, in order."""
    keys, numbers = np.unique(np.concatenate([part.keys for part in parts]), axis=0, return_inverse=True)
    own = np.split(numbers.reshape(-1), np.cumsum([len(part.keys) for part in parts])[:-1])
    of_rows = np.concatenate([number[part.numbers] for number, part in zip(own, parts, strict=True)])
    bins = np.concatenate([part.bins for part in parts], axis=1)
    return KeptRows.sorted(bins, np.concatenate([part.grades for part in parts]), of_rows, keys)


def _among(keys: Array, others: Array) -> Array:
    """Tell of each key whether it is among others, bool."""
    known = np.sort(_as_bytes(others))
    return _as_bytes(keys) == known[np.minimum(np.searchsorted(known, _as_bytes(keys)), known.size - 1)]


def _as_bytes(keys: Array) -> Array:
    return np.ascontiguousarray(keys.astype(">u8")).view(np.dtype((np.void, 16))).reshape(-1)


def _columns(bins: Array, rows: Array) -> Array:
    return np.ascontiguousarray(np.take(bins, rows, axis=1))


def _starts(sizes: Array) -> Array:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _missing(rows: KeptRows, unknown: Array) -> str:
    n_rows = int(np.diff(rows.starts)[unknown].sum())
    return f"{n_rows:,} of the {rows.n_rows:,} rows to remove belong to queries that the ranker has no rows of"
