"""ListNet: a linear ranker whose chances to put each document first come close to those of the grades."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from papers.baselines.linear_kernels import cross_entropies
from papers.baselines.staged_linear import StagedLinearRanker
from rulerank._util.parameters import Number, Parameter, Whole
from rulerank.dataset import Array
from rulerank.rankers.linear.likelihood import CentredRows

MAX_HALVINGS = 50


class ListNet(StagedLinearRanker):
    """Rank documents by a weighted sum of features, learned by gradient descent on top-one cross entropy.

    The chance that a document of a query is first is exp(score) over the sum of all its documents' exp(score), by the
    scores of the ranker and, as it should be, by the grades. The loss is the mean over queries of the cross entropy of
    the two; it is convex, and stopping early is what keeps the weights small. Z. Cao, T. Qin, T. Liu, M. Tsai and
    H. Li, Learning to rank: from pairwise approach to listwise approach (2007). They step after each query; here a step
    is for all queries, so that their order does not matter.

    Parameters
    ----------
    learning_rate: length of a step, for features measured in their deviation within queries: it means the same whatever
        the units. A step that would raise the loss is halved, and so are those that follow.
    n_epochs: steps.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    missing: what to do with NaN: "error", or "mean" to replace it by the mean of the training rows.
    n_jobs: threads; all cores by default. The weights are the same bits whatever the number.

    Attributes
    ----------
    coef_: weight of each feature in its own units; 0 for one that is constant within every query.
    losses_: the loss before the first step and after each.

    A query whose documents all have one grade says nothing and is left out.

    Examples
    --------
    >>> ranker = ListNet(n_epochs=50).fit([[1.0], [2.0], [3.0]], [0, 0, 1], qid=["a", "a", "a"])
    >>> ranker.coef_.round(2).tolist(), ranker.losses_[[0, -1]].round(2).tolist()
    ([0.57], [1.1, 1.0])
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "learning_rate": Number(1e-9, 1e9, "the length of a step", meaning="length of a step"),
        "n_epochs": Whole(1, meaning="steps"),
    }
    _by_step: ClassVar[tuple[str, ...]] = ("losses_",)
    _stages: ClassVar[str] = "n_epochs"

    def __init__(
        self,
        learning_rate: float = 0.1,
        n_epochs: int = 500,
        normalize: str | None = None,
        missing: str = "error",
        n_jobs: int | None = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.normalize = normalize
        self.missing = missing
        self.n_jobs = n_jobs

    def _path(self, X: Array, grades: Array, queries: Array) -> list[Array]:
        lists = Lists(X, grades, queries)
        weights = np.zeros(X.shape[1])
        loss, slope = lists.loss_and_slope(weights)
        path, losses = [], [loss]
        step = float(self.learning_rate)
        for _ in range(self.n_epochs):
            for _ in range(MAX_HALVINGS):
                moved = weights - step * slope
                new_loss, new_slope = lists.loss_and_slope(moved)
                if new_loss <= loss:
                    weights, loss, slope = moved, new_loss, new_slope
                    break
                step /= 2
            path.append(weights * lists.factors)
            losses.append(loss)
        self.losses_ = np.array(losses)
        return path


class Lists:
    """The documents of queries, on one scale, and the chances that their grades give them."""

    def __init__(self, X: Array, grades: Array, queries: Array) -> None:
        self.bounds = np.concatenate([[0], np.cumsum(np.bincount(queries))])
        grouped = CentredRows(X, np.arange(len(X)), self.bounds)
        self.factors = grouped.factors
        self.X = (X - grouped.centres[queries]) * self.factors  # what a query's documents share cancels
        weights = np.exp(grades - np.maximum.reduceat(grades, self.bounds[:-1])[queries].astype(np.float64))
        self.chances = weights / np.add.reduceat(weights, self.bounds[:-1])[queries]

    def loss_and_slope(self, weights: Array) -> tuple[float, Array]:
        """Return the mean cross entropy over queries and its gradient."""
        losses = np.empty(self.bounds.size - 1)
        excess = np.empty(len(self.X))
        cross_entropies(self.X @ weights, self.chances, self.bounds, excess, losses)
        loss = float(losses.mean())
        return (loss if math.isfinite(loss) else math.inf), excess @ self.X / losses.size
