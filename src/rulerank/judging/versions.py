"""The versions of the label store: what a new one gets, how an old one is brought up, and what is refused."""

from __future__ import annotations

import secrets

from rulerank.judging.labels import StoreError
from rulerank.judging.schema import (
    CHECKS,
    JUDGEMENTS,
    METADATA,
    STORE,
)  # first: it names the extra when SQLAlchemy is missing

# isort: split
import sqlalchemy as sa

VERSION = 2
FIRST = 1  # has neither an identity nor judgements; what it does have can be read as it is


def version_of(connection: sa.Connection, name: str) -> int | None:
    """Return the version of the store; None: nothing is there yet. Anything that is no store of ours is refused."""
    there = set(sa.inspect(connection).get_table_names())
    if STORE.name not in there:
        foreign = there if connection.dialect.name == "sqlite" else there & set(METADATA.tables)
        if foreign:
            raise StoreError(f"{name}: this is no label store: it holds the tables {', '.join(sorted(foreign)[:5])}")
        return None
    version = connection.execute(sa.select(sa.func.max(STORE.c.version))).scalar()
    if version not in (FIRST, VERSION):
        what = "no version" if version is None else f"version {version}"
        raise StoreError(
            f"{name}: this label store has {what}, and this rulerank knows version {VERSION}; use a newer rulerank"
        )
    return int(version)


def prepare(connection: sa.Connection, name: str) -> None:
    """Create the tables of a new store, or what a store of the first version lacks: all of it or nothing."""
    version = version_of(connection, name)
    if version == VERSION:
        return  # another process was faster
    identity = secrets.token_hex(16)
    if version is None:
        METADATA.create_all(connection)
        connection.execute(STORE.insert().values(version=VERSION, identity=identity))
        return
    connection.exec_driver_sql(f"ALTER TABLE {STORE.name} ADD COLUMN identity TEXT")
    JUDGEMENTS.create(connection)
    connection.execute(STORE.update().values(version=VERSION, identity=identity))


def identity_of(connection: sa.Connection) -> str:
    """Return what tells a store of this version from every other."""
    return str(connection.execute(sa.select(STORE.c.identity)).scalar_one())


def has_checks(connection: sa.Connection) -> bool:
    """Tell whether the store has a table of checks: those of version 2 get it with their first one."""
    return sa.inspect(connection).has_table(CHECKS.name)
