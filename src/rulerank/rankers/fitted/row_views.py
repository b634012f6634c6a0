"""Training rows as fitted rules see them: in bins, in an order of their own, made from a few columns at a time.

Beside its bins, a row takes 34 bytes here; its values are let go once they are in bins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from rulerank.dataset import Array
from rulerank.normalize import normalize_by_query
from rulerank.rankers.checked import Labelled
from rulerank.rankers.fitted.bins import Axis, bins_on, find_axes
from rulerank.rankers.fitted.linear_start import bin_centres
from rulerank.rankers.parts import TrainingParts
from rulerank.rankers.training_rows import content_keys, order_by_content


@dataclass(frozen=True, eq=False)
class RowKeys:
    """What is known of rows before their features are looked at; those of two parts add up, one after the other."""

    keys: tuple[Array, ...]  # float64, which tell rows apart
    grades: tuple[Array, ...]
    queries: tuple[Array, ...]  # numbers from 0 in each part
    weights: tuple[Array, ...]  # of size 0 when every row counts one
    n_queries: tuple[int, ...]

    @classmethod
    def of(cls, data: Labelled) -> RowKeys:
        """Look at one part."""
        weights = np.zeros(0) if data.weights is None else data.weights
        return cls((content_keys(data.X),), (data.grades,), (data.queries,), (weights,), (len(data.query_ids),))

    def __add__(self, other: RowKeys) -> RowKeys:
        return RowKeys(*(own + others for own, others in zip(vars(self).values(), vars(other).values(), strict=True)))

    def ordered(self) -> OrderedRows:
        """Put the rows of all parts in an order that their content alone says."""
        shifts = np.cumsum([0, *self.n_queries])
        queries = np.concatenate([own + shift for own, shift in zip(self.queries, shifts, strict=False)])
        grades, weights = np.concatenate(self.grades), np.concatenate(self.weights)
        order, numbers = order_by_content(np.concatenate(self.keys), grades, queries)
        return OrderedRows(order, numbers, grades[order], weights[order] if weights.size else weights)


class OrderedRows(NamedTuple):
    """Rows in the order of their content, query by query."""

    order: Array  # int64 (n_rows,) their places among the rows as they came
    numbers: Array  # int64 (n_rows,) of the query of each, in order
    grades: Array
    weights: Array  # of size 0 when every row counts one


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """The rows that say anything, in bins, in the order of the folds."""

    name: str | None  # how they were normalised
    bins: Array  # uint8 (n_features, n_rows)
    axes: list[Axis]
    centres: list[Array]  # of each feature, what stands for a bin in a straight line


def binned_rows(
    parts: TrainingParts, rows: OrderedRows, places: Array, name: str | None, n_bins: int, n_jobs: int | None
) -> BinnedRows:
    """Put the columns of all parts into bins; `places` are those of the rows to keep, by their place in `rows`."""
    n_kinds = {feature: len(kinds) for feature, kinds in parts.facts.categories.items()}
    found = parts.by_column(partial(bin_columns, rows, places, name, n_bins, n_kinds, n_jobs))
    bins = np.empty((len(found), places.size), dtype=np.uint8)
    for feature, (_, own, _) in enumerate(found):
        bins[feature] = own
    return BinnedRows(name, bins, [axis for axis, _, _ in found], [centres for _, _, centres in found])


def bin_columns(
    rows: OrderedRows,
    places: Array,
    name: str | None,
    n_bins: int,
    n_kinds: Mapping[str, int],
    n_jobs: int | None,
    features: Sequence[str],
    X: Array,
) -> list[tuple[Axis, Array, Array]]:
    """Return axis, bins and centres of some columns, given as the rows came."""
    values = X[rows.order]
    kinds = {place: n_kinds[feature] for place, feature in enumerate(features) if feature in n_kinds}
    if name is not None:
        raw = values[:, [*kinds]]
        values = normalize_by_query(values, rows.numbers, name, n_jobs)
        values[:, [*kinds]] = raw  # codes of categories stay what they are
    axes = find_axes(values, n_bins, n_jobs, kinds)
    values = values[places]
    bins = bins_on(values, axes, n_jobs)
    centres = bin_centres(values, bins, [axis.n_bins for axis in axes])
    centres = [np.zeros_like(own) if axis.category else own for own, axis in zip(centres, axes, strict=True)]
    return [*zip(axes, bins, centres, strict=True)]
