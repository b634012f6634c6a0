"""A ranker learned from clicks takes the place of today's only where held-out clicks say that it is better."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import rulerank as rr
from rulerank.errors import DataError
from rulerank.shown import Shown
from rulerank.training.from_clicks import learn_from_clicks
from rulerank.training.keep_today import AgainstToday, scores_once, today_scores

WORLD = rr.make_world(n_queries=60, n_features=3, seed=0)
TODAY = "pagerank"  # the weakest of the three
SMALL = ([[1.0], [2.0], [3.0]], [0, 1, 2], ["q", "q", "q"])
COLUMN = WORLD.feature_names.index(TODAY)


def log(n_impressions, *, seed=0):
    return rr.simulate_clicks(WORLD, WORLD.X[:, COLUMN], n_impressions=n_impressions, eta=1.0, seed=seed)


@pytest.fixture(scope="module")
def strong():
    return log(8000)


def noise(seed):
    """The same lists, clicked whatever stands there."""
    seen = log(2000, seed=seed)
    rng = np.random.default_rng(seed)
    shown = seen.shown
    clicks = rng.binomial(shown.impressions, 0.3 / shown.position)
    return rr.Dataset(
        seen.X, seen.y, seen.qid, None, seen.feature_names, shown=Shown(shown.position, shown.impressions, clicks)
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_clicks_that_are_noise_keep_todays_ranking(seed):
    learned = learn_from_clicks(noise(seed), today=TODAY)
    assert learned.keep_today
    assert learned.candidate.about == "today's ranking"
    assert "do not say that a new ranking is better than today's (pagerank): keep today's" in learned.lines()[-2]
    scores, rows = learned.ranker.predict(WORLD), WORLD.qid == WORLD.qid[0]
    assert (np.argsort(scores[rows]) == np.argsort(WORLD.X[rows, COLUMN])).all()
    assert learned.positions.effects.size == 10  # what positions do is found all the same


def test_clicks_that_say_much_leave_todays_ranking(strong):
    learned = learn_from_clicks(strong, today=TODAY)
    assert not learned.keep_today
    assert "say that it is better than today's ranking (pagerank)" in learned.lines()[-2]
    today, new = (rr.evaluate(WORLD, s).means["NDCG@10"] for s in (WORLD.X[:, COLUMN], learned.ranker.predict(WORLD)))
    assert new > today


def test_today_may_be_scores_or_be_told_from_the_positions(strong):
    named = learn_from_clicks(strong, method="QI", params={"l2": 10.0}, today=TODAY)
    same = learn_from_clicks(strong, method="QI", params={"l2": 10.0}, today=strong.X[:, COLUMN])
    assert same.against_today.about == "the scores given"
    assert named.against_today.gain == same.against_today.gain
    unknown = learn_from_clicks(strong, method="QI", params={"l2": 10.0})
    assert unknown.against_today.about == "the mean positions at which documents were shown"
    assert unknown.against_today.gain > unknown.against_today.error
    assert unknown.keep_today  # positions are too easy to beat to say so
    assert "Today's ranking is not known, so nothing says that the new one is better: name it" in unknown.lines()[-2]


def test_a_model_that_is_todays_ranking_is_kept_itself(strong):
    model = rr.QueryIntercepts(l2=10.0, normalize="zscore").fit(WORLD)
    learned = learn_from_clicks(noise(0), today=model)
    assert learned.keep_today
    assert learned.ranker is model
    assert learned.candidate.method == "QI"
    assert "better than today's (a QueryIntercepts model, linear): keep today's" in learned.lines()[-2]
    fitted = learn_from_clicks(noise(0), method="QI", params={"l2": 10.0}, today=model)
    assert fitted.keep_today
    assert fitted.ranker is not model


@pytest.mark.parametrize("seed", range(3, 9))
def test_what_is_left_of_positions_does_not_speak_for_the_ranking_that_made_the_lists(seed):
    """Today's ranking is another than the one that was shown, and clicks say nothing but where documents stood."""
    model = rr.QueryIntercepts(l2=10.0, normalize="zscore").fit(WORLD)
    assert learn_from_clicks(noise(seed), today=model).keep_today


def test_clicks_that_say_much_leave_a_model_too(strong):
    flat = rr.Anchored(today=TODAY).start(WORLD.feature_names)
    learned = learn_from_clicks(strong, method="QI", params={"l2": 10.0}, today=flat)
    assert not learned.keep_today
    # the same ranking by another scale: what clicks say of it differs a little, and no more
    feature = learn_from_clicks(strong, method="QI", params={"l2": 10.0}, today=TODAY)
    assert learned.against_today.gain == pytest.approx(feature.against_today.gain, rel=0.1)


def test_a_model_scores_each_document_once_and_not_once_a_position():
    model = rr.QueryIntercepts(l2=10.0, normalize="zscore").fit(WORLD)
    data = rr.Dataset(
        [[1.0, 0, 0], [2.0, 1, 0], [2.0, 1, 0], [5.0, 0, 2]],
        [-1] * 4,
        ["q"] * 4,
        ["a", "b", "b", "c"],
        WORLD.feature_names,
        shown=Shown([1, 2, 1, 3], [5, 5, 5, 5], [1, 1, 1, 1]),
    )
    now = today_scores(data, model, np.zeros(4, dtype=int), np.array([0, 1, 1, 2]))
    assert now.views[0].tolist() == model.predict(data[[0, 1, 3]])[[0, 1, 1, 2]].tolist()


def test_a_new_model_scores_each_held_out_document_once_too(strong, monkeypatch):
    seen = []

    def watched(predict, data, documents):
        seen.append((len(data), np.unique(documents).size))
        return scores_once(predict, data, documents)

    monkeypatch.setattr("rulerank.training.from_clicks.scores_once", watched)
    learned = learn_from_clicks(strong, method="QI", params={"normalize": "zscore"}, today=TODAY)
    assert sum(n_rows for n_rows, _ in seen) == 2 * len(strong)  # two candidates, each row once
    assert all(n_rows > n_documents for n_rows, n_documents in seen)  # documents that moved
    assert learned.candidate.params["normalize"] == "zscore"


def test_parameters_are_those_of_the_ranker(strong):
    assert learn_from_clicks(strong, params={"l2": 10.0}, today=TODAY).new.l2 == 10
    learned = learn_from_clicks(noise(0), params={"leave_after_click": 0.0}, today=TODAY)
    assert learned.positions.leaving == 0


@pytest.mark.parametrize("today", [np.zeros(0), "flat"])
def test_a_ranking_that_ranks_nothing_is_refused(strong, today):
    flat = rr.Dataset(
        np.column_stack([strong.X, np.full(len(strong), 3.0)]), strong.y, strong.qid, None,
        (*strong.feature_names, "flat"), shown=strong.shown,
    )  # fmt: skip
    given = today if isinstance(today, str) else (strong.qid == strong.qid[0]).astype(float)  # alike within queries
    with pytest.raises(DataError, match=r"\) is the same for all documents of every query, so it ranks nothing"):
        learn_from_clicks(flat, today=given)


def test_a_few_queries_with_clicks_say_nothing(strong):
    some = np.isin(strong.qid, [*dict.fromkeys(strong.qid)][:5])
    shown = Shown(strong.shown.position, strong.shown.impressions, np.where(some, strong.shown.clicks, 0))
    few = rr.Dataset(strong.X, strong.y, strong.qid, None, strong.feature_names, shown=shown)
    learned = learn_from_clicks(few, today=TODAY)
    assert learned.keep_today
    assert "8,000 impressions, with clicks in 5 held-out queries, are too few to compare" in learned.lines()[-2]


def test_propensities_that_clicks_contradict_are_refused(strong):
    looked = {k: 1 / k for k in range(1, 11)} | {2: 0.001}
    with pytest.raises(DataError, match=r"position 2 was clicked in \d+ % .* looked at in 0.001 of 1: nobody clicks"):
        learn_from_clicks(strong, method="QI", propensities=looked, today=TODAY)


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("QI", {"foo": 1}, "QueryIntercepts takes no foo; it takes .*l2, "),
        ("FR", {}, r"FR does not learn from clicks; QueryIntercepts \(QI\) does"),
        ("QI", {"l2": "abc"}, "l2 must be "),
    ],
)
def test_parameters_that_a_method_does_not_take_are_named(strong, method, params, message):
    with pytest.raises(DataError, match=message):
        learn_from_clicks(strong, method=method, params=params, today=TODAY)


def test_what_is_wrong_with_the_data_is_said_by_the_last_fit_alone(strong, recwarn):
    moved_nowhere = rr.simulate_clicks(WORLD, WORLD.X[:, COLUMN], n_impressions=8000, explore=0.0, seed=0)
    learn_from_clicks(moved_nowhere, today=TODAY)
    assert len([one for one in recwarn if "no document was shown at two" in str(one.message)]) == 1


def test_a_method_that_was_named_is_fitted_and_the_sentence_stays():
    learned = learn_from_clicks(noise(0), method="QI", today=TODAY)
    assert learned.keep_today
    assert isinstance(learned.ranker, rr.QueryIntercepts)


def test_the_coefficient_of_today_is_free_and_the_others_are_held(strong):
    hard = rr.QueryIntercepts(l2=1e9)
    hard._free_column = 0
    coef = hard.fit(strong).coef_
    assert coef[0] > 0.1
    assert np.abs(coef[1:]).max() < 1e-3


@pytest.mark.filterwarnings("ignore:no document")
def test_few_clicks_keep_today():
    learned = learn_from_clicks(log(60), today=TODAY)
    assert learned.keep_today
    assert learned.against_today.to_dict()["gain"] is None
    assert "are too few to compare a new ranking with today's (pagerank): keep today's." in learned.lines()[-2]


def test_how_many_impressions_would_tell_is_said_only_where_something_speaks_for_it():
    assert (
        AgainstToday("a", 0.1, 0.2, 50, 1000)
        .line()
        .endswith("keep today's; about 11,000 impressions would, if the difference is what it seems.")
    )
    assert AgainstToday("a", -0.1, 0.2, 50, 1000).line().endswith("keep today's.")
    assert AgainstToday("a", 1e-6, 0.2, 50, 1000).impressions_needed is None
    assert AgainstToday("a", 0.4, 0.2, 50, 1000).impressions_needed is None
    assert not AgainstToday("a", math.nan, math.nan, 0, 1000).better
    unknown = AgainstToday("a", math.nan, math.nan, 0, 1000, known=False)
    assert unknown.line().startswith("Today's ranking is not known, so nothing says that the new one is better")


def test_what_today_cannot_be_is_refused(strong):
    with pytest.raises(DataError, match="there is no feature 'bm26'"):
        learn_from_clicks(strong, today="bm26")
    with pytest.raises(DataError, match="today's scores must be finite numbers: got nan at row 0"):
        learn_from_clicks(strong, today=np.full(len(strong), np.nan))
    with pytest.raises(DataError, match="this QueryIntercepts reads length, which the data lacks"):
        learn_from_clicks(strong, today=rr.QueryIntercepts(l2=1.0).fit(rr.Dataset(*SMALL, None, ("length",))))
    with pytest.raises(DataError, match="today: this QueryIntercepts is not fitted"):
        learn_from_clicks(strong, today=rr.QueryIntercepts())
    with pytest.raises(DataError, match="add what another model says to the data as a feature, and name that"):
        learn_from_clicks(strong, today=LinearRegression())
    with pytest.raises(DataError, match="today must be a feature, a model, or a score of each row"):
        learn_from_clicks(strong, today=["x"] * len(strong))
    with pytest.raises(DataError, match=r"today must have one entry per row: expected \d+, got 3"):
        learn_from_clicks(strong, today=[1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="Anchored does not learn from clicks; QueryIntercepts"):
        learn_from_clicks(strong, method="Anchored", today=TODAY)
