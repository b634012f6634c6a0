"""People who leave after a click: who is still there is the plain count; how many leave is found, or stays unsaid."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from rulerank.rankers.clicks.click_rows import ClickRows
from rulerank.rankers.clicks.positions import Moves
from tests.plain.leaving import still_there_plainly


@pytest.fixture(scope="module")
def synthetic():
    return rr.datasets.make_ranking(n_queries=60, n_features=3, seed=0)


def clicks_of(synthetic, model, n_impressions=100_000, eta=1.0):
    return rr.clicks.simulate_clicks(
        synthetic, synthetic.X[:, 0], n_impressions=n_impressions, model=model, eta=eta, seed=0
    )


@pytest.mark.kernels
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.4, 1.0]))
def test_who_is_still_there_is_what_one_would_count(seed, share):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    query = np.sort(rng.integers(0, 3, n))
    document = 4 * query + rng.integers(0, 4, n)
    place, shown = rng.integers(0, 4, n), rng.integers(1, 20, n).astype(float)
    clicks = np.floor(shown * rng.random(n) ** 2)
    effects = np.cumsum(rng.uniform(0, 0.7, 4))
    rows = ClickRows(place, shown, clicks, np.arange(1, 5))
    above = Moves(rows, query, document)
    found = above.still_there(share, effects)[above.cells]
    plain = still_there_plainly(query, document, place, shown, clicks, share, np.exp(-effects))
    np.testing.assert_allclose(found, plain, rtol=1e-6, atol=1e-6)


@pytest.mark.kernels
def test_a_hundred_positions_that_all_were_clicked_leave_no_share_undefined():
    n = 100  # the share of people still there is 1e-600 at the end, but for the one document that stood everywhere
    rows = ClickRows(np.arange(n), np.ones(n), np.ones(n), np.arange(1, n + 1))
    found = Moves(rows, np.zeros(n, dtype=int), np.zeros(n, dtype=int)).still_there(1.0, np.zeros(n))
    np.testing.assert_allclose(found, 1.0)  # no other document took anybody away


def test_leaving_and_positions_are_found_where_everybody_leaves(synthetic):
    found = rr.QueryIntercepts(l2=10).fit(clicks_of(synthetic, "cascade")).positions()
    assert found.leaving > 0.9
    assert abs(found.effects - np.log(np.arange(1, 11))).max() < 0.2
    assert re.search(r"; about \d+ % leave after a click; standard errors take that for certain$", found.note)
    assert found.to_dict()["leave_after_click"] == found.leaving


@pytest.mark.parametrize("eta", [0.0, 2.0])
def test_nobody_leaves_where_nobody_does(synthetic, eta):
    found = rr.QueryIntercepts(l2=10).fit(clicks_of(synthetic, "position", eta=eta)).positions()
    assert found.leaving == 0
    assert abs(found.effects - eta * np.log(np.arange(1, 11))).max() < 0.2 + 0.1 * eta


def test_what_is_given_is_taken_and_kept_in_the_model_file(synthetic, tmp_path):
    data = clicks_of(synthetic, "position", 2000)
    rr.QueryIntercepts(l2=10, leave_after_click=0.5).fit(data).save(tmp_path / "m.rulerank")
    assert rr.load(tmp_path / "m.rulerank").positions().leaving == 0.5
    with pytest.raises(rr.errors.DataError, match="leave_after_click must be a number from 0 to 1, or None: got 2"):
        rr.QueryIntercepts(leave_after_click=2).fit(data)


def test_of_very_many_positions_it_is_not_looked_for(synthetic):
    data = clicks_of(synthetic, "cascade")
    seen, further = data.impressions, np.arange(11, 301)  # one document on its way down to position 300
    found = rr.QueryIntercepts(l2=10).fit(
        np.vstack([data.X, np.tile(data.X[:1], (290, 1))]),
        np.concatenate([seen.clicks, np.zeros(290)]),
        np.concatenate([data.qid, np.repeat(data.qid[:1], 290)]),
        position=np.concatenate([seen.position, further]),
        impressions=np.concatenate([seen.count, np.ones(290)]),
    )
    assert found.positions().positions.size == 300
    assert found.positions().leaving == 0
