"""The likelihood of query intercepts over chunks of rows: per-chunk losses, gradients and Hessians, added up in order.

Where the intercepts of a chunk were found last is where the next look begins, so they go along and come back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from rulerank.core.blas import one_blas_thread
from rulerank.dataset import Array
from rulerank.rankers.checked import Labelled
from rulerank.rankers.chunks import Chunks
from rulerank.rankers.linear.grouped_rows import Spread
from rulerank.rankers.linear.linear_ranker import check_present, fill_missing
from rulerank.rankers.linear.newton import Point
from rulerank.rankers.linear.query_likelihood import QueryLikelihood

CHUNK_ROWS = 2**17  # of 46 features 24 MiB: what may travel when a chunk lies in two parts


@dataclass(frozen=True, eq=False)
class Found:
    """What one look at some chunks found; that of neighbours adds up."""

    point: Point
    intercepts: dict[int, Array]  # of each chunk, by its number

    def __add__(self, other: Found) -> Found:
        one, two = self.point, other.point
        point = Point(one.value + two.value, one.gradient + two.gradient, one.hessian + two.hessian)
        return Found(point, self.intercepts | other.intercepts)


@dataclass(frozen=True, eq=False)
class Ended:
    """What the model keeps of chunks beside the coefficients."""

    intercepts: tuple[Array, ...]
    query_ids: tuple[Array, ...]
    n_comparisons: float
    n_informative: int

    def __add__(self, other: Ended) -> Ended:
        return Ended(
            self.intercepts + other.intercepts,
            self.query_ids + other.query_ids,
            self.n_comparisons + other.n_comparisons,
            self.n_informative + other.n_informative,
        )


class ChunkedLikelihood:
    """Negative log-likelihood of coefficients, plus l2 / 2 times their squares, over chunks."""

    def __init__(
        self, chunks: Chunks, l2: float, fill: Array | None, names: tuple[str, ...], n_grades: int, n_jobs: int | None
    ) -> None:
        self.l2 = l2
        self.chunks = chunks.mapped(partial(prepared, fill, names, n_grades, n_jobs))
        self.spread: Spread = self.chunks.total(spread_of)
        self.scale, self.factors = self.spread.scale()
        self.intercepts: dict[int, Array] = {}  # of each chunk, where the last look found them

    def __call__(self, coef: Array) -> Point:
        """Return the loss with the intercepts at their best, its gradient and its Hessian."""
        found: Found = self.chunks.total(partial(point_of, coef, self.spread), self._extras())
        self.intercepts = found.intercepts
        point = found.point
        return Point(
            float(point.value + 0.5 * self.l2 * (coef @ coef)),
            point.gradient + self.l2 * coef,
            point.hessian + self.l2 * np.eye(coef.size),
        )

    def end(self, coef: Array) -> Ended:
        """Return the intercepts that belong to the coefficients last asked for, and what was compared."""
        found: Ended = self.chunks.total(partial(end_of, coef, self.spread), self._extras())
        return found

    def _extras(self) -> list[tuple[int, Array | None]]:
        return [(number, self.intercepts.get(number)) for number in range(self.chunks.n_chunks)]


def prepared(
    fill: Array | None, names: tuple[str, ...], n_grades: int, n_jobs: int | None, data: Labelled
) -> tuple[QueryLikelihood, Array]:
    """Return the likelihood of one chunk, without a penalty, and its query ids."""
    if fill is None:
        check_present(data.X, names)
    X = data.X if fill is None else fill_missing(data.X, fill)
    return QueryLikelihood(X, data.grades, data.queries, 0.0, n_jobs, data.weights, n_grades), data.query_ids


def spread_of(chunk: tuple[QueryLikelihood, Array]) -> Spread:
    """Return how far features vary within the groups of a chunk."""
    return chunk[0].rows.spread


def point_of(
    coef: Array, spread: Spread, chunk: tuple[QueryLikelihood, Array], extra: tuple[int, Array | None]
) -> Found:
    """Look at one chunk."""
    likelihood, number = _at(chunk, spread, extra), extra[0]
    with one_blas_thread():
        return Found(likelihood(coef), {number: likelihood.intercepts})


def end_of(coef: Array, spread: Spread, chunk: tuple[QueryLikelihood, Array], extra: tuple[int, Array | None]) -> Ended:
    """Return what is kept of one chunk."""
    likelihood = _at(chunk, spread, extra)
    n_informative = int(likelihood.used.sum())
    return Ended((likelihood.best_intercepts(coef),), (chunk[1],), likelihood.n_comparisons, n_informative)


def _at(chunk: tuple[QueryLikelihood, Array], spread: Spread, extra: tuple[int, Array | None]) -> QueryLikelihood:
    likelihood, intercepts = chunk[0], extra[1]
    if likelihood.rows.spread is not spread:
        likelihood.rows.put_on(spread)
    if intercepts is not None and intercepts is not likelihood.intercepts:
        likelihood.intercepts = intercepts.copy()  # they are moved in place
    return likelihood
