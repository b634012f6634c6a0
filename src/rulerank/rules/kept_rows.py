"""The training rows of a ranker that learns on: in bins, query by query, in an order that only their content decides.

A new label changes what its query leads one to expect, and with it what the query's other rows count. So a ranker that
is to add or remove rows exactly must know the rows of each query: a byte for each feature, a grade, and which query.
Queries are known by a hash of their name: the same query is found again, and no name is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
        starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
        return KeptRows(np.ascontiguousarray(bins[:, order]), graded[order], starts, keys[sizes > 0])

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
        return replace(Rows.of(self.bins, self.grades, self.numbers, n_grades), starts=self.starts)

    def sizes_of(self, keys: Array) -> Array:
        """Return how many rows there are of each of these queries, int64 (n_keys,)."""
        everything, numbers = _common_keys(self.keys, keys)
        sizes = np.zeros(len(everything), dtype=np.int64)
        sizes[numbers[0]] = np.diff(self.starts)
        return sizes[numbers[1]]

    def with_rows(self, more: KeptRows) -> KeptRows:
        """Return these rows and some more."""
        keys, (own, new) = _common_keys(self.keys, more.keys)
        bins, grades = np.concatenate([self.bins, more.bins], axis=1), np.concatenate([self.grades, more.grades])
        return KeptRows.sorted(bins, grades, np.concatenate([own[self.numbers], new[more.numbers]]), keys)

    def without(self, less: KeptRows) -> KeptRows:
        """Return all rows but some, each of which must be here as often as it is to be removed."""
        _, (own, away) = _common_keys(self.keys, less.keys)
        n_unknown = np.diff(less.starts)[~np.isin(away, own)].sum()
        if n_unknown:
            raise DataError(
                f"{n_unknown:,} of the {less.n_rows:,} rows to remove belong to queries that the ranker has no rows "
                "of: they were never added"
            )
        bins, grades = np.concatenate([self.bins, less.bins], axis=1), np.concatenate([self.grades, less.grades])
        records = _records(bins, grades, np.concatenate([own[self.numbers], away[less.numbers]]))
        kinds = np.unique(records, return_inverse=True)[1].reshape(-1)
        there, gone = kinds[: self.n_rows], kinds[self.n_rows :]  # there: in rising order, as the rows are
        n_gone = np.bincount(gone, minlength=kinds.max() + 1)
        short = np.maximum(n_gone - np.bincount(there, minlength=n_gone.size), 0).sum()
        if short:
            raise DataError(
                f"{short:,} of the {less.n_rows:,} rows to remove are not among the rows of their queries that the "
                "ranker has learned from, in these bins and with this grade; nothing is removed"
            )
        stay = np.arange(there.size) - np.searchsorted(there, there) >= n_gone[there]  # the first of each kind go
        if not stay.any():
            raise DataError("these are all the rows that the ranker has learned from: without them it knows nothing")
        return KeptRows.sorted(self.bins[:, stay], self.grades[stay], self.numbers[stay], self.keys)

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


def _common_keys(own: Array, other: Array) -> tuple[Array, tuple[Array, Array]]:
    """Return the keys of both, ascending, and the number of each among them."""
    keys, numbers = np.unique(np.concatenate([own, other]), axis=0, return_inverse=True)
    numbers = numbers.reshape(-1)
    return keys, (numbers[: len(own)], numbers[len(own) :])
