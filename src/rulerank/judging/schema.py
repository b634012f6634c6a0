"""The label store in SQL: tables, statements, versions, and rows as values."""

from __future__ import annotations

import json
import secrets
from datetime import datetime
from typing import Any, Generic, TypeVar

from rulerank._util.words import old_names
from rulerank.dataset import MAX_GRADE
from rulerank.errors import MissingExtraError
from rulerank.judging.labels import Decision, Label, Order, RaterKind, Revocable, Setting, StoreError

try:
    import msgspec
    import sqlalchemy as sa
except ImportError:
    raise MissingExtraError("judge", "SQLAlchemy") from None

# version 1 lacks an identity and judgements; 2 pages, decisions, orders, kinds of raters, settings; 3, 4: older names
VERSION = 5
METADATA = sa.MetaData()  # of the tables of a store
DatabaseError = sa.exc.SQLAlchemyError

STORE = sa.Table(
    "label_store",
    METADATA,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("identity", sa.Text),  # unique, kept when the store is moved; since version 2
)
_LABELS = sa.Table(
    "labels",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),  # 1, 2, 3, ... in the order of commits
    sa.Column("query", sa.Text, nullable=False),
    sa.Column("doc", sa.Text, nullable=False),
    sa.Column("grade", sa.Integer),  # NULL: cannot be judged
    sa.Column("rater", sa.Text, nullable=False),
    sa.Column("time", sa.Text, nullable=False),  # ISO 8601, UTC
    # deferred: a label is superseded before its successor is inserted
    sa.Column("superseded_by", sa.ForeignKey("labels.id", deferrable=True, initially="DEFERRED")),
    sa.Column("withdrawn", sa.Text),  # ISO 8601, UTC
    sa.Column("page", sa.Text),  # where it was given; since version 3
    sa.Column("withdrawn_page", sa.Text),  # where it was withdrawn; since version 3
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
JUDGEMENTS = sa.Table(  # since version 2
    "judgements",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),  # made by the client: a repeated request counts once
    sa.Column("kind", sa.Text, nullable=False),  # label, skip, undo, decision, order
    sa.Column("rater", sa.Text, nullable=False),
    sa.Column("query", sa.Text),
    sa.Column("doc", sa.Text),
    sa.Column("label", sa.ForeignKey("labels.id")),  # that was given or withdrawn; NULL: none
    sa.Column("fact", sa.Integer),  # id of a fact that is not a label; since version 3
)
CHECKS = sa.Table(  # missing in some stores of version 2
    "checks",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),  # 1, 2, 3, ...
    sa.Column("last_label", sa.Integer, nullable=False),  # the model was trained on labels up to this id
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("baseline", sa.Text, nullable=False),
    sa.Column("time", sa.Text, nullable=False),  # ISO 8601, UTC
)


def _team_table(name: str, key: tuple[str, ...], values: dict[str, Any]) -> sa.Table:
    """Return a table of facts with id, key, values, rater, time and page."""
    more = () if "rater" in key else (sa.Column("rater", sa.Text, nullable=False),)
    return sa.Table(
        name,
        METADATA,
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        *(sa.Column(column, sa.Text, nullable=False) for column in key),
        *(sa.Column(column, kind) for column, kind in values.items()),
        *more,
        sa.Column("time", sa.Text, nullable=False),  # ISO 8601, UTC
        sa.Column("page", sa.Text),
        sa.Column("superseded_by", sa.Integer),
        sa.Column("withdrawn", sa.Text),  # ISO 8601, UTC
        sa.Column("withdrawn_by", sa.Text),
        sa.Column("withdrawn_page", sa.Text),
    )


Kind = TypeVar("Kind", bound=Revocable)
# statements are built once: building one takes longer than running it;
# parameters must not be named like columns in an UPDATE
QUERY: sa.BindParameter[str] = sa.bindparam("the_query")
DOC: sa.BindParameter[str] = sa.bindparam("the_doc")
RATER: sa.BindParameter[str] = sa.bindparam("the_rater")
NOW: sa.BindParameter[Any] = sa.bindparam("now")


class Facts(Generic[Kind]):
    """A table of facts, of which one per key is current, and its statements."""

    def __init__(self, kind: type[Kind], table: sa.Table, *key: str) -> None:
        self.kind, self.table, self.key = kind, table, key
        self.word = kind.__name__.lower()  # in the table of judgements
        self.undo_word = "undo" if kind is Label else f"undo {self.word}"
        self.in_force = in_force = table.c.superseded_by.is_(None) & table.c.withdrawn.is_(None)
        self._index(f"{table.name}_current", *key, where=in_force, unique=True)
        same = sa.and_(*(table.c[column] == sa.bindparam(f"the_{column}") for column in key))
        one = table.c.id == sa.bindparam("fact_id")
        self.last_id = sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0))
        self.n_withdrawn = sa.select(sa.func.count()).where(table.c.withdrawn.is_not(None))
        self.history = sa.select(table).order_by(table.c.id)
        self.current = self.history.where(in_force)
        self.same = self.current.where(same)
        self.one = sa.select(table).where(one)
        self.supersede = table.update().where(in_force, same).values(superseded_by=sa.bindparam("new_id"))
        self.add = table.insert()
        gone: dict[str, Any] = {"withdrawn": NOW, "withdrawn_page": sa.bindparam("where")}
        if "withdrawn_by" in table.c:
            gone["withdrawn_by"] = sa.bindparam("who")
        self.as_given: dict[str, Any] = dict.fromkeys(["superseded_by", *gone])  # resets what happened since
        self.withdraw = table.update().where(one).values(**gone)
        back = table.c.superseded_by == sa.bindparam("fact_id")
        self.bring_back = table.update().where(back).values(superseded_by=None)

    def _index(self, name: str, *columns: str, where: sa.ColumnElement[bool], unique: bool = False) -> None:
        condition: dict[str, Any] = {"sqlite_where": where, "postgresql_where": where}
        sa.Index(name, *(self.table.c[column] for column in columns), unique=unique, **condition)


class _LabelFacts(Facts[Label]):
    """Labels: with more indexes, and selections by rater and by id."""

    def __init__(self) -> None:
        super().__init__(Label, _LABELS, "query", "doc", "rater")
        columns = self.table.c
        self._index("labels_rater", "rater", "id", where=self.in_force)
        self._index("labels_superseded", "superseded_by", where=columns.superseded_by.is_not(None))
        self._index("labels_withdrawn", "id", where=columns.withdrawn.is_not(None))
        self.newer = self.current.where(columns.id > sa.bindparam("after"))
        self.newer_of_rater = self.newer.where(columns.rater == RATER)
        self.latest_of_rater = (
            sa.select(self.table).where(self.in_force, columns.rater == RATER).order_by(columns.id.desc()).limit(1)
        )


LABELS = _LabelFacts()
# a grade of NULL: cannot be judged
DECISIONS = Facts(Decision, _team_table("decisions", ("query", "doc"), {"grade": sa.Integer}), "query", "doc")
ORDERS = Facts(Order, _team_table("orders", ("query", "rater"), {"docs": sa.Text}), "query", "rater")  # a JSON list
RATER_KINDS = Facts(RaterKind, _team_table("rater_kinds", ("name",), {"kind": sa.Text}), "name")
SETTINGS = Facts(Setting, _team_table("settings", ("name",), {"value": sa.Text}), "name")  # JSON
TEAM = (DECISIONS, ORDERS, RATER_KINDS, SETTINGS)
OTHER_RATERS = sa.select(RATER_KINDS.table.c.name).where(RATER_KINDS.in_force, RATER_KINDS.table.c.kind != "person")
# grows whenever a decision, a kind of rater or a setting changes
CHANGES = sum(
    (one.last_id.scalar_subquery() + one.n_withdrawn.scalar_subquery() for one in (DECISIONS, RATER_KINDS, SETTINGS)),
    start=sa.literal(0),
)
STATE = sa.select(LABELS.last_id.scalar_subquery(), LABELS.n_withdrawn.scalar_subquery(), CHANGES)


def _same_doc(table: sa.Table) -> sa.ColumnElement[bool]:
    return sa.and_(table.c.query == QUERY, table.c.doc == DOC)


def _own(table: sa.Table) -> sa.ColumnElement[bool]:
    return sa.and_(_same_doc(table), table.c.rater == RATER)


def _insert(table: sa.Table, **more: Any) -> sa.Insert:
    return table.insert().values(query=QUERY, doc=DOC, rater=RATER, **more)


TOUCH = STORE.update().values(version=STORE.c.version)  # changes nothing, fails on a read-only store
KNOWN_JUDGEMENT = sa.select(JUDGEMENTS).where(JUDGEMENTS.c.id == sa.bindparam("judgement_id"))
ADD_JUDGEMENT = JUDGEMENTS.insert()

LIVE_CLAIMS = sa.select(CLAIMS).where(CLAIMS.c.until > NOW).order_by(*CLAIMS.c["until", "query", "doc"])
HOLDERS = sa.union(
    sa.select(CLAIMS.c.rater).where(_same_doc(CLAIMS), CLAIMS.c.until > NOW),
    sa.select(_LABELS.c.rater).where(_same_doc(_LABELS), LABELS.in_force, _LABELS.c.rater.not_in(OTHER_RATERS)),
)  # labels of non-human raters do not count
CLEAR_CLAIMS = CLAIMS.delete().where((CLAIMS.c.until <= NOW) | _own(CLAIMS))
DROP_CLAIM = CLAIMS.delete().where(_own(CLAIMS))
ADD_CLAIM = _insert(CLAIMS, until=sa.bindparam("new_until"))

SKIPPED = sa.select(SKIPS.c.query, SKIPS.c.doc).where(SKIPS.c.rater == RATER).order_by(*SKIPS.c["time", "query", "doc"])
ALL_SKIPS = sa.select(SKIPS).order_by(*SKIPS.c["time", "query", "doc", "rater"])
DROP_SKIP = SKIPS.delete().where(_own(SKIPS))
ADD_SKIP = _insert(SKIPS, time=NOW)

LAST_CHECK = sa.select(CHECKS).order_by(CHECKS.c.id.desc()).limit(1)
ADD_CHECK = CHECKS.insert()


def version_of(connection: sa.Connection, name: str) -> int | None:
    """Return the version of the store; None if it is new. Refuses other databases."""
    there = set(sa.inspect(connection).get_table_names())
    if STORE.name not in there:
        foreign = there if connection.dialect.name == "sqlite" else there & set(METADATA.tables)
        if foreign:
            raise StoreError(f"{name}: this is not a label store: it has the tables {', '.join(sorted(foreign)[:5])}")
        return None
    version = connection.execute(sa.select(sa.func.max(STORE.c.version))).scalar()
    if version is None or not 1 <= version <= VERSION:
        what = "no version" if version is None else f"version {version}"
        raise StoreError(
            f"{name}: this label store has {what}, this rulerank reads up to {VERSION}; use a newer rulerank"
        )
    return int(version)


def prepare(connection: sa.Connection, name: str) -> None:
    """Create the tables of a new store, or upgrade an older one, in one transaction."""
    version = version_of(connection, name)
    if version is None:
        METADATA.create_all(connection)
        connection.execute(STORE.insert().values(version=VERSION, identity=secrets.token_hex(16)))
        return
    if version < 2:
        connection.exec_driver_sql(f"ALTER TABLE {STORE.name} ADD COLUMN identity TEXT")
        connection.execute(STORE.update().values(identity=secrets.token_hex(16)))
        connection.exec_driver_sql(
            f"CREATE TABLE {JUDGEMENTS.name} (id TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL, rater TEXT NOT NULL, "
            f"query TEXT, doc TEXT, label INTEGER REFERENCES {_LABELS.name} (id))"
        )
    if version < 3:  # another process may have upgraded it meanwhile
        for column in ("page", "withdrawn_page"):
            connection.exec_driver_sql(f"ALTER TABLE {_LABELS.name} ADD COLUMN {column} TEXT")
        connection.exec_driver_sql(f"ALTER TABLE {JUDGEMENTS.name} ADD COLUMN fact INTEGER")
        CHECKS.create(connection, checkfirst=True)
        for one in TEAM:
            one.table.create(connection)
    if version < 5:  # each step looks first: version 4 had some of the names
        there = {column["name"] for column in sa.inspect(connection).get_columns(CHECKS.name)}
        for old, new in old_names("columns of label stores").items():
            if old in there:
                connection.exec_driver_sql(f"ALTER TABLE {CHECKS.name} RENAME COLUMN {old} TO {new}")
        tables = sa.inspect(connection).get_table_names()
        for old, new in old_names("tables of label stores").items():
            if old in tables:
                column = old.removesuffix("s")
                connection.exec_driver_sql(f"DROP INDEX {old}_current")
                connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")
                connection.exec_driver_sql(f"ALTER TABLE {new} RENAME COLUMN {column} TO name")
                for index in METADATA.tables[new].indexes:
                    index.create(connection)
        for old, new in old_names("settings of label stores").items():
            names = SETTINGS.table.c.name
            connection.execute(SETTINGS.table.update().where(names == old).values({names: new}))
        for old, new in old_names("pages of label stores").items():
            for table in (_LABELS, *(one.table for one in TEAM)):
                for where in (table.c.page, table.c.withdrawn_page):
                    connection.execute(table.update().where(where == old).values({where: new}))
    connection.execute(STORE.update().values(version=VERSION))


Row = TypeVar("Row")
JSONS: dict[type, str] = {Order: "docs", Setting: "value"}  # columns that hold JSON


def as_text(moment: datetime) -> str:
    """Return a time in the format of the store."""
    return moment.isoformat(timespec="microseconds")


def value_of(kind: type[Row], values: dict[str, Any], store: str) -> Row:
    """Convert a row to a value; a damaged row is an error. store: name for the message."""
    values = {f"{column}": value for column, value in values.items()}  # SQLAlchemy's names are not plain str
    try:
        if kind in JSONS:
            values[JSONS[kind]] = json.loads(values[JSONS[kind]])
        value = msgspec.convert(values, kind)
        grade = values.get("grade")
        if grade is not None and not 0 <= grade <= MAX_GRADE:
            raise ValueError(f"the grade {grade}")
        for column in ("time", "withdrawn"):
            moment = getattr(value, column, None)
            if moment is not None and moment.tzinfo is None:
                raise ValueError(f"the time {values[column]!r}; expected one like 2026-01-05T12:00:00+00:00")
        return value
    except (TypeError, ValueError) as error:
        what = f"{kind.__name__.lower()} {values.get('id', values.get('doc'))!r:.40}"
        raise StoreError(
            f"{store}: {what} is damaged ({error}): another program has changed the store; restore a copy of it"
        ) from None
