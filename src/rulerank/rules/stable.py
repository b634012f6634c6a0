"""How stable rules vote: what a cell says, and how far its queries agree on it. Without one, all rules vote (RE-GR)."""

from __future__ import annotations

import numpy as np

from rulerank.dataset import Array
from rulerank.rules.kernels import LIFTS, N_DOWN, N_QUERIES, N_UP, SUMS, THETAS
from rulerank.rules.layout import FeatureSets
from rulerank.rules.tables import THETA_UNIT, UNIT, Counts, Training
from rulerank.rules.votes import LiftVotes, MeanVotes, parts_of_mean

LIFT_SHRINK = 1.0  # queries' worth of "no difference" mixed into each cell's mean lift
SLACK = 1e-9  # a confidence of 0.4 is within 0.1 of 0.3, whatever floating point makes of it


class AgreementVotes:
    """Mean over the stable cells of how far they lie above the mean grade, each with its weight.

    Every query has one voice: a cell says the mean of its queries' lifts, weighed by the share of queries that agree.
    """

    needs_expected = True
    thetas: int | None = 0

    def __init__(self, min_queries: int) -> None:
        self.min_queries = min_queries
        self.otherwise = LiftVotes()

    def width(self, training: Training) -> int:
        return 2 + self.otherwise.width(training)

    def fill(self, counts: Counts, sets: FeatureSets, training: Training, votes: Array, first: int, last: int) -> None:
        own = slice(int(sets.offsets[first]), int(sets.offsets[last]))
        cells = counts.at(own)
        n_queries, lifts = cells.tallies[:, N_QUERIES], cells.tallies[:, LIFTS] * UNIT
        lifts = np.where(np.abs(lifts) <= n_queries * UNIT, 0.0, lifts)  # no more than the rounding of each
        agree = np.where(lifts > 0, cells.tallies[:, N_UP], np.where(lifts < 0, cells.tallies[:, N_DOWN], 0))
        set_strength = training.strength[sets.features[first:last]].mean(axis=1)
        weight = np.repeat(set_strength, np.diff(sets.offsets[first : last + 1]))
        weight = weight * (agree / np.maximum(n_queries, 1))
        weight[(n_queries < self.min_queries) | (cells.grades.sum(axis=1) < training.min_rows)] = 0.0
        votes[own, 0] = weight * (lifts / (n_queries + LIFT_SHRINK))
        votes[own, 1] = weight
        self.otherwise.fill(counts, sets, training, votes[:, 2:], first, last)

    def scores(self, sums: Array, training: Training) -> Array:
        stable = sums[:, 1] > 0
        mean = np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=stable)
        return np.where(stable, training.mean_grade + mean, self.otherwise.scores(sums[:, 2:], training))

    def adds(self, votes: Array, training: Training) -> Array:
        return parts_of_mean(votes) if votes[:, 1].any() else self.otherwise.adds(votes[:, 2:], training)


class ConfidenceVotes:
    """The mean confidence of the stable rules: those whose confidence in queries differs by no more than phi.

    thetas: `kernels.EXTREMES`, the paper's, no query's confidence differs by more; `SUMS`, the mean over the queries
    that hold the rule does not.
    """

    needs_expected = True
    mean = MeanVotes()

    def __init__(self, thetas: int, phi: float, min_queries: int) -> None:
        self.thetas: int | None = thetas
        self.phi = phi
        self.min_queries = min_queries

    def width(self, training: Training) -> int:
        return 2 * self.mean.width(training)

    def fill(self, counts: Counts, sets: FeatureSets, training: Training, votes: Array, first: int, last: int) -> None:
        own = slice(int(sets.offsets[first]), int(sets.offsets[last]))
        cells, n_grades = counts.at(own), training.n_grades
        n_queries, thetas = cells.tallies[:, N_QUERIES], cells.tallies[:, THETAS:] * THETA_UNIT
        theta = cells.grades / np.maximum(cells.grades.sum(axis=1), 1)[:, None]
        if self.thetas == SUMS:
            differ = np.abs(thetas / np.maximum(n_queries, 1)[:, None] - theta)
        else:
            highest, lowest = thetas[:, :n_grades], 1 - thetas[:, n_grades:]
            differ = np.maximum(highest - theta, theta - lowest)
        stable = (differ <= self.phi + SLACK) & (cells.grades >= training.min_rows)
        stable &= (n_queries >= self.min_queries)[:, None]
        votes[own, :n_grades] = np.where(stable, theta, 0.0)
        votes[own, n_grades : 2 * n_grades] = stable
        self.mean.fill(counts, sets, training, votes[:, 2 * n_grades :], first, last)

    def scores(self, sums: Array, training: Training) -> Array:
        width = self.mean.width(training)
        stable = (sums[:, training.n_grades : width] > 0).any(axis=1)
        by_stable, by_all = (self.mean.scores(part, training) for part in (sums[:, :width], sums[:, width:]))
        return np.where(stable, by_stable, by_all)

    def adds(self, votes: Array, training: Training) -> Array:
        width = self.mean.width(training)
        stable = votes[:, training.n_grades : width].any()
        return self.mean.adds(votes[:, :width] if stable else votes[:, width:], training)
