"""How stable rules vote: what a cell says, and how far its queries agree on it. Without one, all rules vote (RE-GR)."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.rules.engine import picked
from rulerank.rules.layout import FeatureSets
from rulerank.rules.stable.counts import THETA_UNIT, QueryCounts, QueryVotes
from rulerank.rules.stable.kernels import (
    EXTREMES,
    LIFTS,
    N_DOWN,
    N_QUERIES,
    N_UP,
    SUMS,
    THETAS,
)
from rulerank.rules.tables import UNIT, Counts
from rulerank.rules.votes import LiftVotes, MeanVotes, Parts, Training, weighted_parts

LIFT_SHRINK = 1.0  # queries' worth of "no difference" mixed into each cell's mean lift
SLACK = 1e-9  # a confidence of 0.4 is within 0.1 of 0.3, whatever floating point makes of it


class WeighedVotes(QueryVotes):
    """Mean over the stable cells of how far they lie above the mean grade, each with its weight."""

    def __init__(self, min_queries: int) -> None:
        self.min_queries = min_queries
        self.otherwise = LiftVotes()

    @abstractmethod
    def say(self, cells: QueryCounts, set_strength: Array, training: Training) -> tuple[Array, Array]:
        """Return what each cell says and with which weight."""

    def width(self, training: Training) -> int:
        return 2 + self.otherwise.width(training)

    def fill(self, counts: Counts, sets: FeatureSets, training: Training, first: int, last: int, votes: Array) -> None:
        cells, own = _cells(counts, sets, first, last)
        set_strength = training.strength[sets.features[first:last]].mean(axis=1)
        value, weight = self.say(cells, np.repeat(set_strength, np.diff(sets.offsets[first : last + 1])), training)
        n_rows = cells.grades.sum(axis=1)
        weight[(cells.tallies[:, N_QUERIES] < self.min_queries) | (n_rows < training.min_rows)] = 0.0
        votes[own, 0] = weight * value
        votes[own, 1] = weight
        self.otherwise.fill(counts, sets, training, first, last, votes[:, 2:])

    def scores(self, sums: Array, training: Training) -> Array:
        stable = sums[:, 1] > 0
        mean = np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=stable)
        return np.where(stable, training.mean_grade + mean, self.otherwise.scores(sums[:, 2:], training))

    def parts(self, votes: Array, training: Training) -> Parts:
        return weighted_parts(votes) if votes[:, 1].any() else self.otherwise.parts(votes[:, 2:], training)


class AgreementVotes(WeighedVotes):
    """Every query has one voice: the mean of the queries' lifts, weighed by the share of queries that agree."""

    def say(self, cells: QueryCounts, set_strength: Array, training: Training) -> tuple[Array, Array]:
        n_queries = cells.tallies[:, N_QUERIES]
        lifts = _beyond_rounding(cells.tallies[:, LIFTS] * UNIT, n_queries)
        agree = np.where(lifts > 0, cells.tallies[:, N_UP], np.where(lifts < 0, cells.tallies[:, N_DOWN], 0))
        return lifts / (n_queries + LIFT_SHRINK), set_strength * (agree / np.maximum(n_queries, 1))


class ConfidenceVotes(QueryVotes):
    """The mean confidence of the stable rules; which are, a subclass says."""

    mean = MeanVotes()

    def __init__(self, phi: float, min_queries: int) -> None:
        self.phi = phi
        self.min_queries = min_queries

    @abstractmethod
    def within_phi(self, cells: QueryCounts, theta: Array) -> Array:
        """Return which rules have confidences in the queries that lie close enough to theta, bool like theta."""

    def width(self, training: Training) -> int:
        return 2 * self.mean.width(training)

    def fill(self, counts: Counts, sets: FeatureSets, training: Training, first: int, last: int, votes: Array) -> None:
        cells, own = _cells(counts, sets, first, last)
        n_grades = training.n_grades
        theta = cells.grades / np.maximum(cells.grades.sum(axis=1), 1)[:, None]
        stable = self.within_phi(cells, theta)
        stable &= cells.grades >= training.min_rows
        stable &= (cells.tallies[:, N_QUERIES] >= self.min_queries)[:, None]
        votes[own, :n_grades] = np.where(stable, theta, 0.0)
        votes[own, n_grades : 2 * n_grades] = stable
        self.mean.fill(counts, sets, training, first, last, votes[:, 2 * n_grades :])

    def scores(self, sums: Array, training: Training) -> Array:
        width = self.mean.width(training)
        stable = (sums[:, training.n_grades : width] > 0).any(axis=1)
        by_stable, by_all = (self.mean.scores(part, training) for part in (sums[:, :width], sums[:, width:]))
        return np.where(stable, by_stable, by_all)

    def parts(self, votes: Array, training: Training) -> Parts:
        width = self.mean.width(training)
        stable = votes[:, training.n_grades : width].any()
        return self.mean.parts(votes[:, :width] if stable else votes[:, width:], training)


class LiteralVotes(ConfidenceVotes):
    """The paper's: the rules whose confidence in no query differs by more than phi."""

    needs_thetas = EXTREMES

    def within_phi(self, cells: QueryCounts, theta: Array) -> Array:
        n_grades = theta.shape[1]
        thetas = cells.tallies[:, THETAS:] * THETA_UNIT
        highest, lowest = thetas[:, :n_grades], 1 - thetas[:, n_grades:]
        found: Array = np.maximum(highest - theta, theta - lowest) <= self.phi + SLACK
        return found


class MeanThetaVotes(ConfidenceVotes):
    """The rules whose confidence, in the mean over the queries that hold them, differs by no more than phi."""

    needs_thetas = SUMS

    def within_phi(self, cells: QueryCounts, theta: Array) -> Array:
        mean = cells.tallies[:, THETAS:] * THETA_UNIT / np.maximum(cells.tallies[:, N_QUERIES], 1)[:, None]
        found: Array = np.abs(mean - theta) <= self.phi + SLACK
        return found


MEAN = "mean"
STABILITIES = ("agreement", MEAN)


def stability_named(name: str, min_queries: int, phi: float) -> QueryVotes:
    """Return the scheme of that name.

    >>> type(stability_named("agreement", min_queries=2, phi=0.1)).__name__
    'AgreementVotes'
    """
    if name not in STABILITIES:
        raise DataError(f"unknown stability {name!r}; choose from {', '.join(STABILITIES)}")
    return MeanThetaVotes(phi, min_queries) if name == MEAN else AgreementVotes(min_queries)


def _cells(counts: Counts, sets: FeatureSets, first: int, last: int) -> tuple[QueryCounts, slice]:
    assert isinstance(counts, QueryCounts)
    own = slice(int(sets.offsets[first]), int(sets.offsets[last]))
    return picked(counts, own), own


def _beyond_rounding(sums: Array, n_terms: Array) -> Array:
    """Return sums of terms in UNITs, 0 where they are no more than the terms' rounding."""
    return np.where(np.abs(sums) <= n_terms * UNIT, 0.0, sums)
