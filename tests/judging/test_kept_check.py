"""The check of a new model against today's ranking goes on after a restart, and is the same in every process."""

import sqlite3

import numpy as np
import pytest

import rulerank as rr
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore

WORLD = rr.make_ranking(n_queries=40, docs_per_query=12, n_features=6, seed=3)
POOL = Pool(WORLD)
TRUTH = dict(zip(zip(WORLD.qid, WORLD.docid, strict=True), WORLD.y.tolist(), strict=True))


def judging_on(store):
    return Judging(POOL, store, today="bm25_body", max_grade=2)


def judge(judging, n_labels, rater="ann"):
    for _ in range(n_labels):
        task = judging.next(rater)
        judging.grade(rater, task.query, task.doc, TRUTH[task.query, task.doc])


def duel(judging, n_duels, rater="ann"):
    fought = []
    for _ in range(n_duels):
        task = judging.check.next(rater)
        fought.append(task.query)
        for doc in task.docs:
            judging.grade(rater, doc.query, doc.doc, TRUTH[doc.query, doc.doc])
    return fought


def test_a_check_goes_on_after_a_restart(target, tmp_path):
    with LabelStore(target) as store:
        judging = judging_on(store)
        judge(judging, 50)
        judging.save_model(tmp_path / "m.rulerank", "Anchored")
        fought = duel(judging, 3)
        found, line = judging.check.comparison(), judging.check.line()
        waiting = judging.check.next("ann")
        all_duels = judging.check.duels
    with LabelStore(target) as store:
        judging = judging_on(store)
        assert judging.check.comparison() == found
        assert judging.check.line() == line
        assert judging.check.duels == all_duels
        assert judging.check.next("ann") == waiting  # and not another one
        assert waiting.query not in fought
        duel(judging, 1)
        assert judging.check.comparison().n_trials == 4


def test_labels_that_change_later_do_not_change_the_model_that_is_checked(tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        judging = judging_on(store)
        judge(judging, 50)
        judging.save_model(tmp_path / "m.rulerank", "QI")
        before = judging.check.duels
        last = store.labels()[-1]
        judging.undo("ann")
        judging.grade("ann", last.query, last.doc, (last.grade + 1) % 3)
        first = store.labels()[0]
        judging.grade("ann", first.query, first.doc, (first.grade + 1) % 3)
        assert judging_on(store).check.duels == before


def test_another_process_has_the_check_of_the_newest_model(tmp_path):
    with LabelStore(tmp_path / "labels.db") as one, LabelStore(tmp_path / "labels.db") as two:
        here, there = judging_on(one), judging_on(two)
        judge(here, 40)
        assert here.check is there.check is None
        here.save_model(tmp_path / "m.rulerank", "Anchored")
        assert here.check.duels == there.check.duels
        judge(there, 40, "ben")
        there.save_model(tmp_path / "m.rulerank", "AnchoredRules")
        assert here.check.duels == there.check.duels
        assert here.check.next("ann").query != there.check.next("ben").query


def test_a_check_of_another_ranking_of_today_or_of_other_documents_is_left_alone(tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        judging = judging_on(store)
        judge(judging, 40)
        judging.save_model(tmp_path / "m.rulerank", "Anchored")
        assert Judging(POOL, store, today="pagerank", max_grade=2).check is None
        others = Pool(rr.Dataset(WORLD.X, WORLD.y, np.char.add("x", WORLD.qid.astype(str)), None, WORLD.feature_names))
        assert Judging(others, store, today="bm25_body", max_grade=2).check is None


def test_a_check_is_that_of_the_model_of_then_whatever_the_lead_has_changed_since(tmp_path):
    path = tmp_path / "labels.db"
    with LabelStore(path) as store:
        judging = judging_on(store)
        judge(judging, 40)
        decided = store.labels()[0]
        store.decide(decided.query, decided.doc, 2 - decided.grade, "lea")
        judging.save_model(tmp_path / "m.rulerank", "Anchored")
        duels = judging.check.duels
    with LabelStore(path) as store:
        store.undo_decision(decided.query, decided.doc, "lea")
        store.change_setting("combine", "mean", "lea")
        store.name_judge("ann", "llm", "lea")
        assert judging_on(store).check.duels == duels


def test_a_method_that_is_not_known_any_more_starts_no_check(tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        judging = judging_on(store)
        judge(judging, 40)
        store.note_check(store.state().last_id, "SeventhSense", "bm25_body")
        assert judging.check is None


def test_a_damaged_check_is_named(tmp_path):
    path = tmp_path / "labels.db"
    with LabelStore(path) as store:
        judging = judging_on(store)
        judge(judging, 20)
        store.note_check(20, "Anchored", "bm25_body")
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE checks SET time = 'yesterday'")
        with pytest.raises(OSError, match="check 1 has the time 'yesterday'; expected one like 2026-01-05T12:00:00"):
            _ = judging.check


@pytest.mark.parametrize("n_labels", [60, 260])
def test_the_page_trains_what_train_with_labels_does(tmp_path, n_labels):
    with LabelStore(tmp_path / "labels.db") as store:
        judging = judging_on(store)
        judge(judging, n_labels)
        saved = judging.save_model(tmp_path / "m.rulerank", "Anchored")
        grades = {POOL.rows[label.query, label.doc]: label.grade for label in store.labels()}
    learned = rr.select(POOL.graded(grades), today="bm25_body")
    assert saved.method == learned.method
    assert np.array_equal(rr.load(tmp_path / "m.rulerank").predict(WORLD), learned.ranker.predict(WORLD))
