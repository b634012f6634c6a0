"""Few labels: learned in their pool, from the baseline ranking on, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.evaluation import Comparison
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.rankers.pool import PoolLearner
from rulerank.selection import few_labels
from rulerank.selection.few_labels import compare_pairs, compare_tops, hand_over, still_to_gain

NAMES = ("new", "baseline")


@pytest.fixture(scope="module")
def data():
    return rr.datasets.make_ranking(n_queries=40, n_features=6, seed=4)


def label_first(data, n):
    return replace(data, y=np.where(np.arange(len(data)) < n, data.y, -1))


def label_some(data, every):
    return replace(data, y=np.where(np.arange(len(data)) % every == 0, data.y, -1))


def test_without_labels_it_is_the_baseline_ranking_and_nothing_changes(data):
    learned = rr.select(label_first(data, 0), baseline="bm25_body")
    assert (learned.facts["labels"], learned.facts["top_changed"], learned.comparison) == (0, 0.0, None)
    assert learned.lines()[0].startswith(
        "Starts from the baseline ranking (bm25_body); 0 labels of 0 queries; the top 3 "
    )
    assert np.array_equal(
        rr.Anchored(baseline="bm25_body").fit(label_first(data, 0)).predict(data), learned.ranker.predict(data)
    )


def test_more_labels_leave_less_to_gain(data):
    some, more = (rr.select(label_first(data, n), baseline="bm25_body").facts["still_to_gain"] for n in (60, 600))
    assert some > more > 0
    learner = PoolLearner(rr.Anchored(baseline=0), data)
    assert 0 < still_to_gain(rr.Anchored(baseline=0).start(data.feature_names), learner) < 0.5


def test_one_sided_labels_are_never_enough(data):
    facts = dict(rr.select(data, baseline="bm25_body").facts) | {"still_to_gain": 0.0, "labels": 100}

    def lines(**more):
        return few_labels._lines(facts | more, "bm25_body", None, None, ())

    assert any(line.startswith("More labels may not be needed") for line in lines())
    warned = lines(warning="90 of 100 labels have grade 1")
    assert "90 of 100 labels have grade 1." in warned
    assert not any("may be enough" in line for line in [*warned, *lines(learned=False)])


def with_noise(data):
    noise = np.random.default_rng(0).standard_normal((len(data), 1))
    return replace(data, X=np.hstack([data.X, noise]), feature_names=(*data.feature_names, "noise"))


def test_nothing_takes_over_below_a_thousand_labels(data):
    few = rr.select(label_first(with_noise(data), 900), baseline="noise")  # a baseline of no use
    assert (few.facts["labels"], few.method, few.facts["took_over"]) == (900, "Anchored", None)
    assert (few.comparison.verdict, few.facts["pairs"]["verdict"]) == ("better", "more")


def test_it_hands_over_by_a_higher_ndcg_on_held_out_queries():
    many = rr.select(with_noise(rr.datasets.make_ranking(n_queries=100, seed=3)), baseline="noise")
    gain = many.facts["took_over"]
    assert many.method == many.facts["method"] == "FR"
    assert gain["low"] > 0
    assert gain["new"] > gain["old"]
    assert many.lines()[1] == (
        f"FR replaces Anchored: NDCG@10 {gain['new']:.3f} against {gain['old']:.3f} on labels of "
        f"{gain['n_queries']} held-out queries (difference {gain['low']:+.3f} to {gain['high']:+.3f}, 90 % interval)."
    )


def test_more_pairs_in_order_with_a_worse_top_take_nothing_over(data, monkeypatch):
    queries = np.repeat(np.arange(40), 6)
    grades = np.tile([2, 1, 1, 0, 0, 0], 40)
    anchored = np.tile([6.0, 1, 2, 3, 4, 5], 40)  # the best document first, all others the wrong way round
    other = np.tile([4.0, 6, 5, 3, 2, 1], 40)  # the best one third, all others in order
    held_out = iter([anchored, other])
    monkeypatch.setattr(few_labels, "held_out_scores", lambda *given: next(held_out))
    assert compare_pairs(other, anchored, grades, queries).verdict == "better"
    assert compare_tops(NAMES, other, anchored, grades, queries).verdict == "worse"
    pool = rr.Dataset(np.zeros((240, 1)), grades, queries.astype(str))
    learner = PoolLearner(rr.Anchored(baseline=0), pool)
    assert hand_over(learner, np.arange(240), grades, {"QI": 100}) == (learner, anchored, None)


def test_a_higher_ndcg_within_chance_takes_nothing_over():
    rng = np.random.default_rng(1)
    grades, queries = rng.integers(0, 3, 300), np.repeat(np.arange(30), 10)
    one, other = rng.random((2, 300))
    assert compare_tops(NAMES, one, other, grades, queries).verdict == "unclear"
    assert compare_tops(NAMES, grades[:90] * 1.0, other[:90], grades[:90], queries[:90]).verdict == "too few"
    assert compare_tops(NAMES, one, other, grades * 0, queries).verdict == "too few"


def test_labels_that_say_it_is_worse_are_not_hidden(data, monkeypatch):
    worse = Comparison("pairs", "new", "baseline", 0.4, 0.6, -0.3, -0.1, 20)
    monkeypatch.setattr(few_labels, "compare_pairs", lambda *given: worse)
    monkeypatch.setattr(few_labels, "share_tied", lambda *given: 0.5)
    lines = rr.select(label_first(data, 100), baseline="bm25_body").lines()
    assert lines[1].endswith("fewer pairs in the right order: keep the baseline ranking.")
    assert lines[2] == "Keep the baseline ranking until you have more labels."
    assert lines[-1] == "50 % of the documents are tied with another: their order is arbitrary."


def test_of_equal_rankings_pairs_call_one_in_twenty_better():
    rng = np.random.default_rng(0)
    queries, told = np.repeat(np.arange(12), 6), 0
    for _ in range(600):
        grades = rng.integers(0, 3, 72)
        one, other = rng.normal(0.5 * grades, 1, (2, 72))
        told += compare_pairs(one, other, grades, queries).verdict == "better"
    assert 0.02 < told / 600 <= 0.065


def test_codes_of_categories_have_no_weight(data):
    codes = np.arange(len(data))[:, None] % 3.0
    kinds = rr.Dataset(
        np.hstack([data.X, codes]), data.y, data.qid, data.docid, (*data.feature_names, "brand"),
        categories={"brand": ("a", "b", "c")},
    )  # fmt: skip
    learned = rr.select(label_first(kinds, 200), baseline="bm25_body")
    assert learned.ranker.coef_[-1] == 0
    assert "Ignored: brand (this model does not support categorical features)." in learned.lines()
    with pytest.raises(
        DataError, match="baseline ranking: 'brand' holds categories, which have no order; name a feature"
    ):
        rr.select(label_first(kinds, 200), baseline="brand")
    with pytest.raises(DataError, match="baseline ranking: 'brand' holds categories"):
        rr.StratifiedSampler(baseline="brand").begin(kinds)
    with pytest.raises(DataError, match="baseline ranking: 'brand' holds categories"):
        Judging(Pool(kinds), None, baseline="brand")


def test_scales_and_bins_come_from_all_rows(data):
    pool = label_some(data, 10)
    few = rr.GlobalRules(discretizer="equal_width", normalize="zscore").fit(pool)
    whole = rr.GlobalRules(discretizer="equal_width", normalize="zscore").fit(data)
    for found, expected in zip(few.discretizer_.cuts_, whole.discretizer_.cuts_, strict=True):
        assert np.array_equal(found, expected)
    assert max(rule.covered for rule in few.rules_) <= (pool.y >= 0).sum()
    alone = rr.GlobalRules(discretizer="equal_width", normalize="zscore").fit(pool.labelled())
    assert not np.array_equal(alone.discretizer_.cuts_[0], whole.discretizer_.cuts_[0])


def test_a_pool_without_labels_is_refused(data):
    with pytest.raises(DataError, match=r"no document of the pool has a grade.*label some first"):
        rr.GlobalRules().fit(replace(data, y=np.full(len(data), -1)))
