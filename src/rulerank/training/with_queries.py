"""A fitted ranker that knows the queries of the rows it will be asked about, for tools that cannot hand them over."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, RegressorMixin

from rulerank.dataset import Array, check_column
from rulerank.errors import DataError
from rulerank.evaluation import evaluate
from rulerank.rankers.foreign import predict_ranker


class WithQueries(RegressorMixin, BaseEstimator):
    """A fitted ranker and the query of each row; made by `with_queries`."""

    def __init__(self, ranker: Any, qid: Any) -> None:
        self.ranker = ranker
        self.qid = qid

    def predict(self, X: Any) -> Array:
        """Return one score per row; there must be as many rows as queries were given for."""
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows != len(self.qid):
            raise DataError(
                f"the queries of {len(self.qid):,} rows are known, and {n_rows:,} rows came: these tools must see all "
                "rows in their order (permutation_importance with max_samples=1.0, the rows that with_queries was for)"
            )
        return predict_ranker(self.ranker, X, self.qid)

    def score(self, X: Any, y: Any, sample_weight: None = None) -> float:
        """Return NDCG@10, as the ranker's own `score` does."""
        return evaluate(y, self.predict(X), self.qid, "NDCG@10", any_grades=True).means["NDCG@10"]

    def fit(self, X: Any, y: Any = None) -> WithQueries:
        """Refuse: what it holds is fitted."""
        raise DataError("with_queries holds a ranker that is fitted: fit the ranker itself, fit(X, y, qid=qid)")

    def __sklearn_is_fitted__(self) -> bool:
        return True


def with_queries(ranker: Any, qid: Any) -> WithQueries:
    """Return a fitted ranker for scikit-learn's tools of inspection, which know rows but no queries.

    Its `score` is NDCG@10 over the queries of the rows.

    >>> from sklearn.inspection import permutation_importance
    >>> import rulerank as rr
    >>> fold = rr.make_folds(rr.make_world(n_queries=50, seed=0))[0]
    >>> ranker = rr.GlobalRules(normalize="rank").fit(fold.train)
    >>> on_test = with_queries(ranker, fold.test.qid)
    >>> found = permutation_importance(on_test, fold.test.X, fold.test.y, random_state=0)
    >>> fold.test.feature_names[found.importances_mean.argmax()]
    'bm25_anchor'
    """
    queries = check_column("qid", qid, len(qid))
    if not hasattr(ranker, "predict"):
        raise DataError(f"expected a fitted ranker, then the query of each row: got {type(ranker).__name__}")
    return WithQueries(ranker, queries)
