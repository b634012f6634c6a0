"""Any ranker, several times: each time without one part of the queries, on which it may stop; the scores' mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rulerank._util.estimator import clone
from rulerank._util.parameters import HasParameters, Parameter, Whole
from rulerank.dataset import Array, Dataset, query_index
from rulerank.rankers.foreign import fit_ranker, fresh_for_part, predict_ranker


class Bagged(HasParameters, BaseEstimator):
    """Fit a ranker `n_bags` times, each time on all queries but one part, and score by the mean.

    A ranker whose fit takes `vali` is given the part it does not learn from, to stop there. With fewer queries than
    bags there is one bag a query; of a single query the ranker learns alone.

    Parameters
    ----------
    ranker: any ranker; its scores must be on one scale from fit to fit.
    n_bags: how often.
    seed: random seed of the split into parts.

    Attributes
    ----------
    members_: the fitted rankers.

    Examples
    --------
    >>> from rulerank.rankers.linear.query_intercepts import QueryIntercepts
    >>> from rulerank.datasets.ranking import make_ranking
    >>> synthetic = make_ranking(n_queries=20)
    >>> bagged = Bagged(QueryIntercepts(l2=10.0, missing="mean")).fit(synthetic)
    >>> len(bagged.members_), bagged.predict(synthetic).shape == (len(synthetic),)
    (5, True)
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "n_bags": Whole(2, 100, meaning="how often the ranker is fitted"),
        "seed": Whole(0, meaning="random seed of the split"),
    }

    members_: list[Any]

    def __init__(self, ranker: Any, n_bags: int = 5, seed: int = 0) -> None:
        self.ranker = ranker
        self.n_bags = n_bags
        self.seed = seed

    def fit(self, X: Any, y: Any = None, qid: Any = None) -> Self:
        """Learn from a Dataset, or from grades y of rows X that belong to the queries qid."""
        self.check_parameters()
        data = X if isinstance(X, Dataset) else Dataset(X, y, qid)
        query, ids = query_index(data.qid)
        n_bags = min(self.n_bags, ids.size)
        part = (np.random.default_rng(self.seed).permutation(ids.size) % n_bags)[query]
        if n_bags == 1:
            self.members_ = [fit_ranker(clone(self.ranker), data)]
        else:
            self.members_ = [
                fit_ranker(fresh_for_part(self.ranker), data[part != bag], vali=data[part == bag])
                for bag in range(n_bags)
            ]
        return self

    def predict(self, X: Any, qid: Any = None) -> Array:
        """Return the mean of the members' scores, one per row."""
        check_is_fitted(self)
        total = sum(predict_ranker(member, X, qid) for member in self.members_)
        return np.asarray(total) / len(self.members_)
