"""One document's votes: which cells voted, what each adds to the score, and what the score is without some of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rulerank.ballots import kernels
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array

STEPS_PER_THREAD = 200_000

Tally = Callable[[Array], Array]  # sums of votes (n, width) -> scores (n,)


@dataclass(frozen=True, eq=False)
class Ballot:
    """The cells of one document, in blocks of sets of the same size, and how their votes become its score.

    A cell is a set of features with the document's bins. Always: score = tally(sum of votes) = base + sum of adds.
    """

    sets: tuple[Array, ...]  # int32 (n_sets, size) each: features of the cells
    bins: tuple[Array, ...]  # the same shapes: the document's bins, or its values
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
        return float(self.tally(_add_up(self.votes))[0])

    @cached_property
    def holds(self) -> Array:
        """Which voting cells hold which features, bool (n_cells, n_features)."""
        holds = np.zeros((len(self.adds), self.n_features), dtype=bool)
        for first, block in self._blocks():
            for column in block.T:
                holds[np.arange(first, first + len(block)), column] = True
        holds[~self.voted] = False
        return holds

    @cached_property
    def shares(self) -> Array:
        """Each feature's part of the score, (n_features,): what a cell adds is shared alike by its features."""
        per_feature = np.where(self.voted, self.adds, 0.0) / self.sizes
        return per_feature @ self.holds

    @cached_property
    def sizes(self) -> Array:
        """How many features each cell has."""
        return np.repeat([block.shape[1] for block in self.sets], [len(block) for block in self.sets]).astype(np.int64)

    @cached_property
    def used(self) -> Array:
        """The features whose cells have votes, in order; with those that count only if others do not."""
        used = np.zeros(self.n_features, dtype=bool)
        for first, block in self._blocks():
            used[block[self._says[first : first + len(block)]]] = True
        return np.flatnonzero(used)

    @cached_property
    def _says(self) -> Array:
        return np.any(self.votes != 0, axis=1)

    @cached_property
    def scores_without(self) -> Array:
        """The score without the cells of each feature, (n_features,)."""
        says, used = self._says, self.used
        number = np.full(self.n_features, -1, dtype=np.int32)
        number[used] = np.arange(used.size)
        sums = np.zeros((used.size, self.votes.shape[1]))
        for first, block in self._blocks():
            own = says[first : first + len(block)]
            kernels.add_without_each(number[block[own]], self.votes[first : first + len(block)][own], sums)
        scores = np.full(self.n_features, self.score)
        scores[used] = self.tally(sums)
        return scores

    def scores_without_sets(self, removed: Array) -> Array:
        """Return the score without the cells that hold any feature of a set, for each row of bool (n, n_features)."""
        sums = np.zeros((len(removed), self.votes.shape[1]))
        for first, block in self._blocks():
            votes = self.votes[first : first + len(block)]

            def work(start: int, stop: int, block: Array = block, votes: Array = votes) -> None:
                kernels.add_without(block, votes, removed, start, stop, sums)

            in_blocks(work, len(removed), min_block=1 + STEPS_PER_THREAD // max(1, len(block)))
        return self.tally(sums)

    def score_of(self, kept: Array) -> float:
        """Return the score by the cells of a mask alone, exactly."""
        return float(self.tally(_add_up(self.votes[kept]))[0])

    def features_of(self, cell: int) -> list[int]:
        """Return the features of one cell."""
        return _at(self.sets, cell)

    def bins_of(self, cell: int) -> list[int]:
        """Return the document's bins of one cell, in the order of its features."""
        return _at(self.bins, cell)

    def same_as(self, other: Ballot) -> Array:
        """Tell which cells hold the same items as those of another document under the same model, bool (n_cells,)."""
        both = zip(self.bins, other.bins, strict=True)
        return np.concatenate([np.zeros(0, dtype=bool), *((one == two).all(axis=1) for one, two in both)])

    def _blocks(self) -> list[tuple[int, Array]]:
        starts = np.cumsum([0, *map(len, self.sets)])
        return list(zip(starts.tolist(), self.sets, strict=False))


def mixed(ballots: Sequence[Ballot], factors: Sequence[float], base: float) -> Ballot:
    """Put the ballots of several models into one: score = base + sum of factor * (their score - their base)."""
    width = [ballot.votes.shape[1] for ballot in ballots]
    starts = np.cumsum([0, *width])
    votes = np.zeros((sum(len(ballot.adds) for ballot in ballots), int(starts[-1])))
    first = 0
    for ballot, start, stop in zip(ballots, starts[:-1], starts[1:], strict=True):
        votes[first : first + len(ballot.adds), start:stop] = ballot.votes
        first += len(ballot.adds)

    def tally(sums: Array) -> Array:
        scores = np.full(len(sums), base)
        for ballot, factor, start, stop in zip(ballots, factors, starts[:-1], starts[1:], strict=True):
            scores += factor * (ballot.tally(sums[:, start:stop]) - ballot.base)
        return scores

    scaled = list(zip(ballots, factors, strict=True))
    n_grades = max((ballot.by_grade.shape[1] for ballot in ballots), default=0)
    rows = [np.pad(b.by_grade, ((0, 0), (0, n_grades - b.by_grade.shape[1]))) for b in ballots]
    return Ballot(
        sets=tuple(block for ballot in ballots for block in ballot.sets),
        bins=tuple(block for ballot in ballots for block in ballot.bins),
        votes=votes,
        tally=tally,
        adds=_joined([factor * ballot.adds for ballot, factor in scaled]),
        weights=_joined([factor * ballot.weights for ballot, factor in scaled]),
        voted=_joined([ballot.voted & (factor != 0) for ballot, factor in scaled]).astype(bool),
        base=base,
        n_features=max((ballot.n_features for ballot in ballots), default=0),
        by_grade=np.concatenate([np.zeros((0, n_grades), dtype=np.int64), *rows]),
    )


def linear_ballot(values: Array, coef: Array) -> Ballot:
    """Return the ballot of a weighted sum of features.

    >>> linear_ballot(np.array([1.0, 2.0]), np.array([2.0, -0.25])).scores_without.tolist()
    [-0.5, 2.0]
    """
    products = values.astype(np.float64) * coef
    n_features = products.size
    return Ballot(
        sets=(np.arange(n_features, dtype=np.int32)[:, None],),
        bins=(values[:, None],),
        votes=products[:, None],
        tally=lambda sums: sums[:, 0],
        adds=products,
        weights=np.zeros(n_features),
        voted=products != 0,
        base=0.0,
        n_features=n_features,
        by_grade=np.zeros((n_features, 0), dtype=np.int64),
    )


def _add_up(votes: Array) -> Array:
    """Add up rows one after the other, as the engine does; NumPy would add them in pairs."""
    return np.cumsum(votes, axis=0)[-1:] if len(votes) else np.zeros((1, votes.shape[1]))


def _at(blocks: Sequence[Array], cell: int) -> list[int]:
    for block in blocks:
        if cell < len(block):
            found: list[int] = block[cell].tolist()
            return found
        cell -= len(block)
    raise IndexError(cell)


def _joined(parts: Sequence[Array]) -> Array:
    return np.concatenate([np.zeros(0), *parts])
