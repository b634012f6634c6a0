"""What RankBoost and FRank share: pairs of documents, stumps, one more stump in each round."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rulerank.baselines.informative import NOTHING
from rulerank.baselines.pairs import PairedRows, paired_rows
from rulerank.baselines.stumps import MAX_THRESHOLDS, Columns, Stump, StumpSum, cut_columns
from rulerank.core.checks import is_whole
from rulerank.core.progress import progress
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.rankers.base import Labelled, Ranker


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


class BoostedStumps(Ranker):
    """Base of rankers that add up stumps; a subclass says by `_picker` which one comes next."""

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
        if not is_whole(n, 1, self.n_rounds):
            raise DataError(f"a stage is a round from 1 to {self.n_rounds}: got {n!r}")
        made = copy(self)
        made.n_rounds = n
        made.stumps_ = self.stumps_.first(n)
        made._fitted_params = self._fitted_params | {"n_rounds": n}
        return made

    def _learn(self, data: Labelled) -> None:
        self._check_parameters()
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

    def _check_parameters(self) -> None:
        if not is_whole(self.n_rounds, 1):
            raise DataError(f"n_rounds must be a whole number from 1: got {self.n_rounds!r}")
        if not is_whole(self.n_thresholds, 1, MAX_THRESHOLDS):
            raise DataError(
                f"n_thresholds must be a whole number from 1 to {MAX_THRESHOLDS:,}: got {self.n_thresholds!r}"
            )

    def _learned_state(self) -> dict[str, Any]:
        return {
            "features": self.stumps_.features,
            "thresholds": self.stumps_.thresholds,
            "missing": self.stumps_.missing,
            "weights": self.stumps_.weights,
        }

    def _take_learned(self, state: dict[str, Any]) -> None:
        stumps = StumpSum(**state)
        if len({column.shape for column in state.values()}) != 1 or stumps.weights.ndim != 1:
            raise DataError("expected features, thresholds, missing and weights of equally many stumps")
        if len(stumps) and not 0 <= stumps.features.min() <= stumps.features.max() < len(self.feature_names_):
            raise DataError(f"a stump compares a feature that is none of the {len(self.feature_names_)}")
        self.stumps_ = stumps
