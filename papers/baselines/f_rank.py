"""FRank: stumps added one by one to lower the fidelity loss, which no single pair or query can dominate."""

from __future__ import annotations

import math

import numpy as np

from papers.baselines.boosted import BoostedStumps, PairedRows, Pick
from papers.baselines.boosting_kernels import add_parted, fidelity_weights
from papers.baselines.rank_boost import best_stump, sum_by_bin
from papers.baselines.stumps import Columns
from rulerank._util.loops import in_blocks
from rulerank.dataset import Array

PAIRS_AT_ONCE = 2**20  # 8 MiB of weights; a single query may have more
PAIRS_PER_THREAD = 10_000
USELESS = 1e-12  # share of the weight that a stump would win: rounding


class FRank(BoostedStumps):
    """Rank documents by a sum of stumps that lower the fidelity loss of pairs.

    A pair of documents of one query with different grades loses 1 - sqrt(p), where p = 1 / (1 + exp(score of the worse
    - score of the better)): at most 1, however wrong it is, and 0 when it is right by far. A query's loss is the mean
    of its pairs'. A round weighs each pair by the slope of its loss, sqrt(p) (1 - p) over the query's number of pairs.
    With right and wrong the weights of the pairs that a stump orders so, the stump's weight is ln(right / wrong) / 2,
    which lowers the loss by (sqrt(right) - sqrt(wrong))^2 / 2 at least; the stump that gains most by this is taken.
    Where it is never wrong, half a pair of mean weight is said to be; one that orders all pairs is the last. M. Tsai,
    T. Liu, T. Qin, H. Chen and W. Ma, FRank: a ranking method with fidelity loss (2007). They take the stump that has
    the lowest loss itself, which takes the time of all pairs for every threshold.

    Parameters
    ----------
    n_rounds: stumps at most; fewer when none helps any more.
    n_thresholds: thresholds tried for each feature, so that they part its values into equally many rows.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    n_jobs: threads; all cores by default. The scores are the same bits whatever the number.

    A missing value is below or above every threshold, whichever serves the stump. A query with one grade says nothing.
    Each round takes time for every pair and feature, and memory for a million pairs or the largest query's.

    Examples
    --------
    >>> ranker = FRank(n_rounds=1).fit([[1.0, 3.0], [2.0, 1.0], [4.0, 2.0]], [0, 0, 1], qid=["a", "a", "a"])
    >>> ranker.stumps_[0]
    Stump(feature=0, threshold=3.0, missing=0, weight=0.693...)
    """

    def __init__(
        self, n_rounds: int = 100, n_thresholds: int = 255, normalize: str | None = None, n_jobs: int | None = None
    ) -> None:
        self.n_rounds = n_rounds
        self.n_thresholds = n_thresholds
        self.normalize = normalize
        self.n_jobs = n_jobs

    def _picker(self, pairs: PairedRows, columns: Columns) -> FidelityPicker:
        return FidelityPicker(pairs, columns, self.n_jobs)


class FidelityPicker:
    """Picks the stump that lowers the fidelity loss most."""

    def __init__(self, pairs: PairedRows, columns: Columns, n_jobs: int | None) -> None:
        self.pairs, self.columns, self.n_jobs = pairs, columns, n_jobs
        self.perfect = False
        self.counts = counts = pairs.pairs_by_query
        self.portions = portions(counts, PAIRS_AT_ONCE)
        self.starts = np.concatenate([np.cumsum(counts[a:b]) - counts[a:b] for a, b in self.portions] or [counts])
        self.weights = np.empty(max((int(counts[a:b].sum()) for a, b in self.portions), default=0))
        self.potentials = np.empty(pairs.rows.size)
        # weight ordered rightly less wrongly, and what to add up from the last bin to get the two together
        self.net, self.parted = np.zeros((2, len(columns.thresholds), columns.n_bins))

    def pick(self, scores: Array) -> Pick | None:
        """Return the stump that gains most and its weight."""
        total = self._weigh_pairs(scores)
        sum_by_bin(self.columns, self.potentials, self.n_jobs, self.net)
        parted = np.cumsum(self.parted[:, ::-1], axis=1)[:, ::-1]
        floor = total / (2 * self.counts.sum())
        right = np.maximum(0.5 * (parted + self.net), floor)
        wrong = np.maximum(0.5 * (parted - self.net), floor)
        gains = (np.sqrt(right) - np.sqrt(wrong)) ** 2
        column, bin = best_stump(gains)
        if self.perfect or gains[column, bin] <= USELESS * total:
            return None
        self.perfect = abs(self.net[column, bin]) > (1 - USELESS) * total  # all pairs are in order
        return Pick(column, bin, 0.5 * math.log(right[column, bin] / wrong[column, bin]))

    def _weigh_pairs(self, scores: Array) -> float:
        """Find the rows' potentials and what each threshold parts; return the weight of all pairs."""
        self.parted[:] = 0.0
        return sum(self._weigh_portion(scores, start, stop) for start, stop in self.portions)

    def _weigh_portion(self, scores: Array, start: int, stop: int) -> float:
        bounds, below = self.pairs.bounds, self.pairs.below
        n_pairs = int(self.counts[start:stop].sum())
        queries = np.array([start, stop])

        def weigh(first: int, last: int) -> None:
            fidelity_weights(
                scores, bounds, below, self.counts, start + first, start + last,
                self.starts, self.weights, self.potentials,
            )  # fmt: skip

        def part(first: int, last: int) -> None:
            add_parted(self.columns.bins, bounds, below, queries, self.weights, first, last, self.parted)

        in_blocks(weigh, stop - start, self.n_jobs, min_block=1 + (stop - start) * PAIRS_PER_THREAD // n_pairs)
        in_blocks(part, len(self.columns.thresholds), self.n_jobs, min_block=1 + PAIRS_PER_THREAD // n_pairs)
        return float(self.weights[:n_pairs].sum())


def portions(counts: Array, at_once: int) -> list[tuple[int, int]]:
    """Return ranges of queries that have at most so many pairs together, or are one query.

    >>> portions(np.array([3, 4, 9, 1]), 8)
    [(0, 2), (2, 3), (3, 4)]
    """
    ranges = []
    start, n_pairs = 0, 0
    for query, count in enumerate(counts.tolist()):
        if query > start and n_pairs + count > at_once:
            ranges.append((start, query))
            start, n_pairs = query, 0
        n_pairs += count
    return [*ranges, (start, len(counts))] if len(counts) else ranges
