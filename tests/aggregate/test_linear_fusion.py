"""The learned combination is at least as good as its members where it learned, and the same every time."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import rulerank as rr
from rulerank.errors import DataError


@pytest.fixture(scope="module")
def world():
    """Two rankers that each see one half of what makes a document relevant, and one that sees nothing."""
    rng = np.random.default_rng(5)
    halves = rng.random((2, 600))
    qid = np.repeat(np.arange(30), 20)
    y = (halves.sum(axis=0) > 1.3).astype(int)
    return np.column_stack([*halves, rng.random(600)]), y, qid


def mean_ap(y, scores, qid):
    return rr.evaluate(y, scores, qid, "MAP").means["MAP"]


def test_weights_are_shares_and_leave_noise_out(world):
    X, y, qid = world
    fusion = rr.LinearFusion().fit(X, y, qid)
    assert (fusion.weights_ >= 0).all()
    assert fusion.weights_.sum() == pytest.approx(1)
    assert fusion.weights_[2] < 0.1 < fusion.weights_[:2].min()


def test_what_was_learned_is_at_least_every_member_and_comb_sum(world):
    X, y, qid = world
    fusion = rr.LinearFusion().fit(X, y, qid)
    value = mean_ap(y, fusion.predict(X, qid), qid)
    assert value == fusion.value_
    assert value >= max(mean_ap(y, rr.fuse(X[:, [i]].T, qid, "comb_sum"), qid) for i in range(3))
    assert value >= mean_ap(y, rr.fuse(X.T, qid, "comb_sum"), qid)


def test_predictions_are_those_of_fuse_with_the_weights_learned(world):
    X, y, qid = world
    fusion = rr.LinearFusion(measure="NDCG@10", n_steps=5).fit(X, y, qid)
    assert np.array_equal(fusion.predict(X, qid), rr.fuse(X.T, qid, "linear", fusion.weights_))


def test_learning_is_deterministic_and_follows_scikit_learn(world):
    X, y, qid = world
    fusion = rr.LinearFusion(n_steps=7).fit(X, y, qid)
    again = clone(fusion).fit(X, y, qid=qid)
    assert np.array_equal(fusion.weights_, again.weights_)
    assert again.get_params() == {"measure": "MAP", "n_steps": 7}


def test_missing_documents_get_nothing_from_a_list():
    X = np.array([[1.0, np.nan], [0.0, 1.0], [0.5, 0.0]])
    fusion = rr.LinearFusion().fit(X, [2, 0, 1], ["q"] * 3)
    assert np.isfinite(fusion.predict(X, ["q"] * 3)).all()


def test_one_ranker_has_all_the_weight():
    assert rr.LinearFusion().fit([[1.0], [0.0]], [1, 0], [0, 0]).weights_.tolist() == [1.0]


def test_wrong_arguments_are_named(world):
    X, y, qid = world
    with pytest.raises(DataError, match=r"X must have one column per ranker, \(n_rows, n_rankers\): got the shape \(6"):
        rr.LinearFusion().fit(X[:, 0], y, qid)
    with pytest.raises(DataError, match="n_steps must be a whole number from 1: got 0"):
        rr.LinearFusion(n_steps=0).fit(X, y, qid)
    with pytest.raises(NotFittedError):
        rr.LinearFusion().predict(X, qid)
    with pytest.raises(DataError, match="expected the scores of 3 rankers: got 2 columns"):
        rr.LinearFusion(n_steps=2).fit(X, y, qid).predict(X[:, :2], qid)
