"""RankBoost: stumps that put pairs of documents in order, chosen one by one for the pairs that are still wrong."""

from __future__ import annotations

import math

import numpy as np

from papers.baselines.boosted import BoostedStumps, PairedRows, Pick
from papers.baselines.boosting_kernels import CLEARLY, add_potentials, best_bins, exponential_potentials
from papers.baselines.stumps import Columns
from rulerank._util.loops import in_blocks
from rulerank.dataset import Array

QUERIES_PER_THREAD = 500
CELLS_PER_THREAD = 200_000
LEARNED = 1e-100  # mean weight of a pair: every one is in order by hundreds, and rounding is all that is left
USELESS = 1e-12  # a stump that is right about as much weight as it is wrong about, but for rounding


class RankBoost(BoostedStumps):
    """Rank documents by a sum of stumps, each right about pairs of documents that the earlier ones got wrong.

    Every pair of documents of one query with different grades counts the same at first. Each round takes the stump with
    the largest |r|, r being the weight of the pairs it orders rightly less that of those it orders wrongly; its weight
    is ln((1 + r) / (1 - r)) / 2, and a pair's weight is then exp(score of the worse - score of the better). Where r is
    1 or -1, which would weigh infinitely, it counts as if there were one more pair that the stump does not part, and
    that is the last round.
    The pairs of a query are never listed: sums by grade do. Y. Freund, R. Iyer, R. Schapire and Y. Singer, An efficient
    boosting algorithm for combining preferences (2003), with r by their third method.

    Parameters
    ----------
    n_rounds: stumps at most; fewer when none helps any more.
    n_thresholds: thresholds tried for each feature, so that they part its values into equally many rows.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    n_jobs: threads; all cores by default. The scores are the same bits whatever the number.

    A missing value is below or above every threshold, whichever serves the stump. A query with one grade says nothing.

    Examples
    --------
    >>> ranker = RankBoost(n_rounds=2).fit([[1.0, 3.0], [2.0, 1.0], [4.0, 2.0]], [0, 0, 1], qid=["a", "a", "a"])
    >>> ranker.stumps_[0]
    Stump(feature=0, threshold=3.0, missing=0, weight=0.804...)
    >>> ranker.predict([[9.0, 0.0], [0.0, 9.0]]).round(3).tolist()
    [0.805, 0.0]
    """

    def __init__(
        self, n_rounds: int = 300, n_thresholds: int = 255, normalize: str | None = None, n_jobs: int | None = None
    ) -> None:
        self.n_rounds = n_rounds
        self.n_thresholds = n_thresholds
        self.normalize = normalize
        self.n_jobs = n_jobs

    def _picker(self, pairs: PairedRows, columns: Columns) -> ExponentialPicker:
        return ExponentialPicker(pairs, columns, self.n_jobs)


class ExponentialPicker:
    """Picks the stump with the largest |r|."""

    def __init__(self, pairs: PairedRows, columns: Columns, n_jobs: int | None) -> None:
        self.pairs, self.columns, self.n_jobs = pairs, columns, n_jobs
        self.n_pairs = pairs.n_pairs
        self.perfect = False
        self.potentials = np.empty(pairs.rows.size)
        self.losses = np.empty(pairs.bounds.size - 1)
        self.right = np.zeros((len(columns.thresholds), columns.n_bins))  # weight ordered rightly less wrongly

    def pick(self, scores: Array) -> Pick | None:
        """Return the stump with the largest |r| and its weight."""
        total = self._weigh_pairs(scores)
        if total < LEARNED * self.n_pairs:
            return None
        sum_by_bin(self.columns, self.potentials, self.n_jobs, self.right)
        column, bin = best_stump(np.abs(self.right))
        r = float(self.right[column, bin]) / total
        if abs(r) < USELESS or self.perfect:
            return None
        self.perfect = abs(r) > 1 - USELESS  # all pairs are in order, and further rounds would say the same
        r = math.copysign(min(abs(r), self.n_pairs / (self.n_pairs + 1)), r)
        return Pick(column, bin, 0.5 * math.log((1 + r) / (1 - r)))

    def _weigh_pairs(self, scores: Array) -> float:
        """Find the rows' potentials; return the weight of all pairs."""
        bounds, below = self.pairs.bounds, self.pairs.below

        def work(first: int, last: int) -> None:
            exponential_potentials(scores, bounds, below, first, last, self.potentials, self.losses)

        in_blocks(work, self.losses.size, self.n_jobs, min_block=QUERIES_PER_THREAD)
        return float(self.losses.sum())


def sum_by_bin(columns: Columns, potentials: Array, n_jobs: int | None, out: Array) -> None:
    """Write for each column and bin the potentials of the rows from this bin on."""

    def work(first: int, last: int) -> None:
        add_potentials(columns.bins, potentials, first, last, out)

    in_blocks(work, len(columns.thresholds), n_jobs, min_block=max(1, CELLS_PER_THREAD // max(1, potentials.size)))


def best_stump(gains: Array) -> tuple[int, int]:
    """Return column and bin of the largest gain, the first of those that differ by rounding only."""
    values = np.empty(len(gains))
    places = np.empty(len(gains), dtype=np.int64)
    best_bins(gains, values, places)
    column = int(np.argmax(values * CLEARLY >= values.max()))
    return column, int(places[column])
