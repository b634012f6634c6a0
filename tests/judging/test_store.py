"""What a label store promises, on SQLite and on PostgreSQL."""

import json
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import event

from rulerank.errors import DataError
from rulerank.judging import schema
from rulerank.judging.labels import Label, StoreError
from rulerank.judging.store import LabelStore


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
    with pytest.raises(DataError, match="a grade must be an integer from 0 to 31, or None: got 32"):
        store.add_all([("q", "c", 1, "ann"), ("q", "d", 32, "ann")])
    with pytest.raises(
        DataError, match="a rater can grade a document only once at a time: 'c' of query 'q' by 'ann' is given twice"
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


FIRST_VERSION = Path(__file__).parents[1] / "data" / "v0.1" / "first"
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


def test_names_may_hold_any_text(store):
    names = [
        "日本語",
        "'; DROP TABLE labels; --",
        "<script>",
        "a\nb",
        "e\u0301",
        "\u00e9",
        " x",
        "X",
        "x",
        "👍🏽",
        "x" * 200,
    ]
    for name in names:
        store.add(name, name, 1, name)
    assert [label.rater for label in store.labels()] == names
    assert [store.undo(name).query for name in names] == names


LONG = "é" * 501

BAD_NAMES = {
    "a rater must not be empty: got ''": ("q", "d", 1, ""),
    "a rater must be text: got None": ("q", "d", 1, None),
    "a doc must not be empty: got ' '": ("q", " ", 1, "ann"),
    "a query must not hold a NUL character: got 'a\\x00b'": ("a\0b", "d", 1, "ann"),
    "a query must be text: got 7": (7, "d", 1, "ann"),
    "a doc must be text that UTF-8 can hold: got '\\ud800'": ("q", "\ud800", 1, "ann"),
    "a doc must have at most 1,000 bytes: got 1,002, 'éééé": ("q", LONG, 1, "ann"),
    "a rater must have at most 200 bytes: got 1,002, 'éééé": ("q", "d", 1, LONG),
    "a grade must be an integer from 0 to 31, or None: got -1": ("q", "d", -1, "ann"),
    "a grade must be an integer from 0 to 31, or None: got True": ("q", "d", True, "ann"),
    "a grade must be an integer from 0 to 31, or None: got 2.5": ("q", "d", 2.5, "ann"),
}


@pytest.mark.parametrize("message", BAD_NAMES)
def test_what_is_no_name_or_no_grade_is_refused_and_nothing_is_kept(tmp_path, message):
    with LabelStore(tmp_path / "labels.db") as store:
        with pytest.raises(DataError) as caught:
            store.add(*BAD_NAMES[message])
        assert str(caught.value).startswith(message)
        assert store.history() == []


def facts(store):
    return [(label.doc, label.grade, label.superseded_by, label.withdrawn is not None) for label in store.history()]


def test_a_known_id_changes_nothing_and_is_answered_as_the_first_was(store):
    first = store.add("q", "d", 1, "ann", judgement="a")
    assert store.add("q", "d", 1, "ann", judgement="a") == first
    newer = store.add("q", "d", 2, "ann", judgement="b")
    assert store.add("q", "d", 1, "ann", judgement="a") == first  # a resent older grade leaves the newer one in force
    assert store.labels() == [newer]
    undone = store.undo("ann", judgement="c")
    assert (undone.id, store.undo("ann", judgement="c")) == (newer.id, undone)
    assert store.add("q", "d", 2, "ann", judgement="b") == newer  # taken back stays taken back
    assert [label.grade for label in store.labels()] == [1]
    assert facts(store) == [("d", 1, None, False), ("d", 2, None, True)]


def test_equal_judgements_at_once_are_one_label(target):
    stores = [LabelStore(target) for _ in range(2)]  # as two processes have them
    meet = threading.Barrier(4)

    def send(number):
        labels = []
        for step in range(25):
            meet.wait()
            labels.append(stores[number % 2].add("q", f"d{step}", 1, "ann", judgement=f"j{step}"))
        return labels

    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(send, range(4))
    assert all(other == first for other in others)
    assert len(stores[0].history()) == 25
    for store in stores:
        store.close()


def test_an_id_that_stands_for_another_judgement_is_refused(store):
    store.add("q", "d", 1, "ann", judgement="a")
    message = "the judgement id 'a' was used for another judgement: make a new id for each key press"
    for wrong in (
        lambda: store.add("q", "d", 1, "ben", judgement="a"),
        lambda: store.add("q", "e", 1, "ann", judgement="a"),
        lambda: store.undo("ann", judgement="a"),
        lambda: store.skip("q", "d", "ann", judgement="a"),
    ):
        with pytest.raises(DataError, match=message):
            wrong()
    assert len(store.history()) == 1


def test_without_an_id_a_grade_in_force_can_be_left_as_it_is(store):
    first = store.add("q", "d", 1, "ann", once=True)
    assert store.add("q", "d", 1, "ann", once=True) == first
    assert store.add("q", "d", 1, "ann").id == 2
    assert store.add("q", "d", None, "ann", once=True).id == 3


@pytest.fixture
def old_store(tmp_path):
    return Path(shutil.copy(FIRST_VERSION / "labels.db", tmp_path / "labels.db"))


def first_labels():
    return json.loads((FIRST_VERSION / "labels.json").read_text())["labels"]


def grades(store):
    return [[label.query, label.doc, label.grade, label.rater] for label in store.labels()]


def test_a_store_of_the_first_version_learns_to_count_judgements_once(old_store):
    with LabelStore(old_store) as store:
        label = store.add("q9", "d9", 1, "ann", judgement="a")
        assert store.add("q9", "d9", 1, "ann", judgement="a") == label
        assert grades(store)[:-1] == first_labels()
        assert store.identity


def test_a_step_that_fails_leaves_the_first_version_as_it_was(old_store, monkeypatch):
    def fail(connection, checkfirst):
        raise StoreError("the power has failed")

    with monkeypatch.context() as patch:
        patch.setattr(schema.CHECKS, "create", fail)
        with pytest.raises(StoreError, match="the power has failed"):
            LabelStore(old_store)
    with sqlite3.connect(old_store) as raw:
        assert [row[1] for row in raw.execute("PRAGMA table_info(label_store)")] == ["version"]
        assert raw.execute("SELECT version FROM label_store").fetchall() == [(1,)]
    raw.close()
    with LabelStore(old_store) as store:
        assert grades(store) == first_labels()
