import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from papers.baselines.cutting_plane import best_shares, minimise_risk


def value(curvature, gains, x):
    return gains @ x - 0.5 * x @ curvature @ x


@settings(max_examples=100)
@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 5))
def test_the_shares_are_the_best_there_are(seed, n, rank):
    rng = np.random.default_rng(seed)
    slopes = rng.integers(-2, 3, size=(n, rank)).astype(float)  # often equal, or combinations of each other
    curvature, gains = slopes @ slopes.T, rng.integers(-2, 3, size=n).astype(float)
    start = np.eye(n)[rng.integers(n)]
    x = best_shares(curvature, gains, start)
    assert x.min() >= 0
    assert x.sum() == pytest.approx(1)
    # nobody gains by moving a little of the whole to one place: the program is concave, so this is the best
    slack = gains - curvature @ x
    assert slack.max() <= x @ slack + 1e-8
    whole = {"type": "eq", "fun": lambda x: x.sum() - 1}
    peer = minimize(lambda x: -value(curvature, gains, x), start, bounds=[(0, 1)] * n, constraints=whole)
    theirs = np.maximum(0, peer.x) / np.maximum(0, peer.x).sum()  # the peer's sum to 1 only about
    assert value(curvature, gains, x) >= value(curvature, gains, theirs) - 1e-8


def test_shares_of_planes_of_very_different_size_are_found():
    slopes = np.array([[0.0, 0.0], [1e6, 0.0], [0.0, 1e-3]])
    x = best_shares(slopes @ slopes.T, np.array([0.0, 1e3, 1e3]), np.array([1.0, 0.0, 0.0]))
    assert x.round(6).tolist() == [0.0, 0.0, 1.0]


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([0.01, 1.0, 100.0]))
def test_the_minimum_of_a_sum_of_hinges_is_as_near_as_it_says(seed, n_features, C):
    rng = np.random.default_rng(seed)
    X, signs = rng.normal(size=(30, n_features)), rng.choice([-1.0, 1.0], size=30)

    def risk(w):
        margins = 1 - signs * (X @ w)
        return np.maximum(0, margins).mean(), -(signs * (margins > 0)) @ X / 30

    found = minimise_risk(risk, n_features, C, eps=1e-7, max_iter=1000)
    assert found.gap <= 1e-7
    assert found.objective == pytest.approx(0.5 * found.w @ found.w + C * risk(found.w)[0], rel=1e-12)
    for _ in range(20):  # the least value is at the end, so every way from there goes up
        w = found.w + rng.normal(size=n_features) * 10.0 ** rng.integers(-4, 1)
        assert 0.5 * w @ w + C * risk(w)[0] >= found.objective * (1 - 1e-7)


def test_the_search_ends_after_max_iter_and_says_how_far_it_is():
    def risk(w):
        return np.abs(w - [1, 2, 3]).sum(), np.sign(w - [1, 2, 3])

    short, long = (minimise_risk(risk, 3, 10.0, 1e-9, n) for n in (1, 100))
    assert short.n_iter == 1
    assert short.gap >= 1 - long.objective / short.objective > 1e-9 >= long.gap
    assert long.w == pytest.approx([1, 2, 3])


def test_no_risk_at_all_leaves_the_weights_at_zero():
    found = minimise_risk(lambda w: (0.0, np.zeros(3)), 3, 1.0, 1e-6, 10)
    assert (found.w.tolist(), found.objective, found.gap, found.n_iter) == ([0.0, 0.0, 0.0], 0.0, 0.0, 0)
