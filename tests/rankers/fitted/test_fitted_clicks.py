"""Fitted rules from clicks: the loops are the plain likelihood's, positions are found, scores leave them out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.plain.click_likelihood import click_chances, click_loss

import rulerank as rr
from rulerank.rankers.clicks.click_rows import BY_DOCUMENT, BY_IMPRESSION, check_clicks, weighed
from rulerank.rankers.clicks.held_out import click_losses
from rulerank.rankers.clicks.learns import PositionWarning
from rulerank.rankers.clicks.likelihood import LINKS
from rulerank.rankers.fitted.click_gradient import add_click_losses, add_click_pulls


@pytest.fixture(scope="module")
def seen():
    """A world whose clicks are known, shown by one of its features."""
    world = rr.make_world(n_queries=60, n_features=3, seed=0)
    return world, rr.simulate_clicks(world, world.X[:, 0], n_impressions=100_000, seed=0)


@pytest.fixture(scope="module")
def ranker(seen):
    return rr.FittedRules(n_jobs=1).fit(seen[1])


def plain_rows(seed):
    rng = np.random.default_rng(seed)
    scores, effects, shown = rng.normal(size=12), rng.uniform(0, 2, 12), rng.integers(50, 90, 12)
    clicks = rng.binomial(shown, click_chances(scores - 1, effects, "examination"))
    bounds = np.array([0, 4, 8, 12])
    return scores, effects, shown.astype(float), clicks.astype(float), np.repeat([0, 1, 2], 4), bounds


@pytest.mark.kernels
@pytest.mark.parametrize("link", LINKS)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), precision=st.sampled_from([BY_DOCUMENT, BY_IMPRESSION]))
def test_pulls_and_losses_are_those_of_the_plain_likelihood(link, seed, precision):
    scores, effects, shown, clicks, queries, bounds = plain_rows(seed)
    intercepts, pulls, losses = np.zeros((3, 1)), np.zeros((12, 2)), np.zeros(3)

    def plainly(at, own):
        held = precision * (own - own.mean()) @ (own - own.mean()) / 2
        return held + click_loss(np.ones(1), own, effects, at[:, None], clicks, shown, queries, np.arange(12), link)

    for _ in range(200):
        add_click_pulls(scores, LINKS[link], precision, effects, shown, clicks, bounds, 0, 3, intercepts, pulls)
    total = add_click_losses(scores, LINKS[link], precision, effects, shown, clicks, bounds, 0, 3, intercepts, losses)
    own = intercepts[:, 0]
    assert total == pytest.approx(plainly(scores, own), rel=1e-8)
    assert total == pytest.approx(losses.sum())
    for row in range(12):
        change = np.zeros(12)
        change[row] = 1e-5
        slope = (plainly(scores + change, own) - plainly(scores - change, own)) / 2e-5
        assert pulls[row, 0] == pytest.approx(slope, rel=1e-4, abs=1e-4)


def test_a_part_of_the_queries_is_looked_at_alone():
    scores, effects, shown, clicks, _, bounds = plain_rows(1)
    intercepts, pulls = np.zeros((3, 1)), np.full((12, 2), 9.0)
    add_click_pulls(scores, 1, BY_DOCUMENT, effects, shown, clicks, bounds, 1, 2, intercepts, pulls)
    assert (pulls[:4] == 9).all()
    assert (pulls[8:] == 9).all()
    assert intercepts[0] == intercepts[2] == 0


def test_clicks_teach_what_grades_would(seen, ranker):
    world, data = seen
    fresh = rr.make_world(n_queries=300, n_features=3, seed=1)
    by_clicks, today = (rr.evaluate(fresh, s).means["NDCG@10"] for s in (ranker.predict(fresh), fresh.X[:, 0]))
    without = rr.FittedRules(n_jobs=1, leave_after_click=0).fit(data, propensities=[1.0] * 10)
    blind = rr.evaluate(fresh, without.predict(fresh)).means["NDCG@10"]
    by_grades = rr.evaluate(fresh, rr.FittedRules(n_jobs=1).fit(world).predict(fresh)).means["NDCG@10"]
    assert today < blind < by_clicks < by_grades + 0.02
    assert by_clicks - today > 0.6 * (by_grades - today)
    assert len(ranker.n_rounds_) == 5


def test_its_positions_fall_as_those_that_made_the_clicks(seen, ranker):
    found = rr.FittedRules(n_folds=3, n_jobs=1, link="examination").fit(seen[1]).positions()
    assert abs(found.effects - np.log(np.arange(1, 11))).max() < 0.25
    effects = ranker.positions().effects
    assert (np.diff(effects) >= 0).all()
    assert effects[-1] > 1
    assert np.isfinite(ranker.positions().errors[1:]).all()


def test_counts_are_what_expanded_rows_are():
    world = rr.make_world(n_queries=20, n_features=2, seed=0)
    data = rr.simulate_clicks(world, world.X[:, 0], n_impressions=1500, seed=0)
    shown, clicks = data.shown.impressions, data.shown.clicks
    each = np.repeat(np.arange(len(data)), shown)
    first = np.concatenate([np.arange(n) for n in shown])
    counted = rr.FittedRules(n_jobs=1).fit(data)
    expanded = rr.FittedRules(n_jobs=1).fit(
        data.X[each], first < clicks[each], data.qid[each], position=data.shown.position[each]
    )
    np.testing.assert_allclose(expanded.predict(world.X), counted.predict(world.X), atol=0.05)


def test_a_model_file_keeps_the_effects(seen, ranker, tmp_path):
    ranker.save(tmp_path / "m.rulerank")
    again = rr.load(tmp_path / "m.rulerank")
    assert repr(again.positions()) == repr(ranker.positions())
    assert again.predict(seen[0]).tobytes() == ranker.predict(seen[0]).tobytes()


def test_few_clicks_give_a_straight_line(seen):
    world, _ = seen
    few = rr.simulate_clicks(world, world.X[:, 0], n_impressions=500, seed=0)
    assert rr.FittedRules(n_jobs=1).fit(few).n_rounds_ == ()


def test_what_it_cannot_learn_from_is_said(seen):
    _, data = seen
    with pytest.raises(rr.errors.DataError, match='normalize="auto" compares scales by grades'):
        rr.FittedRules(normalize="auto").fit(data)
    with pytest.raises(rr.errors.DataError, match="row 1 has no position: FittedRules learns from clicks or from"):
        rr.FittedRules().fit([[0.0], [1.0]], [0, 1], [1, 1], position=[1, None])
    with (
        pytest.warns(UserWarning, match="no query has both clicks and impressions without one"),
        pytest.warns(PositionWarning),
    ):
        rr.FittedRules().fit([[0.0], [1.0]], [0, 0], [1, 1], position=[1, 2])


def test_many_impressions_of_a_document_count_for_one_document():
    rows = check_clicks([200, 0, 2], [1, 2, 1], [400, 400, 4], 3)
    small, large = weighed(rows, np.array([0, 0, 1]), 1.0), weighed(rows, np.array([0, 0, 1]), 0.0)
    assert large.shown.tolist() == [400, 400, 4]
    assert small.shown[:2].sum() < 10
    assert small.clicks[0] / small.shown[0] == pytest.approx(0.5)


def test_scores_that_foresee_held_out_clicks_lose_less(seen, ranker):
    fresh = seen[1]
    rows = check_clicks(fresh.shown.clicks, fresh.shown.position, fresh.shown.impressions, len(fresh))
    queries = np.unique(fresh.qid, return_inverse=True)[1]
    effects = ranker.positions().effects
    _, good = click_losses(ranker.predict(fresh), rows, queries, effects, "log-odds")
    _, none = click_losses(np.zeros(len(fresh)), rows, queries, effects, "log-odds")
    _, blind = click_losses(ranker.predict(fresh), rows, queries, 0 * effects, "log-odds")
    assert good.sum() < none.sum()
    assert good.sum() < blind.sum()
