"""Clicks and labels together: which start clicks and labels agree on, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.shown import Shown
from rulerank.training.from_both import compare_by_labels, learn_from_both
from rulerank.training.from_clicks import learn_from_clicks

WORLD = rr.make_world(n_queries=40, n_features=3, seed=0)
TODAY = "bm25_body"


def labelled(grades, every=5):
    return replace(WORLD, y=np.where(np.arange(len(WORLD)) % every, -1, grades))


@pytest.fixture(scope="module")
def seen():
    return rr.simulate_clicks(WORLD, WORLD.X[:, 0], n_impressions=12_000, seed=0)


def noise(seen):
    """The same lists, clicked whatever stands there."""
    clicks = np.random.default_rng(0).binomial(seen.shown.impressions, 0.3 / seen.shown.position)
    return replace(seen, shown=Shown(seen.shown.position, seen.shown.impressions, clicks))


def test_where_labels_do_not_tell_clicks_say_where_to_start(seen):
    few = labelled(WORLD.y, every=20)
    found = learn_from_both(seen, few, today=TODAY)
    assert found.pairs.verdict == "unclear"
    assert found.starts_from_clicks
    said = found.about_the_start()[0]
    assert said.startswith("Labels start from the model of the clicks: the clicks' model has ")
    assert said.endswith(" %: no clear difference.")
    assert found.lines() == [*found.clicks.lines(), said, *found.labels.lines()]
    alone = rr.learn_from_today(few, learn_from_clicks(seen, today=TODAY).ranker)
    assert (found.ranker.predict(WORLD) == alone.ranker.predict(WORLD)).all()


def test_labels_that_say_that_the_clicks_mislead_start_from_todays_ranking(seen):
    like_today = (WORLD.X[:, 0] > np.median(WORLD.X[:, 0])).astype(int)  # whatever was clicked
    found = learn_from_both(seen, labelled(like_today), today=TODAY)
    assert not found.clicks.keep_today
    assert not found.starts_from_clicks
    said = found.about_the_start()[0]
    assert said.startswith("Labels start from today's ranking: the clicks' model has ")
    assert said.endswith("in order, today's ranking 100 %: fewer pairs in the right order: keep the baseline ranking.")
    assert str(found.labels.today) == TODAY
    assert found.to_dict()["start"] == {
        "start": "today",
        "pairs": {"clicks": found.pairs.new, "today": 1.0, "verdict": "fewer"},
    }


def test_labels_that_say_that_the_model_of_few_clicks_is_better_start_from_it():
    seen = rr.simulate_clicks(WORLD, WORLD.X[:, 2], n_impressions=500, seed=0)
    assert seen.shown.clicks.sum() < 100  # too few to choose by
    model = rr.QueryIntercepts(l2=300.0, missing="mean").fit(seen)
    scores = model.predict(WORLD)
    found = learn_from_both(seen, labelled((scores > np.median(scores)).astype(int)), today="pagerank")
    assert found.clicks.keep_today
    assert found.starts_from_clicks
    assert (found.labels.today.ranker.predict(WORLD) == scores).all()


def test_labels_start_from_todays_ranking_where_nothing_speaks_for_the_clicks(seen):
    model = rr.QueryIntercepts(l2=1.0).fit(WORLD)
    for today, about in ((TODAY, TODAY), (model, "a QueryIntercepts model, linear")):
        found = learn_from_both(noise(seen), labelled(WORLD.y), today=today)
        assert not found.starts_from_clicks
        assert found.about_the_start()[0].startswith("Labels start from today's ranking: the clicks' model has ")
        assert str(found.labels.today) == about


def test_labels_that_are_too_few_to_compare_by_leave_it_to_the_clicks(seen):
    few = replace(WORLD, y=np.where(np.arange(len(WORLD)) < 5, WORLD.y, -1))
    found = learn_from_both(seen, few, today=TODAY)
    assert found.starts_from_clicks
    assert found.about_the_start() == [
        "Labels start from the model of the clicks; they are too few to compare the clicks' model with today's ranking."
    ]


def test_scores_of_rows_that_were_shown_are_no_ranking_of_a_pool(seen):
    with pytest.raises(DataError, match="today must be "):
        learn_from_both(seen, labelled(WORLD.y), today=seen.X[:, 0])


def test_without_a_ranking_of_today_there_is_nothing_to_compare(seen):
    mine = rr.AnchoredRules()
    found = learn_from_both(seen, labelled(WORLD.y), ranker=mine)
    assert mine.get_params() == rr.AnchoredRules().get_params()  # the caller's stays as it was
    assert found.starts_from_clicks
    assert found.pairs is None
    assert found.about_the_start() == ["Labels start from the model of the clicks."]
    assert isinstance(found.ranker, rr.AnchoredRules)


def test_two_rankings_are_compared_by_labels_alone():
    pool = labelled(WORLD.y)
    pairs = compare_by_labels(pool, "bm25_title", "bm25_body")
    rows = np.flatnonzero(pool.y >= 0)
    right = n = 0
    for a in rows:
        for b in rows:
            if pool.qid[a] == pool.qid[b] and pool.y[a] > pool.y[b]:
                n += 1
                right += (1 + np.sign(pool.X[a, 1] - pool.X[b, 1])) / 2  # level ones are half right
    assert pairs.n_pairs == n
    assert pairs.new == pytest.approx(right / n)
    with pytest.raises(DataError, match="there is no feature 'bm26'"):
        compare_by_labels(pool, "bm26", "bm25_body")
