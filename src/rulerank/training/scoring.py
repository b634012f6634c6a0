"""The measures as scikit-learn's scorers, which know the queries, and rankers that know those of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.metadata_routing import MetadataRequest

from rulerank.dataset import Array, check_column
from rulerank.errors import DataError
from rulerank.evaluation import Measure, evaluate
from rulerank.rankers.foreign import predict_ranker


@dataclass(frozen=True)
class Scorer:
    """Scores a fitted ranker by a measure; made by `scorer`."""

    measure: str
    convention: str
    ties: str | None

    def __call__(self, estimator: Any, X: Any, y: Any, qid: Any = None) -> float:
        if qid is None:
            raise DataError(
                f"{self.measure} needs the query of each row: pass qid=qid to fit, or params={{'qid': qid}} to "
                "cross_validate, after sklearn.set_config(enable_metadata_routing=True)"
            )
        scores = predict_ranker(estimator, X, qid)
        result = evaluate(y, scores, qid, self.measure, convention=self.convention, ties=self.ties, any_grades=True)
        return next(iter(result.means.values()))

    def get_metadata_routing(self) -> MetadataRequest:
        """Tell scikit-learn to hand over the queries."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="qid", alias=True)
        return request


def scorer(measure: str | Measure = "MAP", convention: str = "standard", ties: str | None = None) -> Scorer:
    """Return a scorer for `GridSearchCV` and `cross_validate`: `scorer("NDCG@10")`.

    >>> import sklearn
    >>> from sklearn.model_selection import GridSearchCV
    >>> import rulerank as rr
    >>> from rulerank.splitting import QueryKFold
    >>> from rulerank.datasets.ranking import make_ranking
    >>> data = make_ranking(n_queries=20)
    >>> settings = {"votes": ["evidence", "mean"], "max_size": [1, 2]}
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     search = GridSearchCV(rr.GlobalRules(), settings, scoring=scorer("NDCG@10"), cv=QueryKFold())
    ...     search = search.fit(data.X, data.y, qid=data.qid)
    >>> sorted(search.best_params_)
    ['max_size', 'votes']
    >>> 0.4 < float(search.best_score_) < 1
    True
    """
    if not isinstance(measure, str | Measure):
        raise DataError(f"a scorer has one measure, such as 'MAP' or 'NDCG@10': got {measure!r}")
    evaluate(
        [1], [0.0], [0], measure, convention=convention, ties=ties, any_grades=True
    )  # complain here, not in each fold
    return Scorer(str(measure), convention, ties)


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
    >>> fold = rr.make_folds(rr.make_ranking(n_queries=50, seed=0))[0]
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
