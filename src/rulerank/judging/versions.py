"""The versions of the label store: what a new one gets, how an old one is brought up, and what is refused."""

from __future__ import annotations

import secrets

from rulerank.judging.labels import StoreError
from rulerank.judging.schema import CHECKS, JUDGEMENTS, LABELS, METADATA, NEW, STORE, TEAM  # names a missing extra

# isort: split
import sqlalchemy as sa

VERSION = 3
# 1 has neither an identity nor judgements; 2 knows no pages, decisions, orders, judges and settings.
# What an older store does have can be read as it is.


def version_of(connection: sa.Connection, name: str) -> int | None:
    """Return the version of the store; None: nothing is there yet. Anything that is no store of ours is refused."""
    there = set(sa.inspect(connection).get_table_names())
    if STORE.name not in there:
        foreign = there if connection.dialect.name == "sqlite" else there & set(METADATA.tables)
        if foreign:
            raise StoreError(f"{name}: this is no label store: it holds the tables {', '.join(sorted(foreign)[:5])}")
        return None
    version = connection.execute(sa.select(sa.func.max(STORE.c.version))).scalar()
    if version is None or not 1 <= version <= VERSION:
        what = "no version" if version is None else f"version {version}"
        raise StoreError(
            f"{name}: this label store has {what}, and this rulerank knows version {VERSION}; use a newer rulerank"
        )
    return int(version)


def prepare(connection: sa.Connection, name: str) -> None:
    """Create the tables of a new store, or what a store of an older version lacks: all of it or nothing."""
    version = version_of(connection, name)
    if version is None:
        METADATA.create_all(connection)
        connection.execute(STORE.insert().values(version=VERSION, identity=secrets.token_hex(16)))
        return
    for older, step in STEPS.items():  # none where another process was faster
        if version <= older:
            step(connection)
    connection.execute(STORE.update().values(version=VERSION))


def _to_second(connection: sa.Connection) -> None:
    connection.exec_driver_sql(f"ALTER TABLE {STORE.name} ADD COLUMN identity TEXT")
    connection.execute(STORE.update().values(identity=secrets.token_hex(16)))
    connection.exec_driver_sql(
        f"CREATE TABLE {JUDGEMENTS.name} (id TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL, rater TEXT NOT NULL, "
        f"query TEXT, doc TEXT, label INTEGER REFERENCES {LABELS.name} (id))"
    )


def _to_third(connection: sa.Connection) -> None:
    for column in NEW:
        connection.exec_driver_sql(f"ALTER TABLE {LABELS.name} ADD COLUMN {column} TEXT")
    connection.exec_driver_sql(f"ALTER TABLE {JUDGEMENTS.name} ADD COLUMN fact INTEGER")
    CHECKS.create(connection, checkfirst=True)
    for one in TEAM:
        one.table.create(connection)


STEPS = {1: _to_second, 2: _to_third}  # what brings a version up to the next


def identity_of(connection: sa.Connection) -> str:
    """Return what tells a store of version 2 or later from every other."""
    return str(connection.execute(sa.select(STORE.c.identity)).scalar_one())


def has_checks(connection: sa.Connection) -> bool:
    """Tell whether the store has a table of checks: some of version 2 have none."""
    return sa.inspect(connection).has_table(CHECKS.name)
