"""What a label store promises, on SQLite and on PostgreSQL."""

import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event

from rulerank.errors import DataError
from rulerank.judging.labels import Label
from rulerank.judging.store import LabelStore


@pytest.fixture
def store(target):
    with LabelStore(target) as made:
        yield made


def test_a_label_is_there_when_the_store_is_opened_again(target):
    with LabelStore(target) as store:
        label = store.add("q1", "d1", 3, "ann")
    with LabelStore(target) as store:
        assert store.labels() == [label]
    assert label == Label(1, "q1", "d1", 3, "ann", label.time)
    assert label.time.tzinfo is UTC
    assert abs(datetime.now(UTC) - label.time) < timedelta(minutes=1)


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


def test_a_glance_shows_state_claims_and_skips_at_once(store):
    store.add("q", "a", 1, "ann")
    store.claim("q", "b", "bob")
    store.skip("q", "c", "ann")
    store.skip("q", "d", "bob")
    glance = store.glance("ann")
    assert glance == (store.state(), store.claims(), [("q", "c")])
    assert [claim.doc for claim in glance.claims] == ["b"]


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
