"""Weights of rows: any in FittedRules and QueryIntercepts, whole numbers where rows are counted."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError

COUNTING = [rr.GlobalRules, rr.StableRules, rr.QueryRules]


@pytest.fixture(scope="module")
def synthetic():
    data = rr.datasets.make_ranking(n_queries=12, n_features=3, seed=0)
    return data[~np.isnan(data.X).any(axis=1)]


@pytest.mark.parametrize("make", [*COUNTING, lambda: rr.QueryIntercepts(l2=1.0), lambda: rr.Anchored(baseline=0)])
def test_whole_weights_are_the_same_as_repeated_rows(make, synthetic):
    weights = np.random.default_rng(0).integers(0, 4, len(synthetic))
    rows = np.repeat(np.arange(len(synthetic)), weights)
    one = make().fit(synthetic, sample_weight=weights).predict(synthetic)
    other = make().fit(synthetic[rows]).predict(synthetic)
    if make in COUNTING:
        assert np.array_equal(one, other)
    assert one == pytest.approx(other, rel=1e-6, abs=1e-9)


def test_anchored_measures_its_scale_with_weights_that_are_not_whole(synthetic):
    weights = np.random.default_rng(0).choice([0.25, 0.5, 1.0], len(synthetic))
    one = rr.Anchored(baseline=0).fit(synthetic, sample_weight=weights)
    assert one.n_labels_ == round(weights.sum())
    rows = np.repeat(np.arange(len(synthetic)), (4 * weights).astype(int))
    cuts = [table.cuts[0][[0, -1]] for table in one.tables_.tables]
    others = [table.cuts[0][[0, -1]] for table in rr.Anchored(baseline=0).fit(synthetic[rows]).tables_.tables]
    assert np.concatenate(cuts) == pytest.approx(np.concatenate(others), rel=0.01)


def test_weights_change_the_coefficients_in_proportion(synthetic):
    plain = rr.QueryIntercepts(l2=2.0).fit(synthetic)
    double = rr.QueryIntercepts(l2=4.0).fit(synthetic, sample_weight=np.full(len(synthetic), 2.0))
    assert double.coef_ == pytest.approx(plain.coef_)
    assert double.loss_ == pytest.approx(2 * plain.loss_)


def test_judges_and_weights_of_zero_go_together(synthetic):
    weights = np.ones(len(synthetic))
    weights[::3] = 0
    rater = np.arange(len(synthetic)) % 2
    one = rr.QueryIntercepts(l2=1.0).fit(synthetic, rater=rater, sample_weight=weights)
    other = rr.QueryIntercepts(l2=1.0).fit(synthetic[weights > 0], rater=rater[weights > 0])
    assert np.array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize(
    ("make", "weight", "message"),
    [
        (rr.GlobalRules, 0.5, "GlobalRules counts rows, so sample_weight must be integers: got 0.5 at row 0"),
        (rr.FittedRules, -1, "sample_weight must be numbers of at least 0: got -1 at row 0"),
        (rr.FittedRules, "much", "sample_weight must be numbers of at least 0: got"),
        (rr.QueryIntercepts, 0, "Sample weights must contain at least one non-zero number"),
    ],
)
def test_weights_that_cannot_be_are_refused_with_a_reason(make, weight, message, synthetic):
    with pytest.raises(DataError, match=message):
        make().fit(synthetic, sample_weight=[weight] * len(synthetic))


def test_one_weight_per_row_is_needed(synthetic):
    with pytest.raises(DataError, match="sample_weight must have one entry per row"):
        rr.FittedRules().fit(synthetic, sample_weight=[1.0])
