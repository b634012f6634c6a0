"""Anchored: today's ranking without labels, moves as labels come, and the posterior agrees with the plain one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from plain.anchored import posterior_plainly
from rulerank.errors import DataError
from rulerank.rankers.anchored.posterior import find_posterior

BOTH = pytest.mark.parametrize("kind", [rr.Anchored, rr.AnchoredRules])


@pytest.fixture(scope="module")
def data():
    return rr.make_ranking(n_queries=20, n_features=6, seed=4)


@given(seed=st.integers(0, 10_000), n_grades=st.integers(2, 4))
@settings(max_examples=10, deadline=None)
def test_the_posterior_agrees_with_the_plain_one(seed, n_grades):
    rng = np.random.default_rng(seed)
    Z, queries = rng.standard_normal((14, 2)), np.sort(rng.integers(0, 3, 14))
    queries = np.unique(queries, return_inverse=True)[1]
    grades = rng.integers(0, n_grades, 14)
    grades[:2] = [0, n_grades - 1]
    centre = np.array([0.7, 0.0])
    found = find_posterior(Z, grades, queries, centre, 4.0)
    weights, evidence = posterior_plainly(Z, grades, queries, centre, 4.0)
    assert found.weights == pytest.approx(weights, abs=1e-4)
    assert found.log_evidence == pytest.approx(evidence, abs=1e-3)


@BOTH
@pytest.mark.parametrize("today", ["bm25_body", 0, "-pagerank"])
def test_without_labels_it_is_todays_ranking(data, kind, today):
    pool = rr.Dataset(data.X, np.full(len(data), -1), data.qid, data.docid, data.feature_names)
    ranker = kind(today=today).fit(pool)
    scores = ranker.predict(data)
    sign = -1 if today == "-pagerank" else 1
    column = data.feature_names.index("pagerank" if today == "-pagerank" else "bm25_body")
    for query in np.unique(data.qid):
        rows = data.qid == query
        assert np.argsort(scores[rows]).tolist() == np.argsort(sign * data.X[rows, column]).tolist()
    assert ranker.n_labels_ == 0


def test_labels_of_one_grade_change_nothing(data):
    none = rr.Anchored(today=0).start(data.feature_names)
    for grade in (0, 2):
        same = rr.Anchored(today=0).fit(data[:40], np.full(40, grade))
        assert np.array_equal(same.coef_, none.coef_)


def test_a_useless_today_is_left_behind(data):
    noise = np.random.default_rng(0).standard_normal((len(data), 1))
    world = rr.Dataset(np.hstack([data.X, noise]), data.y, data.qid, None, (*data.feature_names, "noise"))
    ranker = rr.Anchored(today="noise").fit(world)
    assert abs(ranker.coef_[-1]) < 0.2 < ranker.coef_[0]
    assert ranker.prior_shares_[-1] > 0.9


def test_ranks_are_better_the_lower(data):
    ranks = rr.Dataset(-data.X[:, :1], data.y, data.qid, None, ("engine_rank",))
    ranker = rr.Anchored(today="engine_rank").fit(ranks[:30])
    assert str(ranker.today_) == "engine_rank, lowest first"
    assert ranker.coef_[0] < 0
    assert rr.Anchored(today="+engine_rank").start(("engine_rank",)).coef_[0] > 0


def test_a_document_that_today_lacks_comes_behind():
    X = [[1.0, 0.0], [2.0, 0.0], [np.nan, 0.0], [3.0, 0.0]]
    ranker = rr.Anchored(today="bm25").fit(rr.Dataset(X, [0, 1, 0, 1], ["q"] * 4, None, ("bm25", "length")))
    assert ranker.predict(X, qid=["q"] * 4).argmin() == 2


@pytest.mark.parametrize(
    ("today", "message"),
    [
        (None, r"Anchored\w* starts from today's ranking: say which feature ranks the documents now, such as Anchored"),
        ("bm26", "baseline ranking: there is no feature 'bm26'; the data has bm25_body, "),
        (6, "today must be a feature, a column from 0 to 5: got 6"),
        (2.5, "today: today must be|today must be the feature that ranks the documents now"),
    ],
)
@BOTH
def test_mistakes_are_named(data, kind, today, message):
    with pytest.raises(DataError, match=message):
        kind(today=today).fit(data)


def test_a_file_whose_numbers_do_not_fit_is_refused(data):
    state = rr.Anchored(today=0).fit(data[:40]).to_state()
    for change, message in [
        ({"covariance": np.eye(5)}, r"expected 6 x 6 covariances: got \(5, 5\)"),
        ({"today_column": 9}, "expected today's ranking among 6 columns, and a sign: got 9 and 1"),
    ]:
        with pytest.raises(DataError, match=message):
            rr.Anchored.from_state(state | {"learned": state["learned"] | change})


def test_more_than_the_features_it_can_take_are_refused():
    X = np.zeros((2, 2001))
    with pytest.raises(Exception, match=r"Anchored takes at most 2,000 features: got 2,001"):
        rr.Anchored(today=0).fit(X, [0, 1], qid=[1, 1])
