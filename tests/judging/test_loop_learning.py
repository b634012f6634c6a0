"""What the labelling loop learns: estimates, the overview, a saved model."""

import json

import numpy as np

import rulerank as rr
from judging_worlds import TRUTH, WORLD, InOrder, in_order, judge_all
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool


def test_an_estimate_comes_from_the_labels_of_the_other_documents(store):
    judging = in_order(store, n_wanted=len(WORLD))
    first = judging.next("ann")
    assert judging.estimate(first.query, first.doc) is None
    judge_all(judging, "ann")
    estimate = judging.estimate(first.query, first.doc)
    assert estimate.n_labels == len(WORLD) - 1
    assert 0 <= estimate.grade <= 2
    assert 1 <= estimate.rank <= estimate.n_docs == len(judging.pool.rows_of(first.query))
    assert len(estimate.reasons) == 4
    assert estimate.reasons[-1].endswith("other rules")  # so that they add up
    assert " like it in training: " in estimate.reasons[0]
    judging.grade("ann", first.query, first.doc, 2 - TRUTH[first.query, first.doc])
    assert judging.estimate(first.query, first.doc) == estimate


def test_labels_that_tell_nothing_apart_give_no_estimate(store):
    judging = Judging(Pool(WORLD), store, max_grade=2)
    for query, doc in judging.pool.pairs[:40]:  # every query has one grade: nothing is learned within it
        judging.grade("ann", query, doc, int(query[1:]) % 3)
    assert judging.estimate(*judging.pool.pairs[0]) is None
    assert judging.overview().labelled == 40


def test_an_estimate_follows_what_the_labels_show(store):
    values = np.tile(np.arange(10.0), 4)
    qid = np.repeat(["a", "b", "c", "d"], 10)
    pool = Pool(rr.Dataset(values[:, None], y=values > 5, qid=qid, docid=[f"d{value:.0f}" for value in values]))
    judging = Judging(pool, store, sampler=InOrder(40), max_grade=1)
    for query, doc in pool.pairs[:30]:
        judging.grade("ann", query, doc, int(int(doc[1:]) > 5))
    ranks = [judging.estimate("d", f"d{value}").rank for value in range(10)]
    assert max(ranks[6:]) <= 4 < min(ranks[:6])
    assert judging.estimate("d", "d9").grade > judging.estimate("d", "d0").grade


def test_feature_values_say_how_unusual_they_are(store):
    data = rr.Dataset([[1.0, 5.0], [2.0, np.nan], [2.0, 6.0], [9.0, 7.0]], y=[-1] * 4, qid=["q"] * 4, docid=[*"abcd"])
    judging = Judging(Pool(data), store, sampler=InOrder(4))
    assert judging.feature_values("q", "b") == [("f1", 2.0, 50.0), ("f2", None, None)]
    assert judging.feature_values("q", "d")[1].to_dict() == {"name": "f2", "value": 7.0, "percentile": 83.3}


def test_the_overview_counts_by_query_and_rater_and_shows_the_model(judging):
    for rater in ("ann", "bob"):
        judge_all(judging, rater, most=20)
    judging.skip("bob", *judging.pool.pairs[-1])
    overview = judging.overview()
    assert sum(count.labelled for count in overview.queries) == overview.labelled
    assert [count.query for count in overview.queries] == [f"q{number}" for number in range(1, 7)]
    assert [count.rater for count in overview.raters] == ["ann", "bob"]
    assert sum(count.graded for count in overview.raters) == overview.labelled
    assert overview.raters[1].skipped == 1
    assert len(overview.rules) == 10
    assert overview.standing[0].startswith("Starts from today's ranking (bm25_body); ")
    assert judging.overview() == overview
    assert json.loads(json.dumps(overview.to_dict()))["agreement"]["nominal"]["value"] is None


def test_labels_of_other_pools_in_the_store_are_counted_and_left_alone(store):
    store.add("elsewhere", "d", 1, "ann")
    judging = in_order(store)
    assert judging.progress("ann").mine == 0
    assert judging.overview().elsewhere == 1
    store.add("elsewhere", "d", 0, "ann")  # on second thoughts
    assert judging.overview().elsewhere == 1
    assert judging.undo("ann").query == "elsewhere"


def test_ten_labels_are_enough_for_a_model_that_tells_documents_apart(judging, tmp_path):
    judge_all(judging, "ann", most=10)
    assert len(set(judging.train(tmp_path / "model.rulerank").predict(WORLD))) > 10
