"""Lists of queries: who gets which, in which order, and what is told when."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulerank.datasets.ranking import make_ranking
from rulerank.errors import DataError
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore

N_DOCS = 4


@pytest.fixture
def clock():
    return SimpleNamespace(now=datetime(2026, 1, 5, tzinfo=UTC))


@pytest.fixture
def judging(tmp_path, clock):
    def make(n_queries=5, docs_per_query=9, **options):
        pool = Pool(make_ranking(n_queries=n_queries, docs_per_query=docs_per_query, n_features=4, seed=1))
        store = LabelStore(tmp_path / f"{len(stores)}.db", clock=lambda: clock.now)
        stores.append(store)
        return Judging(pool, store, **{"baseline": "bm25_body", "max_grade": 2, "n_listed": N_DOCS} | options)

    stores = []
    yield make
    for store in stores:
        store.close()


def judge_all(judging, rater, listed, grade=1):
    for doc in listed.docs:
        if not doc.judged:
            judging.grade(rater, listed.query, doc.doc, grade)


def docs_of(listed):
    return [doc.doc for doc in listed.docs]


def test_a_list_has_the_first_documents_of_baseline(judging):
    loop = judging()
    listed = loop.lists.next("ann")
    rows = loop.pool.rows_of(listed.query)
    best = rows[np.argsort(-loop.pool.data.X[rows, loop.baseline.column], kind="stable")][:N_DOCS]
    assert sorted(docs_of(listed)) == sorted(loop.pool.pairs[row][1] for row in best)


def test_queries_come_in_the_samplers_order(judging):
    loop, sampled = judging(), judging()
    expected = []
    for _ in range(len(sampled.pool)):
        task = sampled.next("ann")
        sampled.grade("ann", task.query, task.doc, 0)
        expected.append(task.query)
    found = []
    for _ in range(5):
        listed = loop.lists.next("ann")
        found.append(listed.query)
        judge_all(loop, "ann", listed)
    assert found == list(dict.fromkeys(expected))
    assert loop.lists.next("ann") is None
    assert loop.lists.why_nothing("ann") == "all documents have been judged or skipped"


def test_the_order_shown_is_the_same_again_and_another_for_another_rater(judging):
    loop = judging(n_queries=1, docs_per_query=30, overlap=1.0, n_listed=20)
    listed = loop.lists.next("ann")
    ann = docs_of(listed)
    assert docs_of(loop.lists.next("ann")) == ann
    assert loop.lists.next("ben") is None  # until the first is through
    judge_all(loop, "ann", listed)
    ben = docs_of(loop.lists.next("ben"))
    assert sorted(ben) == sorted(ann)
    assert ben != ann


def test_a_list_comes_free_after_a_while(judging, clock):
    loop = judging(n_queries=1)
    first = loop.lists.next("ann")
    judging_done = docs_of(first)[0]
    loop.grade("ann", first.query, judging_done, 2)
    clock.now += timedelta(minutes=29)
    assert loop.lists.next("ben") is None
    clock.now += timedelta(minutes=2)
    rest = loop.lists.next("ben")
    assert judging_done not in docs_of(rest)
    assert (len(rest.docs), rest.n_others) == (3, 1)


def test_as_many_raters_get_a_list_as_the_lead_wants(judging):
    loop = judging(n_queries=2)
    loop.store.change_setting("judgements", 3, "admin")
    for rater in ("ann", "ben", "cem", "dan"):
        while (listed := loop.lists.next(rater)) is not None:
            judge_all(loop, rater, listed)
    labels = loop.store.labels()
    assert {label.rater for label in labels} == {"ann", "ben", "cem"}
    assert len(labels) == 3 * 2 * N_DOCS


@pytest.mark.parametrize("n_docs", [0, 51, 2.5])
def test_a_list_has_a_sensible_length(judging, n_docs):
    with pytest.raises(DataError, match="a list must have 1 to 50 documents: got"):
        judging(n_listed=n_docs)


STEPS = st.lists(
    st.tuples(st.sampled_from(["ann", "ben", "cem"]), st.sampled_from(["list", "grade", "skip", "undo"])), max_size=40
)


@settings(max_examples=15)
@given(steps=STEPS, overlap=st.sampled_from([0.0, 0.5]))
def test_whatever_raters_do_no_document_has_more_labels_than_wanted(tmp_path_factory, steps, overlap):
    pool = Pool(make_ranking(n_queries=3, docs_per_query=5, n_features=4, seed=1))
    with LabelStore(tmp_path_factory.mktemp("lists") / "labels.db") as store:
        loop = Judging(pool, store, baseline="bm25_body", max_grade=2, overlap=overlap, n_listed=3)
        for rater, step in steps:
            listed = loop.lists.next(rater)
            free = [] if listed is None else [doc.doc for doc in listed.docs if not doc.judged]
            if listed is not None:
                assert free  # a list that is handed out has something to judge
            if step == "grade" and free:
                loop.grade(rater, listed.query, free[0], 1)
            elif step == "skip" and free:
                loop.skip(rater, listed.query, free[0])
            elif step == "undo":
                loop.undo(rater)
        labels = store.labels()
        for pair in {(label.query, label.doc) for label in labels}:
            raters = [label.rater for label in labels if (label.query, label.doc) == pair]
            assert len(raters) <= (2 if overlap else 1)
