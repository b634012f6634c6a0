"""Rows of a matrix, group by group, on one scale: dense or sparse, and never copied as a whole.

Intercepts take up whatever a group's rows have in common, so only differences within a group count. Dense rows are
centred by group as they are read, in float64, a few thousand at a time. Sparse rows are not: the elimination of the
intercepts centres them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from rulerank.dataset import Array
from rulerank.rankers.linear import kernels

CONSTANT = 1e-12  # a feature that varies less than this within groups, relative to its size, varies by rounding
EVEN = np.zeros(0)  # every row counts one
CELLS_AT_ONCE = 2**18  # 2 MiB of float64: fits the cache, so that gathering rows costs little


@dataclass(frozen=True, eq=False)
class Spread:
    """How far features vary within groups; that of two groups of rows adds up."""

    squares: Array  # (n_features,) sums of squared differences to the group's mean
    largest: Array  # (n_features,) values without their sign
    n_rows: float

    def __add__(self, other: Spread) -> Spread:
        largest = np.maximum(self.largest, other.largest)
        return Spread(self.squares + other.squares, largest, self.n_rows + other.n_rows)

    def scale(self) -> tuple[Array, Array]:
        """Return the deviation of each feature and what to multiply it by, both 0 for a constant one."""
        scale = np.sqrt(self.squares / (self.n_rows or 1))
        scale[scale <= CONSTANT * self.largest] = 0.0
        factors = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return scale, factors


class GroupedRows(Protocol):
    """What the likelihood asks of rows; start and stop count groups."""

    spread: Spread
    scale: Array  # (n_features,) deviation within groups, 0 for a feature that is constant within each
    factors: Array  # one over it, 0 where it is 0

    def put_on(self, spread: Spread) -> None:
        """Take the scale of more rows than these."""
        ...

    def scores(self, coef: Array, start: int, stop: int) -> Array:
        """Return the rows' scores, up to a constant for each group, by coefficients on the common scale."""
        ...

    def offsets(self, coef: Array) -> Array:
        """Return for each group the constant that `scores` leaves out."""
        ...

    def add_moments(
        self,
        start: int,
        stop: int,
        curvatures: Array,
        totals: Array,
        residuals: Array,
        gradient: Array,
        hessian: Array,
    ) -> None:
        """Add these groups' share of the gradient and of the Hessian with the intercepts eliminated."""
        ...


def grouped_rows(X: Any, rows: Array, bounds: Array, weights: Array) -> GroupedRows:
    """Return rows of an array or CSR matrix; group i holds rows[bounds[i]:bounds[i + 1]].

    weights: what each of the rows counts in the common scale; of size 0 when every row counts one.
    """
    return SparseRows(X, rows, bounds, weights) if sparse.issparse(X) else DenseRows(X, rows, bounds, weights)


class DenseRows:
    """Rows of an array, as differences to their group's mean."""

    def __init__(self, X: Array, rows: Array, bounds: Array, weights: Array = EVEN) -> None:
        self.X, self.rows, self.bounds = X, rows, bounds
        self.groups = np.repeat(np.arange(bounds.size - 1), np.diff(bounds))
        # any number near the mean will do, so the input's precision is enough
        self.centres = np.empty((bounds.size - 1, X.shape[1]), dtype=X.dtype)
        squares, largest = np.zeros((2, X.shape[1]))
        kernels.dense_spread(X, rows, weights, bounds, self.centres, squares, largest)
        self.put_on(Spread(squares, largest, float(weights.sum() if weights.size else rows.size)))

    def put_on(self, spread: Spread) -> None:
        self.spread = spread
        self.scale, self.factors = spread.scale()

    def scores(self, coef: Array, start: int, stop: int) -> Array:
        first, last = self.bounds[start], self.bounds[stop]
        out = np.empty(last - first)
        for begin, end in self._pieces(first, last):
            out[begin - first : end - first] = self._centred(begin, end) @ coef
        return out

    def offsets(self, coef: Array) -> Array:
        return self.centres @ (coef * self.factors)

    def add_moments(
        self,
        start: int,
        stop: int,
        curvatures: Array,
        totals: Array,
        residuals: Array,
        gradient: Array,
        hessian: Array,
    ) -> None:
        first, last = self.bounds[start], self.bounds[stop]
        sums = np.zeros((totals.size, gradient.size))
        deviations = np.sqrt(curvatures.sum(axis=0))
        for begin, end in self._pieces(first, last):
            here = slice(begin - first, end - first)
            centred = self._centred(begin, end)
            gradient += residuals[here] @ centred
            kernels.dense_group_sums(centred, self.groups[begin:end] - start, curvatures[:, here], sums)
            kernels.scale_rows(centred, deviations[here])
            hessian += centred.T @ centred  # NumPy computes one half only
        used = totals.ravel() > 0
        sums = sums[used] / np.sqrt(totals.ravel()[used, None])
        hessian -= sums.T @ sums

    def _pieces(self, first: int, last: int) -> list[tuple[int, int]]:
        step = max(1, CELLS_AT_ONCE // self.X.shape[1])
        return [(begin, min(begin + step, last)) for begin in range(first, last, step)]

    def _centred(self, begin: int, end: int) -> Array:
        out = np.empty((end - begin, self.X.shape[1]))
        kernels.dense_centred(self.X, self.rows[begin:end], self.groups[begin:end], self.centres, self.factors, out)
        return out


class SparseRows:
    """Rows of a CSR matrix; what is not stored is 0."""

    def __init__(self, X: Any, rows: Array, bounds: Array, weights: Array = EVEN) -> None:
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        self.parts = X.data, X.indices, X.indptr
        self.rows, self.bounds = rows, bounds
        squares, largest = np.zeros((2, X.shape[1]))
        kernels.sparse_spread(*self.parts, rows, weights, bounds, squares, largest)
        self.put_on(Spread(squares, largest, float(weights.sum() if weights.size else rows.size)))

    def put_on(self, spread: Spread) -> None:
        self.spread = spread
        self.scale, self.factors = spread.scale()

    def scores(self, coef: Array, start: int, stop: int) -> Array:
        rows, _ = self._span(start, stop)
        out = np.empty(rows.size)
        kernels.sparse_scores(*self.parts, rows, coef * self.factors, out)
        return out

    def offsets(self, coef: Array) -> Array:
        return np.zeros(self.bounds.size - 1)

    def add_moments(
        self,
        start: int,
        stop: int,
        curvatures: Array,
        totals: Array,
        residuals: Array,
        gradient: Array,
        hessian: Array,
    ) -> None:
        rows, bounds = self._span(start, stop)
        kernels.sparse_moments(
            *self.parts, self.factors, rows, bounds, curvatures, totals, residuals, gradient, hessian
        )

    def _span(self, start: int, stop: int) -> tuple[Array, Array]:
        bounds = self.bounds[start : stop + 1]
        return self.rows[bounds[0] : bounds[-1]], bounds - bounds[0]
