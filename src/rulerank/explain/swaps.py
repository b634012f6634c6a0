"""The smallest set of features, or of rules, without which the lower of two documents would be the higher one."""

from __future__ import annotations

import math
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from rulerank.ballots import Ballot
from rulerank.dataset import Array

STEPS = 2e7  # looks at a cell: some 0.2 s
SURE = 1e-9  # scores closer than this are tied


class FeatureSwap(NamedTuple):
    """Features to remove, and whether no smaller set would do; none at all if no set does, or none was found."""

    features: tuple[int, ...]
    proven: bool


class RuleSwap(NamedTuple):
    """Rules to remove, by cell: those of both documents, and of one alone; and whether no smaller set would do."""

    both: tuple[int, ...]
    only_high: tuple[int, ...]
    only_low: tuple[int, ...]
    proven: bool


def features_that_swap(high: Ballot, low: Ballot, steps: float = STEPS) -> FeatureSwap:
    """Find the smallest set of features without which `low` scores above `high`.

    A greedy search comes first; then all smaller sets are tried, size by size, as long as that takes at most `steps`.
    """
    candidates = np.union1d(high.used, low.used)
    found = _greedily(high, low, candidates)
    largest = len(found) - 1 if found else candidates.size
    n_cells = len(high.adds) + len(low.adds)
    for size in range(1, largest + 1):
        steps -= math.comb(candidates.size, size) * n_cells
        if steps < 0:
            return FeatureSwap(found, proven=False)
        flat = chain.from_iterable(combinations(candidates.tolist(), size))
        sets = np.fromiter(flat, dtype=np.int64).reshape(-1, size)
        gaps = _gaps(high, low, sets)
        if gaps.size and gaps.min() < -SURE:
            return FeatureSwap(tuple(sets[gaps.argmin()].tolist()), proven=True)
    return FeatureSwap(found, proven=True)


def rules_that_swap(high: Ballot, low: Ballot) -> RuleSwap | None:
    """Find rules without which `low` scores above `high`: those that favour `high` most, as many as it takes.

    A rule that both have goes for both. A set of one is the smallest; larger ones are not proven to be.
    """
    same = high.same_as(low) & (high.voted | low.voted)
    drops = {  # which rules there are, and for whom they vote
        "both": np.flatnonzero(same),
        "only_high": np.flatnonzero(~same & high.voted),
        "only_low": np.flatnonzero(~same & low.voted),
    }
    units = np.concatenate(list(drops.values()))
    kind = np.repeat(np.arange(3), [cells.size for cells in drops.values()])
    of_high = np.where((kind != 2)[:, None], high.votes[units], 0.0)
    of_low = np.where((kind != 1)[:, None], low.votes[units], 0.0)
    sums = [ballot.votes.sum(axis=0) for ballot in (high, low)]
    gaps = high.tally(sums[0] - of_high) - low.tally(sums[1] - of_low)
    order = np.argsort(gaps, kind="stable")
    left = [sums[0] - np.cumsum(of_high[order], axis=0), sums[1] - np.cumsum(of_low[order], axis=0)]
    gaps = high.tally(left[0]) - low.tally(left[1])  # as differences, nearly exact
    for n in (np.flatnonzero(gaps < -SURE) + 1).tolist():
        dropped, kinds = units[order[:n]], kind[order[:n]]
        kept = [np.ones(len(ballot.adds), dtype=bool) for ballot in (high, low)]
        kept[0][dropped[kinds != 2]] = False
        kept[1][dropped[kinds != 1]] = False
        if high.score_of(kept[0]) - low.score_of(kept[1]) < -SURE:
            parts = [tuple(dropped[kinds == k].tolist()) for k in range(3)]
            return RuleSwap(parts[0], parts[1], parts[2], proven=n == 1)
    return None


def _greedily(high: Ballot, low: Ballot, candidates: Array) -> tuple[int, ...]:
    removed: list[int] = []
    while len(removed) < candidates.size:
        rest = [feature for feature in candidates.tolist() if feature not in removed]
        gaps = _gaps(high, low, np.array([[*removed, feature] for feature in rest]))
        removed.append(rest[int(gaps.argmin())])
        if gaps.min() < -SURE:
            return tuple(sorted(removed))
    return ()


def _gaps(high: Ballot, low: Ballot, sets: Array) -> Array:
    """Return by how much `high` scores above `low` without each set of features, (n_sets, size)."""
    removed = np.zeros((len(sets), high.n_features), dtype=bool)
    np.put_along_axis(removed, sets, True, axis=1)
    return high.scores_without_sets(removed) - low.scores_without_sets(removed)
