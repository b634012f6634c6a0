"""Simulated clicks come from the model they say."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.clicks.simulate import click, simulate_lists


@pytest.fixture(scope="module")
def synthetic():
    return rr.datasets.make_ranking(n_queries=40, n_features=3, seed=0)


def test_position_based_clicks_have_the_chances_they_say():
    attractive = np.tile([0.8, 0.5, 0.2], (200_000, 1))
    rates = click(attractive, "position", 2.0, np.random.default_rng(0)).mean(axis=0)
    np.testing.assert_allclose(rates, [0.8, 0.5 / 4, 0.2 / 9], atol=0.004)


def test_a_cascade_ends_with_its_first_click():
    attractive = np.tile([0.8, 0.5, 0.2], (200_000, 1))
    clicked = click(attractive, "cascade", 1.0, np.random.default_rng(0))
    assert clicked.sum(axis=1).max() == 1
    np.testing.assert_allclose(clicked.mean(axis=0), [0.8, 0.2 / 2 * 0.5, 0.2 / 2 * 0.5 * 2 / 3 * 0.2], atol=0.004)


def test_lists_show_the_best_scores_from_the_top_and_without_exploring_always_the_same():
    grades, queries = np.array([0, 1, 2, 0]), np.zeros(4, dtype=int)
    settings = {"model": "position", "eta": 1.0, "noise": 0.1, "n_shown": 3, "seed": 0}
    lists = simulate_lists(grades, queries, np.array([1.0, 3.0, 2.0, 0.0]), n_impressions=300, explore=0, **settings)
    assert lists.rows.tolist() == [1, 2, 0] * 100
    assert lists.position.tolist() == [1, 2, 3] * 100
    rows, position, impressions, clicks = lists.counted()
    assert rows.tolist() == [0, 1, 2]
    assert position.tolist() == [3, 1, 2]
    assert impressions.tolist() == [100, 100, 100]
    assert clicks.sum() == lists.clicked.sum()
    moved = simulate_lists(grades, queries, np.array([1.0, 3.0, 2.0, 0.0]), n_impressions=300, explore=1, **settings)
    assert len(moved.counted()[0]) == 12


def test_the_data_that_comes_back_has_clicks_and_no_grades(synthetic):
    seen = rr.clicks.simulate_clicks(synthetic, synthetic.X[:, 0], n_impressions=2000, seed=1)
    assert (seen.y == -1).all()
    assert abs(seen.impressions.count.sum() - 2000) < 10
    assert seen.impressions.position.max() == 10
    again = rr.clicks.simulate_clicks(synthetic, synthetic.X[:, 0], n_impressions=2000, seed=1)
    assert again.impressions.clicks.tolist() == seen.impressions.clicks.tolist()
    order = np.random.default_rng(0).permutation(len(synthetic))  # rows of queries need not lie together
    mixed = rr.clicks.simulate_clicks(synthetic[order], synthetic.X[order, 0], n_impressions=2000, seed=1)
    assert mixed.impressions.count.sum() == seen.impressions.count.sum()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "random"}, "unknown model 'random'; choose from position, cascade"),
        ({"n_impressions": 0}, "n_impressions must be between 1 and"),
        ({"noise": 2}, "noise must be between 0 and 1: got 2"),
        ({"eta": -1}, "eta must be between 0 and 100: got -1"),
        ({"scores": [1.0]}, "scores must have one entry per row"),
    ],
)
def test_mistakes_are_named(synthetic, change, message):
    with pytest.raises(rr.errors.DataError, match=message):
        rr.clicks.simulate_clicks(synthetic, **({"scores": synthetic.X[:, 0]} | change))


def test_what_has_no_truth_cannot_be_simulated(synthetic):
    with pytest.raises(rr.errors.DataError, match="every row needs one"):
        rr.clicks.simulate_clicks(
            rr.Dataset(synthetic.X, np.full(len(synthetic), -1), synthetic.qid), synthetic.X[:, 0]
        )
    with pytest.raises(rr.errors.DataError, match="expected a Dataset"):
        rr.clicks.simulate_clicks(synthetic.X, synthetic.X[:, 0])
    with pytest.raises(rr.errors.DataError, match="scores must be finite: got nan"):
        rr.clicks.simulate_clicks(synthetic, np.full(len(synthetic), np.nan))
