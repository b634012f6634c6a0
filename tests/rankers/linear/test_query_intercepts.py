import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression

from plain.likelihood import information, loss, one_hot
from rulerank.dataset import Dataset
from rulerank.datasets.ranking import make_ranking
from rulerank.errors import DataError
from rulerank.rankers.foreign import fresh_for_part
from rulerank.rankers.linear.query_intercepts import QueryIntercepts


def noisy_synthetic(seed=0, n_queries=8, n_docs=12, n_features=4, n_grades=3):
    """Grades that follow the features loosely, with a threshold of its own for every query."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), n_docs)
    X = rng.normal(size=(qid.size, n_features)) * [10.0**i for i in range(n_features)] + 5
    truth = X @ [0.5 / 10.0**i for i in range(n_features)] + rng.normal(size=n_queries)[qid]
    y = np.digitize(truth + 2 * rng.logistic(size=qid.size), np.linspace(2.5, 6, n_grades - 1))
    return X, y, qid


def parameters(ranker, columns):
    """Return coefficients and intercepts as the plain model has them."""
    place = {query: i for i, query in enumerate(ranker.query_ids_)}
    return np.concatenate([ranker.coef_, [ranker.intercepts_[place[q], level - 1] for q, level in columns]])


X, y, qid = noisy_synthetic()


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(1, 4))
def test_the_optimum_is_that_of_logistic_regression_with_one_column_per_intercept(seed, n_grades, n_features):
    X, y, qid = noisy_synthetic(seed, n_features=n_features, n_grades=n_grades)
    matrix, outcomes, columns = one_hot(X, y, qid)
    assume(columns)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        ranker = QueryIntercepts().fit(X, y, qid=qid)
    assume(not caught)  # separable: neither has an optimum
    assert ranker.gradient_norm_ < 1e-6
    ours = loss(matrix, outcomes, parameters(ranker, columns))
    assert ours == pytest.approx(ranker.loss_, rel=1e-9)

    matrix[:, :n_features] = (matrix[:, :n_features] - 5) / X.std(axis=0)  # the peer needs one scale
    peer = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-9, max_iter=10_000).fit(matrix, outcomes)
    theirs = loss(matrix, outcomes, peer.coef_[0])
    assert ours == pytest.approx(theirs, rel=1e-6)
    assert ours <= theirs * (1 + 1e-9)


def test_standard_errors_are_those_of_the_whole_model():
    ranker = QueryIntercepts().fit(X, y, qid=qid)
    matrix, _, columns = one_hot(X, y, qid)
    whole = np.linalg.inv(information(matrix, parameters(ranker, columns)))
    assert ranker.standard_errors_ == pytest.approx(np.sqrt(np.diagonal(whole))[:4], rel=1e-6)


def test_a_level_that_all_pass_has_an_infinite_intercept():
    rows, grades = [[0.0], [1.0], [2.0], [1.5]], [1, 2, 1, 2]  # nobody has grade 0
    ranker = QueryIntercepts(l2=1.0).fit(rows, grades, qid=[7] * 4)
    assert ranker.intercepts_[0, 0] == -np.inf
    assert np.isfinite(ranker.intercepts_[0, 1])


def test_raters_have_intercepts_of_their_own():
    rater = np.array(["ann", "bob"])[np.arange(len(y)) % 2]
    ranker = QueryIntercepts(l2=1).fit(X, y, qid=qid, rater=rater)
    pairs = np.empty(len(y), dtype=object)
    pairs[:] = list(zip(qid.tolist(), rater.tolist(), strict=True))
    assert np.array_equal(ranker.coef_, QueryIntercepts(l2=1).fit(X, y, qid=pairs).coef_)
    assert ranker.intercepts_.shape == (16, 2)
    assert ranker.query_ids_[:3].tolist() == [0, 0, 1]
    assert ranker.rater_ids_[:3].tolist() == ["ann", "bob", "ann"]
    assert "16 pairs of query and rater" in ranker.coefficients().note
    with pytest.raises(DataError, match="rater must have one entry per row: expected 96, got 95"):
        QueryIntercepts().fit(X, y, qid=qid, rater=rater[1:])
    pool = Dataset(X, np.where(np.arange(len(y)) % 3, y, -1), qid)
    with pytest.raises(DataError, match=r"rows are not labelled \(grade -1\)"):  # not fitted without the raters
        QueryIntercepts().fit(pool, rater=rater)


def test_a_penalty_means_the_same_whatever_the_units():
    one = QueryIntercepts(l2=5).fit(X, y, qid=qid)
    other = QueryIntercepts(l2=5).fit(X * 1000 + 7, y, qid=qid)
    assert other.coef_ * 1000 == pytest.approx(one.coef_)
    assert np.abs(one.coef_).sum() < np.abs(QueryIntercepts().fit(X, y, qid=qid).coef_).sum()


def test_threads_and_the_order_of_rows_do_not_matter():
    X, y, qid = noisy_synthetic(n_queries=600, n_docs=30)  # more than one block of rows
    one, two = (QueryIntercepts(n_jobs=n_jobs).fit(X, y, qid=qid) for n_jobs in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)
    assert np.array_equal(one.intercepts_, two.intercepts_)
    order = np.random.default_rng(0).permutation(len(y))
    assert QueryIntercepts().fit(X[order], y[order], qid=qid[order]).coef_ == pytest.approx(one.coef_)
    assert QueryIntercepts().fit(X.astype(np.float32), y, qid=qid).coef_ == pytest.approx(one.coef_, rel=1e-4)


def test_one_grade_only_teaches_nothing_and_says_so():
    for grades in (np.zeros(96, dtype=int), np.full(96, 2), qid % 3):  # the last: one grade in each query
        with pytest.warns(ConvergenceWarning, match="no query has documents of different grades: there is nothing"):
            ranker = fresh_for_part(QueryIntercepts()).fit(X, grades, qid=qid)
        assert not ranker.predict(X).any()
        assert np.isnan(ranker.standard_errors_).all()


def test_features_that_are_constant_within_queries_have_no_weight():
    wide = np.column_stack([X, np.ones(len(y)), 1e6 * qid])
    for l2 in (0, 1):
        ranker = QueryIntercepts(l2=l2).fit(wide, y, qid=qid)
        assert ranker.coef_[4:].tolist() == [0, 0]
        assert np.isnan(ranker.standard_errors_[4:]).all()
        assert ranker.coef_[:4] == pytest.approx(QueryIntercepts(l2=l2).fit(X, y, qid=qid).coef_)


def test_collinear_features_share_the_weight():
    ranker = QueryIntercepts().fit(X, y, qid=qid)
    twins = QueryIntercepts().fit(np.column_stack([X, X[:, 0] + qid]), y, qid=qid)  # alike within each query
    assert twins.coef_[0] == pytest.approx(ranker.coef_[0] / 2)
    assert twins.coef_[4] == pytest.approx(ranker.coef_[0] / 2)
    assert np.isnan(twins.standard_errors_).tolist() == [True, False, False, False, True]
    assert twins.standard_errors_[1:4] == pytest.approx(ranker.standard_errors_[1:])
    assert twins.loss_ == pytest.approx(ranker.loss_)


def test_separable_grades_are_noticed_and_a_penalty_helps():
    separable = (X[:, 0] > 5).astype(int)
    with pytest.warns(ConvergenceWarning, match=r"grades are separable: .*give l2 > 0 \(l2=1 is a good start\)"):
        ranker = QueryIntercepts().fit(X, separable, qid=qid)
    assert np.isfinite(ranker.coef_).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QueryIntercepts(l2=0.01).fit(X, separable, qid=qid)


def test_missing_values_are_refused_by_name():
    broken = X.copy()
    broken[3:5, 1] = np.nan
    names = ("bm25", "tf", "age", "links")
    data = Dataset(broken, y, qid, feature_names=names)
    expected = r"2 values are missing \(NaN\), in 1 of 4 features: tf; give missing=\"mean\" .*SimpleImputer"
    with pytest.raises(DataError, match=expected):
        QueryIntercepts().fit(data)
    ranker = QueryIntercepts().fit(Dataset(X, y, qid, feature_names=names))
    with pytest.raises(DataError, match=expected):
        ranker.predict(data)


def test_missing_values_can_be_replaced_by_the_mean():
    broken = X.copy()
    broken[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    filled = SimpleImputer().fit_transform(broken)
    ranker = QueryIntercepts(missing="mean").fit(broken, y, qid=qid)
    assert ranker.coef_ == pytest.approx(QueryIntercepts().fit(filled, y, qid=qid).coef_)
    assert ranker.predict(broken) == pytest.approx(filled @ ranker.coef_)
    assert ranker.n_missing_ == np.isnan(broken).sum()


def test_the_table_of_coefficients_prints_well():
    data = make_ranking(n_queries=30, n_features=3, seed=0)
    wide = Dataset(
        np.column_stack([data.X, np.ones(len(data))]), data.y, data.qid, feature_names=(*data.feature_names, "one")
    )
    table = QueryIntercepts(l2=2).fit(wide).coefficients()
    lines = str(table).splitlines()
    assert lines[0].split() == ["feature", "coefficient", "std.", "error", "z", "p", "effect"]
    assert [line.split()[0] for line in lines[1:5]] == ["pagerank", "bm25_title", "bm25_body", "one"]
    assert lines[4].split() == ["one", "0", "-", "-", "-", "0.0000"]
    assert "2,098 comparisons in 28 of 30 queries; loss 700." in lines[5]
    assert lines[5].endswith("after 5 steps, l2 = 2")
    first = table.rows[0]
    assert first.effect == pytest.approx(first.value * first.deviation)
    assert first.p < 1e-4


def test_what_was_learned_comes_back_from_its_state():
    ids = np.empty(len(y), dtype=object)
    ids[:] = [("q", int(query)) for query in qid]
    ranker = QueryIntercepts(l2=1, missing="mean").fit(X, y, qid=ids, rater=qid % 2)
    again = QueryIntercepts.from_state(ranker.to_state())
    assert np.array_equal(again.predict(X), ranker.predict(X))
    assert np.array_equal(again.intercepts_, ranker.intercepts_)
    assert again.query_ids_[0] == "('q', 0)"
    assert str(again.coefficients()) == str(ranker.coefficients())
    state = ranker.to_state()
    state["learned"]["coef"] = ranker.coef_[1:]
    with pytest.raises(DataError, match="expected 4 numbers as coef, one per feature"):
        QueryIntercepts.from_state(state)
