"""How likely grades are, given coefficients, when every query has its own intercepts at their best."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.rankers.linear.grouped_rows import grouped_rows
from rulerank.rankers.linear.kernels import solve_intercepts
from rulerank.rankers.linear.newton import Point

ROWS_AT_ONCE = 4096  # groups are visited together up to about this many rows
CELLS_PER_THREAD = 2**20  # less is done before another thread has begun
MAX_LANES = 8
LANES_MEMORY = 2**28  # bytes for the lanes' Hessians together


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
        self.weights = np.zeros(0) if weights is None else weights[order]
        self.rows = grouped_rows(X, order, self.bounds, self.weights)
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
        return Point(
            float(losses.sum() + 0.5 * self.l2 * (coef @ coef)),
            gradients.sum(axis=0) + self.l2 * coef,
            hessians.sum(axis=0) + self.l2 * np.eye(self.n_features),
        )

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
        grades = self.grades[bounds[0] : bounds[-1]]
        intercepts = self.intercepts[start:stop]
        curvatures = np.empty((intercepts.shape[1], grades.size))
        totals = np.empty(intercepts.shape)
        residuals = np.empty(grades.size)
        scores = self.rows.scores(coef, start, stop)
        weights = self.weights[bounds[0] : bounds[-1]]
        loss = solve_intercepts(scores, grades, weights, bounds - bounds[0], intercepts, curvatures, totals, residuals)
        self.rows.add_moments(start, stop, curvatures, totals, residuals, gradient, hessian)
        return float(loss)

    def _lanes(self) -> list[list[tuple[int, int]]]:
        """Deal spans of groups, each of about ROWS_AT_ONCE rows, to a few lanes, neighbours to the same one."""
        block_of_group = self.bounds[:-1] // ROWS_AT_ONCE
        starts = np.flatnonzero(np.diff(block_of_group, prepend=-1)).tolist()
        spans = list(itertools.pairwise([*starts, self.bounds.size - 1]))
        n_lanes = max(1, min(len(spans), MAX_LANES, LANES_MEMORY // (8 * self.n_features**2)))
        cuts = [len(spans) * lane // n_lanes for lane in range(n_lanes + 1)]
        return [spans[first:last] for first, last in itertools.pairwise(cuts)]
