"""The label store: facts about who graded what, in an SQLite file or a PostgreSQL database. Nothing is deleted."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from rulerank.core.checks import check_number, is_whole
from rulerank.errors import DataError
from rulerank.judging import engines, versions
from rulerank.judging import schema as sql
from rulerank.judging.judgements import note, seen
from rulerank.judging.labels import (
    CheckRecord,
    Claim,
    Glance,
    Label,
    ReadOnlyError,
    State,
    StoreError,
    check_grade,
    check_name,
)
from rulerank.judging.rows import as_text, check_of, claim_of, label_of

if TYPE_CHECKING:
    import sqlalchemy as sa

Judged = tuple[str, str, int | None, str]  # query, doc, grade, rater


class LabelStore:
    """Keep what raters say of documents: every label that `add` has returned survives a crash of anything.

    target: the path of an SQLite file, made when it is not there, or a URL such as postgresql://user@host/labels.
    Several threads and processes may use a store at once. A rater who grades a document again supersedes the own
    label; `undo` withdraws; old labels stay in `history`. A store that can only be read opens, and is read.

    Whatever may be sent twice can bring the id of its `judgement`, made where the key was pressed: the store keeps one
    of each, and what comes with a known id changes nothing and is answered as the first was.

    >>> import tempfile
    >>> store = LabelStore(tempfile.mkdtemp() + "/labels.db")
    >>> store.add("q1", "d1", 2, "ann").id, store.add("q1", "d1", 3, "ann").id
    (1, 2)
    >>> [(label.grade, label.superseded_by) for label in store.history()]
    [(2, 2), (3, None)]
    >>> store.undo("ann").grade, [label.grade for label in store.labels()]
    (3, [2])
    >>> store.close()
    """

    def __init__(
        self, target: str | os.PathLike[str], *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        if os.path.isdir(target):
            raise StoreError(f"{os.fspath(target)}: expected a file, got a directory")
        self._engine, self.name = engines.open_engine(target)
        self._turn = threading.Lock()
        self._clock = clock
        self._closed = False
        self._has_checks = False  # as far as is known
        self._path = os.path.abspath(self._engine.url.database or "")
        self._file: tuple[int, int] | None = None
        self._no_writing: ReadOnlyError | None = None
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
                self._no_writing = error
                return ""  # of the first version, which had none: nothing is sent to it
        with self._read() as connection:
            return versions.identity_of(connection)

    def _version(self) -> int | None:
        with self._read() as connection:
            return versions.version_of(connection, self.name)

    def check_writable(self) -> None:
        """Say so now if labels can only be read."""
        with self._write() as connection:
            connection.execute(sql.TOUCH)

    def add(
        self, query: str, doc: str, grade: int | None, rater: str, *, judgement: str | None = None, once: bool = False
    ) -> Label:
        """Keep a grade (None: cannot be judged), superseding what this rater said of the document before.

        judgement: an id; the label of a known one is returned as it was given, and nothing changes.
        once: without an id, a grade that is in force already is no new label.
        """
        names, grade = _names(query, doc, rater), check_grade(grade)
        with self._write() as connection:
            before = seen(connection, "label", judgement, names)
            if before is not None:
                return replace(self._one(connection, before.label), superseded_by=None, withdrawn=None)
            in_force = connection.execute(sql.OWN_LABEL, names).first() if once and judgement is None else None
            if in_force is not None and in_force.grade == grade:
                return label_of(in_force, self.name)
            (label,) = self._add(connection, [(names, grade)])
            note(connection, "label", judgement, names, label)
        return label

    def add_all(self, judged: Iterable[Judged]) -> list[Label]:
        """Keep many grades, given as (query, doc, grade, rater): all of them or, when one is wrong, none."""
        checked = [(_names(query, doc, rater), check_grade(grade)) for query, doc, grade, rater in judged]
        if len({tuple(names.values()) for names, _ in checked}) < len(checked):
            raise DataError("a rater can grade a document only once at a time: one is there twice")
        if not checked:
            return []
        with self._write() as connection:
            return self._add(connection, checked)

    def _add(self, connection: sa.Connection, checked: list[tuple[dict[str, Any], int | None]]) -> list[Label]:
        last_id, now = connection.execute(sql.LAST_ID).scalar_one(), self._now()
        rows = [
            names | {"new_id": last_id + number, "new_grade": grade, "now": as_text(now)}
            for number, (names, grade) in enumerate(checked, start=1)
        ]
        for statement in (sql.SUPERSEDE, sql.ADD_LABEL, sql.DROP_CLAIM, sql.DROP_SKIP):
            connection.execute(statement, rows)
        return [
            Label(row["new_id"], row["the_query"], row["the_doc"], row["new_grade"], row["the_rater"], now)
            for row in rows
        ]

    def undo(self, rater: str, *, judgement: str | None = None) -> Label | None:
        """Withdraw this rater's latest label, which brings back the one it superseded; None: there is no label."""
        own = {"the_rater": check_name("rater", rater)}
        with self._write() as connection:
            before = seen(connection, "undo", judgement, own)
            if before is not None:
                return None if before.label is None else self._one(connection, before.label)
            found = connection.execute(sql.LATEST_OF_RATER, own).first()
            undone = None
            if found is not None:
                now = self._now()
                connection.execute(sql.WITHDRAW, {"label_id": found.id, "now": as_text(now)})
                connection.execute(sql.BRING_BACK, {"label_id": found.id})
                undone = replace(label_of(found, self.name), withdrawn=now)
            note(connection, "undo", judgement, own, undone)
        return undone

    def labels(self, rater: str | None = None, *, after: int = 0) -> list[Label]:
        """Return the current labels in the order of time, of one rater or of all, those with a higher id than after."""
        if rater is None:
            return self._labels(sql.CURRENT_LABELS, {"after": after})
        return self._labels(sql.LABELS_OF_RATER, {"after": after, "the_rater": check_name("rater", rater)})

    def history(self) -> list[Label]:
        """Return every label ever given, in the order of time."""
        return self._labels(sql.HISTORY, {})

    def state(self) -> State:
        """Return what tells cheaply whether labels have changed since it was last asked."""
        with self._read() as connection:
            return _state(connection)

    def glance(self, rater: str) -> Glance:
        """Return `state`, `claims` and what this rater has `skipped` in one go."""
        with self._read() as connection:
            return Glance(_state(connection), self._claims(connection), _skipped(connection, rater))

    def claim(self, query: str, doc: str, rater: str, *, raters: int = 1, seconds: float = 900) -> bool:
        """Keep a document for a rater for some time, unless `raters` others hold it or have judged it already.

        A claim that has not run out, and one on a document the rater has judged, is always renewed.
        """
        names = _names(query, doc, rater)
        if not is_whole(raters, 1):
            raise DataError(f"raters must be a whole number from 1: got {raters!r}")
        check_number("seconds", seconds, 0, 1e9, "how long the claim lasts")
        now = self._now().timestamp()
        with self._write("for now") as connection:
            holders = {name for (name,) in connection.execute(sql.HOLDERS, names | {"now": now})}
            if rater not in holders and len(holders) >= raters:
                return False
            connection.execute(sql.CLEAR_CLAIMS, names | {"now": now})
            connection.execute(sql.ADD_CLAIM, names | {"new_until": now + seconds})
            return True

    def release(self, query: str, doc: str, rater: str) -> None:
        """Give up a claim."""
        with self._write() as connection:
            connection.execute(sql.DROP_CLAIM, _names(query, doc, rater))

    def claims(self) -> list[Claim]:
        """Return the claims that have not run out, the latest last."""
        with self._read() as connection:
            return self._claims(connection)

    def skip(self, query: str, doc: str, rater: str, *, judgement: str | None = None) -> None:
        """Note that a rater passes over a document, and give up the claim; grading it takes the note back."""
        names = _names(query, doc, rater)
        with self._write() as connection:
            if seen(connection, "skip", judgement, names) is not None:
                return
            note(connection, "skip", judgement, names)
            for statement in (sql.DROP_CLAIM, sql.DROP_SKIP, sql.ADD_SKIP):
                connection.execute(statement, names | {"now": as_text(self._now())})

    def skipped(self, rater: str) -> list[tuple[str, str]]:
        """Return the (query, doc) pairs a rater has passed over, in the order of time."""
        with self._read() as connection:
            return _skipped(connection, rater)

    def note_check(self, last_label: int, method: str, today: str) -> CheckRecord:
        """Note that a model, trained on the labels up to an id, is compared with today's ranking from now on."""
        with self._write() as connection:
            sql.CHECKS.create(connection, checkfirst=True)
            before = connection.execute(sql.LAST_CHECK).first()
            record = CheckRecord(1 if before is None else before.id + 1, last_label, method, today, self._now())
            connection.execute(sql.ADD_CHECK, record._asdict() | {"time": as_text(record.time)})
        return record

    def last_check(self) -> CheckRecord | None:
        """Return the latest of them; None: there is none."""
        with self._read() as connection:
            if not self._has_checks:
                self._has_checks = versions.has_checks(connection)
            found = connection.execute(sql.LAST_CHECK).first() if self._has_checks else None
        return None if found is None else check_of(found, self.name)

    def close(self) -> None:
        """Let go of the file or the server; nothing needs saving."""
        self._closed = True
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LabelStore({self.name!r})"

    def _claims(self, connection: sa.Connection) -> list[Claim]:
        live = connection.execute(sql.LIVE_CLAIMS, {"now": self._now().timestamp()})
        return [claim_of(row, self.name) for row in live]

    def _labels(self, chosen: sa.Select[Any], parameters: dict[str, Any]) -> list[Label]:
        with self._read() as connection:
            return [label_of(row, self.name) for row in connection.execute(chosen, parameters)]

    def _one(self, connection: sa.Connection, label_id: int) -> Label:
        return label_of(connection.execute(sql.ONE_LABEL, {"label_id": label_id}).one(), self.name)

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


def _state(connection: sa.Connection) -> State:
    return State(*connection.execute(sql.STATE).one())


def _skipped(connection: sa.Connection, rater: str) -> list[tuple[str, str]]:
    found = connection.execute(sql.SKIPPED, {"the_rater": check_name("rater", rater)})
    return [(query, doc) for query, doc in found]


def _names(query: str, doc: str, rater: str) -> dict[str, Any]:
    return sql.document(check_name("query", query), check_name("doc", doc), check_name("rater", rater))
