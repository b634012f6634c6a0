import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from rulerank.datasets.ranking import make_ranking


def test_the_seed_decides_everything():
    one, same, other = (make_ranking(5, 30, seed=seed) for seed in (7, 7, 8))
    assert np.array_equal(one.X, same.X, equal_nan=True)
    assert [one.y.tolist(), one.docid.tolist()] == [same.y.tolist(), same.docid.tolist()]
    assert not np.array_equal(one.y, other.y)


def test_more_noise_features_leave_the_rest_as_it_was():
    few, many = make_ranking(n_queries=5, n_features=16), make_ranking(n_queries=5, n_features=40)
    assert np.array_equal(few.X, many.X[:, :16], equal_nan=True)
    assert np.array_equal(few.y, many.y)
    assert many.feature_names[-1] == "noise_26"


@given(
    n_queries=st.integers(1, 8),
    docs=st.one_of(st.integers(1, 12), st.tuples(st.integers(1, 4), st.integers(4, 12))),
    n_features=st.integers(1, 30),
    n_grades=st.integers(2, 6),
    seed=st.integers(0, 2**32),
)
def test_every_size_asked_for_is_the_size_that_comes(n_queries, docs, n_features, n_grades, seed):
    data = make_ranking(n_queries, docs, n_features, n_grades, seed)
    _, counts = np.unique(data.qid, return_counts=True)
    low, high = docs if isinstance(docs, tuple) else (docs, docs)
    assert counts.size == n_queries
    assert low <= counts.min() <= counts.max() <= high
    assert data.X.shape[1] == n_features
    assert 0 <= data.y.min() <= data.y.max() < n_grades
    assert not np.isinf(data.X).any()
    assert len(set(data.docid)) == len(data)
    assert {type(value) for value in [*data.qid, *data.docid]} == {str}


WRONG_SIZES = [
    ({"n_queries": 0}, "n_queries must be at least 1: got 0"),
    ({"n_features": 0}, "n_features must be at least 1: got 0"),
    ({"n_features": 10**10}, "n_features must be at most 1,333,333: got 10000000000"),
    ({"seed": -1}, "seed must be at least 0: got -1"),
    ({"docs_per_query": 0}, r"docs_per_query must be a number from 1, or \(least, most\): got 0"),
    ({"docs_per_query": (9, 3)}, r"docs_per_query must be .*: got \(9, 3\)"),
    ({"n_grades": 1}, "n_grades must be at least 2: got 1"),
    ({"n_grades": 33}, "n_grades must be at most 32: got 33"),
    ({"label_noise": float("nan")}, "label_noise must be at least 0: got nan"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG_SIZES)
def test_a_synthetic_set_that_cannot_be_is_refused(wrong, message):
    with pytest.raises(rr.errors.DataError, match=message):
        make_ranking(**wrong)


@given(n_queries=st.integers(5, 12), n_folds=st.integers(3, 5), seed=st.integers(0, 99))
def test_folds_test_each_query_once_and_never_share_a_query(n_queries, n_folds, seed):
    data = make_ranking(n_queries, docs_per_query=3)
    folds = rr.datasets.make_folds(data, n_folds, seed)
    assert [fold.name for fold in folds] == [f"Fold{i + 1}" for i in range(n_folds)]
    for fold in folds:
        parts = [set(part.qid) for part in (fold.train, fold.vali, fold.test)]
        assert set().union(*parts) == set(data.qid)
        assert sum(map(len, parts)) == n_queries
    for part in ("vali", "test"):
        assert sorted(doc for fold in folds for doc in getattr(fold, part).docid) == sorted(data.docid)


NO_FOLDS = [
    (2, 0, "n_folds must be at least 3: got 2"),
    (5, 0, "n_folds must be at most the number of queries, 4: got 5"),
    (3, -1, "seed must be at least 0: got -1"),
]


@pytest.mark.parametrize(("n_folds", "seed", "message"), NO_FOLDS)
def test_folds_that_cannot_be_are_refused(n_folds, seed, message):
    with pytest.raises(rr.errors.DataError, match=message):
        rr.datasets.make_folds(make_ranking(n_queries=4), n_folds, seed)
