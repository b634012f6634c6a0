"""A judgement that comes twice counts once; stores of the first version, stores that can only be read, damaged rows."""

import json
import os
import shutil
import sqlite3
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from rulerank.errors import DataError
from rulerank.judging import schema
from rulerank.judging.labels import ReadOnlyError, Settings, StoreError
from rulerank.judging.store import LabelStore

FIRST_VERSION = Path(__file__).parents[1] / "data" / "v0.1" / "first"
NOBODY = 65534


@pytest.fixture
def store(target):
    with LabelStore(target) as made:
        yield made


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


def test_an_undo_that_found_nothing_still_finds_nothing_when_it_is_sent_again(store):
    assert store.undo("ann", judgement="u") is None
    store.add("q", "d", 1, "ann", judgement="a")
    assert store.undo("ann", judgement="u") is None
    assert len(store.labels()) == 1


def test_a_skip_sent_again_does_not_skip_what_was_graded_since(store):
    store.skip("q", "d", "ann", judgement="s")
    store.add("q", "d", 1, "ann", judgement="a")
    store.skip("q", "d", "ann", judgement="s")
    assert store.skipped("ann") == []


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
    message = "the judgement id 'a' stands for another judgement: make a new id for each key press"
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


def test_stores_have_identities_that_stay(tmp_path):
    with LabelStore(tmp_path / "a.db") as a, LabelStore(tmp_path / "b.db") as b:
        assert a.identity != b.identity
        identity = a.identity
    with LabelStore(tmp_path / "a.db") as a:
        assert a.identity == identity


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


@contextmanager
def nothing_can_be_written(file):
    """Put a file where it can only be read, by whoever runs the tests."""
    folder = Path(tempfile.mkdtemp())
    copy = Path(shutil.copy(file, folder / "labels.db"))
    copy.chmod(0o444)
    folder.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield copy
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs permissions as Unix has them")
def test_a_store_that_can_only_be_read_opens_for_reading(old_store):
    with (
        nothing_can_be_written(old_store) as path,
        pytest.raises(ReadOnlyError, match=r"labels\.db: this label store has version 1, .*copy it to where you may"),
    ):
        LabelStore(path)
    LabelStore(old_store).close()
    before = old_store.read_bytes()
    with nothing_can_be_written(old_store) as path:
        with LabelStore(path) as store:
            assert grades(store) == first_labels()
            assert store.claims() == store.decisions() == store.orders() == []
            assert (store.judges(), store.settings()) == ({}, Settings())
            assert store.state().changes == 0
            assert store.last_check() is None
            with pytest.raises(ReadOnlyError, match=r"labels\.db: (no permission to write|cannot be opened)"):
                store.add("q", "d", 1, "ann")
            with pytest.raises(ReadOnlyError):
                store.check_writable()
        assert [file.name for file in path.parent.iterdir()] == ["labels.db"]
        assert path.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs permissions as Unix has them")
def test_labels_that_lie_beside_a_file_that_can_only_be_read_are_named(old_store):
    with nothing_can_be_written(old_store) as path:
        if os.geteuid() == NOBODY:
            os.seteuid(0)
        path.parent.chmod(0o755)
        Path(f"{path}-wal").write_bytes(b"x" * 100)
        path.parent.chmod(0o555)
        if os.getuid() == 0:
            os.seteuid(NOBODY)
        with pytest.raises(StoreError, match=r"its newest labels lie in labels\.db-wal, .*copy both files"):
            LabelStore(path)


def raw(url):
    return psycopg.connect(url, autocommit=True)


def test_a_database_that_can_only_be_read_opens_for_reading(postgres):
    url = postgres.new_url()
    with LabelStore(url) as store:
        store.add("q", "d", 1, "ann")
    with LabelStore(url.replace("options=", "options=-cdefault_transaction_read_only%3Don%20")) as store:
        assert len(store.labels()) == 1
        with pytest.raises(ReadOnlyError, match="the database can only be read"):
            store.add("q", "e", 1, "ann")


def test_postgresql_waits_for_a_lock_no_longer_than_it_says(postgres, monkeypatch):
    monkeypatch.setattr("rulerank.judging.database.LOCK_SECONDS", 0.2)
    url = postgres.new_url()
    with LabelStore(url) as store, raw(url) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [0x52554C45])
        with pytest.raises(StoreError, match=r"another process has kept the store locked .*lock timeout"):
            store.add("q", "d", 1, "ann")
        assert store.labels() == []  # reading does not wait
        other.execute("SELECT pg_advisory_unlock(%s)", [0x52554C45])
        assert store.add("q", "d", 1, "ann").id == 1


def test_threads_wait_for_one_another_no_longer_than_that(tmp_path, monkeypatch):
    with LabelStore(tmp_path / "labels.db") as store:
        monkeypatch.setattr("rulerank.judging.database.LOCK_SECONDS", 0.1)
        with store._turn, pytest.raises(StoreError, match="another process has kept the store locked for 30 s; end it"):
            store.add("q", "d", 1, "ann")


DAMAGES = {
    "a time": ("UPDATE labels SET time = 'noon'", "label 1 has the time 'noon'; expected one like 2026-01-05T12:00"),
    "a time that is a number": ("UPDATE labels SET time = 7", "label 1 has the time '?7'?; expected one"),
    "a time without a zone": ("UPDATE labels SET time = '2026-01-05'", "label 1 has the time '2026-01-05'"),
    "a time of withdrawal": ("UPDATE labels SET withdrawn = ''", "label 1 has the time ''"),
    "a grade": ("UPDATE labels SET grade = 'high'", "label 1 has the grade 'high'"),
    "a name": ("UPDATE labels SET doc = x'00ff'", "label 1 has a name that is no text"),
    "text": ("UPDATE labels SET doc = CAST(x'ff' AS TEXT)", "the file is damaged: a text is none"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_row_is_named(damage, tmp_path):
    statement, message = DAMAGES[damage]
    path = tmp_path / "labels.db"
    with LabelStore(path) as store:
        store.add("q", "d", 1, "ann")
    with sqlite3.connect(path) as other:
        other.execute(statement)
    other.close()
    with LabelStore(path) as store, pytest.raises(StoreError, match=rf"labels\.db: {message}"):
        store.history()


def test_a_damaged_claim_is_named(tmp_path):
    path = tmp_path / "labels.db"
    with LabelStore(path) as store:
        store.claim("q", "d", "ann")
        with sqlite3.connect(path) as other:
            other.execute("UPDATE claims SET until = 1e300")
        other.close()
        with pytest.raises(StoreError, match=r"the claim on 'd' has the time 1e\+300"):
            store.claims()
