"""How likely grades are, given coefficients, when every query has its own intercepts at their best.

Intercepts take up whatever a group's rows have in common, so only differences within a group count. Dense rows are
never copied as a whole: they are centred by group as they are read, in float64, a few thousand at a time. Sparse rows
are not centred: the elimination of the intercepts does that.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rulerank.core.threads import in_blocks, one_blas_thread
from rulerank.dataset import Array
from rulerank.rankers.chunks import Summable, Sums
from rulerank.rankers.linear import kernels
from rulerank.rankers.linear.linear_ranker import check_present, fill_missing
from rulerank.rankers.linear.newton import Point
from rulerank.rankers.rows import Labelled

CONSTANT = 1e-12  # a feature that varies less than this within groups, relative to its size, varies by rounding
EVEN = np.zeros(0)  # every row counts one
CELLS_AT_ONCE = 2**18  # 2 MiB of float64: fits the cache, so that gathering rows costs little
ROWS_AT_ONCE = 4096  # groups are visited together up to about this many rows
CELLS_PER_THREAD = 2**20  # less is done before another thread has begun
MAX_LANES = 8
LANES_MEMORY = 2**28  # bytes for the lanes' Hessians together


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


class Slopes(NamedTuple):
    """The comparisons of some rows at their best intercepts, as `kernels.solve_intercepts` writes them."""

    curvatures: Array  # (n_levels, n)
    totals: Array  # (n_groups, n_levels)
    residuals: Array  # (n,)


class DenseRows:
    """Rows of an array, as differences to their group's mean; group i holds rows[bounds[i]:bounds[i + 1]].

    weights: what each of the rows counts in the common scale; of size 0 when every row counts one.
    """

    spread: Spread
    scale: Array  # (n_features,) deviation within groups, 0 for a feature that is constant within each
    factors: Array  # one over it, 0 where it is 0

    def __init__(self, X: Any, rows: Array, bounds: Array, weights: Array = EVEN) -> None:
        self.X, self.rows, self.bounds = X, rows, bounds
        self.groups = np.repeat(np.arange(bounds.size - 1), np.diff(bounds))
        self.put_on(self._spread(weights))

    def _spread(self, weights: Array) -> Spread:
        # any number near the mean will do, so the input's precision is enough
        self.centres = np.empty((self.bounds.size - 1, self.X.shape[1]), dtype=self.X.dtype)
        squares, largest = np.zeros((2, self.X.shape[1]))
        kernels.dense_spread(self.X, self.rows, weights, self.bounds, self.centres, squares, largest)
        return Spread(squares, largest, float(weights.sum() if weights.size else self.rows.size))

    def put_on(self, spread: Spread) -> None:
        """Take a scale, that of these rows or of more."""
        self.spread = spread
        self.scale, self.factors = spread.scale()

    def scores(self, coef: Array, start: int, stop: int) -> Array:
        """Return scores, up to a constant for each group, by coefficients on the common scale; of groups start.. ."""
        first, last = self.bounds[start], self.bounds[stop]
        out = np.empty(last - first)
        for begin, end in self._pieces(first, last):
            out[begin - first : end - first] = self._centred(begin, end) @ coef
        return out

    def offsets(self, coef: Array) -> Array:
        """Return for each group the constant that `scores` leaves out."""
        return self.centres @ (coef * self.factors)

    def add_moments(self, start: int, stop: int, at: Slopes, gradient: Array, hessian: Array) -> None:
        """Add these groups' share of the gradient and of the Hessian with the intercepts eliminated."""
        first, last = self.bounds[start], self.bounds[stop]
        sums = np.zeros((at.totals.size, gradient.size))
        deviations = np.sqrt(at.curvatures.sum(axis=0))
        for begin, end in self._pieces(first, last):
            here = slice(begin - first, end - first)
            centred = self._centred(begin, end)
            gradient += at.residuals[here] @ centred
            kernels.dense_group_sums(centred, self.groups[begin:end] - start, at.curvatures[:, here], sums)
            centred *= deviations[here, None]
            hessian += centred.T @ centred  # NumPy computes one half only
        used = at.totals.ravel() > 0
        sums = sums[used] / np.sqrt(at.totals.ravel()[used, None])
        hessian -= sums.T @ sums

    def _pieces(self, first: int, last: int) -> list[tuple[int, int]]:
        step = max(1, CELLS_AT_ONCE // self.X.shape[1])
        return [(begin, min(begin + step, last)) for begin in range(first, last, step)]

    def _centred(self, begin: int, end: int) -> Array:
        out = np.empty((end - begin, self.X.shape[1]))
        kernels.dense_centred(self.X, self.rows[begin:end], self.groups[begin:end], self.centres, self.factors, out)
        return out


class SparseRows(DenseRows):
    """Rows of a CSR matrix; what is not stored is 0, and no zero is ever touched."""

    def _spread(self, weights: Array) -> Spread:
        self.X = sparse.csr_array(self.X[self.rows], dtype=np.float64)
        self.X.sum_duplicates()
        own = weights if weights.size else np.ones(self.rows.size)
        together = self._by_group(own, self.bounds)
        totals = together @ np.ones(own.size)
        means = sparse.diags_array(1 / totals) @ (together @ self.X)
        rows = np.repeat(np.arange(own.size), np.diff(self.X.indptr))
        differences = self.X.data - np.asarray(means.tocsr()[self.groups[rows], self.X.indices]).ravel()
        stored = sparse.csr_array((np.ones(rows.size), self.X.indices, self.X.indptr), self.X.shape)
        at_zero = sparse.diags_array(totals) @ means.power(2) - (together @ stored).multiply(means.power(2))
        squares = np.bincount(self.X.indices, own[rows] * differences**2, self.X.shape[1]) + at_zero.sum(axis=0)
        return Spread(squares, abs(self.X).max(axis=0).toarray().ravel(), float(own.sum()))

    def put_on(self, spread: Spread) -> None:
        super().put_on(spread)
        self.scaled = sparse.csr_array(self.X @ sparse.diags_array(self.factors))

    def scores(self, coef: Array, start: int, stop: int) -> Array:
        found: Array = self.scaled[self.bounds[start] : self.bounds[stop]] @ coef
        return found

    def offsets(self, coef: Array) -> Array:
        return np.zeros(self.bounds.size - 1)

    def add_moments(self, start: int, stop: int, at: Slopes, gradient: Array, hessian: Array) -> None:
        bounds = self.bounds[start : stop + 1]
        X = self.scaled[bounds[0] : bounds[-1]]
        gradient += X.T @ at.residuals
        sums = [self._by_group(own, bounds - bounds[0]) @ X for own in at.curvatures]
        totals = at.totals.T.ravel()
        weights = [at.curvatures.sum(axis=0), np.divide(-1.0, totals, out=np.zeros(totals.size), where=totals > 0)]
        both = sparse.vstack([X, *sums], format="csr")
        found = (both.T @ sparse.diags_array(np.concatenate(weights)) @ both).tocoo()
        hessian[found.row, found.col] += found.data

    def _by_group(self, weights: Array, bounds: Array) -> Any:
        """Return the matrix that adds up rows, times their weights, by group."""
        return sparse.csr_array((weights, np.arange(weights.size), bounds), (bounds.size - 1, weights.size))


@dataclass(frozen=True)
class Outcomes:
    """How the comparisons of each (group, level) end."""

    n: Array  # (n_groups, n_levels): rows compared, or what they count
    n_passed: Array  # of them, those that pass the level

    @classmethod
    def of(cls, grades: Array, groups: Array, weights: Array | None = None, n_grades: int | None = None) -> Outcomes:
        """Count them; a row of grade g is compared at the levels from max(g, 1), and passes level g.

        >>> seen = Outcomes.of(np.array([0, 1, 2, 2]), np.array([0, 0, 0, 1]))
        >>> seen.n.tolist(), seen.n_passed.tolist()
        ([[2, 3], [0, 1]], [[1, 1], [0, 1]])
        """
        n_grades = int(grades.max()) + 1 if n_grades is None else n_grades
        counts = np.bincount(groups * n_grades + grades, weights, minlength=(int(groups.max()) + 1) * n_grades)
        counts = counts.reshape(-1, n_grades)
        return cls(counts.cumsum(axis=1)[:, 1:], counts[:, 1:])

    @property
    def informative(self) -> Array:
        """Whether both outcomes occur; where they do not, the best intercept is infinite and tells nothing."""
        return np.logical_and(self.n_passed > 0, self.n_passed < self.n)

    def intercepts(self) -> Array:
        """Return the best intercepts when no feature counts; NaN where nothing is compared."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log((self.n - self.n_passed) / self.n_passed)


class QueryLikelihood:
    """Negative log-likelihood of coefficients, plus l2 / 2 times their squares.

    Coefficients are on the scale of the features' deviations within groups. Rows whose group says nothing are left out.
    The sums are formed in a fixed order, in lanes that depend on the data only: threads do not change a bit.
    """

    def __init__(
        self,
        X: Any,
        grades: Array,
        groups: Array,
        l2: float,
        n_jobs: int | None,
        weights: Array | None = None,
        n_grades: int | None = None,
    ) -> None:
        self.l2, self.n_jobs = l2, n_jobs
        self.outcomes = Outcomes.of(grades, groups, weights, n_grades)
        self.used = np.asarray(self.outcomes.informative.any(axis=1))  # (n_groups,)
        order = np.arange(groups.size) if (groups[1:] >= groups[:-1]).all() else np.argsort(groups, kind="stable")
        order = order[self.used[groups[order]]]
        self.bounds = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=self.used.size)[self.used])])
        self.grades = grades[order]
        self.weights = EVEN if weights is None else weights[order]
        self.rows = (SparseRows if sparse.issparse(X) else DenseRows)(X, order, self.bounds, self.weights)
        self.n_features = X.shape[1]
        # where to look first, and after each call where they were found; not finite: left out
        self.intercepts = np.where(self.outcomes.informative, self.outcomes.intercepts(), np.inf)[self.used]
        self.lanes = self._lanes()

    def __call__(self, coef: Array) -> Point:
        """Return the loss with the intercepts at their best, its gradient and its Hessian."""
        n_lanes = len(self.lanes)
        losses = np.zeros(n_lanes)
        gradients = np.zeros((n_lanes, self.n_features))
        hessians = np.zeros((n_lanes, self.n_features, self.n_features))

        def work(first: int, last: int) -> None:
            for lane in range(first, last):
                for start, stop in self.lanes[lane]:
                    losses[lane] += self._add_groups(coef, start, stop, gradients[lane], hessians[lane])

        worth_a_thread = self.grades.size * self.n_features >= CELLS_PER_THREAD
        in_blocks(work, n_lanes, self.n_jobs, min_block=1 if worth_a_thread else n_lanes)
        return Point(float(losses.sum()), gradients.sum(axis=0), hessians.sum(axis=0)).shrunken(coef, self.l2)

    def best_intercepts(self, coef: Array) -> Array:
        """Return the intercepts of all groups that belong to the coefficients last asked for, in the rows' units."""
        found = self.outcomes.intercepts()
        found[self.used] = np.where(
            np.isfinite(self.intercepts), self.intercepts + self.rows.offsets(coef)[:, None], found[self.used]
        )
        return found

    @property
    def n_comparisons(self) -> float:
        """How many comparisons tell something, or what they count."""
        return float(self.outcomes.n[self.outcomes.informative].sum())

    def _add_groups(self, coef: Array, start: int, stop: int, gradient: Array, hessian: Array) -> float:
        bounds = self.bounds[start : stop + 1]
        grades, weights = (column[bounds[0] : bounds[-1]] for column in (self.grades, self.weights))
        intercepts = self.intercepts[start:stop]
        at = Slopes(np.empty((intercepts.shape[1], grades.size)), np.empty(intercepts.shape), np.empty(grades.size))
        scores = self.rows.scores(coef, start, stop)
        loss = kernels.solve_intercepts(scores, grades, weights, bounds - bounds[0], intercepts, *at)
        self.rows.add_moments(start, stop, at, gradient, hessian)
        return float(loss)

    def _lanes(self) -> list[list[tuple[int, int]]]:
        """Deal spans of groups, each of about ROWS_AT_ONCE rows, to a few lanes, neighbours to the same one."""
        block_of_group = self.bounds[:-1] // ROWS_AT_ONCE
        starts = np.flatnonzero(np.diff(block_of_group, prepend=-1)).tolist()
        spans = list(itertools.pairwise([*starts, self.bounds.size - 1]))
        n_lanes = max(1, min(len(spans), MAX_LANES, LANES_MEMORY // (8 * self.n_features**2)))
        cuts = [len(spans) * lane // n_lanes for lane in range(n_lanes + 1)]
        return [spans[first:last] for first, last in itertools.pairwise(cuts)]


@dataclass(frozen=True, eq=False)
class ChunkFacts(Summable):
    """What is known of some chunks before any look, of neighbours added up."""

    spread: Spread
    query_ids: tuple[Array, ...]
    n_comparisons: float
    n_informative: int


@dataclass(frozen=True, eq=False)
class ChunkPoint(Summable):
    """What one look at some chunks found, of neighbours added up."""

    value: float
    gradient: Array
    hessian: Array
    intercepts: tuple[tuple[int, Array, Array], ...]  # of each chunk, with its number: as found, and in the rows' units


class ChunkedLikelihood:
    """Negative log-likelihood of coefficients, plus l2 / 2 times their squares, over chunks of rows, in their order.

    Where the intercepts of a chunk were found last is where the next look begins, so they go along and come back.
    """

    def __init__(self, total: Sums, n_chunks: int, l2: float) -> None:
        self.total, self.l2 = total, l2
        self.extras: list[Extra] = [(number, None) for number in range(n_chunks)]
        self.facts: ChunkFacts = total(facts_of, self.extras)
        self.scale, self.factors = self.facts.spread.scale()
        self.intercepts: list[Array] = []  # of each chunk's queries, that belong to the coefficients last asked for

    def __call__(self, coef: Array) -> Point:
        """Return the loss with the intercepts at their best, its gradient and its Hessian."""
        found: ChunkPoint = self.total(partial(point_of, coef, self.facts.spread), self.extras)
        for number, own, _ in found.intercepts:
            self.extras[number] = number, own
        self.intercepts = [best for _, _, best in found.intercepts]
        return Point(found.value, found.gradient, found.hessian).shrunken(coef, self.l2)


Chunk = tuple[QueryLikelihood, Array]  # and its query ids
Extra = tuple[int, Array | None]  # the number of a chunk, and its intercepts


def prepared(
    fill: Array | None, names: tuple[str, ...], n_grades: int, turned: bool, n_jobs: int | None, data: Labelled
) -> Chunk:
    """Return the likelihood of one chunk, without a penalty, and its query ids; turned: of grades the other way."""
    if fill is None:
        check_present(data.X, names)
    X = data.X if fill is None else fill_missing(data.X, fill)
    grades = n_grades - 1 - data.grades if turned else data.grades
    return QueryLikelihood(X, grades, data.queries, 0.0, n_jobs, data.weights, n_grades), data.query_ids


def facts_of(chunk: Chunk, _: Extra) -> ChunkFacts:
    """Return what is known of one chunk: how far features vary within its groups, and what is compared."""
    own, query_ids = chunk
    return ChunkFacts(own.rows.spread, (query_ids,), own.n_comparisons, int(own.used.sum()))


def point_of(coef: Array, spread: Spread, chunk: Chunk, extra: Extra) -> ChunkPoint:
    """Look at one chunk."""
    (own, _), (number, intercepts) = chunk, extra
    if own.rows.spread is not spread:
        own.rows.put_on(spread)
    if intercepts is not None and intercepts is not own.intercepts:
        own.intercepts = intercepts.copy()  # they are moved in place
    with one_blas_thread():
        return ChunkPoint(*own(coef), ((number, own.intercepts, own.best_intercepts(coef)),))
