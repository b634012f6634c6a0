"""From today's ranking and labels to a ranker, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.training.few_labels import few_label_ranker
from rulerank.training.from_today import FromToday, hand_over, share_tied, top_sets
from rulerank.training.in_pool import PoolLearner
from rulerank.training.pair_accuracy import PairAccuracy, compare_pairs, compare_tops, pairs_in_order
from rulerank.training.still_to_gain import still_to_gain


@pytest.fixture(scope="module")
def data():
    return rr.make_world(n_queries=40, n_features=6, seed=4)


def label_first(data, n):
    return replace(data, y=np.where(np.arange(len(data)) < n, data.y, -1))


def test_without_labels_it_is_todays_ranking_and_nothing_changes(data):
    learned = rr.learn_from_today(label_first(data, 0), "bm25_body")
    assert (learned.n_labels, learned.changed, learned.pairs) == (0, 0.0, None)
    assert learned.lines()[0].startswith("Starts from today's ranking (bm25_body); 0 labels of 0 queries; the top 3 ")


def test_more_labels_leave_less_to_gain(data):
    some, more = (rr.learn_from_today(label_first(data, n), "bm25_body").to_gain for n in (60, 600))
    assert some > more > 0


def with_noise(data):
    noise = np.random.default_rng(0).standard_normal((len(data), 1))
    return replace(data, X=np.hstack([data.X, noise]), feature_names=(*data.feature_names, "noise"))


def test_nothing_takes_over_below_a_thousand_labels(data):
    few = rr.learn_from_today(label_first(with_noise(data), 900), "noise")  # a baseline of no use
    assert (few.n_labels, few.method, few.took_over) == (900, "Anchored", None)
    assert few.pairs.verdict == "more"
    assert few.to_dict()["took_over"] is None


def test_it_hands_over_by_a_higher_ndcg_on_held_out_queries():
    many = rr.learn_from_today(with_noise(rr.make_world(n_queries=100, seed=3)), "noise")
    assert many.method == "FR"
    assert many.took_over.low > 0
    assert many.lines()[1] == f"FR took over from Anchored: {many.took_over}."
    assert many.to_dict()["took_over"]["new"] == many.took_over.new > many.took_over.old


def test_more_pairs_in_order_with_a_worse_top_take_nothing_over(data, monkeypatch):
    queries = np.repeat(np.arange(40), 6)
    grades = np.tile([2, 1, 1, 0, 0, 0], 40)
    anchored = np.tile([6.0, 1, 2, 3, 4, 5], 40)  # the best document first, all others the wrong way round
    other = np.tile([4.0, 6, 5, 3, 2, 1], 40)  # the best one third, all others in order
    monkeypatch.setattr("rulerank.training.from_today.held_out_scores", lambda *given: other)
    monkeypatch.setattr("rulerank.training.from_today.HAND_OVER", {"QI": 100})
    pairs = compare_pairs(*(pairs_in_order(one, grades, queries) for one in (other, anchored)))
    assert pairs.verdict == "more"
    assert compare_tops(other, anchored, grades, queries).high < 0
    pool = rr.Dataset(np.zeros((240, 1)), grades, queries.astype(str))
    learner = PoolLearner(rr.Anchored(today=0), pool)
    assert hand_over(learner, np.arange(240), grades, anchored)[1:] == ("Anchored", anchored, None)


def test_a_higher_ndcg_within_chance_takes_nothing_over():
    rng = np.random.default_rng(1)
    grades, queries = rng.integers(0, 3, 300), np.repeat(np.arange(30), 10)
    one, other = rng.random((2, 300))
    gain = compare_tops(one, other, grades, queries)
    assert gain.low < 0 < gain.high
    assert compare_tops(one[:90], other[:90], grades[:90], queries[:90]) is None  # nine queries


def test_a_ranker_of_ones_own_is_kept(data):
    learned = rr.learn_from_today(label_first(data, 300), "bm25_body", ranker=few_label_ranker("QI"))
    assert learned.method == "QueryIntercepts"
    assert learned.to_gain is None


def test_labels_that_say_it_is_worse_are_not_hidden(data):
    pairs = PairAccuracy(0.4, 0.6, -0.3, -0.1, 100, 20)
    learned = rr.learn_from_today(label_first(data, 100), "bm25_body")
    lines = FromToday(**vars(learned) | {"pairs": pairs, "tied": 0.5}).lines()
    assert lines[1].endswith("fewer pairs in the right order: keep the baseline ranking.")
    assert lines[2] == "Keep the baseline ranking until you have more labels."
    assert lines[-1] == "50 % of the documents are level with another: chance puts them in order."


def test_pairs_are_counted_by_query_and_level_ones_half():
    pairs = pairs_in_order(np.array([2.0, 1.0, 1.0, 5.0]), np.array([1, 0, 1, 0]), np.array([0, 0, 0, 1]))
    assert (pairs.n.tolist(), pairs.right.tolist()) == ([2.0, 0.0], [1.5, 0.0])


def test_few_queries_are_not_enough_to_tell_and_many_are():
    rng = np.random.default_rng(0)
    grades, queries = rng.integers(0, 2, 400), np.repeat(np.arange(40), 10)
    right = pairs_in_order(grades + 0.1 * rng.random(400), grades, queries)
    chance = pairs_in_order(rng.random(400), grades, queries)
    assert compare_pairs(right, chance).verdict == "more"
    assert compare_pairs(right, chance).line().endswith(": more pairs in the right order, top results unchecked")
    assert compare_pairs(chance, right).verdict == "fewer"
    few = [pairs_in_order(scores[:30], grades[:30], queries[:30]) for scores in (grades * 1.0, rng.random(400))]
    assert compare_pairs(*few).verdict == "too few"
    assert compare_pairs(*few).line() == "pairs in order on held-out labels: not enough to tell yet"


def test_top_sets_and_ties():
    scores, query = np.array([3.0, 1.0, 2.0, 2.0, 9.0]), np.array([0, 0, 0, 0, 1])
    assert top_sets(scores, query).tolist() == [[0, 2, 3], [-1, -1, 4]]
    assert share_tied(scores, query) == 0.4


def test_codes_of_categories_have_no_weight(data):
    codes = np.arange(len(data))[:, None] % 3.0
    kinds = rr.Dataset(
        np.hstack([data.X, codes]), data.y, data.qid, data.docid, (*data.feature_names, "brand"),
        categories={"brand": ("a", "b", "c")},
    )  # fmt: skip
    learned = rr.learn_from_today(label_first(kinds, 200), "bm25_body")
    assert learned.ranker.coef_[-1] == 0
    assert "Left out: brand, for categories are no amounts." in learned.lines()
    with pytest.raises(DataError, match="today: 'brand' holds categories, which put nothing in order; name a feature"):
        rr.learn_from_today(label_first(kinds, 200), "brand")
    with pytest.raises(DataError, match="today: 'brand' holds categories"):
        rr.Strata(today="brand").begin(kinds)
    with pytest.raises(DataError, match="today: 'brand' holds categories"):
        Judging(Pool(kinds), None, today="brand")


def test_what_is_still_to_gain_is_a_share(data):
    assert 0 < still_to_gain(rr.Anchored(today=0).start(data.feature_names), data) < 0.5
