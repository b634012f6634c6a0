"""The file or database of a label store: opened, brought up, read and written in transactions that are never lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from rulerank.judging import engines, versions
from rulerank.judging import schema as sql
from rulerank.judging.labels import ReadOnlyError, StoreError

if TYPE_CHECKING:
    import sqlalchemy as sa


class StoreFile:
    """What a label store stands on: one SQLite file or one PostgreSQL database."""

    def __init__(
        self, target: str | os.PathLike[str], *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        if os.path.isdir(target):
            raise StoreError(f"{os.fspath(target)}: expected a file, got a directory")
        self._engine, self.name = engines.open_engine(target)
        self._turn = threading.Lock()
        self._clock = clock
        self._closed = False
        self._path = os.path.abspath(self._engine.url.database or "")
        self._file: tuple[int, int] | None = None
        self._no_writing: ReadOnlyError | None = None
        self._is_old = False  # of a version before ours, and can only be read
        try:
            self.identity = self._open()
            if self._engine.dialect.name == "sqlite":
                self._file = engines.file_under(self._path)
        except BaseException:
            self.close()
            raise

    def _open(self) -> str:
        """Make the tables or bring them up where that is needed; return what tells this store from every other."""
        try:
            version = self._version()
        except ReadOnlyError as error:
            if self._engine.dialect.name != "sqlite" or not os.access(self._path, os.R_OK):
                raise
            self._engine.dispose()
            self._engine, self._no_writing = engines.open_as_it_lies(self._path, self.name), error
            version = self._version()
        if version != versions.VERSION:
            try:
                with self._write() as connection:
                    versions.prepare(connection, self.name)
            except ReadOnlyError as error:
                if version is None:
                    raise
                self._no_writing, self._is_old = error, True
        if self._is_old and version == 1:
            return ""  # the first version had none: nothing is sent to it
        with self._read() as connection:
            return versions.identity_of(connection)

    def _version(self) -> int | None:
        with self._read() as connection:
            return versions.version_of(connection, self.name)

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
        if self._no_writing is not None:
            raise self._no_writing
        # threads queue here: those that wait for SQLite's own lock sleep longer and longer
        if not self._turn.acquire(timeout=engines.LOCK_SECONDS):
            raise StoreError(f"{self.name}: {engines.LOCKED}")
        try:
            with self._transaction(self._engine.execution_options(writes=lasting)) as connection:
                if self._file is not None and engines.file_under(self._path) != self._file:
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
            raise engines.explain(error, self.name) from error

    def _now(self) -> datetime:
        return self._clock().astimezone(UTC)
