"""Half of the queries to label, half to test on, many times over; and what labels gained in all of these splits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.dataset import Dataset, Fold
from rulerank.errors import DataError
from rulerank.experiment.label_curve.simulation import thin

LOSS = 0.02  # below today's ranking by more than this is a loss that users would notice


class HalfSplits(Sequence[Fold]):
    """Splits of graded documents by query: a random half is the pool (`train`), the other is tested on.

    A split is made when it is asked for, for twenty copies of large data would not fit into memory. Split number k is
    drawn by seed + k. keep_one_in: thin the pools, see `thin`; what is tested on stays whole.

    >>> import rulerank as rr
    >>> splits = HalfSplits(rr.make_world(n_queries=10), n_splits=3)
    >>> [(split.name, len(set(split.train.qid)), len(set(split.test.qid))) for split in splits]
    [('split 1', 5, 5), ('split 2', 5, 5), ('split 3', 5, 5)]
    """

    def __init__(self, data: Dataset, n_splits: int = 20, *, keep_one_in: int | None = None, seed: int = 0) -> None:
        if not is_whole(n_splits, 2):
            raise DataError(f"n_splits must be a whole number from 2, for a worst one among them: got {n_splits!r}")
        self.data = data.labelled()
        self.queries = np.unique(self.data.qid.astype(str))
        if self.queries.size < 4:
            raise DataError(
                f"expected graded documents of at least 4 queries to split into halves, got {self.queries.size}"
            )
        self.n_splits = n_splits
        self.keep_one_in = keep_one_in
        self.seed = seed

    def __len__(self) -> int:
        return self.n_splits

    @overload
    def __getitem__(self, number: int) -> Fold: ...
    @overload
    def __getitem__(self, number: slice) -> list[Fold]: ...
    def __getitem__(self, number: int | slice) -> Fold | list[Fold]:
        """Return one split, or a list of some."""
        if isinstance(number, slice):
            return [self[one] for one in range(self.n_splits)[number]]
        number = range(self.n_splits)[number]
        half = np.random.default_rng(self.seed + number).permutation(self.queries)[: self.queries.size // 2]
        inside = np.isin(self.data.qid.astype(str), half)
        pool, test = self.data[np.flatnonzero(inside)], self.data[np.flatnonzero(~inside)]
        if self.keep_one_in is not None:
            pool = thin(pool, self.keep_one_in, self.seed + number)
        return Fold(f"split {number + 1}", train=pool, vali=pool[:0], test=test)


@dataclass(frozen=True, slots=True)
class Gains:
    """Differences to today's ranking over many splits: the mean, the worst, and how many were a loss.

    >>> Gains.of([0.03, 0.01, -0.04])
    Gains(mean=0.0, worst=-0.04, n_losses=1, n=3)
    >>> print(Gains.of([0.03, 0.01, -0.05]))
    -.003/-.050 (1)
    """

    mean: float
    worst: float
    n_losses: int  # of more than LOSS
    n: int

    @classmethod
    def of(cls, differences: Iterable[float]) -> Gains:
        """Sum up the differences, one of each split, or of each draw in each."""
        values = np.array([*differences], dtype=np.float64)
        return cls(float(values.mean()), float(values.min()), int((values < -LOSS).sum()), values.size)

    def __str__(self) -> str:
        losses = f" ({self.n_losses})" if self.n_losses else ""
        return f"{signed(self.mean)}/{signed(self.worst)}{losses}"


def signed(value: float) -> str:
    """Return a difference to three digits, zero without a sign.

    >>> signed(0.0123), signed(-0.0001), signed(-1.0)
    ('+.012', '.000', '-1.000')
    """
    text = f"{value:+.3f}"
    text = text[1:] if float(text) == 0 else text
    return text.replace("0.", ".", 1) if abs(value) < 0.9995 else text
