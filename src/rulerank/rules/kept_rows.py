"""The training rows that a ranker keeps for partial_fit and unlearn: in bins, sorted by query and content.

A new label changes the mean grade of its query, and with it what the query's other rows count. So a ranker that adds or
removes rows exactly must keep the rows of each query: a byte per feature, the grade, and a hash of the query's id, so
that the same query is found again although no id is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rulerank.dataset import KEY, Array, query_keys
from rulerank.errors import DataError, ModelFileError
from rulerank.rules.layout import MAX_BINS
from rulerank.rules.tables import Rows


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Training rows in bins as records: the hash of the query, the bins, the grade. Those of two shards add up.

    >>> def rows(bins, grades, queries, ids):
    ...     return KeptRows.of(np.array(bins), np.array(grades), np.array(queries), np.array(ids))
    >>> kept = rows([[1, 0, 1]], [2, 0, 0], [0, 0, 1], ["a", "b"])
    >>> one = rows([[1]], [1], [0], ["b"])
    >>> more = kept + one
    >>> more.n_rows, more.without(one).n_rows, kept.rows().n_rows
    (4, 3, 3)
    """

    loose: Array  # uint8 (n_rows, KEY + n_features + 1) in the order they came

    @staticmethod
    def of(bins: Array, grades: Array, queries: Array, query_ids: Array) -> KeptRows | None:
        """Return rows in bins (n_features, n_rows); None when different queries, such as 1 and "1", read the same."""
        keys = query_keys(query_ids).astype(">u8").view(np.uint8).reshape(-1, KEY)
        if len(np.unique(keys, axis=0)) < len(keys):
            return None
        return KeptRows(np.column_stack([keys[queries], bins.T.astype(np.uint8), grades.astype(np.uint8)]))

    @cached_property
    def records(self) -> Array:
        """The rows sorted by query, then by bins, then by grade: once it matters."""
        return self.loose[np.argsort(_as_bytes(self.loose), kind="stable")]

    @property
    def n_rows(self) -> int:
        return len(self.loose)

    @property
    def n_bytes(self) -> int:
        """What the bins take."""
        return self.n_rows * (self.loose.shape[1] - KEY - 1)

    def rows(self) -> Rows:
        """Return the rows as they are counted."""
        keys, starts = np.unique(_as_bytes(self.records[:, :KEY]), return_index=True)
        starts = np.append(starts, self.n_rows)
        numbers = np.repeat(np.arange(len(keys)), np.diff(starts))
        return replace(Rows.of(self.records[:, KEY:-1].T, self.records[:, -1], numbers), starts=starts)

    def of_queries_in(self, other: KeptRows) -> Array:
        """Tell of each row whether other rows belong to its query, bool (n_rows,)."""
        return np.isin(_as_bytes(self.loose[:, :KEY]), _as_bytes(other.loose[:, :KEY]))

    def __add__(self, more: KeptRows) -> KeptRows:
        return KeptRows(np.concatenate([self.loose, more.loose]))

    def without(self, less: KeptRows) -> KeptRows:
        """Return all rows but some, each of which must be here as often as it is to be removed."""
        unknown = ~less.of_queries_in(self)
        if unknown.any():
            raise DataError(
                f"{unknown.sum():,} of the {less.n_rows:,} rows to remove belong to queries that the ranker has no "
                "rows of: they were never added"
            )
        kinds = np.unique(_as_bytes(np.concatenate([self.records, less.loose])), return_inverse=True)[1].reshape(-1)
        there, gone = kinds[: self.n_rows], kinds[self.n_rows :]  # there: in rising order, as the records are
        n_gone = np.bincount(gone, minlength=kinds.max() + 1)
        short = np.maximum(n_gone - np.bincount(there, minlength=n_gone.size), 0).sum()
        if short:
            raise DataError(
                f"{short:,} of the {less.n_rows:,} rows to remove are not among the rows of their queries that the "
                "ranker has learned from, in these bins and with this grade; nothing is removed"
            )
        stay = np.arange(there.size) - np.searchsorted(there, there) >= n_gone[there]  # the first of each kind go
        if not stay.any():
            raise DataError("these are all the rows that the ranker has learned from: a ranker needs at least one row")
        return KeptRows(self.records[stay])

    def to_state(self) -> dict[str, Array]:
        """Return the rows as arrays: bins, grades, where each query begins, and the keys of queries."""
        rows = self.rows()
        assert rows.starts is not None
        keys = self.records[rows.starts[:-1], :KEY]
        keys = np.ascontiguousarray(keys).view(">u8").astype(np.uint64)
        return {"bins": rows.bins, "grades": rows.grades, "starts": rows.starts, "keys": keys}

    @staticmethod
    def from_state(state: Mapping[str, Array], n_bins: Array) -> KeptRows:
        """Return the rows of a file, unless no training can have kept them, given how many bins features may have."""
        try:
            keys = np.repeat(state["keys"], np.diff(state["starts"]), axis=0).astype(">u8").view(np.uint8)
            kept = KeptRows(np.column_stack([keys, state["bins"].T, state["grades"]]))
            bins_fit = (state["bins"].max(axis=1) < np.minimum(n_bins, MAX_BINS)).all()
            same = {name: np.array_equal(array, state[name]) for name, array in kept.to_state().items()}
        except (AttributeError, DataError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the rows that it keeps are damaged ({error})") from None
        if kept.loose.dtype != np.uint8 or not bins_fit or not all(same.values()):
            raise ModelFileError("the rows that it keeps are damaged")
        return kept


def _as_bytes(records: Array) -> Array:
    """Return each row as bytes, which sort as rows do."""
    return np.ascontiguousarray(records).view(np.dtype((np.void, records.shape[1]))).reshape(-1)
