"""AdaRank: features weighed one by one, each for the queries that the earlier ones rank badly by a measure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from papers.baselines.staged_linear import StagedLinearRanker
from rulerank._util.parameters import Checked, Parameter, Whole
from rulerank.dataset import Array
from rulerank.evaluation import Measure, evaluate

SHORT = 0.001  # what one query is said to lack when none lacks anything
CLEARLY = 1.0 + 1e-9  # of two that differ by rounding only, the first is taken


class AdaRank(StagedLinearRanker):
    """Rank documents by a weighted sum of features, learned by boosting queries on a measure such as MAP.

    Every query counts the same at first. Each round takes the feature that by itself ranks the queries best, by the
    mean of the measure over the queries as they count; its weight is ln((1 + mean) / (1 - mean)) / 2, and a query then
    counts exp(-measure of the sum so far). Where the mean is 1, which would weigh infinitely, one query is said to have
    0.999. J. Xu and H. Li, AdaRank: a boosting algorithm for information retrieval (2007).
    A feature that was just taken and did not raise the mean over all queries may not be taken in the next round:
    otherwise the method can take it for ever. It ends when all queries are ranked perfectly, or when every other
    feature has a mean of 0. Tied documents count by the mean over all their orders, so that neither the file's order
    nor a feature of few values is flattered.

    Parameters
    ----------
    measure: what to raise, such as "MAP" or "NDCG@10".
    n_rounds: features taken at most, the same one perhaps several times.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
        The sum adds up features as they are, so that without it those with large numbers decide.
    missing: what to do with NaN: "error", or "mean" to replace it by the mean of the training rows.
    n_jobs: threads; all cores by default. The weights are the same bits whatever the number.

    Attributes
    ----------
    coef_: weight of each feature, the sum over the rounds that took it.
    picked_: the feature that each round took.
    values_: mean of the measure over the training queries after each round.

    A query whose documents all have one grade says nothing and is left out.

    Examples
    --------
    >>> X = [[1, 9], [2, 1], [3, 2], [5, 1], [4, 2]]
    >>> ranker = AdaRank(n_rounds=1).fit(X, [0, 0, 1, 0, 1], qid=["a", "a", "a", "b", "b"])
    >>> ranker.picked_.tolist(), ranker.values_.tolist(), ranker.coef_.round(4).tolist()
    ([0], [0.75], [0.973, 0.0])
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "measure": Checked(Measure.of, "a measure such as MAP or NDCG@10", meaning="what to raise"),
        "n_rounds": Whole(1, meaning="features taken at most"),
    }
    _by_step: ClassVar[tuple[str, ...]] = ("picked_", "values_")
    _stages: ClassVar[str] = "n_rounds"

    def __init__(
        self,
        measure: str = "MAP",
        n_rounds: int = 100,
        normalize: str | None = None,
        missing: str = "error",
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.n_rounds = n_rounds
        self.normalize = normalize
        self.missing = missing
        self.n_jobs = n_jobs

    def _path(self, X: Array, grades: Array, queries: Array) -> list[Array]:
        def measured(scores: Array) -> Array:
            found = evaluate(
                grades, scores, queries, self.measure, ties="expected", any_grades=True, n_jobs=self.n_jobs
            )
            return found.values[0]

        path: list[Array] = []
        picked: list[int] = []
        values: list[float] = []
        alone = np.array([measured(column) for column in X.T])
        n_queries = alone.shape[1]
        counts = np.full(n_queries, 1.0 / n_queries)
        coef = np.zeros(X.shape[1])
        barred: list[int] = []
        for _ in range(self.n_rounds):
            means = (alone * counts).sum(axis=1)
            means[barred] = -math.inf
            feature = int(np.argmax(means * CLEARLY >= means.max()))
            if means[feature] <= 0.0:  # no other feature ranks anything, and this one would be taken for ever
                break
            mean = min(means[feature], 1 - SHORT / n_queries)
            coef = coef.copy()
            coef[feature] += 0.5 * math.log((1 + mean) / (1 - mean))
            by_query = measured(X @ coef)
            counts = np.exp(-by_query)
            counts /= counts.sum()
            value = float(by_query.mean())
            barred = [feature] if values and value <= values[-1] * CLEARLY else []
            path.append(coef)
            picked.append(feature)
            values.append(value)
            if value * CLEARLY >= 1.0:  # every query is ranked perfectly
                break
        self.picked_, self.values_ = np.array(picked, dtype=np.int64), np.array(values)
        return path
