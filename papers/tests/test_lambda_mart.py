import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rulerank as rr
from papers.baselines.lambda_mart import LambdaMART
from rulerank.errors import DataError, TooLargeError
from rulerank.evaluation import evaluate
from rulerank.rankers.foreign import fresh_for_part

SYNTHETIC = rr.datasets.make_ranking(n_queries=40, docs_per_query=(5, 30), seed=0)
FOLD = rr.datasets.make_folds(SYNTHETIC)[0]


def test_a_rule_that_no_weighted_sum_can_say_is_found():
    rng = np.random.default_rng(0)
    X, qid = rng.random((1000, 3)), np.repeat(range(50), 20)
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    ranker = LambdaMART().fit(X[:600], y[:600], qid=qid[:600])
    assert evaluate(y[600:], ranker.predict(X[600:]), qid[600:], "MAP").means["MAP"] > 0.95


def test_growing_stops_when_the_validation_queries_gain_no_more():
    whole = LambdaMART(n_trees=200, patience=5).fit(FOLD.train)
    short = LambdaMART(n_trees=200, patience=5).fit(FOLD.train, vali=FOLD.vali)
    assert whole.n_trees_ == 200
    assert 1 <= short.n_trees_ < 195
    # the trees up to there are the same
    first = LambdaMART(n_trees=short.n_trees_).fit(FOLD.train)
    assert np.array_equal(first.predict(FOLD.test), short.predict(FOLD.test))


@pytest.mark.parametrize("normalize", [None, "minmax"])
def test_rows_of_the_validation_queries_come_in_any_order(normalize):
    order = np.random.default_rng(0).permutation(len(FOLD.vali))
    one, other = (LambdaMART(normalize=normalize).fit(FOLD.train, vali=vali) for vali in (FOLD.vali, FOLD.vali[order]))
    assert np.array_equal(one.predict(FOLD.test), other.predict(FOLD.test))


def test_without_different_grades_in_a_query_nothing_is_learned_and_that_is_said():
    X, qid = np.random.default_rng(0).random((60, 2)), np.repeat(range(6), 10)
    for grades, queries in ((np.ones(60), qid), (np.tile([0, 1], 30), np.arange(60))):
        with pytest.warns(ConvergenceWarning, match=r"^no query has documents of more than one grade: .*") as caught:
            ranker = fresh_for_part(LambdaMART(n_trees=5)).fit(X, grades, qid=queries)
        assert caught[0].filename == __file__
        assert not ranker.predict(X).any()


def test_constant_features_give_everyone_the_same_score():
    scores = (
        LambdaMART(n_trees=5)
        .fit(np.ones((60, 2)), np.tile([0, 1, 2], 20), qid=np.repeat(range(6), 10))
        .predict(np.zeros((3, 2)))
    )
    assert np.unique(scores).size == 1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_trees": 0}, "^n_trees must be an integer of at least 1: got 0$"),
        ({"n_leaves": 1}, "^n_leaves must be an integer between 2 and .*: got 1$"),
        ({"min_docs": 1.5}, "^min_docs must be an integer of at least 1: got 1.5$"),
        ({"patience": 0}, "^patience must be an integer of at least 1: got 0$"),
        ({"learning_rate": 0}, "^learning_rate must be the share of each tree that counts, a number from 1e-06 to 1: "),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(DataError, match=message):
        LambdaMART(**params).fit(FOLD.train)


def test_wrong_validation_data_are_refused():
    with pytest.raises(DataError, match=r"^vali must be a Dataset, such as rr.Dataset\(X, y, qid\): got ndarray$"):
        LambdaMART().fit(FOLD.train, vali=FOLD.vali.X)
    ungraded = rr.Dataset(
        FOLD.vali.X, np.full(len(FOLD.vali), -1), FOLD.vali.qid, feature_names=SYNTHETIC.feature_names
    )
    with pytest.raises(DataError, match=r"^vali has no document with a grade$"):
        LambdaMART().fit(FOLD.train, vali=ungraded)
    with pytest.raises(DataError, match=r"^the data lacks 20 of the 20 features"):
        LambdaMART().fit(FOLD.train, vali=rr.Dataset(FOLD.vali.X, FOLD.vali.y, FOLD.vali.qid))


def test_a_query_larger_than_lightgbm_takes_is_named_by_its_size():
    X = np.zeros((10_001, 1))
    with pytest.raises(
        TooLargeError, match=r"^LightGBM ranks at most 10,000 documents of a query: one has 10,001; leave"
    ):
        LambdaMART().fit(X, np.arange(10_001) % 2, qid=np.zeros(10_001))


def test_the_same_scores_whatever_the_number_of_threads():
    one, two = (LambdaMART(n_trees=20, n_jobs=n_jobs).fit(FOLD.train).predict(FOLD.test) for n_jobs in (1, 2))
    assert np.array_equal(one, two)
