"""One document's votes: which cells voted, what each adds to the score, and what the score is without some of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.explain import kernels

STEPS_PER_THREAD = 200_000

Tally = Callable[[Array], Array]  # sums of votes (n, width) -> scores (n,)


@dataclass(frozen=True, eq=False)
class Ballot:
    """The cells of one document, and how their votes become its score.

    A cell is a set of features with the document's bins. Always: score = tally(sum of votes) = base + sum of adds.
    """

    sets: Array  # int32 (n_cells, size): the features of each cell, -1 where it has fewer
    bins: Array  # the same shape: the document's bins, or its values
    votes: Array  # float64 (n_cells, width)
    tally: Tally
    adds: Array  # float64 (n_cells,) parts of the score
    weights: Array  # float64 (n_cells,) of what the cells say in the score; 0 where that means nothing
    voted: Array  # bool (n_cells,)
    base: float  # the score if nothing voted
    n_features: int
    by_grade: Array  # int (n_cells, n_grades) training rows of each grade in the cell; no columns where not known

    @cached_property
    def score(self) -> float:
        """The score, added up in the order in which `predict` adds."""
        return self.score_of(np.ones(len(self.adds), dtype=bool))

    @cached_property
    def holds(self) -> Array:
        """Which voting cells hold which features, bool (n_cells, n_features)."""
        holds = np.zeros((len(self.adds), self.n_features + 1), dtype=bool)
        np.put_along_axis(holds, np.where(self.sets < 0, self.n_features, self.sets), True, axis=1)
        holds[~self.voted] = False
        return np.ascontiguousarray(holds[:, :-1])

    @cached_property
    def shares(self) -> Array:
        """Each feature's part of the score, (n_features,): what a cell adds is shared alike by its features."""
        per_feature = np.where(self.voted, self.adds, 0.0) / (self.sets >= 0).sum(axis=1)
        return per_feature @ self.holds

    @cached_property
    def used(self) -> Array:
        """The features whose cells have votes, in order; with those that count only if others do not."""
        features = np.unique(self.sets[self._says])
        return features[features >= 0]

    @cached_property
    def _says(self) -> Array:
        return np.any(self.votes != 0, axis=1)

    @cached_property
    def scores_without(self) -> Array:
        """The score without the cells of each feature, (n_features,)."""
        number = np.full(self.n_features + 1, -1, dtype=np.int32)  # the last: where a cell has no further feature
        number[self.used] = np.arange(self.used.size)
        sums = np.zeros((self.used.size, self.votes.shape[1]))
        kernels.add_without_each(number[self.sets[self._says]], self.votes[self._says], sums)
        scores = np.full(self.n_features, self.score)
        scores[self.used] = self.tally(sums)
        return scores

    def scores_without_sets(self, removed: Array) -> Array:
        """Return the score without the cells that hold any feature of a set, for each row of bool (n, n_features)."""
        sums = np.zeros((len(removed), self.votes.shape[1]))

        def work(start: int, stop: int) -> None:
            kernels.add_without(self.sets, self.votes, removed, start, stop, sums)

        in_blocks(work, len(removed), min_block=1 + STEPS_PER_THREAD // max(1, len(self.sets)))
        return self.tally(sums)

    def score_of(self, kept: Array) -> float:
        """Return the score by the cells of a mask alone, exactly: added up one after the other, as the engine does."""
        votes = self.votes[kept]
        sums = np.cumsum(votes, axis=0)[-1:] if len(votes) else np.zeros((1, votes.shape[1]))
        return float(self.tally(sums)[0])

    def features_of(self, cell: int) -> list[int]:
        """Return the features of one cell."""
        return [feature for feature in self.sets[cell].tolist() if feature >= 0]

    def bin_of(self, cell: int, feature: int) -> int:
        """Return the document's bin of a feature in one cell."""
        return int(self.bins[cell, self.features_of(cell).index(feature)])

    def same_as(self, other: Ballot) -> Array:
        """Tell which cells hold the same items as those of another document under the same model, bool (n_cells,)."""
        same: Array = (self.bins == other.bins).all(axis=1)
        return same


def sum_ballot(sets: Array, bins: Array, adds: Array, base: float, n_features: int) -> Ballot:
    """Return the ballot of a score that is a plain sum.

    >>> sets, values = np.array([[0], [1]]), np.array([[1.0], [2.0]])
    >>> sum_ballot(sets, values, np.array([2.0, -0.5]), 0.0, 2).scores_without.tolist()
    [-0.5, 2.0]
    """
    return Ballot(
        sets=sets,
        bins=bins,
        votes=adds[:, None],
        tally=lambda sums: base + sums[:, 0],
        adds=adds,
        weights=np.zeros(adds.size),
        voted=adds != 0,
        base=base,
        n_features=n_features,
        by_grade=np.zeros((adds.size, 0), dtype=np.int64),
    )


def mixed(ballots: Sequence[Ballot], factors: Sequence[float], base: float) -> Ballot:
    """Put the ballots of several models into one: score = base + sum of factor * (their score - their base)."""
    starts = np.cumsum([0, *(ballot.votes.shape[1] for ballot in ballots)]).tolist()
    size = max((ballot.sets.shape[1] for ballot in ballots), default=1)
    n_grades = max((ballot.by_grade.shape[1] for ballot in ballots), default=0)
    nothing = sum_ballot(np.zeros((0, size), dtype=np.int32), np.zeros((0, size)), np.zeros(0), base, 0)
    nothing = replace(nothing, votes=np.zeros((0, starts[-1])), by_grade=np.zeros((0, n_grades), dtype=np.int64))
    parts = [nothing]
    for ballot, factor, start in zip(ballots, factors, starts, strict=False):
        more = ((0, 0), (0, size - ballot.sets.shape[1]))
        parts.append(
            replace(
                ballot,
                sets=np.pad(ballot.sets, more, constant_values=-1),
                bins=np.pad(ballot.bins, more),
                votes=np.pad(ballot.votes, ((0, 0), (start, starts[-1] - start - ballot.votes.shape[1]))),
                adds=factor * ballot.adds,
                weights=factor * ballot.weights,
                voted=ballot.voted & (factor != 0),
                by_grade=np.pad(ballot.by_grade, ((0, 0), (0, n_grades - ballot.by_grade.shape[1]))),
            )
        )

    def tally(sums: Array) -> Array:
        scores = np.full(len(sums), base)
        for ballot, factor, start in zip(ballots, factors, starts, strict=False):
            scores += factor * (ballot.tally(sums[:, start : start + ballot.votes.shape[1]]) - ballot.base)
        return scores

    names = ("sets", "bins", "votes", "adds", "weights", "voted", "by_grade")
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Ballot(
        **joined, tally=tally, base=base, n_features=max((ballot.n_features for ballot in ballots), default=0)
    )
