"""What is known of a document or a query before anybody judges it: what competence may be predicted from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rulerank.aggregate.calibration import sum_by_query
from rulerank.dataset import Array


def describe_queries(X: Array, estimates: Array, queries: Array) -> Array:
    """Return, for each query, its number of documents, mean features, and each member's agreement and skewness.

    Agreement is the mean correlation of a member's estimates with the others'; skewness tells whether it lets a few
    documents stand out. Both predict how well a search engine has done on a query (its clarity).

    >>> X = np.array([[1.0], [3.0], [7.0]])
    >>> estimates = np.array([[1.0, -1.0], [2.0, -2.0], [5.0, 5.0]])
    >>> describe_queries(X, estimates, np.array([0, 0, 1])).round(2).tolist()
    [[0.69, 2.0, -1.0, -1.0, 0.0, 0.0], [0.0, 7.0, 0.0, 0.0, 0.0, 0.0]]
    """
    n_docs = np.bincount(queries)
    per_query = np.maximum(n_docs, 1)[:, None]
    known = np.isfinite(X)
    n_known = np.maximum(sum_by_query(known, queries), 1) if X.shape[1] else 1
    means = sum_by_query(np.where(known, X, 0.0), queries) / n_known
    z = estimates - (sum_by_query(estimates, queries) / per_query)[queries]
    deviation = np.sqrt(sum_by_query(z**2, queries) / per_query)
    z = z / np.where(deviation > 1e-12, deviation, np.inf)[queries]
    others = z.sum(axis=1, keepdims=True) - z
    agreement = sum_by_query(z * others, queries) / per_query / max(1, z.shape[1] - 1)
    skewness = sum_by_query(z**3, queries) / per_query
    return np.hstack([np.log(per_query), means, agreement, skewness])


def description_names(feature_names: Sequence[str], members: Sequence[str]) -> list[str]:
    """Return what the columns of `describe_queries` are called.

    >>> description_names(["bm25"], ["rules", "linear"])[:3]
    ['log number of documents', 'mean bm25', 'agreement of rules']
    """
    means = [f"mean {name}" for name in feature_names]
    about = [f"{what} of {name}" for what in ("agreement", "skewness") for name in members]
    return ["log number of documents", *means, *about]
