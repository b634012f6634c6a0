"""What a label store promises, on SQLite and on PostgreSQL."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from sqlalchemy import event

from rulerank.errors import DataError
from rulerank.judging.labels import Label
from rulerank.judging.store import LabelStore


@pytest.fixture
def store(target):
    with LabelStore(target) as made:
        yield made


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = datetime(2026, 1, 5, 12, tzinfo=UTC)

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += timedelta(seconds=seconds)


def facts(labels):
    return [(label.id, label.query, label.doc, label.grade, label.rater) for label in labels]


def test_a_label_is_there_when_the_store_is_opened_again(target):
    with LabelStore(target) as store:
        label = store.add("q1", "d1", 3, "ann")
    with LabelStore(target) as store:
        assert store.labels() == [label]
    assert label == Label(1, "q1", "d1", 3, "ann", label.time)
    assert label.time.tzinfo is UTC
    assert abs(datetime.now(UTC) - label.time) < timedelta(minutes=1)


def test_grading_again_supersedes_and_keeps_the_old_label(store):
    first, second = store.add("q", "d", 1, "ann"), store.add("q", "d", None, "ann")
    assert store.labels() == [second]
    assert [label.superseded_by for label in store.history()] == [second.id, None]
    assert store.history()[0].grade == first.grade
    assert not store.history()[0].is_current


def test_raters_do_not_supersede_one_another(store):
    store.add("q", "d", 1, "ann")
    store.add("q", "d", 2, "bob")
    assert [label.grade for label in store.labels()] == [1, 2]
    assert [label.grade for label in store.labels("bob")] == [2]
    assert store.labels("nobody") == []


def test_undo_goes_back_one_label_at_a_time_and_deletes_nothing(store):
    for doc, grade in (("a", 1), ("b", 2), ("a", 3)):
        store.add("q", doc, grade, "ann")
    store.add("q", "a", 0, "bob")
    undone = store.undo("ann")
    assert (undone.doc, undone.grade, undone.is_current) == ("a", 3, False)
    assert [(label.doc, label.grade) for label in store.labels("ann")] == [("a", 1), ("b", 2)]
    assert [store.undo("ann").grade for _ in range(2)] == [2, 1]
    assert store.undo("ann") is None
    assert [label.rater for label in store.labels()] == ["bob"]
    assert [label.grade for label in store.history()] == [1, 2, 3, 0]
    assert [label.withdrawn is not None for label in store.history()] == [True, True, True, False]


def test_a_label_after_an_undo_supersedes_what_the_undo_brought_back(store):
    store.add("q", "d", 1, "ann")
    store.add("q", "d", 2, "ann")
    store.undo("ann")
    third = store.add("q", "d", 3, "ann")
    assert store.labels() == [third]
    assert [label.superseded_by for label in store.history()] == [3, None, None]


def test_many_labels_are_added_all_or_none(store):
    added = store.add_all([("q", "a", 1, "ann"), ("q", "b", 2, "ann"), ("q", "a", 0, "bob")])
    assert store.labels() == added
    assert store.labels(after=2) == added[2:]
    with pytest.raises(DataError, match="a grade must be a whole number from 0 to 31, or None: got 32"):
        store.add_all([("q", "c", 1, "ann"), ("q", "d", 32, "ann")])
    with pytest.raises(
        DataError, match="a rater can grade a document only once at a time: 'c' of query 'q' by 'ann' is there twice"
    ):
        store.add_all([("q", "c", 1, "ann"), ("q", "c", 2, "ann")])
    assert store.labels() == added
    assert store.add_all([]) == []


def test_the_state_changes_with_every_change_of_labels_and_with_nothing_else(store):
    changes = (
        lambda: store.add("q", "d", 1, "ann"),
        lambda: store.add("q", "d", 1, "ann"),
        lambda: store.undo("ann"),
        lambda: store.undo("ann"),
    )
    states = [store.state()]
    for change in changes:
        change()
        states.append(store.state())
    assert len(set(states)) == len(states)
    store.undo("ann")
    store.claim("q", "d", "ann")
    store.skip("q", "d", "ann")
    assert store.state() == states[-1]


def test_a_document_is_kept_for_one_rater_until_the_claim_runs_out(target):
    clock = Clock()
    with LabelStore(target, clock=clock) as store:
        assert store.claim("q", "d", "ann", seconds=60)
        assert not store.claim("q", "d", "bob", seconds=60)
        clock.wait(50)
        assert store.claim("q", "d", "ann", seconds=60)  # renewed
        clock.wait(50)
        assert not store.claim("q", "d", "bob", seconds=60)
        assert [(claim.doc, claim.rater) for claim in store.claims()] == [("d", "ann")]
        assert store.claims()[0].until == clock.now + timedelta(seconds=10)
        clock.wait(10)
        assert store.claims() == []
        assert store.claim("q", "d", "bob", seconds=60)
        assert not store.claim("q", "d", "ann", seconds=60)


def test_a_judged_document_is_not_handed_out_again(store):
    store.claim("q", "d", "ann")
    store.add("q", "d", 2, "ann")
    assert store.claims() == []
    assert not store.claim("q", "d", "bob")
    assert store.claim("q", "d", "bob", raters=2)
    assert not store.claim("q", "d", "eve", raters=2)
    assert store.claim("q", "d", "bob", raters=1)  # what is held stays held
    store.undo("ann")
    assert store.claim("q", "d", "eve", raters=2)


def test_a_released_document_is_free_at_once(store):
    store.claim("q", "d", "ann")
    store.release("q", "d", "ann")
    assert store.claim("q", "d", "bob")
    store.release("q", "d", "ann")
    assert [claim.rater for claim in store.claims()] == ["bob"]


def test_a_skip_frees_the_document_and_grading_it_takes_the_skip_back(store):
    store.claim("q", "d", "ann")
    store.skip("q", "d", "ann")
    store.skip("q", "d", "ann")
    assert store.skipped("ann") == [("q", "d")]
    assert store.skipped("bob") == []
    assert store.claim("q", "d", "bob")
    store.add("q", "d", 1, "ann")
    assert store.skipped("ann") == []


def test_a_glance_shows_state_claims_and_skips_at_once(store):
    store.add("q", "a", 1, "ann")
    store.claim("q", "b", "bob")
    store.skip("q", "c", "ann")
    store.skip("q", "d", "bob")
    glance = store.glance("ann")
    assert glance == (store.state(), store.claims(), [("q", "c")])
    assert [claim.doc for claim in glance.claims] == ["b"]


def test_eight_threads_get_every_document_once(store):
    docs = [f"d{number}" for number in range(60)]

    def judge(rater):
        mine = []
        for doc in docs:
            if store.claim("q", doc, rater):
                store.add("q", doc, 1, rater)
                mine.append(doc)
        return mine

    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(judge, [f"rater-{number}" for number in range(8)]))
    assert sorted(doc for mine in got for doc in mine) == sorted(docs)
    assert [label.id for label in store.history()] == [*range(1, len(docs) + 1)]
    assert all(earlier.time <= later.time for earlier, later in pairwise(store.history()))


OPENER = """
import sys
from rulerank.judging.store import LabelStore
with LabelStore(sys.argv[1]) as store:
    store.add("q", sys.argv[2], 1, "ann")
"""


def test_processes_that_open_a_new_store_at_once_all_find_it(target):
    call = [sys.executable, "-c", OPENER, str(target)]
    openers = [subprocess.Popen([*call, f"d{number}"], stderr=subprocess.PIPE) for number in range(4)]
    assert [opener.communicate()[1] for opener in openers] == [b""] * 4
    with LabelStore(target) as store:
        assert sorted(label.doc for label in store.labels()) == ["d0", "d1", "d2", "d3"]


def test_an_sqlite_store_is_set_up_to_lose_nothing(tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        store.add("q", "d", 1, "ann")
        with store._engine.connect() as connection:
            pragmas = {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}
    with sqlite3.connect(tmp_path / "labels.db") as plain:
        assert plain.execute("SELECT query, doc, grade, rater FROM labels").fetchall() == [("q", "d", 1, "ann")]


def test_labels_wait_for_the_disk_and_claims_do_not(tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        settings = []

        @event.listens_for(store._engine, "commit")
        def note(connection):
            settings.append(connection.exec_driver_sql("PRAGMA synchronous").scalar())

        store.claim("q", "a", "ann")
        store.add("q", "a", 1, "ann")
        store.claim("q", "b", "ann")
        store.skip("q", "b", "ann")
        store.claim("q", "c", "ann")
        store.undo("ann")
    normal, full = 1, 2
    assert settings == [normal, full, normal, full, normal, full]


def test_a_label_prints_as_plain_values(store):
    label = store.add("q", "d", None, "ann")
    store.undo("ann")
    plain = store.history()[0].to_dict()
    assert plain.pop("time") == label.time.isoformat()
    assert plain.pop("withdrawn") is not None
    assert plain == {
        "id": 1, "query": "q", "doc": "d", "grade": None, "rater": "ann", "superseded_by": None, "page": None,
        "withdrawn_page": None,
    }  # fmt: skip
