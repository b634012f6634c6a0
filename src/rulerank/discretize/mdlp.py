"""Supervised cuts: Fayyad and Irani's minimum description length principle.

The arrays of its loops:

bits       uint32[n_rows, n_features]   the float32 values of X as the bits they are made of
grades     uint8[n_rows]                the grade of each row
packed     uint64[n_features, n_rows]   a number that sorts as the value does << 8 | grade; missing values sort last
n_present  int64[n_features]            how many of a feature's values are not missing
places     int64[n_features, max_cuts]  where to cut: before this place of the sorted values
table      int64[n_rows + 1]            n log2 n, one bit of information being worth `scale`
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rulerank._util.loops import between, compiled, in_blocks
from rulerank.dataset import Array
from rulerank.discretize.base import MAX_BINS, Discretizer

ENTRIES_AT_ONCE = 1 << 20
FEATURES_AT_ONCE = 16  # sorted together by one thread: bounds the scratch memory
SIGN = np.uint32(0x80000000)
INFINITY = np.uint32(0x7F800000)
MAGNITUDE = np.uint32(0x7FFFFFFF)
ALL = np.uint32(0xFFFFFFFF)
GRADE_BITS = np.uint64(8)
GRADE_MASK = np.uint64(255)
TIE = 1 << 14  # table units, of up to 2**61: rounding errors of a split's entropy stay below 2**12


class MDLP(Discretizer):
    """Cut where the grades change enough to pay for the cut (Fayyad and Irani, 1993).

    Each feature is split in two where the class entropy of the grades is least, and each part again,
    as long as `gain > log2(N - 1) / N + (log2(3**k - 2) - (k E - k1 E1 - k2 E2)) / N`.
    A feature that is not informative about the grades gets no cut.

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
    """Return features as sorted numbers (`pack`), how many values of each are there, and the way back.

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
    """Return the float32 values that `pack` packed."""
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


@compiled
def pack(bits: Array, grades: Array, first: int, packed: Array, n_present: Array) -> None:
    """Pack the features first, first + 1, ... with the grades, ready to be sorted."""
    n_features, n_rows = packed.shape
    n_present[:] = n_rows
    for row in range(n_rows):
        grade = np.uint64(grades[row])
        for i in range(n_features):
            word = bits[row, first + i]
            if word & MAGNITUDE > INFINITY:
                key = ALL
                n_present[i] -= 1
            elif word & SIGN == 0 or word == SIGN:  # -0.0 equals 0.0
                key = word | SIGN
            else:
                key = word ^ ALL  # not ~word, which Numba widens to 64 bits
            packed[i, row] = np.uint64(key) << GRADE_BITS | grade


@compiled
def find_runs(packed: Array, n_present: int, stops: Array, grades: Array, boundary: Array) -> int:
    """Write the runs of equal grades between which one may cut, and return how many there are.

    packed is one sorted feature. Each run has one grade and ends before the place stops[run];
    boundary[run] says whether its first value differs from the one before.
    Neighbouring values whose rows all have the same grade make one run: Fayyad and Irani showed that
    the best cut never lies between them.
    """
    n_runs = 0
    place = 0
    was_pure = False  # had all rows of the value before this one the same grade
    while place < n_present:
        first_run = n_runs
        key = packed[place] >> GRADE_BITS
        while place < n_present and packed[place] >> GRADE_BITS == key:
            both = packed[place]
            while place < n_present and packed[place] == both:
                place += 1
            stops[n_runs] = place
            grades[n_runs] = np.uint8(both & GRADE_MASK)
            boundary[n_runs] = n_runs == first_run
            n_runs += 1
        pure = n_runs == first_run + 1
        if pure and was_pure and grades[first_run] == grades[first_run - 1]:
            stops[first_run - 1] = place
            n_runs = first_run
        was_pure = pure
    return n_runs


@compiled
def split(
    stops: Array, grades: Array, boundary: Array, first: int, last: int, table: Array, scale: float, counts: Array
) -> tuple[int, float]:
    """Return before which of the runs first .. last - 1 to cut, and the bits gained; -1 when MDL refuses.

    counts, int64[2, n_grades], is scratch: the rows of each grade left and right of the cut.
    """
    if last - first < 2:
        return -1, 0.0
    left, right = counts[0], counts[1]
    for grade in range(left.size):
        left[grade] = right[grade] = 0
    start = stops[first - 1] if first else 0
    stop = stops[last - 1]
    place = start
    for run in range(first, last):
        right[grades[run]] += stops[run] - place
        place = stops[run]
    n_grades, entropy = entropy_of(right, stop - start, table)
    if n_grades < 2:
        return -1, 0.0

    best = -1
    lowest = entropy + 2 * TIE
    inside = table[stop - start] - entropy  # the sum of table[count] over the grades of both sides
    place = start
    for run in range(first, last):
        if boundary[run] and run > first:
            split_entropy = table[place - start] + table[stop - place] - inside
            if split_entropy < lowest:
                if split_entropy < lowest - TIE:
                    best = run
                lowest = split_entropy
        grade = grades[run]
        n_left, n_right, n_moved = left[grade], right[grade], stops[run] - place
        inside += table[n_left + n_moved] - table[n_left] + table[n_right - n_moved] - table[n_right]
        left[grade] = n_left + n_moved
        right[grade] = n_right - n_moved
        place = stops[run]
    if best < 0:
        return -1, 0.0

    for run in range(last - 1, best - 1, -1):
        n_moved = stops[run] - stops[run - 1]
        left[grades[run]] -= n_moved
        right[grades[run]] += n_moved
    place = stops[best - 1]
    n_left_grades, left_entropy = entropy_of(left, place - start, table)
    n_right_grades, right_entropy = entropy_of(right, stop - place, table)
    gained = (entropy - left_entropy - right_entropy) / scale
    delta = np.log2(3.0**n_grades - 2.0) - (
        n_grades * (entropy / scale) / (stop - start)
        - n_left_grades * (left_entropy / scale) / (place - start)
        - n_right_grades * (right_entropy / scale) / (stop - place)
    )
    if gained - (np.log2(stop - start - 1.0) + delta) <= TIE / scale:
        return -1, 0.0
    return best, gained


@compiled
def entropy_of(counts: Array, n_rows: int, table: Array) -> tuple[int, int]:
    """Return how many grades there are, and the class entropy times n_rows in table units."""
    n_grades = 0
    entropy = table[n_rows]
    for count in counts:
        n_grades += count > 0
        entropy -= table[count]
    return n_grades, entropy


@compiled
def find_cuts(
    packed: Array, n_present: Array, table: Array, scale: float, n_grades: int, places: Array, n_cuts: Array
) -> None:
    """Split each sorted feature until MDL refuses or its row of places is full.

    The split that gains most is made first, so that a full row holds the strongest cuts, in the order made.
    """
    n_features, n_rows = packed.shape
    max_cuts = places.shape[1]
    stops = np.empty(n_rows, np.int64)
    grades = np.empty(n_rows, np.uint8)
    boundary = np.empty(n_rows, np.bool_)
    counts = np.empty((2, n_grades), np.int64)
    waiting = np.empty((max_cuts + 1, 3), np.int64)  # first run, run to cut before, last run: splits still to be made
    gains = np.empty(max_cuts + 1, np.float64)
    parts = np.empty(3, np.int64)  # the bounds of the one range, or the two, to look at next
    for i in range(n_features):
        parts[0] = 0
        parts[1] = find_runs(packed[i], n_present[i], stops, grades, boundary)
        n_parts = 1
        n_waiting = 0
        n_found = 0
        while True:
            for part in range(n_parts):
                first, last = parts[part], parts[part + 1]
                cut, gain = split(stops, grades, boundary, first, last, table, scale, counts)
                if cut >= 0:
                    waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2] = first, cut, last
                    gains[n_waiting] = gain
                    n_waiting += 1
            if n_waiting == 0 or n_found == max_cuts:
                break
            strongest = 0
            for other in range(1, n_waiting):
                if gains[other] > gains[strongest]:
                    strongest = other
            n_parts = 2
            n_waiting -= 1
            gains[strongest] = gains[n_waiting]
            for j in range(3):
                parts[j] = waiting[strongest, j]
                waiting[strongest, j] = waiting[n_waiting, j]
            places[i, n_found] = stops[parts[1] - 1]
            n_found += 1
        n_cuts[i] = n_found
