"""What RankBoost and FRank share: pairs of documents, one more stump in each round."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from papers.baselines.base import Baseline, canonical_order
from papers.baselines.stumps import MAX_THRESHOLDS, Columns, Stump, StumpSum, cut_columns
from rulerank._util.loops import progress
from rulerank._util.parameters import Parameter, Whole, is_whole
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.rankers.base import Labelled
from rulerank.rankers.rows import NOTHING


@dataclass(frozen=True, slots=True)
class PairedRows:
    """The rows that belong to pairs, query by query, the highest grade first.

    The document at place i is better than those at the places from below[i] to the end of its query.
    """

    rows: Array  # int64[n] row numbers
    bounds: Array  # int64[n_queries + 1] where each query begins
    below: Array  # int64[n]

    @property
    def pairs_by_query(self) -> Array:
        """How many pairs each query has."""
        n_worse = np.repeat(self.bounds[1:], np.diff(self.bounds)) - self.below
        return np.add.reduceat(n_worse, self.bounds[:-1]) if n_worse.size else n_worse

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return int(self.pairs_by_query.sum())


def paired_rows(data: Labelled) -> PairedRows:
    """Return the rows of the queries that have different grades.

    >>> grades, queries = np.array([0, 2, 1, 1, 1]), np.array([0, 0, 0, 1, 0])
    >>> pairs = paired_rows(Labelled(np.arange(5.0)[:, None], grades, queries, np.array(["a", "b"])))
    >>> grades[pairs.rows].tolist(), pairs.below.tolist(), pairs.bounds.tolist(), pairs.n_pairs
    ([2, 1, 1, 0], [1, 3, 3, 4], [0, 4], 5)
    """
    rows, queries = canonical_order(data)
    falling = np.lexsort((-data.grades[rows].astype(np.int64), queries))
    rows, queries = rows[falling], queries[falling]
    grades = data.grades[rows]
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    ends = np.append(starts[1:], rows.size)
    differs = grades[starts] > grades[ends - 1]
    kept = np.repeat(differs, ends - starts)
    rows, grades = rows[kept], grades[kept]
    bounds = np.concatenate([[0], np.cumsum((ends - starts)[differs])]).astype(np.int64)
    first_of_query = np.zeros(rows.size + 1, dtype=bool)
    first_of_query[bounds] = True
    new_level = first_of_query.copy()
    new_level[1:-1] |= grades[1:] != grades[:-1]
    levels = np.flatnonzero(new_level)
    below = np.repeat(levels[1:], np.diff(levels))
    return PairedRows(rows, bounds, below)


class Pick(NamedTuple):
    """The stump of one round: it says 1 from a bin of a column on."""

    column: int
    bin: int
    weight: float


class Picker(Protocol):
    """What a boosted ranker adds: which stump comes next."""

    def pick(self, scores: Array) -> Pick | None:
        """Return the best stump for pairs scored so far, None when no stump helps."""
        ...


class BoostedStumps(Baseline):
    """Base of rankers that add up stumps; a subclass says by `_picker` which one comes next."""

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "n_rounds": Whole(1, meaning="stumps at most"),
        "n_thresholds": Whole(1, MAX_THRESHOLDS, meaning="thresholds tried for each feature"),
    }

    n_rounds: int
    n_thresholds: int

    stumps_: StumpSum

    @abstractmethod
    def _picker(self, pairs: PairedRows, columns: Columns) -> Picker:
        """Return what picks the stumps."""

    def staged_predict(self, X: Any, qid: Any = None) -> Iterator[Array]:
        """Yield the scores after each round; the last are those of `predict`, up to rounding."""
        check_is_fitted(self)
        rows = self.check_rows(X, qid)
        scores = np.zeros(len(rows))
        for number in range(len(self.stumps_)):
            scores = scores + self.stumps_.weights[number] * self.stumps_.says(number, rows)
            yield scores

    def at_stage(self, n: int) -> Self:
        """Return the ranker as it was after n rounds: the same as one fitted with n_rounds=n."""
        check_is_fitted(self)
        most = self.params_["n_rounds"]
        if not is_whole(n, 1, most):
            raise DataError(f"a stage is a round from 1 to {most}: got {n!r}")
        made = copy(self)
        made.n_rounds = n
        made.stumps_ = self.stumps_.first(n)
        made.params_ = self.params_ | {"n_rounds": n}
        return made

    def _learn(self, data: Labelled) -> None:
        pairs = paired_rows(data)
        if not pairs.rows.size:
            warnings.warn(f"no query has documents of more than one grade: {NOTHING}", ConvergenceWarning, stacklevel=4)
        columns = cut_columns(data.X[pairs.rows], self.n_thresholds, self.n_jobs)
        picker = self._picker(pairs, columns)
        scores = np.zeros(pairs.rows.size)
        stumps: list[Stump] = []
        with progress(self.n_rounds, type(self).__name__) as bar:
            for _ in range(self.n_rounds if pairs.rows.size else 0):
                picked = picker.pick(scores)
                if picked is None:
                    break
                stumps.append(columns.stump(*picked))
                scores += picked.weight * (columns.bins[picked.column] >= picked.bin)
                bar.advance()
        self.stumps_ = StumpSum.of(stumps)

    def _score(self, X: Array) -> Array:
        return self.stumps_.scores(X, self.n_jobs)
