"""How counts become votes, and sums of votes a score. Every scheme is a sum over cells, so its parts add up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial

import numpy as np

from rulerank._util.loops import compiled, in_blocks
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.rules.layout import FeatureSets, Layout
from rulerank.rules.metrics import METRICS, check_metric, mapped_theta
from rulerank.rules.tables import LIFTS, N_DOWN, N_QUERIES, N_UP, THETA_UNIT, THETAS, UNIT, Counts, Training

EVIDENCE_SHRINK = 10.0  # rows' worth of "no difference" mixed into each cell's difference
CELLS_PER_THREAD = 100_000
LIFT_SHRINK = 1.0  # queries' worth of "no difference" mixed into each cell's mean lift
SLACK = 1e-9  # a confidence of 0.4 is within 0.1 of 0.3, whatever floating point makes of it


class Votes(ABC):
    """A scheme: the votes of each cell of some feature sets, and the score from a document's sum of votes."""

    needs_expected = True
    thetas: bool | None = None  # what it needs to know about single queries, see `Counter`

    @abstractmethod
    def width(self, training: Training) -> int: ...

    @abstractmethod
    def fill(self, counts: Counts, sets: FeatureSets, training: Training, votes: Array, first: int, last: int) -> None:
        """Write the votes of the cells of the sets first..last-1."""

    @abstractmethod
    def scores(self, sums: Array, training: Training) -> Array: ...

    @abstractmethod
    def adds(self, votes: Array, training: Training) -> Array:
        """Return what each cell of a document with these votes adds to the mean grade: together, the score."""


class MeanVotes(Votes):
    """The papers' literal vote: mean strength of the rules per grade, normalised, expected grade.

    Several metrics vote side by side at little more than the cost of one: `scores_by_metric` tells them apart.
    """

    needs_expected = False

    def __init__(self, metrics: tuple[str, ...] = ("confidence",)) -> None:
        self.metrics = tuple(map(check_metric, metrics))
        self.numbers = np.array([METRICS.index(name) for name in metrics], dtype=np.int64)  # for the loops

    def width(self, training: Training) -> int:
        return (len(self.metrics) + 1) * training.n_grades

    def fill(self, counts: Counts, sets: FeatureSets, training: Training, votes: Array, first: int, last: int) -> None:
        mean_votes(
            counts.grades, training.min_rows, self.numbers, training.n_by_grade, sets.offsets, votes, first, last
        )

    def scores(self, sums: Array, training: Training) -> Array:
        """Return the scores by the first metric."""
        return self._scores_by(0, sums, training)

    def scores_by_metric(self, sums: Array, training: Training) -> Array:
        """Return the scores by each metric, (n_documents, n_metrics)."""
        return np.column_stack([self._scores_by(m, sums, training) for m in range(len(self.metrics))])

    def _scores_by(self, metric: int, sums: Array, training: Training) -> Array:
        n_grades = training.n_grades
        theta, n_rules = sums[:, metric * n_grades : (metric + 1) * n_grades], sums[:, -n_grades:]
        mean = np.divide(theta, n_rules, out=np.zeros_like(theta), where=n_rules > 0)
        weighted, total = np.zeros((2, len(sums)))
        for grade in range(n_grades):  # a fixed order: one row alone scores as it does among others
            weighted += grade * mean[:, grade]
            total += mean[:, grade]
        return _divide(weighted, total, training.mean_grade)

    def adds(self, votes: Array, training: Training, metric: int = 0) -> Array:
        """Return what each cell of a document adds to its score by one metric, the first unless said."""
        n_grades = training.n_grades
        theta, exists = votes[:, metric * n_grades : (metric + 1) * n_grades], votes[:, -n_grades:]
        n_rules = np.maximum(exists.sum(axis=0), 1)
        total = float((theta.sum(axis=0) / n_rules).sum())
        if not total:
            return np.zeros(len(theta))
        return np.asarray(theta / (n_rules * total) @ (np.arange(n_grades) - training.mean_grade))


class LiftVotes(Votes):
    """Mean over the cells of how far their grades lie above what their rows' queries lead one to expect.

    Added to the mean grade, the lift reads as the grade to be expected in a query like any other.

    additive: a cell without training rows, or with too few, votes 0 with the full weight of its set: the weights then
    add up to the same for every document, and the score is a plain sum of one vote for each set. Else it has no say.
    """

    def __init__(self, additive: bool = False) -> None:
        self.additive = additive

    def width(self, training: Training) -> int:
        return 2

    def set_weights(self, sets: FeatureSets, training: Training) -> Array:
        """Return what each set weighs, float64 (n_sets,): as much as its features are strong on average."""
        return np.asarray(training.strength[sets.features].mean(axis=1))

    def total_weight(self, layout: Layout, training: Training) -> float:
        """Return what all sets weigh, added up in their order."""
        weights = [self.set_weights(block, training) for block in layout.sets]
        return float(np.cumsum(np.concatenate([np.zeros(1), *weights]))[-1])

    def fill(self, counts: Counts, sets: FeatureSets, training: Training, votes: Array, first: int, last: int) -> None:
        weights, shrink = self.set_weights(sets, training), EVIDENCE_SHRINK
        lift_votes(
            counts.grades, counts.expected, UNIT, shrink, training.min_rows, weights, sets.offsets, votes, first, last
        )
        if self.additive:
            own = sets.offsets[first : last + 1]
            votes[own[0] : own[-1], 1] = np.repeat(weights[first:last], np.diff(own))

    def scores(self, sums: Array, training: Training) -> Array:
        return training.mean_grade + _divide(sums[:, 0], sums[:, 1], 0.0)

    def adds(self, votes: Array, training: Training) -> Array:
        """Return what each cell of a document with these votes adds to the mean grade."""
        return parts_of_mean(votes)


class AgreementVotes(Votes):
    """Mean over the stable cells of how far they lie above the mean grade, each with its weight.

    Every query has one voice: a cell says the mean of its queries' lifts, weighed by the share of queries that agree.
    """

    thetas: bool | None = False

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


class ConfidenceVotes(Votes):
    """The mean confidence of the stable rules: those whose confidence in no query differs by more than phi."""

    thetas: bool | None = True
    mean = MeanVotes()

    def __init__(self, phi: float, min_queries: int) -> None:
        self.phi, self.min_queries = phi, min_queries

    def width(self, training: Training) -> int:
        return 2 * self.mean.width(training)

    def fill(self, counts: Counts, sets: FeatureSets, training: Training, votes: Array, first: int, last: int) -> None:
        own = slice(int(sets.offsets[first]), int(sets.offsets[last]))
        cells, n_grades = counts.at(own), training.n_grades
        n_queries, thetas = cells.tallies[:, N_QUERIES], cells.tallies[:, THETAS:] * THETA_UNIT
        theta = cells.grades / np.maximum(cells.grades.sum(axis=1), 1)[:, None]
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


VOTES: dict[str, Votes] = {"mean": MeanVotes(), "evidence": LiftVotes(additive=True)}


def votes_named(name: str, metric: str = "confidence", additive: bool = True) -> Votes:
    """Return the scheme of that name; "mean" votes with a metric.

    additive: what lifts do with empty cells, see `LiftVotes`; models of the first version have none of it.

    >>> votes_named("mean", "yule_q").metrics
    ('yule_q',)
    """
    if name not in [*VOTES]:
        raise DataError(f"unknown votes {name!r}; choose from {', '.join(VOTES)}")
    check_metric(metric)
    if name == "mean":
        return MeanVotes((metric,))
    if metric != "confidence":
        raise DataError(f"votes={name!r} does not use a metric: leave out metric={metric!r}, or set votes='mean'")
    return LiftVotes(additive)


def vote_table(
    scheme: Votes, counts: Counts, sets: FeatureSets, training: Training, n_jobs: int | None = None
) -> Array:
    """Turn the counts of some feature sets, their cells numbered from 0, into votes: one row per cell."""
    n_sets, n_cells = len(sets.features), len(counts.grades)
    votes = np.empty((n_cells, scheme.width(training)))
    min_block = max(1, CELLS_PER_THREAD * n_sets // max(1, n_cells))
    in_blocks(partial(scheme.fill, counts, sets, training, votes), n_sets, n_jobs, min_block)
    return votes


def parts_of_mean(votes: Array) -> Array:
    """Take a weighted mean apart, given weight * value and weight of each cell.

    >>> parts_of_mean(np.array([[0.5, 1.0], [-0.6, 3.0]])).tolist()
    [0.125, -0.15]
    """
    return np.asarray(votes[:, 0] / (np.cumsum(votes[:, 1])[-1:].sum() or 1.0))  # one by one, as scores add them up


def _divide(above: Array, below: Array, otherwise: float) -> Array:
    return np.divide(above, below, out=np.full(len(above), otherwise), where=below != 0)


@compiled
def mean_votes(
    counts: Array, min_hits: int, metrics: Array, n_by_grade: Array, offsets: Array, votes: Array, first: int, last: int
) -> None:
    """Vote with the strength of each rule by each metric, and count the rules, per grade.

    metrics     int64[n_metrics]    their numbers in `metrics.METRICS`
    n_by_grade  int64[n_grades]     training rows of each grade
    votes       float64[n_cells, (n_metrics + 1) * n_grades]    grades by metric, then the rules per grade
    """
    n_grades = counts.shape[1]
    n_thetas = metrics.size * n_grades
    n_rows = 0.0
    for r in range(n_grades):
        n_rows += n_by_grade[r]
    for cell in range(offsets[first], offsets[last]):
        covered = 0.0
        for r in range(n_grades):
            covered += counts[cell, r]
        for r in range(n_grades):
            exists = counts[cell, r] >= min_hits
            votes[cell, n_thetas + r] = 1.0 if exists else 0.0
            for m in range(metrics.size):
                votes[cell, m * n_grades + r] = 0.0
                if exists:
                    votes[cell, m * n_grades + r] = mapped_theta(
                        metrics[m], float(counts[cell, r]), covered, float(n_by_grade[r]), n_rows
                    )


@compiled
def lift_votes(
    counts: Array, sums: Array, unit: float, shrink: float, min_covered: int, set_weights: Array, offsets: Array,
    votes: Array, first: int, last: int,
) -> None:  # fmt: skip
    """Vote with the shrunken difference to what the cells' queries expect, weighed by set, and add up the weights."""
    for s in range(first, last):
        for cell in range(offsets[s], offsets[s + 1]):
            covered = 0
            total = 0
            for r in range(counts.shape[1]):
                covered += counts[cell, r]
                total += r * counts[cell, r]
            if covered < min_covered:
                votes[cell, 0] = 0.0
                votes[cell, 1] = 0.0
                continue
            votes[cell, 0] = set_weights[s] * ((total - sums[cell] * unit) / (covered + shrink))
            votes[cell, 1] = set_weights[s]
