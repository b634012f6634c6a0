"""How often rows were shown at a position, and clicked: what a data set carries when its outcome comes from a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.core.arrays import Array, refuse_mask
from rulerank.core.words import counted
from rulerank.errors import DataError

FIRST = 1  # the position at the top
LOWEST = int(np.iinfo(np.int32).max)  # position
MOST = 10**12  # impressions of a row: eight million rows of them fit into an int64
MOST_IN_ALL = 2**53  # impressions of a log: up to here every whole number is a float64, too


@dataclass(frozen=True, eq=False)
class Shown:
    """One entry per row: the position it was shown at, how often, and how many of these times it was clicked.

    >>> shown = Shown(position=[1, 2], impressions=[100, 80], clicks=[30, 4])
    >>> shown
    Shown(2 rows, 180 impressions, 34 clicks)
    >>> shown[[1]].clicks.tolist()
    [4]
    """

    position: Array  # int32 (n_rows,) from 1, the top
    impressions: Array  # int64 (n_rows,) from 1
    clicks: Array  # int64 (n_rows,) from 0 to the impressions

    def __post_init__(self) -> None:
        position = _whole("position", self.position, "a whole number from 1, the top of the list", FIRST, LOWEST)
        impressions = _whole("impressions", self.impressions, "a whole number from 1", 1, MOST)
        clicks = _whole("clicks", self.clicks, "a whole number from 0", 0, MOST)
        check_total(float(impressions.sum(dtype=np.float64)))
        columns = {"position": position.astype(np.int32), "impressions": impressions, "clicks": clicks}
        for name, column in columns.items():
            if column.ndim != 1 or column.size != position.size:
                raise DataError(f"{name} must have one entry per position: expected {position.size}, got {column.size}")
            object.__setattr__(self, name, column)
        above = np.flatnonzero(clicks > impressions)
        if above.size:
            row = int(above[0])
            raise DataError(
                f"clicks must not be above impressions: got {counted(int(clicks[row]), 'click')} of "
                f"{counted(int(impressions[row]), 'impression')} at row {row}"
            )

    def __len__(self) -> int:
        return int(self.position.size)

    def __repr__(self) -> str:
        return f"Shown({counted(len(self), 'row')}{self.said()})"

    def said(self) -> str:
        """Return how many impressions and clicks there are, as a data set shows them."""
        n_shown, n_clicks = int(self.impressions.sum()), int(self.clicks.sum())
        return f", {counted(n_shown, 'impression')}, {counted(n_clicks, 'click')}"

    def __getitem__(self, rows: Any) -> Shown:
        """Pick rows by a mask, row numbers or a slice."""
        return Shown(*(column[rows] for column in self.columns()))

    def columns(self) -> tuple[Array, ...]:
        """Return the columns in their order."""
        return self.position, self.impressions, self.clicks

    @staticmethod
    def concat(parts: list[Shown]) -> Shown:
        """Put several one after the other."""
        return Shown(*map(np.concatenate, zip(*(part.columns() for part in parts), strict=True)))


def check_total(impressions: float) -> None:
    """Refuse more impressions than can be added up exactly.

    >>> check_total(1e9)
    """
    if impressions > MOST_IN_ALL:
        raise DataError(f"expected at most {MOST_IN_ALL:,} impressions, got {impressions:,.0f}: are these counts?")


def _whole(name: str, values: Any, what: str, low: int, high: int) -> Array:
    """Return whole numbers as int64 after looking at every value: a cast would turn 1.5 into 1."""
    refuse_mask(name, values)
    column = np.asarray(values)
    if column.dtype.kind not in "iu":
        try:
            floats = column.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError(f"{name} must be {what}: got {column.ravel()[:3].tolist()!r} ...") from None
        bad = np.flatnonzero(~(np.isfinite(floats) & (floats == np.floor(floats)) & (np.abs(floats) < 2**53)))
        if bad.size:
            raise DataError(f"{name} must be {what}: got {column[bad[0]]} at row {bad[0]}")
        column = floats
    bad = np.flatnonzero(column < low)
    if bad.size:
        raise DataError(f"{name} must be {what}: got {column[bad[0]]:g} at row {bad[0]}")
    if column.size and column.max() > high:
        raise DataError(f"{name} must be at most {high}: got {column.max():.0f} at row {column.argmax()}")
    return column.astype(np.int64)
