"""Weights of rows: any in FittedRules and QueryIntercepts, whole numbers where rows are counted."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError

COUNTING = [rr.GlobalRules, rr.StableRules, rr.QueryRules]


@pytest.fixture(scope="module")
def world():
    data = rr.make_ranking(n_queries=12, n_features=3, seed=0)
    return data[~np.isnan(data.X).any(axis=1)]


@pytest.mark.parametrize("make", [*COUNTING, lambda: rr.QueryIntercepts(l2=1.0)])
def test_whole_weights_are_the_same_as_repeated_rows(make, world):
    weights = np.random.default_rng(0).integers(0, 4, len(world))
    rows = np.repeat(np.arange(len(world)), weights)
    one = make().fit(world, sample_weight=weights).predict(world)
    other = make().fit(world[rows]).predict(world)
    if make in COUNTING:
        assert np.array_equal(one, other)
    assert one == pytest.approx(other, rel=1e-6, abs=1e-9)


def test_weights_change_the_coefficients_in_proportion(world):
    plain = rr.QueryIntercepts(l2=2.0).fit(world)
    double = rr.QueryIntercepts(l2=4.0).fit(world, sample_weight=np.full(len(world), 2.0))
    assert double.coef_ == pytest.approx(plain.coef_)
    assert double.loss_ == pytest.approx(2 * plain.loss_)


def test_sparse_rows_are_weighed_as_dense_ones(world):
    from scipy.sparse import csr_matrix

    weights = np.random.default_rng(0).random(len(world))
    dense = rr.QueryIntercepts(l2=1.0).fit(world.X, world.y, qid=world.qid, sample_weight=weights)
    sparse = rr.QueryIntercepts(l2=1.0).fit(csr_matrix(world.X), world.y, qid=world.qid, sample_weight=weights)
    assert sparse.coef_ == pytest.approx(dense.coef_)


def test_judges_and_weights_of_zero_go_together(world):
    weights = np.ones(len(world))
    weights[::3] = 0
    judge = np.arange(len(world)) % 2
    one = rr.QueryIntercepts(l2=1.0).fit(world, judge=judge, sample_weight=weights)
    other = rr.QueryIntercepts(l2=1.0).fit(world[weights > 0], judge=judge[weights > 0])
    assert np.array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize(
    ("make", "weight", "message"),
    [
        (rr.GlobalRules, 0.5, "GlobalRules counts rows, so sample_weight must be whole numbers: got 0.5 at row 0"),
        (rr.GlobalRules, 1e6, "divide the weights, or use FittedRules or QueryIntercepts"),
        (rr.FittedRules, -1, "sample_weight must be numbers from 0: got -1.0 at row 0"),
        (rr.FittedRules, "much", "sample_weight must be numbers from 0: got"),
        (rr.QueryIntercepts, 0, "Sample weights must contain at least one non-zero number"),
    ],
)
def test_weights_that_cannot_be_are_refused_with_a_reason(make, weight, message, world):
    with pytest.raises(DataError, match=message):
        make().fit(world, sample_weight=[weight] * len(world))


def test_one_weight_per_row_is_needed(world):
    with pytest.raises(DataError, match="sample_weight must have one entry per row"):
        rr.FittedRules().fit(world, sample_weight=[1.0])
