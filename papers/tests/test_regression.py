import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, Ridge

from papers.baselines.regression import Regression
from rulerank.errors import DataError
from rulerank.rankers.foreign import fresh_for_part

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) * [1.0, 100.0, 0.01] + 5
y = rng.integers(0, 3, size=60)
qid = np.repeat(range(6), 10)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 1000.0]))
def test_the_weights_are_those_of_ridge_regression_on_features_of_deviation_one(seed, l2):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 4)) * [1.0, 1e3, 1e-3, 5.0] + 7, rng.integers(0, 3, size=30)
    scale = X.std(axis=0)
    peer = (Ridge(alpha=l2) if l2 else LinearRegression()).fit(X / scale, y)
    ours = Regression(l2=l2).fit(X, y, qid=np.zeros(30))
    assert ours.coef_ * scale == pytest.approx(peer.coef_, abs=1e-9)


def test_grades_that_are_a_weighted_sum_of_features_give_its_weights():
    X = rng.integers(0, 3, size=(40, 3)).astype(float)
    ranker = Regression().fit(X, X @ [2, 1, 0] + 1, qid=np.zeros(40))
    assert ranker.coef_ == pytest.approx([2, 1, 0], abs=1e-9)
    assert ranker.predict([[1.0, 1.0, 5.0]]) == pytest.approx([3.0])  # without the intercept, which ranks nothing


def test_queries_play_no_part():
    one, other = (Regression().fit(X, y, qid=queries).coef_ for queries in (qid, np.zeros(60)))
    assert one == pytest.approx(other, rel=1e-9)


def test_a_feature_that_is_there_twice_shares_its_weight():
    once = Regression().fit(X, y, qid=qid).coef_
    twice = Regression().fit(X[:, [0, 1, 2, 0]], y, qid=qid).coef_
    assert twice == pytest.approx([once[0] / 2, once[1], once[2], once[0] / 2])


def test_a_constant_feature_and_a_single_grade_get_no_weight():
    assert Regression().fit(np.column_stack([X, np.full(60, 0.1)]), y, qid=qid).coef_[3] == 0
    assert fresh_for_part(Regression()).fit(X, np.ones(60), qid=qid).coef_.tolist() == [0, 0, 0]
    assert Regression().fit(np.ones((60, 2)), y, qid=qid).coef_.tolist() == [0, 0]


@pytest.mark.parametrize("l2", [-1, "much", float("nan")])
def test_a_wrong_penalty_is_refused(l2):
    with pytest.raises(
        DataError, match=r"^l2 must be what small weights count against .*, a number from 0 to 1e\+12: "
    ):
        Regression(l2=l2).fit(X, y, qid=qid)
