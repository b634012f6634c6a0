"""The columns of a table that say how often a row was shown and clicked, marked `position:log` and so on.

The mark keeps them apart from features that may have the same names, such as a product's clicks of last month.
"""

from __future__ import annotations

import polars as pl

from rulerank.core.words import listed
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.io.table_columns import Mistake, ids
from rulerank.shown import Shown

COUNTS = ("position", "impressions", "clicks")
DEVICE = "device"
SHOWN_COLUMNS = tuple(f"{name}:log" for name in (*COUNTS, DEVICE))


def columns_of_shown(shown: Shown) -> list[pl.Series]:
    """Return the columns that a table holds of it.

    >>> [column.name for column in columns_of_shown(Shown([1], [10], [3]))]
    ['position:log', 'impressions:log', 'clicks:log']
    """
    columns = [pl.Series(f"{name}:log", getattr(shown, name)) for name in COUNTS]
    if shown.device is not None:
        columns.append(pl.Series(f"{DEVICE}:log", [str(one) for one in shown.device], dtype=pl.String))
    return columns


def shown_of(frame: pl.DataFrame, mistake: Mistake) -> Shown | None:
    """Return what the marked columns of a table hold; None where there are none.

    >>> shown_of(pl.DataFrame({"position:log": [1], "impressions:log": [10], "clicks:log": [3]}), None)
    Shown(1 row, 10 impressions, 3 clicks)
    """
    there = [name for name in SHOWN_COLUMNS if name in frame.columns]
    if not there:
        return None
    lacking = [name for name in SHOWN_COLUMNS[: len(COUNTS)] if name not in there]
    if lacking:
        raise mistake(None, f"the columns of a click log go together: {listed(there)} without {listed(lacking)}")
    counts = {name: _whole_numbers(frame[f"{name}:log"], mistake) for name in COUNTS}
    device = f"{DEVICE}:log"
    try:
        return Shown(**counts, device=ids(frame[device], mistake) if device in there else None)
    except DataError as error:
        raise mistake(None, str(error)) from None


def _whole_numbers(column: pl.Series, mistake: Mistake) -> Array:
    if column.dtype.is_float():  # pandas has no empty integers; 1.5 is refused where 1 is expected
        return column.fill_null(float("nan")).to_numpy()
    numbers = column.cast(pl.Int64, strict=False)
    wrong = numbers.is_null()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise mistake(row, f"expected a whole number in column {column.name!r}, got {column[row]!r}")
    return numbers.to_numpy()
