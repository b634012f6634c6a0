"""The label store in SQL: tables, statements, and how SQLite or PostgreSQL is opened so that no commit is ever lost."""

from __future__ import annotations

import os
import sqlite3
import time
from typing import Any

from rulerank.errors import DataError, MissingExtraError
from rulerank.judging.labels import StoreError

try:
    import sqlalchemy as sa
    from sqlalchemy import event
except ImportError:
    raise MissingExtraError("judge", "SQLAlchemy") from None

DatabaseError = sa.exc.SQLAlchemyError

VERSION = 1
LOCK_SECONDS = 30  # how long to wait for another process that is writing
ADVISORY_LOCK = 0x52554C45  # PostgreSQL's name for "this transaction writes labels"

METADATA = sa.MetaData()
STORE = sa.Table("label_store", METADATA, sa.Column("version", sa.Integer, primary_key=True, autoincrement=False))
LABELS = sa.Table(
    "labels",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),  # 1, 2, 3, ... in the order of commits
    sa.Column("query", sa.Text, nullable=False),
    sa.Column("doc", sa.Text, nullable=False),
    sa.Column("grade", sa.Integer),  # NULL: cannot be judged
    sa.Column("rater", sa.Text, nullable=False),
    sa.Column("time", sa.Text, nullable=False),  # ISO 8601, UTC
    # deferred, so that a label can be superseded before the one that does it is there
    sa.Column("superseded_by", sa.ForeignKey("labels.id", deferrable=True, initially="DEFERRED")),
    sa.Column("withdrawn", sa.Text),  # ISO 8601, UTC
)
CLAIMS = sa.Table(
    "claims",
    METADATA,
    *(sa.Column(name, sa.Text, primary_key=True) for name in ("query", "doc", "rater")),
    sa.Column("until", sa.Double, nullable=False),  # seconds since 1970, UTC
)
SKIPS = sa.Table(
    "skips",
    METADATA,
    *(sa.Column(name, sa.Text, primary_key=True) for name in ("query", "doc", "rater")),
    sa.Column("time", sa.Text, nullable=False),
)
CURRENT = LABELS.c.superseded_by.is_(None) & LABELS.c.withdrawn.is_(None)


def _index(name: str, *columns: str, where: sa.ColumnElement[bool] | None = None, unique: bool = False) -> None:
    condition: dict[str, Any] = {} if where is None else {"sqlite_where": where, "postgresql_where": where}
    sa.Index(name, *(LABELS.c[column] for column in columns), unique=unique, **condition)


_index("labels_current", "query", "doc", "rater", where=CURRENT, unique=True)
_index("labels_rater", "rater", "id", where=CURRENT)
_index("labels_superseded", "superseded_by", where=LABELS.c.superseded_by.is_not(None))
_index("labels_withdrawn", "id", where=LABELS.c.withdrawn.is_not(None))

# statements are built once: building one takes longer than running it;
# parameters have other names than columns, as an UPDATE demands
QUERY: sa.BindParameter[str] = sa.bindparam("the_query")
DOC: sa.BindParameter[str] = sa.bindparam("the_doc")
RATER: sa.BindParameter[str] = sa.bindparam("the_rater")
NEW_ID: sa.BindParameter[int] = sa.bindparam("new_id")
LABEL_ID: sa.BindParameter[int] = sa.bindparam("label_id")
NOW: sa.BindParameter[Any] = sa.bindparam("now")


def document(query: str, doc: str, rater: str) -> dict[str, str]:
    """Return the parameters that name a document and a rater."""
    return {"the_query": query, "the_doc": doc, "the_rater": rater}


def _same_doc(table: sa.Table) -> sa.ColumnElement[bool]:
    return sa.and_(table.c.query == QUERY, table.c.doc == DOC)


def _own(table: sa.Table) -> sa.ColumnElement[bool]:
    return sa.and_(_same_doc(table), table.c.rater == RATER)


def _insert(table: sa.Table, **more: Any) -> sa.Insert:
    return table.insert().values(query=QUERY, doc=DOC, rater=RATER, **more)


LAST_ID = sa.select(sa.func.coalesce(sa.func.max(LABELS.c.id), 0))
N_WITHDRAWN = sa.select(sa.func.count()).where(LABELS.c.withdrawn.is_not(None))
STATE = sa.select(LAST_ID.scalar_subquery(), N_WITHDRAWN.scalar_subquery())
HISTORY = sa.select(LABELS).order_by(LABELS.c.id)
CURRENT_LABELS = HISTORY.where(CURRENT, LABELS.c.id > sa.bindparam("after"))
LABELS_OF_RATER = CURRENT_LABELS.where(LABELS.c.rater == RATER)
LATEST_OF_RATER = sa.select(LABELS).where(CURRENT, LABELS.c.rater == RATER).order_by(LABELS.c.id.desc()).limit(1)

SUPERSEDE = LABELS.update().where(CURRENT, _own(LABELS)).values(superseded_by=NEW_ID)
ADD_LABEL = _insert(LABELS, id=NEW_ID, grade=sa.bindparam("new_grade"), time=NOW)
WITHDRAW = LABELS.update().where(LABELS.c.id == LABEL_ID).values(withdrawn=NOW)
BRING_BACK = LABELS.update().where(LABELS.c.superseded_by == LABEL_ID).values(superseded_by=None)

LIVE_CLAIMS = sa.select(CLAIMS).where(CLAIMS.c.until > NOW).order_by(*CLAIMS.c["until", "query", "doc"])
HOLDERS = sa.union(
    sa.select(CLAIMS.c.rater).where(_same_doc(CLAIMS), CLAIMS.c.until > NOW),
    sa.select(LABELS.c.rater).where(_same_doc(LABELS), CURRENT),
)
CLEAR_CLAIMS = CLAIMS.delete().where((CLAIMS.c.until <= NOW) | _own(CLAIMS))
DROP_CLAIM = CLAIMS.delete().where(_own(CLAIMS))
ADD_CLAIM = _insert(CLAIMS, until=sa.bindparam("new_until"))

SKIPPED = sa.select(SKIPS.c.query, SKIPS.c.doc).where(SKIPS.c.rater == RATER).order_by(*SKIPS.c["time", "query", "doc"])
DROP_SKIP = SKIPS.delete().where(_own(SKIPS))
ADD_SKIP = _insert(SKIPS, time=NOW)


def open_engine(target: str | os.PathLike[str]) -> tuple[sa.Engine, str]:
    """Connect to the store a path or URL names; return the engine and the name to use in messages."""
    url, name = _parse(os.fspath(target))
    if url.get_backend_name() == "sqlite":
        engine = sa.create_engine(url, connect_args={"timeout": LOCK_SECONDS}, max_overflow=-1)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        try:
            engine = sa.create_engine(url, pool_pre_ping=True, max_overflow=-1)
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


def prepare(connection: sa.Connection, name: str) -> None:
    """Create the tables of a new store; refuse a store of a newer version and anything else."""
    there = set(sa.inspect(connection).get_table_names())
    if STORE.name not in there:
        foreign = there if connection.dialect.name == "sqlite" else there & set(METADATA.tables)
        if foreign:
            raise StoreError(f"{name}: this is no label store: it holds the tables {', '.join(sorted(foreign)[:5])}")
        METADATA.create_all(connection)
        connection.execute(STORE.insert().values(version=VERSION))
        return
    version = connection.execute(sa.select(sa.func.max(STORE.c.version))).scalar()
    if version != VERSION:
        what = "no version" if version is None else f"version {version}"
        raise StoreError(
            f"{name}: this label store has {what}, and this rulerank knows version {VERSION}; use a newer rulerank"
        )


def explain(error: DatabaseError, name: str) -> StoreError:
    """Return the error a person can act on."""
    cause = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
    for sign, message in CAUSES.items():
        if sign in cause:
            return StoreError(f"{name}: {message} ({cause})")
    return StoreError(f"{name}: the label store failed: {cause}")


CAUSES = {
    "not a database": "this is no label store, nor any other SQLite file; name another",
    "malformed": "the file is damaged; restore a copy of it",
    "readonly": "no permission to write this file",
    "unable to open": "cannot be opened: the folder must exist and be writable, and the name be that of a file",
    "is full": "the disk is full, so the last change was not made; free some space",
    "disk I/O": "the disk failed, so the last change was not made",
    "locked": f"another process has kept the store locked for {LOCK_SECONDS} s; end it or try again",
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
    connection.commit()


def _begin_postgres(connection: sa.Connection) -> None:
    if connection.get_execution_options().get("writes"):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})")
