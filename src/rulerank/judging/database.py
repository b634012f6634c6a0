"""The file or database of a label store: connections, transactions and error messages."""

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

LOCK_SECONDS = 30  # to wait for another writing process
CONNECT_SECONDS = 10  # to wait for the server
ADVISORY_LOCK = 0x52554C45  # of transactions that write labels


def open_engine(target: str | os.PathLike[str]) -> tuple[sa.Engine, str]:
    """Connect to a store by path or URL; return the engine and the name for messages."""
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
    """Return the identity of the file at a path, to notice when it is replaced; None if there is none."""
    try:
        found = os.stat(path or "")
    except OSError:
        return None
    return found.st_dev, found.st_ino


def explain(error: sql.DatabaseError | UnicodeDecodeError, name: str) -> StoreError:
    """Return an error message that users can act on."""
    cause = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
    sign = next((sign for sign in (*NO_PERMISSION, *CAUSES) if sign in cause), None)
    kind = ReadOnlyError if sign in NO_PERMISSION else StoreError
    return kind(f"{name}: {(NO_PERMISSION | CAUSES).get(sign or '', 'the label store failed')} ({cause})")


NO_PERMISSION = {
    "readonly": "no permission to write this file",
    "permission denied": "no permission to do this in the database",
    "read-only transaction": "the database can only be read",
    "unable to open": "cannot be opened: the folder must exist and be writable (copy the store to such a folder)",
}
LOCKED = f"another process has kept the store locked for {LOCK_SECONDS} s; end it or try again"
CAUSES = {
    "not a database": "this is not a label store (not an SQLite file); name another file",
    "malformed": "the file is damaged; restore a copy of it",
    "is full": "the disk is full, so the last change was not made; free some space",
    "disk I/O": "the disk failed, so the last change was not made",
    "locked": LOCKED,
    "lock timeout": LOCKED,
    "decode": "the file is damaged: a name is not valid text; restore a copy of it",
    "timeout expired": f"the server did not answer within {CONNECT_SECONDS} s; is it running?",
    "connection": "cannot connect to the server; is it running?",
}


def _parse(target: str) -> tuple[sa.URL, str]:
    if "://" not in target:
        if not target or target == ":memory:" or "\0" in target:
            raise DataError(f"a label store is a file, or the URL of a PostgreSQL database: got {target!r}")
        return sa.URL.create("sqlite", database=target), target
    try:
        url = sa.make_url(target)
    except (sa.exc.ArgumentError, ValueError):
        raise DataError("invalid database URL: expected postgresql://user:password@host/database") from None
    name = url.render_as_string(hide_password=True)
    backend = "postgresql" if url.drivername == "postgres" else url.get_backend_name()
    if backend == "sqlite" and url.database not in (None, "", ":memory:"):
        return url.set(drivername="sqlite"), name
    if backend != "postgresql":
        raise DataError(f"a label store is a file, or the URL of a PostgreSQL database: got {name!r}")
    return url.set(drivername="postgresql+psycopg"), name


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # we send BEGIN ourselves
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:  # opening a new file does not wait
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous = FULL")  # a commit returns when the disk has it
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: sa.Connection) -> None:
    # writers take the lock at once: SQLite cannot wait for it later in a transaction
    writes = connection.get_execution_options().get("writes")
    driver: Any = connection.connection.driver_connection  # bypasses SQLAlchemy, which is much slower
    if not writes:
        driver.execute("BEGIN")
        return
    # a claim need not survive a power loss: the disk gets it with the next label
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
    """The base of a label store: one SQLite file or one PostgreSQL database."""

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
        """Create or upgrade the tables if needed; return the identity of the store."""
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
                    f"{self.name}: this label store has version {version} and must be upgraded to {sql.VERSION}: "
                    "copy it to a writable folder"
                ) from None
        with self._read() as connection:
            return str(connection.execute(sa.select(sql.STORE.c.identity)).scalar_one())

    def check_writable(self) -> None:
        """Raise an error if the store is read-only."""
        with self._write() as connection:
            connection.execute(sql.TOUCH)

    def close(self) -> None:
        """Close the connections; everything is saved already."""
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
        # threads queue here: waiting for SQLite's own lock is slower
        if not self._turn.acquire(timeout=LOCK_SECONDS):
            raise StoreError(f"{self.name}: {LOCKED}")
        try:
            with self._transaction(self._engine.execution_options(writes=lasting)) as connection:
                if self._file is not None and file_under(self._path) != self._file:
                    # SQLite would continue to write to the file that was moved
                    raise StoreError(
                        f"{self.name}: this file was moved or replaced while it was open, so the last change was not "
                        f"made; move it back: some earlier labels are in {os.path.basename(self._path)}-wal beside it"
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
        except (sql.DatabaseError, UnicodeDecodeError) as error:  # SQLite's messages may contain damaged names
            raise explain(error, self.name) from error

    def _now(self) -> datetime:
        return self._clock().astimezone(UTC)
