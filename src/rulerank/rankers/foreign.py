"""Any ranker, fitted to some queries: ours, scikit-learn's, and those that want queries as `qid`, ids or group sizes.

`QueryKFold` splits the queries. Members of an aggregation, selection, scorers and experiments all need both.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from rulerank._util.estimator import Estimator, clone
from rulerank.dataset import Array, Dataset, check_column, query_index
from rulerank.errors import DataError
from rulerank.rankers.base import Ranker

# how others want to be told the queries, the first that they take: XGBoost has qid, CatBoost ids, LightGBM sizes
QUERY_ARGUMENTS = ("qid", "group_id", "group")


class QueryKFold(Estimator):
    """Cross-validation that keeps the rows of a query together, for scikit-learn and on its own.

    Every query is in exactly one test part. Parts have the same number of queries, plus or minus one. The same seed
    gives the same parts, whatever the order of a query's rows.

    Parameters
    ----------
    n_splits: number of parts.
    shuffle: assign the queries in random order instead of their order in the data.
    seed: random seed of the shuffle.

    >>> qid = ["a", "a", "b", "c", "b"]
    >>> for train, test in QueryKFold(n_splits=3, shuffle=False).split(np.zeros((5, 1)), qid=qid):
    ...     print(train, test)
    [2 3 4] [0 1]
    [0 1 3] [2 4]
    [0 1 2 4] [3]
    """

    routed: ClassVar[dict[str, dict[str, bool]]] = {"split": {"qid": True, "groups": False}}

    def __init__(self, n_splits: int = 5, shuffle: bool = True, seed: int = 0) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.seed = seed

    def split(self, X: Any, y: Any = None, groups: Any = None, qid: Any = None) -> Iterator[tuple[Array, Array]]:
        """Yield the rows to train and to test on; the queries come as qid or, as scikit-learn calls them, groups."""
        if qid is None:
            qid = X.qid if groups is None and isinstance(X, Dataset) else groups
        if qid is None:
            raise DataError(
                "QueryKFold needs the query of each row: pass qid=qid, with sklearn.set_config("
                "enable_metadata_routing=True) where scikit-learn does the splitting; or pass groups=qid"
            )
        query, ids = query_index(check_column("qid", qid, len(X)))
        if not 2 <= self.n_splits <= ids.size:
            raise DataError(
                f"n_splits must be between 2 and the number of queries, {ids.size}: got {self.n_splits}"
                + ("; there is nothing to split by" if ids.size < 2 else "")
            )
        order = np.random.default_rng(self.seed).permutation(ids.size) if self.shuffle else np.arange(ids.size)
        part = np.empty(ids.size, dtype=np.int64)
        for number, queries in enumerate(np.array_split(order, self.n_splits)):
            part[queries] = number
        for number in range(self.n_splits):
            tested = part[query] == number
            yield np.flatnonzero(~tested), np.flatnonzero(tested)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:
        """Return the number of parts."""
        return self.n_splits


def fresh_for_part(ranker: Any) -> Any:
    """Return an unfitted copy that takes a part of the data though no query of it has two grades, as in a fold."""
    made = clone(ranker)
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
    if not hasattr(ranker, "get_metadata_routing"):
        return False
    from sklearn import get_config
    from sklearn.utils.metadata_routing import get_routing_for_object

    return get_config()["enable_metadata_routing"] and bool(get_routing_for_object(ranker).consumes(method, [name]))


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
