"""One way to fit and ask any ranker: ours, scikit-learn's, and those that want queries as `qid`, ids or group sizes.

It lies beside our own rankers, because members of an aggregation, tuning, scorers and experiments all need it.
"""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object

from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.rankers.base import Ranker

# how others want to be told the queries, the first that they take: XGBoost has qid, CatBoost ids, LightGBM sizes
QUERY_ARGUMENTS = ("qid", "group_id", "group")


def fresh(ranker: Any) -> Any:
    """Return an unfitted copy; rankers that scikit-learn cannot clone are copied as they are."""
    return clone(ranker) if hasattr(ranker, "get_params") else deepcopy(ranker)


def fresh_for_part(ranker: Any) -> Any:
    """Return an unfitted copy that takes a part of the data though no query of it has two grades, as in a fold."""
    made = fresh(ranker)
    if isinstance(made, Ranker):
        made.of_a_part = True
    return made


def fit_ranker(ranker: Any, X: Any, y: Any = None, qid: Any = None, *, vali: Dataset | None = None) -> Any:
    """Fit any ranker to rows of queries, or to a Dataset, and return it.

    Ours get all there is. Others get arrays, and the queries if their fit takes them: rows then stand query by query,
    as group sizes need it. vali goes to a fit that has an argument of that name, which decides there when to stop.

    >>> from sklearn.linear_model import LinearRegression
    >>> fit_ranker(LinearRegression(), np.array([[0.0], [1.0]]), np.array([0, 1]), ["q", "q"]).coef_.round(6)
    array([1.])
    """
    more: dict[str, Any] = {"vali": vali} if vali is not None and takes(ranker, "fit", "vali") else {}
    if isinstance(ranker, Ranker):
        return ranker.fit(X, y, qid=qid, **more)
    if isinstance(X, Dataset):
        X, y, qid = X.X, X.y if y is None else y, X.qid if qid is None else qid
    name = _query_argument(ranker, "fit") if qid is not None else None
    if name is None:
        return ranker.fit(X, y, **more)
    order, queries = _query_by_query(qid)
    if order is not None:
        X, y = _taken(X, order), np.asarray(y)[order]
    return ranker.fit(X, y, **{name: _told(name, queries)}, **more)


def predict_ranker(ranker: Any, X: Any, qid: Any = None) -> Array:
    """Return the scores of any fitted ranker, one float64 per row, in the order of the rows."""
    if isinstance(ranker, Ranker):
        return np.asarray(ranker.predict(X, qid=qid), dtype=np.float64)
    if isinstance(X, Dataset):
        X, qid = X.X, X.qid if qid is None else qid
    name = _query_argument(ranker, "predict") if qid is not None else None
    if name is None:
        return _column(ranker.predict(X), X)
    order, queries = _query_by_query(qid)
    rows = X if order is None else _taken(X, order)
    scores = _column(ranker.predict(rows, **{name: _told(name, queries)}), X)
    if order is None:
        return scores
    restored = np.empty_like(scores)
    restored[order] = scores
    return restored


def takes(ranker: Any, method: str, name: str) -> bool:
    """Whether a method of a ranker has an argument, or hands it on as scikit-learn's pipelines and searches do."""
    if name in inspect.signature(getattr(ranker, method)).parameters:
        return True
    routed = hasattr(ranker, "get_metadata_routing") and get_config()["enable_metadata_routing"]
    return bool(routed and get_routing_for_object(ranker).consumes(method, [name]))


def _query_argument(ranker: Any, method: str) -> str | None:
    return next((name for name in QUERY_ARGUMENTS if takes(ranker, method, name)), None)


def _query_by_query(qid: Any) -> tuple[Array | None, Array]:
    """Return how to order rows so that each query's stand together, None when they do, and the queries so ordered."""
    queries = query_index(np.asarray(qid))[0]
    if not queries.size or (np.diff(queries) >= 0).all():
        return None, queries
    order = np.argsort(queries, kind="stable")
    return order, queries[order]


def _taken(X: Any, rows: Array) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _told(name: str, queries: Array) -> Array:
    return np.bincount(queries) if name == "group" else queries


def _column(scores: Any, X: Any) -> Array:
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    found = np.asarray(scores, dtype=np.float64)
    if found.size != n_rows:
        raise DataError(f"a ranker must give one score per row, {n_rows:,}: got an array of shape {found.shape}")
    return found.reshape(n_rows)
