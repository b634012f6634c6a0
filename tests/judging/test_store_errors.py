"""What can be wrong with the file or the server of a label store, and what is said about it."""

import os
import resource
import sqlite3
import subprocess
import sys

import pytest
import sqlalchemy as sa

from rulerank.errors import DataError
from rulerank.judging.labels import StoreError
from rulerank.judging.schema import STORE
from rulerank.judging.store import LabelStore


def message_of(target):
    with pytest.raises(StoreError) as caught:
        LabelStore(target)
    return str(caught.value)


def test_a_directory_is_no_store(tmp_path):
    assert message_of(tmp_path) == f"{tmp_path}: expected a file, got a directory"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "missing" / "labels.db"
    assert message_of(path).startswith(f"{path}: cannot be opened: the folder must exist and be writable")


def test_a_file_of_another_kind_is_left_as_it_is(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("2 qid:1 1:0.5\n" * 100)
    assert "this is no label store, nor any other SQLite file; name another" in message_of(path)
    assert path.read_text() == "2 qid:1 1:0.5\n" * 100
    assert os.listdir(tmp_path) == ["train.txt"]


def test_an_sqlite_file_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    assert message_of(path) == f"{path}: this is no label store: it holds the tables recipes"
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]


def test_a_database_with_a_foreign_table_of_our_name_is_left_alone(postgres):
    url = postgres.new_url()
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE skips (reason TEXT)")
        connection.exec_driver_sql("CREATE TABLE recipes (name TEXT)")
    engine.dispose()
    assert message_of(url).endswith("this is no label store: it holds the tables skips")


def test_a_store_of_a_newer_version_is_refused_and_says_so(target):
    with LabelStore(target) as store, store._write() as connection:
        connection.execute(STORE.update().values(version=4))
    assert message_of(target).endswith(
        "this label store has version 4, and this rulerank knows version 3; use a newer rulerank"
    )


def test_a_store_without_a_version_is_refused(target):
    with LabelStore(target) as store, store._write() as connection:
        connection.execute(STORE.delete())
    assert "this label store has no version, and this rulerank knows version 3" in message_of(target)


def test_a_damaged_store_is_said_to_be_damaged(tmp_path):
    path = tmp_path / "labels.db"
    with LabelStore(path) as store:
        store.add_all([("q", f"document-{number}", 1, "ann") for number in range(2000)])
    content = bytearray(path.read_bytes())
    content[8192 : len(content) - 8192] = b"\xff" * (len(content) - 16384)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="the file is damaged; restore a copy of it"), LabelStore(path) as store:
        store.history()


def test_a_full_disk_is_named_and_what_was_there_stays(tmp_path):
    path = tmp_path / "labels.db"
    with LabelStore(path) as store:
        store.add("q", "d", 1, "ann")

        @sa.event.listens_for(store._engine, "begin")
        def no_more_pages(connection):
            connection.exec_driver_sql("PRAGMA max_page_count = 1")  # never below what there is

        with pytest.raises(StoreError, match="the disk is full, so the last change was not made; free some space"):
            store.add_all([("q", f"document-{number}", 1, "ann") for number in range(5000)])
    with LabelStore(path) as store:
        assert [label.doc for label in store.history()] == ["d"]


TOO_LARGE = """
import resource, signal, sys
from rulerank.judging.labels import StoreError
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


def test_a_closed_store_says_so(tmp_path):
    store = LabelStore(tmp_path / "labels.db")
    store.close()
    store.close()
    with pytest.raises(StoreError, match=r"labels\.db: this label store is closed"):
        store.labels()


@pytest.mark.parametrize("target", ["", ":memory:", "sqlite://", "mysql://me@host/labels", "a\0b"])
def test_what_names_no_store_is_refused(target):
    with pytest.raises(DataError, match="a label store is a file, or the URL of a PostgreSQL database: got "):
        LabelStore(target)


def test_a_url_that_is_none_is_refused():
    with pytest.raises(DataError, match="this is no database URL; expected postgresql://"):
        LabelStore("postgresql://host:port/labels")


def test_a_server_that_does_not_answer_is_named_without_the_password(tmp_path):
    text = message_of(f"postgres://me:secret@/labels?host={tmp_path}")
    assert "cannot talk to the server; is it running?" in text
    assert "secret" not in text


def test_an_sqlite_url_names_a_file(tmp_path):
    with LabelStore(f"sqlite:///{tmp_path}/labels.db") as store:
        store.add("q", "d", 1, "ann")
    with LabelStore(tmp_path / "labels.db") as store:
        assert len(store.labels()) == 1
    assert repr(store) == f"LabelStore({str(tmp_path / 'labels.db')!r})"


WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
try:
    from rulerank.judging.store import LabelStore
    LabelStore("postgresql://host/labels")
except ImportError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("module", "package", "extra"), [("sqlalchemy", "SQLAlchemy", "judge"), ("psycopg", "psycopg", "postgres")]
)
def test_a_missing_package_is_named_with_what_installs_it(module, package, extra):
    done = subprocess.run([sys.executable, "-c", WITHOUT, module], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        f"MissingExtraError this needs {package}, which is not installed; "
        f"install it with: pip install 'rulerank[{extra}]' (in a clone: '.[{extra}]')"
    )


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


def test_a_damaged_name_inside_the_file_is_said_to_be_one(tmp_path):
    path = tmp_path / "labels.db"
    with LabelStore(path) as store:
        store.add("q", "d1", 1, "ann")
    content = path.read_bytes()
    assert content.count(b"ON labels") or content.count(b"on labels")
    for spelled in (b"ON labels", b"on labels"):
        content = content.replace(spelled, spelled[:-4] + b"\xdfels")
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"labels\.db: the file is damaged"), LabelStore(path) as store:
        store.labels()
