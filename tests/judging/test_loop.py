"""The judging loop: who gets what, what is made of the labels, and what happens when many are at it."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

import rulerank as rr
from judging_data import SYNTHETIC, in_order, judge, judge_all
from rulerank.errors import DataError
from rulerank.judging.loop import Judging
from rulerank.judging.offers import EMPTY, STOPPED, WAITING
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore


def test_documents_come_in_the_order_of_the_sampler(judging):
    selection = rr.SSAR(per_query=True).begin(SYNTHETIC.X, qid=SYNTHETIC.qid)
    for task in judge_all(judging, "ann"):
        row = judging.pool.row(task.query, task.doc)
        assert row == selection.next()
        selection.add(row, int(SYNTHETIC.y[row]))
    assert selection.next() is None
    progress = judging.progress("ann")
    assert (progress.done, progress.reason, progress.closeness) == (True, STOPPED, 1.0)
    assert progress.mine == progress.labelled == len(selection.order) < len(SYNTHETIC)


def test_asking_again_gives_the_same_document_also_after_a_restart(judging, store):
    task = judging.next("ann")
    assert judging.next("ann") == task
    assert Judging(Pool(SYNTHETIC), store).next("ann") == task


def test_a_skipped_document_goes_to_others_only(store):
    judging = in_order(store)
    first = judging.next("ann")
    judging.skip("ann", first.query, first.doc)
    assert judging.next("ann") != first
    assert judging.next("bob") == first
    assert judging.progress("ann").skipped == 1


def test_undo_hands_the_document_out_again_before_the_one_that_waits(store):
    judging = in_order(store)
    first = judging.next("ann")
    judge(judging, "ann", first)
    second = judging.next("ann")
    undone = judging.undo("ann")
    assert (undone.query, undone.doc) == (first.query, first.doc)
    assert judging.progress("ann").labelled == 0
    assert judging.next("ann") == first
    judge(judging, "ann", first)
    assert judging.next("ann") == second
    assert judging.undo("bob") is None


def test_why_there_is_nothing_more_is_said(store):
    judging = in_order(store, n_wanted=2)
    ann, bob = judging.next("ann"), judging.next("bob")
    assert judging.next("eve") is None
    assert judging.progress("eve").reason == WAITING
    judge(judging, "ann", ann)
    judge(judging, "bob", bob)
    assert judging.next("eve") is None
    assert judging.progress("eve").reason == STOPPED
    assert not judging.progress("ann").done  # has not asked since


def test_one_can_keep_going_until_everything_is_judged(store):
    judging = in_order(store, n_wanted=2)
    judge_all(judging, "ann")
    seen = set()
    while (task := judging.next("ann", keep_going=True)) is not None:
        assert not judging.progress("ann").done
        judge(judging, "ann", task)
        seen.add((task.query, task.doc))
        counts = judging.overview().queries if len(seen) == 12 else ()
        assert all(count.labelled >= 2 for count in counts)  # queries in turn
    assert len(seen) == len(SYNTHETIC) - 2
    assert judging.progress("ann").reason == EMPTY


def test_a_claim_that_ran_out_goes_to_the_next_who_asks(tmp_path):
    now = datetime(2026, 1, 5, tzinfo=UTC)
    with LabelStore(tmp_path / "timed.db", clock=lambda: now) as store:
        judging = in_order(store, claim_seconds=60)
        task = judging.next("ann")
        now += timedelta(seconds=61)
        assert judging.next("bob") == task
        judge(judging, "ann", task)  # late, but kept
        assert len(store.labels("ann")) == 1


def test_a_share_of_the_documents_goes_to_two_raters_and_never_to_three(store):
    judging = in_order(store, n_wanted=len(SYNTHETIC), overlap=0.4)
    for rater in ("ann", "bob", "eve"):
        judge_all(judging, rater)
    raters = Counter((label.query, label.doc) for label in store.labels())
    assert set(raters.values()) == {1, 2}
    shared = {pair for pair, n_raters in raters.items() if n_raters == 2}
    assert 0.2 < len(shared) / len(SYNTHETIC) < 0.6
    assert judging.overview().agreement.n_docs == len(shared)
    again = {pair for row, pair in enumerate(judging.pool.pairs) if judging._offering.lots[row] < 0.4}
    assert shared == again  # always the same ones


def test_mistakes_are_named_and_change_nothing(store):
    judging = in_order(store)
    with pytest.raises(DataError, match="the pool has no document 'x' of query 'q1'"):
        judging.grade("ann", "q1", "x", 1)
    with pytest.raises(DataError, match="the pool has no document 'x' of query 'q1'"):
        judging.skip("ann", "q1", "x")
    with pytest.raises(DataError, match="a grade must be an integer from 0 to 2, or None: got 3"):
        judging.grade("ann", "q1", "q1-d1", 3)
    with pytest.raises(DataError, match="a rater must not be empty"):
        judging.next("")
    assert store.history() == []
    assert store.claims() == []


def test_the_overview_counts_by_query_and_rater(judging):
    for rater in ("ann", "bob"):
        judge_all(judging, rater, most=20)
    judging.skip("bob", *judging.pool.pairs[-1])
    overview = judging.overview()
    assert sum(count.labelled for count in overview.queries) == overview.labelled
    assert [count.query for count in overview.queries] == [f"q{number}" for number in range(1, 7)]
    assert [count.rater for count in overview.raters] == ["ann", "bob"]
    assert sum(count.graded for count in overview.raters) == overview.labelled
    assert overview.raters[1].skipped == 1
    assert judging.overview() == overview
    assert json.loads(json.dumps(overview.to_dict()))["agreement"]["value"] is None


def test_labels_of_other_pools_in_the_store_are_counted_and_left_alone(store):
    store.add("elsewhere", "d", 1, "ann")
    judging = in_order(store)
    assert judging.progress("ann").mine == 0
    assert judging.overview().elsewhere == 1
    store.add("elsewhere", "d", 0, "ann")  # on second thoughts
    assert judging.overview().elsewhere == 1
    assert judging.undo("ann").query == "elsewhere"


def test_a_model_is_saved_compared_with_the_baseline_and_noted_in_the_store(judging, tmp_path):
    with pytest.raises(DataError, match="cannot train yet: no document has a grade"):
        judging.save_model(tmp_path / "model.rulerank")
    judge_all(judging, "ann", most=10)
    judging.prepare()
    saved = judging.save_model(tmp_path / "model.rulerank")
    assert (saved.method, saved.n_labels) == ("Anchored", 10)
    assert saved.lines[0].startswith("Starts from the baseline ranking (bm25_body); ")
    assert len(set(rr.load(saved.path).predict(SYNTHETIC))) > 10
    judged = {label.query for label in judging.store.labels()}
    assert not judged & {pair.query for pair in judging.check.pairs}
    noted = judging.store.last_check()
    assert (noted.last_label, noted.method, noted.baseline) == (10, "Anchored", "bm25_body")
    judging.store.close()
    judging.prepare()  # the store is closed: whoever asks is told
