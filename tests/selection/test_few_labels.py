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
from rulerank.selection.few_labels import NAMES, compare_tops, still_to_gain


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
    assert 0 < still_to_gain(rr.Anchored(baseline=0).start(data), learner) < 0.5


CLEAR = Comparison("NDCG@10", *NAMES, 0.6, 0.4, 0.1, 0.3, 20)
UNCLEAR, WORSE = replace(CLEAR, low=-0.1), replace(CLEAR, mean_a=0.2, low=-0.3, high=-0.1)


@pytest.mark.parametrize(
    ("gain", "more", "said"),
    [
        (CLEAR, {}, "the gain is clear."),
        (UNCLEAR, {}, None),
        (None, {}, None),
        (UNCLEAR, {"still_to_gain": 0.02}, "more labels would hardly change the top 10. Compare the model with the"),
        (None, {"still_to_gain": 0.02}, "more labels would hardly change the top 10. Compare the model with the"),
        (WORSE, {"still_to_gain": 0.02}, None),
        (CLEAR, {"labels": 99}, None),
        (CLEAR, {"warning": "90 of 100 labels have grade 1"}, None),
        (None, {"still_to_gain": 0.0, "warning": "90 of 100 labels have grade 1"}, None),
        (None, {"still_to_gain": 0.0, "learned": False}, None),
    ],
)
def test_enough_is_a_clear_gain_or_nothing_left_to_gain_and_never_one_sided_labels(data, gain, more, said):
    facts = dict(rr.select(label_first(data, 0), baseline="bm25_body").facts)
    facts |= {"still_to_gain": 0.1, "labels": 100, "learned": True} | more
    lines = few_labels._lines(facts, "bm25_body", gain, ())
    found = [line for line in lines if "stop labelling" in line]
    assert [line.startswith(f"You can stop labelling: {said}") for line in found] == ([] if said is None else [True])
    assert "warning" not in more or f"{more['warning']}." in lines


def with_noise(data):
    noise = np.random.default_rng(0).standard_normal((len(data), 1))
    return replace(data, X=np.hstack([data.X, noise]), feature_names=(*data.feature_names, "noise"))


def test_a_useless_baseline_is_left_and_held_out_labels_call_that_better(data):
    many = rr.select(label_first(with_noise(data), 900), baseline="noise")
    figures = many.facts["held_out"]
    assert (many.method, many.comparison.verdict, figures["verdict"]) == ("Anchored", "better", "better")
    assert many.lines()[1] == (
        f"NDCG@10 on labels of {figures['n_queries']} held-out queries: new {figures['new']:.3f}, baseline "
        f"{figures['baseline']:.3f} (difference {figures['low']:+.3f} to {figures['high']:+.3f}, 95 % interval): "
        "better."
    )


def test_more_pairs_in_order_with_a_worse_top_are_worse():
    queries = np.repeat(np.arange(40), 6)
    grades = np.tile([2, 1, 1, 0, 0, 0], 40)
    baseline = np.tile([6.0, 1, 2, 3, 4, 5], 40)  # the best document first, all others the wrong way round
    other = np.tile([4.0, 6, 5, 3, 2, 1], 40)  # the best one third, all others in order
    assert compare_tops(NAMES, other, baseline, grades, queries).verdict == "worse"


def test_a_higher_ndcg_within_chance_is_unclear():
    rng = np.random.default_rng(1)
    grades, queries = rng.integers(0, 3, 300), np.repeat(np.arange(30), 10)
    one, other = rng.random((2, 300))
    assert compare_tops(NAMES, one, other, grades, queries).verdict == "unclear"
    assert compare_tops(NAMES, grades[:90] * 1.0, other[:90], grades[:90], queries[:90]).verdict == "too few"
    assert compare_tops(NAMES, one, other, grades * 0, queries).verdict == "too few"


def test_labels_that_say_it_is_worse_are_not_hidden(data, monkeypatch):
    monkeypatch.setattr(few_labels, "compare_tops", lambda *given: WORSE)
    monkeypatch.setattr(few_labels, "share_tied", lambda *given: 0.5)
    lines = rr.select(label_first(data, 100), baseline="bm25_body").lines()
    assert lines[1].endswith("(difference -0.300 to -0.100, 95 % interval): worse: keep the baseline ranking.")
    assert lines[-1] == "50 % of the documents are tied with another: their order is arbitrary."


def test_of_equal_rankings_one_in_twenty_five_is_called_better():
    rng = np.random.default_rng(0)
    queries, told = np.repeat(np.arange(12), 6), 0
    for _ in range(600):
        grades = rng.integers(0, 3, 72)
        one, other = rng.normal(0.5 * grades, 1, (2, 72))
        told += compare_tops(NAMES, one, other, grades, queries).verdict == "better"
    assert 0.01 < told / 600 <= 0.04


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
