"""The file or database under a label store: opened, read and written in transactions, and its errors in words."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import Any, Self

from rulerank.errors import DataError, MissingExtraError
from rulerank.judging import schema as sql  # first: it names the extra when SQLAlchemy is missing
from rulerank.judging.labels import ReadOnlyError, StoreError

# isort: split
import sqlalchemy as sa
from sqlalchemy import event

LOCK_SECONDS = 30  # how long to wait for another process that is writing
CONNECT_SECONDS = 10  # how long to wait for a server that does not answer
ADVISORY_LOCK = 0x52554C45  # PostgreSQL's name for "this transaction writes labels"


def open_engine(target: str | os.PathLike[str]) -> tuple[sa.Engine, str]:
    """Connect to the store a path or URL names; return the engine and the name to use in messages."""
    url, name = _parse(os.fspath(target))
    if url.get_backend_name() == "sqlite":
        engine = sa.create_engine(url, connect_args={"timeout": LOCK_SECONDS}, max_overflow=-1)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        try:
            patience = {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_SECONDS}
            engine = sa.create_engine(url, pool_pre_ping=True, max_overflow=-1, connect_args=patience)
        except ImportError:
            raise MissingExtraError("postgres", "psycopg") from None
        event.listen(engine, "connect", _set_up_postgres)
        event.listen(engine, "begin", _begin_postgres)
    return engine, name


def file_under(path: str | None) -> tuple[int, int] | None:
    """Return what tells the file at a path from any other that may be put there; None: there is none."""
    try:
        found = os.stat(path or "")
    except OSError:
        return None
    return found.st_dev, found.st_ino


def explain(error: sql.DatabaseError | UnicodeDecodeError, name: str) -> StoreError:
    """Return the error a person can act on."""
    cause = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
    sign = next((sign for sign in (*NO_PERMISSION, *CAUSES) if sign in cause), None)
    kind = ReadOnlyError if sign in NO_PERMISSION else StoreError
    return kind(f"{name}: {(NO_PERMISSION | CAUSES).get(sign or '', 'the label store failed')} ({cause})")


NO_PERMISSION = {
    "readonly": "no permission to write this file",
    "permission denied": "no permission to do this in the database",
    "read-only transaction": "the database can only be read",
    "unable to open": "cannot be opened: the folder must exist and be writable (copy a store that lies elsewhere)",
}
LOCKED = f"another process has kept the store locked for {LOCK_SECONDS} s; end it or try again"
CAUSES = {
    "not a database": "this is no label store, nor any other SQLite file; name another",
    "malformed": "the file is damaged; restore a copy of it",
    "is full": "the disk is full, so the last change was not made; free some space",
    "disk I/O": "the disk failed, so the last change was not made",
    "locked": LOCKED,
    "lock timeout": LOCKED,
    "decode": "the file is damaged: a name is no text; restore a copy of it",
    "timeout expired": f"the server has not answered within {CONNECT_SECONDS} s; is it running?",
    "connection": "cannot talk to the server; is it running?",
}


def _parse(target: str) -> tuple[sa.URL, str]:
    if "://" not in target:
        if not target or target == ":memory:" or "\0" in target:
            raise DataError(f"a label store is a file, or the URL of a PostgreSQL database: got {target!r}")
        return sa.URL.create("sqlite", database=target), target
    try:
        url = sa.make_url(target)
    except (sa.exc.ArgumentError, ValueError):
        raise DataError("this is no database URL; expected postgresql://user:password@host/database") from None
    name = url.render_as_string(hide_password=True)
    backend = "postgresql" if url.drivername == "postgres" else url.get_backend_name()
    if backend == "sqlite" and url.database not in (None, "", ":memory:"):
        return url.set(drivername="sqlite"), name
    if backend != "postgresql":
        raise DataError(f"a label store is a file, or the URL of a PostgreSQL database: got {name!r}")
    return url.set(drivername="postgresql+psycopg"), name


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:  # two that open a new file at once do not wait for each other
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous = FULL")  # a commit returns when the disk has it
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: sa.Connection) -> None:
    # a writer takes the lock at once: one that finds out late cannot wait for it
    writes = connection.get_execution_options().get("writes")
    driver: Any = connection.connection.driver_connection  # takes what cannot fail, in a fraction of the time
    if not writes:
        driver.execute("BEGIN")
        return
    # the disk gets a claim with the next label: it is there after a kill, and after a power loss everyone asks anew
    driver.execute(f"PRAGMA synchronous = {'NORMAL' if writes == 'for now' else 'FULL'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _set_up_postgres(connection: Any, _: Any) -> None:
    connection.execute("SET synchronous_commit TO ON")
    connection.execute(f"SET lock_timeout TO {int(1000 * LOCK_SECONDS)}")  # milliseconds; for the advisory lock too
    connection.commit()


def _begin_postgres(connection: sa.Connection) -> None:
    if connection.get_execution_options().get("writes"):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})")


class Database:
    """What a label store stands on: one SQLite file or one PostgreSQL database."""

    def __init__(
        self, target: str | os.PathLike[str], *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        if os.path.isdir(target):
            raise StoreError(f"{os.fspath(target)}: expected a file, got a directory")
        self._engine, self.name = open_engine(target)
        self._turn = threading.Lock()
        self._clock = clock
        self._closed = False
        self._path = os.path.abspath(self._engine.url.database or "")
        self._file: tuple[int, int] | None = None
        try:
            self.identity = self._open()
            if self._engine.dialect.name == "sqlite":
                self._file = file_under(self._path)
        except BaseException:
            self.close()
            raise

    def _open(self) -> str:
        """Make the tables or bring them up where that is needed; return what tells this store from every other."""
        with self._read() as connection:
            version = sql.version_of(connection, self.name)
        if version != sql.VERSION:
            try:
                with self._write() as connection:
                    sql.prepare(connection, self.name)
            except ReadOnlyError:
                if version is None:
                    raise
                raise ReadOnlyError(
                    f"{self.name}: this label store has version {version}, and bringing it up to version {sql.VERSION} "
                    "writes it: copy it to where you may write"
                ) from None
        with self._read() as connection:
            return str(connection.execute(sa.select(sql.STORE.c.identity)).scalar_one())

    def check_writable(self) -> None:
        """Say so now if labels can only be read."""
        with self._write() as connection:
            connection.execute(sql.TOUCH)

    def close(self) -> None:
        """Let go of the file or the server; nothing needs saving."""
        self._closed = True
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def _read(self) -> AbstractContextManager[sa.Connection]:
        return self._transaction(self._engine)

    @contextmanager
    def _write(self, lasting: str = "for good") -> Iterator[sa.Connection]:
        # threads queue here: those that wait for SQLite's own lock sleep longer and longer
        if not self._turn.acquire(timeout=LOCK_SECONDS):
            raise StoreError(f"{self.name}: {LOCKED}")
        try:
            with self._transaction(self._engine.execution_options(writes=lasting)) as connection:
                if self._file is not None and file_under(self._path) != self._file:
                    # SQLite would go on writing, beside the file that was moved and to where nobody looks
                    raise StoreError(
                        f"{self.name}: this file was moved or replaced while it was open, so the last change was not "
                        f"made; move it back: earlier labels are partly in {os.path.basename(self._path)}-wal beside it"
                    )
                yield connection
        finally:
            self._turn.release()

    @contextmanager
    def _transaction(self, engine: sa.Engine) -> Iterator[sa.Connection]:
        if self._closed:
            raise StoreError(f"{self.name}: this label store is closed")
        try:
            with engine.begin() as connection:
                yield connection
        except (sql.DatabaseError, UnicodeDecodeError) as error:  # SQLite's own messages may hold damaged names
            raise explain(error, self.name) from error

    def _now(self) -> datetime:
        return self._clock().astimezone(UTC)
