"""Rules of any size: how many items they can have at most before none holds in enough rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rulerank.dataset import Array
from rulerank.errors import TooLargeError
from rulerank.rules.layout import FeatureSets, Layout, check_set_cells, check_work
from rulerank.rules.tables import Counter, Counts, Rows

PASS_CELLS = 1 << 22  # of tables that are looked at together
Total = Callable[[Callable[[Any], Any]], Any]  # the sum of what a function makes of all parts of the rows


def largest_size(
    total: Total,
    n_rows: int,
    n_bins: Array,
    used: Array,
    min_rows: int,
    work_limit: float | None,
    n_jobs: int | None = None,
) -> int:
    """Return the largest number of features that any min_rows rows agree in; 1 where they agree in none.

    Sets of one more feature hold in no more rows than those of one less, so sizes are tried one after the other. The
    work of each is estimated before it begins, and refused beyond work_limit.

    >>> import numpy as np
    >>> rows = Rows.of([[0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1]], [0, 1, 0, 1], [0, 0, 0, 0])
    >>> [largest_size(lambda look: look(rows), 4, rows.n_bins(), np.arange(3), least, None) for least in (1, 2, 3)]
    [3, 2, 1]
    """
    for size in range(2, used.size + 1):
        if min_rows <= 1 and size < used.size:
            continue  # every row agrees with itself in all features: only the last size has to be possible
        try:
            check_work(n_bins[used], size, n_rows, work_limit)
            check_set_cells(n_bins[used], size)
        except TooLargeError as error:
            raise TooLargeError(
                f"rules of any size (max_size=None): sets of up to {size} features may hold in {min_rows:,} rows, and "
                f"{error}; or raise min_support"
            ) from None
        if min_rows > 1 and not _agree(total, n_bins, used, size, min_rows, n_jobs):
            return size - 1
    return max(1, used.size)


def _agree(total: Total, n_bins: Array, used: Array, size: int, min_rows: int, n_jobs: int | None) -> bool:
    """Tell whether some min_rows rows share their bins of some set of so many features."""
    block = Layout.over(n_bins, size, used).sets[size - 1]
    sets = Layout(n_bins, (block.part(0, len(block.features)),))
    counted = (total(partial(_count, part, n_bins, n_jobs)) for part in sets.parts(PASS_CELLS))
    return any(int(counts.grades.sum(axis=1).max()) >= min_rows for counts in counted)


def _count(sets: FeatureSets, n_bins: Array, n_jobs: int | None, rows: Rows) -> Counts:
    return Counter(rows, n_bins, expected=False, n_jobs=n_jobs).count(sets)
