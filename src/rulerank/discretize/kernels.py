"""The loops of the discretisers. Nothing here checks its arguments; `base.py` and `mdlp.py` do.

bits       uint32[n_rows, n_features]   the float32 values of X as the bits they are made of
grades     uint8[n_rows]                the grade of each row
packed     uint64[n_features, n_rows]   a number that sorts as the value does << 8 | grade; missing values sort last
n_present  int64[n_features]            how many of a feature's values are not missing
places     int64[n_features, max_cuts]  where to cut: before this place of the sorted values
table      int64[n_rows + 1]            n log2 n, one bit of information being worth `scale`
cuts       float64[n_cuts]              the cuts of all features, ascending within each
offsets    int64[n_features + 1]        the cuts of feature f are cuts[offsets[f]:offsets[f + 1]]
"""

from __future__ import annotations

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.dataset import Array

SIGN = np.uint32(0x80000000)
INFINITY = np.uint32(0x7F800000)
MAGNITUDE = np.uint32(0x7FFFFFFF)
ALL = np.uint32(0xFFFFFFFF)
GRADE_BITS = np.uint64(8)
GRADE_MASK = np.uint64(255)

TIE = 1 << 14  # table units, of up to 2**61: rounding errors of a split's entropy stay below 2**12
ROWS_AT_ONCE = 256  # a tile of X stays in the nearest cache while every feature's bins are written in one run
FEW_CUTS = 32  # up to here comparing with every cut beats halving: no branch to mispredict


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


@compiled
def assign_bins(X: Array, cuts: Array, offsets: Array, first: int, last: int, bins: Array) -> None:
    """Write the bins of the rows first .. last - 1 into bins, uint8[n_features, n_rows]."""
    for top in range(first, last, ROWS_AT_ONCE):
        bottom = min(top + ROWS_AT_ONCE, last)
        for feature in range(X.shape[1]):
            start, stop = offsets[feature], offsets[feature + 1]
            for row in range(top, bottom):
                value = X[row, feature]
                if value != value:
                    bins[feature, row] = stop - start + 1
                    continue
                low, size = start, stop - start
                while size > FEW_CUTS:  # halve without a branch: a mispredicted one costs more than the comparison
                    half = size // 2
                    low += half * (cuts[low + half - 1] <= value)
                    size -= half
                n_below = low - start
                for cut in range(low, low + size):
                    n_below += cuts[cut] <= value
                bins[feature, row] = n_below
