"""The measures as scikit-learn's scorers, which know the queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

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
    >>> from rulerank.worlds import make_world
    >>> data = make_world(n_queries=20)
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
