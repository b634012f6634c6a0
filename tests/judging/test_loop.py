"""The judging loop: who gets what, what is made of the labels, and what happens when many are at it."""

import threading
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

import rulerank as rr
from judging_worlds import WORLD, InOrder, in_order, judge, judge_all
from rulerank.errors import DataError
from rulerank.judging.loop import Judging
from rulerank.judging.offers import EMPTY, STOPPED, WAITING
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore
from rulerank.sampling.selection import Chooser


def test_documents_come_in_the_order_of_the_sampler(judging):
    selection = rr.SSAR(per_query=True).begin(WORLD.X, qid=WORLD.qid)
    for task in judge_all(judging, "ann"):
        row = judging.pool.row(task.query, task.doc)
        assert row == selection.next()
        selection.add(row, int(WORLD.y[row]))
    assert selection.next() is None
    progress = judging.progress("ann")
    assert (progress.done, progress.reason, progress.closeness) == (True, STOPPED, 1.0)
    assert progress.mine == progress.labelled == len(selection.order) < len(WORLD)


def test_asking_again_gives_the_same_document_also_after_a_restart(judging, store):
    task = judging.next("ann")
    assert judging.next("ann") == task
    assert Judging(Pool(WORLD), store).next("ann") == task


def test_a_skipped_document_goes_to_others_only(store):
    judging = in_order(store)
    first = judging.next("ann")
    judging.skip("ann", first.query, first.doc)
    assert judging.next("ann") != first
    assert judging.next("bob") == first
    assert judging.progress("ann").skipped == 1


def test_what_cannot_be_judged_is_not_asked_again(store):
    judging = in_order(store)
    first = judging.next("ann")
    judging.grade("ann", first.query, first.doc, None)
    seen = [*judge_all(judging, "ann"), *judge_all(judging, "bob")]
    assert first not in seen
    progress = judging.progress("ann")
    assert (progress.mine, progress.labelled, progress.cannot_judge) == (4, 4, 1)
    assert judging.overview().cannot_judge == 1


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


def test_labels_from_another_process_are_picked_up(store, tmp_path):
    mine = in_order(store)
    with LabelStore(tmp_path / "labels.db") as other_store:
        theirs = in_order(other_store)
        done = judge_all(theirs, "bob", most=3)
        assert mine.progress("ann").labelled == 3
        assert mine.next("ann") not in done
        theirs.undo("bob")
        assert mine.progress("ann").labelled == 2


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
    assert len(seen) == len(WORLD) - 2
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
    judging = in_order(store, n_wanted=len(WORLD), overlap=0.4)
    for rater in ("ann", "bob", "eve"):
        judge_all(judging, rater)
    raters = Counter((label.query, label.doc) for label in store.labels())
    assert set(raters.values()) == {1, 2}
    shared = {pair for pair, n_raters in raters.items() if n_raters == 2}
    assert 0.2 < len(shared) / len(WORLD) < 0.6
    assert judging.overview().agreement.n_docs == len(shared)
    again = {pair for row, pair in enumerate(judging.pool.pairs) if judging._offering.lots[row] < 0.4}
    assert shared == again  # always the same ones


def test_mistakes_are_named_and_change_nothing(store):
    judging = in_order(store)
    with pytest.raises(DataError, match="the pool has no document 'x' of query 'q1'"):
        judging.grade("ann", "q1", "x", 1)
    with pytest.raises(DataError, match="the pool has no document 'x' of query 'q1'"):
        judging.skip("ann", "q1", "x")
    with pytest.raises(DataError, match="a grade must be a whole number from 0 to 2, or None: got 3"):
        judging.grade("ann", "q1", "q1-d1", 3)
    with pytest.raises(DataError, match="a rater must not be empty"):
        judging.next("")
    assert store.history() == []
    assert store.claims() == []


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"max_grade": 0}, "max_grade must be a whole number from 1 to 31: got 0"),
        ({"overlap": 1.5}, "overlap must be a share of the documents, a number from 0 to 1: got '1.5'"),
        ({"claim_seconds": 0}, "claim_seconds must be how long a document stays with a rater"),
    ],
)
def test_wrong_options_are_named(store, option, message):
    with pytest.raises(DataError, match=message):
        Judging(Pool(WORLD), store, **option)


def test_the_chooser_that_forgets_is_one_that_never_knew():
    sampler = rr.SSAR(max_size=1, discretizer="equal_width")
    chooser = Chooser(sampler, WORLD)
    grades = {}
    for _ in range(40):
        row = next(row for row in range(len(WORLD)) if row not in grades) if chooser.next() is None else chooser.next()
        grades[row] = int(WORLD.y[row])
        chooser.tell(grades)
    for n_forgotten in (1, 3, 30):
        kept = dict(list(grades.items())[: len(grades) - n_forgotten])
        fresh = Chooser(sampler, WORLD)
        fresh.tell(kept)
        chooser.tell(kept)
        assert chooser.next() == fresh.next()
        assert chooser.closeness == fresh.closeness
        chooser.tell(grades)


def test_eight_raters_at_once_lose_nothing_and_get_nothing_twice(tmp_path):
    world = rr.make_ranking(n_queries=20, docs_per_query=20, n_features=6, seed=1)
    pool = Pool(world)
    handed = []
    # two loops on one file stand for two processes
    loops = [
        Judging(pool, LabelStore(tmp_path / "labels.db"), sampler=InOrder(len(world)), max_grade=2) for _ in range(2)
    ]

    def work(number):
        judging, rater = loops[number % 2], f"rater-{number}"
        while (task := judging.next(rater)) is not None:
            handed.append((task.query, task.doc, rater))
            judging.grade(rater, task.query, task.doc, 1)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = [(label.query, label.doc, label.rater) for label in loops[0].store.labels()]
    assert sorted(kept) == sorted(handed)
    assert len({(query, doc) for query, doc, _ in kept}) == len(kept)
    for judging in loops:
        for rater in range(8):
            assert judging.next(f"rater-{rater}") is None
        judging.store.close()
    assert len(kept) == len(world)
