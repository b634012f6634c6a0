"""What can be wrong with the file or the server of a label store, and what is said about it."""

import os
import resource
import sqlite3
import subprocess
import sys

import psycopg
import pytest

from rulerank.errors import DataError
from rulerank.judging.labels import ReadOnlyError, Setting, StoreError
from rulerank.judging.schema import STORE
from rulerank.judging.store import LabelStore


def message_of(target):
    with pytest.raises(StoreError) as caught:
        LabelStore(target)
    return str(caught.value)


def test_a_file_of_another_kind_is_left_as_it_is(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("2 qid:1 1:0.5\n" * 100)
    assert "this is not a label store (not an SQLite file); name another" in message_of(path)
    assert path.read_text() == "2 qid:1 1:0.5\n" * 100
    assert os.listdir(tmp_path) == ["train.txt"]


def test_an_sqlite_file_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    assert message_of(path) == f"{path}: this is not a label store: it has the tables recipes"
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]


def test_a_store_of_a_newer_version_is_refused_and_says_so(target):
    with LabelStore(target) as store, store._write() as connection:
        connection.execute(STORE.update().values(version=6))
    assert message_of(target).endswith(
        "this label store has version 6, this rulerank reads up to 5; use a newer rulerank"
    )


def test_a_store_of_version_3_gets_the_names_of_now(target):
    with LabelStore(target) as store:
        store.add("q", "d", 1, "ann", page="duel")
        store.change_setting("judgements", 2, "ann", page="lead")
        store.note_check(1, "Anchored", "bm25")
        with store._write() as connection:
            connection.exec_driver_sql("ALTER TABLE checks RENAME COLUMN baseline TO today")
            connection.execute(STORE.update().values(version=3))
    with LabelStore(target) as again:
        assert again.last_check().baseline == "bm25"
        assert [one.page for one in again.labels()] == ["side-by-side"]
        assert [one.page for one in again.history_of(Setting)] == ["admin"]


def test_a_damaged_store_is_said_to_be_damaged(tmp_path):
    path = tmp_path / "labels.db"
    with LabelStore(path) as store:
        store.add_all([("q", f"document-{number}", 1, "ann") for number in range(2000)])
    content = bytearray(path.read_bytes())
    content[8192 : len(content) - 8192] = b"\xff" * (len(content) - 16384)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="the file is damaged; restore a copy of it"), LabelStore(path) as store:
        store.history()


TOO_LARGE = """
import resource, signal, sys
from rulerank.judging.labels import ReadOnlyError, StoreError
from rulerank.judging.store import LabelStore
store = LabelStore(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, resource.RLIM_INFINITY))
for number in range(10_000):
    try:
        store.add("q", f"d{number}", 1, "ann")
    except StoreError as error:
        print(number, error)
        break
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs limits on the size of files")
def test_when_the_disk_takes_no_more_every_acknowledged_label_is_kept(tmp_path):
    path = tmp_path / "labels.db"
    done = subprocess.run([sys.executable, "-c", TOO_LARGE, path], capture_output=True, text=True, check=True)
    n_kept, message = done.stdout.split(" ", 1)
    assert "so the last change was not made" in message
    with LabelStore(path) as store:
        assert [label.doc for label in store.history()] == [f"d{number}" for number in range(int(n_kept))]


def test_a_file_one_may_not_write_is_said_to_be_so(tmp_path):
    path = tmp_path / "labels.db"
    LabelStore(path).close()
    path.chmod(0o444)
    may_write = os.access(path, os.W_OK)  # root may do anything: let SQLite itself refuse
    with LabelStore(f"sqlite:///file:{path}?mode=ro&uri=true" if may_write else path) as store:
        assert store.labels() == []
        with pytest.raises(StoreError, match="no permission to write this file"):
            store.add("q", "d", 1, "ann")


def test_a_locked_store_says_that_another_process_holds_it(tmp_path, monkeypatch):
    monkeypatch.setattr("rulerank.judging.database.LOCK_SECONDS", 0.1)
    path = tmp_path / "labels.db"
    with LabelStore(path) as store, sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process has kept the store locked"):
            store.add("q", "d", 1, "ann")
        assert store.labels() == []  # reading does not wait
        other.execute("ROLLBACK")
        assert store.add("q", "d", 1, "ann").id == 1


@pytest.mark.parametrize(
    "target", ["", ":memory:", "sqlite://", "mysql://me@host/labels", "a\0b", "postgresql://a:b/c"]
)
def test_what_names_no_store_is_refused(target):
    with pytest.raises(DataError, match=r"label store is a file, or the URL of a PostgreSQL|invalid database URL"):
        LabelStore(target)


def test_a_server_that_does_not_answer_is_named_without_the_password(tmp_path):
    text = message_of(f"postgres://me:secret@/labels?host={tmp_path}")
    assert "cannot connect to the server; is it running?" in text
    assert "secret" not in text


@pytest.mark.parametrize("put_there", [None, b"", b"something else"])
def test_a_store_that_was_moved_or_replaced_takes_no_label_that_would_be_lost(tmp_path, put_there):
    path, elsewhere = tmp_path / "labels.db", tmp_path / "moved.db"
    with LabelStore(path) as store:
        store.add("q", "d1", 1, "ann")
        path.rename(elsewhere)
        if put_there is not None:
            path.write_bytes(put_there)
        with pytest.raises(StoreError, match=r"labels\.db: this file was moved or replaced .*move it back"):
            store.add("q", "d2", 2, "ann")
        path.unlink(missing_ok=True)
        elsewhere.rename(path)
        store.add("q", "d3", 3, "ann")
    with LabelStore(path) as store:
        assert [label.doc for label in store.labels()] == ["d1", "d3"]


DAMAGES = {
    "UPDATE labels SET time = 'noon'": "label 1 is damaged .Invalid RFC3339 encoded datetime",
    "UPDATE labels SET time = '2026-01-05T12:00:00'": "label 1 is damaged .the time '2026-01-05T12:00:00'; expected",
    "UPDATE labels SET grade = 99": "label 1 is damaged .the grade 99.: another program has changed the store; restore",
    "UPDATE labels SET doc = x'00ff'": "label 1 is damaged .Expected `str`, got `bytes` - at `\\$.doc`",
    "UPDATE labels SET doc = CAST(x'ff' AS TEXT)": "the file is damaged: a name is not valid text",
    "UPDATE decisions SET grade = 'high'": "decision 1 is damaged .Expected `int . null`, got `str`",
    "UPDATE skips SET time = 'noon'": "skip 'e' is damaged",
    "UPDATE settings SET value = 'two'": "setting 1 is damaged",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_row_is_named(damage, tmp_path):
    path = tmp_path / "labels.db"
    with LabelStore(path) as store:
        store.add("q", "d", 1, "ann")
        store.decide("q", "d", 1, "lea")
        store.skip("q", "e", "ann")
        store.change_setting("judgements", 2, "lea")
    with sqlite3.connect(path) as other:
        other.execute(damage)
    other.close()
    with LabelStore(path) as store, pytest.raises(StoreError, match=rf"labels\.db: {DAMAGES[damage]}"):
        store.history(), store.decisions(), store.skips(), store.settings()


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
    with LabelStore(url) as store, psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [0x52554C45])
        with pytest.raises(StoreError, match=r"another process has kept the store locked .*lock timeout"):
            store.add("q", "d", 1, "ann")
        assert store.labels() == []  # reading does not wait
        other.execute("SELECT pg_advisory_unlock(%s)", [0x52554C45])
        assert store.add("q", "d", 1, "ann").id == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [(".", ": expected a file, got a directory"), ("missing/labels.db", ": cannot be opened: the folder must exist")],
)
def test_a_place_where_no_store_can_be_is_named(tmp_path, name, message):
    assert message_of(tmp_path / name).startswith(f"{tmp_path / name}{message}")
