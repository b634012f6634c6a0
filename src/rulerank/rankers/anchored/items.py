"""Rule items: one feature lies in one bin. A vote for each, fitted with today's ranking as an offset.

The margin of a document is start * today + the votes of its items, one of each feature. Votes have the prior
N(0, 1 / (strength * number of features)): before any label the sum of a document's votes moves its score by about
1 / sqrt(strength), however many features there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rulerank.dataset import Array
from rulerank.rankers.anchored.posterior import find_posterior
from rulerank.rankers.anchored.priors import PRIORS, Averaged, Prior, mixed, what_says_something
from rulerank.rules.additive import Table


class Items(NamedTuple):
    """Which bins of which features have a vote: all intervals, and missing where training saw that."""

    cuts: tuple[Array, ...]  # of each feature
    features: Array  # int (n_items,) ascending
    bins: Array  # int (n_items,) ascending within a feature

    @classmethod
    def of(cls, cuts: Sequence[Array], X: Array) -> Items:
        """List them; a feature that is the same everywhere has none.

        >>> X = np.array([[1.0, 5.0, 7.0], [2.0, np.nan, 7.0]])
        >>> items = Items.of([np.array([1.5]), np.zeros(0), np.zeros(0)], X)
        >>> items.features.tolist(), items.bins.tolist()
        ([0, 0, 1, 1], [0, 1, 0, 1])
        """
        pairs = []
        for feature, own in enumerate(cuts):
            n_bins = len(own) + 1 + bool(np.isnan(X[:, feature]).any())
            pairs += [(feature, bin) for bin in range(n_bins) if n_bins > 1]
        found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return cls(tuple(cuts), found[:, 0], found[:, 1])

    def hold(self, X: Array) -> Array:
        """Tell which items hold of each row: 1 or 0, float64 (n_rows, n_items).

        >>> Items((np.array([2.0]),), np.array([0, 0]), np.array([0, 1])).hold(np.array([[1.0], [2.0]])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        held = np.zeros((len(X), self.features.size))
        for feature in np.unique(self.features).tolist():
            cuts, values = self.cuts[feature], X[:, feature]
            bins = np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right"))
            own = np.flatnonzero(self.features == feature)
            held[:, own] = bins[:, None] == self.bins[own][None, :]
        return held

    def tables(self, votes: Array, errors: Array) -> tuple[Table, ...]:
        """Return the votes as a table of each feature; a bin that has no item votes 0."""
        made = []
        for feature in np.unique(self.features).tolist():
            own = np.flatnonzero(self.features == feature)
            cuts = self.cuts[feature]
            by_bin, spread = np.zeros(len(cuts) + 2), np.zeros(len(cuts) + 2)
            by_bin[self.bins[own]], spread[self.bins[own]] = votes[own], errors[own]
            made.append(Table((feature,), (cuts,), by_bin, spread))
        return tuple(made)


def average_votes(
    held: Array,
    today: Array,
    n_features: int,
    grades: Array,
    queries: Array,
    priors: Sequence[Prior] = PRIORS,
) -> tuple[float, Averaged]:
    """Return what today's ranking counts, and the votes of the items averaged over the priors.

    today: float (n_rows,) today's ranking on one scale by query, the best highest.

    >>> nothing = np.zeros(0, dtype=int)
    >>> counts, votes = average_votes(np.zeros((0, 2)), np.zeros(0), 1, nothing, nothing)
    >>> round(counts, 3), votes.weights.tolist()
    (0.693, [0.0, 0.0])
    """
    rows = np.column_stack([today, held])
    rows, grades, queries, _ = what_says_something(rows, grades, queries, None)
    today, held = rows[:, 0], np.ascontiguousarray(rows[:, 1:])
    centre = np.zeros(held.shape[1])
    found = [
        find_posterior(held, grades, queries, centre, prior.strength * n_features, offset=prior.start * today)
        for prior in priors
    ]
    averaged = mixed(found, priors)
    counts = sum(share * prior.start for share, prior in zip(averaged.shares.tolist(), priors, strict=True))
    return counts, averaged
