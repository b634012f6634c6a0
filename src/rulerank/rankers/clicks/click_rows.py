"""Rows that were shown at a position, so often, and clicked, so often: checked, one entry per row."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulerank._util.parameters import shown as as_shown
from rulerank.dataset import LOWEST, Array, Dataset, check_total, query_index
from rulerank.errors import DataError
from rulerank.rankers.rows import check_numbers, content_keys

BY_IMPRESSION, BY_DOCUMENT = 1 / 9, 1.0  # precision of queries' intercepts where rows count in full, or by document
EACH = ("places", "shown", "clicks", "docs")  # entries per row


@dataclass(frozen=True, eq=False)
class ClickRows:
    """One entry per row; `positions` are those that occur, from the top."""

    places: Array  # int64 (n_rows,) of each row's position among `positions`
    shown: Array  # float64 (n_rows,) impressions
    clicks: Array  # float64 (n_rows,)
    positions: Array  # int64 (n_positions,)
    docs: Array | None = None  # int64 (n_rows,) a number for each document's id; None: documents are known by features
    precision: float = BY_IMPRESSION  # of the prior that holds the queries' intercepts

    def __len__(self) -> int:
        return int(self.places.size)

    def __getitem__(self, rows: Array) -> ClickRows:
        """Pick rows; the positions stay, also where no row is left of one."""
        picked: dict[str, Any] = {
            name: value[rows] for name in EACH if isinstance(value := getattr(self, name), np.ndarray)
        }
        return replace(self, **picked)

    def documents(self, X: Array, queries: Array) -> Array:
        """Number the documents: rows of a query with the same id, or without ids the same features, are one."""
        keys = content_keys(X) if self.docs is None else self.docs
        _, contents = np.unique(keys, return_inverse=True)
        return query_index(queries * (int(contents.max(initial=0)) + 1) + contents.reshape(-1))[0]

    def by_position(self) -> tuple[Array, Array]:
        """Return the impressions and the clicks of each position."""
        n = self.positions.size
        return np.bincount(self.places, self.shown, n), np.bincount(self.places, self.clicks, n)


def weighed(rows: ClickRows, documents: Array, spread: float) -> ClickRows:
    """Return rows in which a document's impressions count for less the more there are of it.

    A document that was shown a thousand times is still one document: what no feature says of it, which has the variance
    `spread` in log-odds, is the same each time. Its rows together count no more than 1 / spread of certainty. A query
    of ten such documents says little about its intercept, which is then held nearer to those of the others.

    >>> rows = ClickRows(np.array([0, 1, 0]), np.array([400.0, 400, 4]), np.array([200.0, 0, 2]), np.array([1, 2]))
    >>> weighed(rows, np.array([0, 0, 1]), 1.0).shown.round(2).tolist()
    [3.96, 3.96, 2.0]
    """
    shown, clicked = rows.by_position()
    rates = np.divide(clicked, shown, out=np.zeros(shown.size), where=shown > 0)
    told = np.bincount(documents, rows.shown * (rates * (1 - rates))[rows.places])[documents]
    share = 1 / (1 + spread * told)
    precision = BY_DOCUMENT if spread > 0 else rows.precision
    return replace(rows, shown=rows.shown * share, clicks=rows.clicks * share, precision=precision)


def check_clicks(y: Any, position: Any, impressions: Any, n_rows: int, docid: Array | None = None) -> ClickRows:
    """Return clicks y of impressions (one each when not given) at positions, after looking at every value.

    docid: the ids of the rows' documents, where they have any.

    >>> rows = check_clicks([1, 30], [1, 4], [1, 100], 2)
    >>> rows.places.tolist(), rows.positions.tolist()
    ([0, 1], [1, 4])
    """
    position_numbers = check_numbers("position", position, n_rows, "integers from 1 (the top)", 1, whole=True)
    if position_numbers.max(initial=0) > LOWEST:
        raise DataError(f"position must be at most {LOWEST}: got {position_numbers.max():.0f}")
    shown = np.ones(n_rows)
    if impressions is not None:
        shown = check_numbers("impressions", impressions, n_rows, "numbers above 0")
        if (shown == 0).any():
            raise DataError(f"impressions must be numbers above 0: got 0 at row {int((shown == 0).argmax())}")
        check_total(float(shown.sum()))
    clicks = check_numbers("y", y, n_rows, "the number of clicks of each row")
    above = np.flatnonzero(clicks > shown)
    if above.size:
        row = int(above[0])
        said = " (1 each, as impressions is not given)" if impressions is None else ""
        raise DataError(
            f"clicks must not be above impressions: got {clicks[row]:g} of {shown[row]:g} at row {row}{said}"
        )
    positions, places = np.unique(position_numbers.astype(np.int64), return_inverse=True)
    docs = None if docid is None else np.unique(docid.astype(str), return_inverse=True)[1].reshape(-1)
    return ClickRows(places.reshape(-1).astype(np.int64), shown, clicks, positions, docs)


def clicks_of(data: Dataset) -> ClickRows:
    """Return the clicks that a data set carries."""
    assert data.impressions is not None
    return check_clicks(
        data.impressions.clicks, data.impressions.position, data.impressions.count, len(data), data.docid
    )


def known_effects(propensities: Any, positions: Array) -> Array:
    """Return -log of how likely each position is looked at.

    propensities: by position, {1: 1.0, 2: 0.6}, or in order from position 1.

    >>> known_effects({1: 0.8, 2: 0.4}, np.array([1, 2])).round(3).tolist()
    [0.223, 0.916]
    """
    if not isinstance(propensities, Mapping):
        column = np.atleast_1d(np.asarray(propensities, dtype=object))
        propensities = dict(enumerate(column.tolist(), start=1))
    found = np.full(positions.size, np.nan)
    for place, position in enumerate(positions.tolist()):
        if position not in propensities:
            raise DataError(
                f"propensities must contain every position that occurs: position {position} is missing, "
                f"given are {as_shown(sorted(propensities))}"
            )
        with contextlib.suppress(TypeError, ValueError):
            found[place] = float(propensities[position])
        if not 0 < found[place] <= 1:
            raise DataError(
                "propensities must be above 0 and at most 1, how likely a position is looked at: got "
                f"{propensities[position]!r} for position {position}"
            )
    return -np.log(found)
