"""Supervised cuts: Fayyad and Irani's minimum description length principle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.discretize.base import MAX_BINS, Discretizer, between
from rulerank.discretize.kernels import ALL, GRADE_BITS, MAGNITUDE, SIGN, find_cuts, pack

ENTRIES_AT_ONCE = 1 << 20
FEATURES_AT_ONCE = 16  # sorted together by one thread: bounds the scratch memory


class MDLP(Discretizer):
    """Cut where the grades change enough to pay for the cut (Fayyad and Irani, 1993).

    Each feature is split in two where the class entropy of the grades is least, and each part again,
    as long as `gain > log2(N - 1) / N + (log2(3**k - 2) - (k E - k1 E1 - k2 E2)) / N`.
    A feature that says nothing about the grades gets no cut.

    A cut lies halfway between two neighbouring training values. Of several best ones the lowest is
    taken; entropies that differ by no more than rounding errors count as equal. Rows whose value is
    missing are left out of that feature's search. The rare feature that would be cut into more than
    254 bins keeps the cuts that gain most.

    Parameters
    ----------
    n_jobs: number of threads; all cores unless given. The cuts do not depend on it.

    >>> X = [[0.1, 3], [0.2, 1], [0.3, 2], [0.7, 2], [0.8, 1], [0.9, 3]]
    >>> mdlp = MDLP().fit(X, [0, 0, 0, 1, 1, 1])
    >>> mdlp.cuts_
    [array([0.5]), array([], dtype=float64)]
    >>> mdlp.transform([[0.4, 9], [0.6, float("nan")]]).tolist()
    [[0, 0], [1, 1]]
    >>> mdlp.describe(0, 1, name="BM25")
    'BM25 >= 0.5'
    """

    kind = "mdlp"
    needs_grades = True

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def _find_cuts(self, X: Array, grades: Array) -> list[Array]:
        n_rows, n_features = X.shape
        table, scale = n_log_n(n_rows)
        n_grades = int(grades.max()) + 1
        cuts: list[Array] = [np.empty(0)] * n_features

        def work(start: int, stop: int) -> None:
            for first in range(start, stop, FEATURES_AT_ONCE):
                features = range(first, min(first + FEATURES_AT_ONCE, stop))
                packed, n_present, value_at = sort_features(X, grades, features)
                places = np.full((len(features), MAX_BINS - 1), n_rows)  # n_rows: no cut, sorts last
                n_cuts = np.empty(len(features), dtype=np.int64)
                find_cuts(packed, n_present, table, scale, n_grades, places, n_cuts)
                places.sort(axis=1)
                i, j = np.nonzero(places < n_rows)
                found = between(value_at(i, places[i, j] - 1), value_at(i, places[i, j]))
                cuts[features.start : features.stop] = np.split(found, np.cumsum(n_cuts)[:-1])

        in_blocks(work, n_features, self.n_jobs)
        return cuts


def sort_features(X: Array, grades: Array, features: range) -> tuple[Array, Array, Callable[[Array, Array], Array]]:
    """Return features as sorted numbers (`kernels.pack`), how many values of each are there, and the way back.

    The way back goes from features, numbered from 0, and places in their sorted order to values.
    """
    shape = (len(features), X.shape[0])
    packed = np.empty(shape, dtype=np.uint64)
    n_present = np.empty(shape[0], dtype=np.int64)
    if X.dtype == np.float32:
        pack(X.view(np.uint32), grades, features.start, packed, n_present)
        packed.sort(axis=1)  # value and grade in one number: three times faster than argsort
        return packed, n_present, lambda i, places: unpack(packed[i, places])

    # a float64 leaves no room for the grade: its place among the distinct values stands for it
    columns = X[:, features.start : features.stop].T
    n_present[:] = shape[1] - np.isnan(columns).sum(axis=1)
    order = np.argsort(columns, axis=1)
    columns = np.take_along_axis(columns, order, axis=1)
    packed[:, 0] = 0
    np.cumsum(columns[:, 1:] != columns[:, :-1], axis=1, out=packed[:, 1:])
    packed <<= GRADE_BITS
    packed |= grades[order]
    packed.sort(axis=1)
    return packed, n_present, lambda i, places: columns[i, places]


def unpack(packed: Array) -> Array:
    """Return the float32 values that `kernels.pack` packed."""
    keys = (packed >> GRADE_BITS).astype(np.uint32)
    return np.where(keys & SIGN, keys & MAGNITUDE, keys ^ ALL).view(np.float32)


def n_log_n(n_rows: int) -> tuple[Array, float]:
    """Return n log2 n for n = 0 .. n_rows in whole units, and how many units make one bit.

    Sums of integers do not depend on their order, so splits that are equally good come out equal.
    The greatest entry lies below 2**61: sums stay within 64 bits, with as many digits as a float has.

    >>> table, scale = n_log_n(4)
    >>> (table / scale).tolist()
    [0.0, 0.0, 2.0, 4.754887502163468, 8.0]
    """
    most = np.array([n_rows], dtype=np.float64)
    scale = 2.0 ** (61 - int((most * np.log2(np.maximum(most, 1.0)))[0]).bit_length())
    table = np.empty(n_rows + 1, dtype=np.int64)
    for first in range(0, n_rows + 1, ENTRIES_AT_ONCE):  # four numbers in between for each would need much memory
        n = np.arange(first, min(first + ENTRIES_AT_ONCE, n_rows + 1), dtype=np.float64)
        table[first : first + ENTRIES_AT_ONCE] = np.rint(n * np.log2(np.maximum(n, 1.0)) * scale)
    return table, scale
