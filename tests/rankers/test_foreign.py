"""Any ranker is fitted with the queries as it wants them, and gives scores in the order of the rows."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import rulerank as rr
from rulerank._util.estimator import clone
from rulerank.dataset import query_index
from rulerank.errors import DataError
from rulerank.rankers.foreign import fit_ranker, predict_ranker, takes

DATA = rr.datasets.make_ranking(n_queries=12, docs_per_query=(4, 9), n_features=6, seed=4)
MIXED = DATA[np.random.default_rng(0).permutation(len(DATA))]  # rows of a query lie apart
FILLED = np.nan_to_num(MIXED.X)


class TakesQid(BaseEstimator):
    """As XGBRanker: query ids that must not fall, and no queries in predict."""

    def fit(self, X, y, *, group=None, qid=None, sample_weight=None):
        assert group is None
        assert (np.diff(qid) >= 0).all()
        self.X_, self.y_, self.qid_ = X, y, qid
        return self

    def predict(self, X):
        return X[:, 0]


class TakesGroupId(BaseEstimator):
    """As CatBoostRanker: an id per row, equal ones side by side."""

    def fit(self, X, y=None, group_id=None):
        self.group_id_ = group_id
        return self

    def predict(self, X):
        return X[:, [0]]  # a column, as some libraries have it


class RanksWithinQueries:
    """Needs the queries as sizes of groups to predict too; no parameters, so that scikit-learn cannot clone it."""

    def fit(self, X, y, group):
        self.sizes = group
        return self

    def predict(self, X, group):
        starts = np.concatenate(([0], np.cumsum(group)[:-1]))
        best = np.maximum.reduceat(X[:, 0], starts)
        return X[:, 0] - np.repeat(best, group)


def sizes_in_order_of_appearance(data):
    return np.bincount(query_index(data.qid)[0])


def test_query_ids_come_with_rows_that_stand_query_by_query():
    fitted = fit_ranker(TakesQid(), MIXED)
    numbers = query_index(MIXED.qid)[0]
    order = np.argsort(numbers, kind="stable")
    np.testing.assert_array_equal(fitted.qid_, numbers[order])
    np.testing.assert_array_equal(fitted.X_, MIXED.X[order])
    np.testing.assert_array_equal(fitted.y_, MIXED.y[order])
    np.testing.assert_array_equal(predict_ranker(fitted, MIXED), MIXED.X[:, 0])


def test_group_ids_are_given_to_those_that_take_them_and_a_column_of_scores_becomes_flat():
    fitted = fit_ranker(TakesGroupId(), MIXED)
    assert (np.diff(fitted.group_id_) >= 0).all()
    np.testing.assert_array_equal(predict_ranker(fitted, MIXED), MIXED.X[:, 0])


def test_group_sizes_are_those_of_the_queries_and_scores_come_back_in_the_rows_order():
    ranker = fit_ranker(clone(RanksWithinQueries()), FILLED, MIXED.y, MIXED.qid)
    np.testing.assert_array_equal(ranker.sizes, sizes_in_order_of_appearance(MIXED))
    expected = np.array([x - FILLED[MIXED.qid == q, 0].max() for x, q in zip(FILLED[:, 0], MIXED.qid, strict=True)])
    np.testing.assert_array_equal(predict_ranker(ranker, FILLED, MIXED.qid), expected)


def test_lightgbm_learns_the_same_however_the_rows_lie():
    lightgbm = pytest.importorskip("lightgbm")
    made = lightgbm.LGBMRanker(n_estimators=20, min_child_samples=3, verbose=-1, n_jobs=1, deterministic=True)
    order = np.argsort(query_index(MIXED.qid)[0], kind="stable")
    by_hand = clone(made).fit(MIXED.X[order], MIXED.y[order], group=sizes_in_order_of_appearance(MIXED))
    fitted = fit_ranker(clone(made), MIXED)
    np.testing.assert_array_equal(predict_ranker(fitted, MIXED), by_hand.predict(MIXED.X))


@pytest.mark.parametrize(
    "made", [make_pipeline(SimpleImputer(), Ridge()), DecisionTreeRegressor(max_depth=3, random_state=0)], ids=repr
)
def test_estimators_that_know_no_queries_get_plain_rows(made):
    fitted = fit_ranker(clone(made), MIXED)
    np.testing.assert_array_equal(predict_ranker(fitted, MIXED), clone(made).fit(MIXED.X, MIXED.y).predict(MIXED.X))


def test_a_pipeline_hands_the_queries_on_where_routing_is_switched_on():
    made = make_pipeline(SimpleImputer(), rr.QueryIntercepts(l2=1.0, normalize="zscore"))
    assert not takes(made, "fit", "qid")
    with sklearn.config_context(enable_metadata_routing=True):
        assert takes(made, "fit", "qid")
        fitted = fit_ranker(made, DATA.X, DATA.y, DATA.qid)
        imputed = SimpleImputer().fit_transform(DATA.X)
        alone = rr.QueryIntercepts(l2=1.0, normalize="zscore").fit(imputed, DATA.y, qid=DATA.qid)
        found = predict_ranker(fitted, DATA.X, DATA.qid)
        np.testing.assert_allclose(found, alone.predict(imputed, qid=DATA.qid))
        assert (
            rr.make_scorer("MAP")(fitted, DATA.X, DATA.y, qid=DATA.qid)
            == rr.evaluate(DATA.y, found, DATA.qid).means["MAP"]
        )


def test_a_ranker_with_several_scores_per_row_is_told_so():
    class Two(TakesQid):
        def predict(self, X):
            return X[:, :2]

    expected = rf"^a ranker must give one score per row, {len(MIXED):,}: got an array of shape \({len(MIXED)}, 2\)$"
    with pytest.raises(DataError, match=expected):
        predict_ranker(Two().fit(MIXED.X, MIXED.y, qid=np.zeros(len(MIXED))), MIXED)
