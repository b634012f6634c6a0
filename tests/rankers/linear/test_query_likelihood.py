import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plain.likelihood import information, loss, one_hot
from rulerank.rankers.linear import likelihood as likelihoods
from rulerank.rankers.linear.likelihood import Outcomes, QueryLikelihood

pytestmark = pytest.mark.kernels


def small_synthetic(seed, n_rows=24, n_features=3, n_groups=4, n_grades=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.6)
    return X, rng.integers(0, n_grades, n_rows), rng.integers(0, n_groups, n_rows)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([2, 3, 5]))
def test_loss_gradient_and_hessian_are_those_of_the_plain_model(seed, n_grades):
    X, y, groups = small_synthetic(seed, n_grades=n_grades)
    _, groups = np.unique(groups, return_inverse=True)
    likelihood = QueryLikelihood(X, y.astype(np.int16), groups, 0.3, 1)
    z = np.random.default_rng(seed).normal(size=3)
    point = likelihood(z)

    matrix, outcomes, columns = one_hot(X, y, groups)
    coef = z * likelihood.rows.factors
    intercepts = [likelihood.best_intercepts(z)[group, level - 1] for group, level in columns]
    parameters = np.concatenate([coef, intercepts])
    assert point.value == pytest.approx(loss(matrix, outcomes, parameters) + 0.15 * z @ z)
    gradient = matrix.T @ (1 / (1 + np.exp(-(matrix @ parameters))) - outcomes)
    assert gradient[3:] == pytest.approx(0, abs=1e-9)  # the intercepts are at their best
    factors = likelihood.rows.factors
    assert point.gradient == pytest.approx(gradient[:3] * factors + 0.3 * z, abs=1e-9)
    whole = information(matrix, parameters)
    schur = whole[:3, :3] - whole[:3, 3:] @ np.linalg.solve(whole[3:, 3:], whole[3:, :3])
    expected = schur * np.outer(factors, factors) + 0.3 * np.eye(3)
    assert point.hessian == pytest.approx(expected, rel=1e-6, abs=1e-6)  # the kernel's NEAR, with room


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 60))
def test_however_rows_are_cut_into_blocks_the_sums_agree(seed, rows_at_once, cells_at_once):
    X, y, groups = small_synthetic(seed)
    z = np.ones(3)
    _, groups = np.unique(groups, return_inverse=True)
    whole = QueryLikelihood(X, y.astype(np.int16), groups, 0.0, 1)(z)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likelihoods, "ROWS_AT_ONCE", rows_at_once)
        patch.setattr(likelihoods, "CELLS_PER_THREAD", 1)
        patch.setattr(likelihoods, "CELLS_AT_ONCE", cells_at_once)
        one, two = (QueryLikelihood(X, y.astype(np.int16), groups, 0.0, n_jobs)(z) for n_jobs in (1, 2))
    assert one.value == pytest.approx(whole.value)
    assert one.hessian == pytest.approx(whole.hessian, abs=1e-12)
    assert one.value == two.value
    assert np.array_equal(one.gradient, two.gradient)
    assert np.array_equal(one.hessian, two.hessian)


def test_scores_far_apart_still_have_best_intercepts():
    X = np.array([[-1e4], [0.0], [1e4], [1.0]])
    likelihood = QueryLikelihood(X, np.array([0, 1, 0, 1], dtype=np.int16), np.zeros(4, dtype=np.int64), 0.0, 1)
    point = likelihood(np.array([3.0]))
    assert np.isfinite(point.value)
    assert np.isfinite(point.hessian).all()


def test_intercepts_are_infinite_where_all_outcomes_are_equal():
    seen = Outcomes.of(np.array([0, 0, 2, 2, 1, 0]), np.array([0, 0, 1, 1, 2, 2]))
    assert seen.informative.tolist() == [[False, False], [False, False], [True, False]]
    nan, inf = np.nan, np.inf
    assert np.array_equal(seen.intercepts(), [[inf, inf], [nan, -inf], [0, inf]], equal_nan=True)


def test_features_that_never_vary_within_a_query_have_no_scale():
    X = np.array([[1e9, 5.0], [1e9, 5.0], [2e9, 5.0], [2e9, 5.5]])
    groups = np.array([0, 0, 1, 1])
    for matrix in (X, X.astype(np.float32)):
        likelihood = QueryLikelihood(matrix, np.array([0, 1, 0, 1], dtype=np.int16), groups, 0.0, 1)
        assert likelihood.rows.scale == pytest.approx([0, 0.125**0.5 / 2])
