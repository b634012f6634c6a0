"""The label store in SQL: its tables and the statements on them."""

from __future__ import annotations

from typing import Any, NamedTuple

from rulerank.errors import MissingExtraError

try:
    import sqlalchemy as sa
except ImportError:
    raise MissingExtraError("judge", "SQLAlchemy") from None

METADATA = sa.MetaData()  # of all tables of a store


class FactTable:
    """A table of facts of which one is in force for each key, and its statements, which are built once.

    A fact has an id (1, 2, 3, ... in the order of commits), its key, its values, who said it, when and on which page.
    """

    def __init__(self, name: str, key: tuple[str, ...], values: dict[str, Any]) -> None:
        more = () if "rater" in key else (sa.Column("rater", sa.Text, nullable=False),)
        self.key = key
        self.table = table = sa.Table(
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
        current = table.c.superseded_by.is_(None) & table.c.withdrawn.is_(None)
        sa.Index(
            f"{name}_current",
            *(table.c[column] for column in key),
            unique=True,
            sqlite_where=current,
            postgresql_where=current,
        )
        same = sa.and_(*(table.c[column] == sa.bindparam(f"the_{column}") for column in key))
        one = table.c.id == sa.bindparam("fact_id")
        self.last_id = sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0))
        self.n_withdrawn = sa.select(sa.func.count()).where(table.c.withdrawn.is_not(None))
        self.history = sa.select(table).order_by(table.c.id)
        self.current = self.history.where(current)
        self.in_force = self.current.where(same)
        self.one = sa.select(table).where(one)
        self.supersede = table.update().where(current, same).values(superseded_by=sa.bindparam("new_id"))
        self.add = table.insert()
        self.withdraw = (
            table.update()
            .where(one)
            .values(
                withdrawn=sa.bindparam("now"), withdrawn_by=sa.bindparam("who"), withdrawn_page=sa.bindparam("where")
            )
        )
        back = table.c.superseded_by == sa.bindparam("fact_id")
        self.bring_back = table.update().where(back).values(superseded_by=None)

    def key_of(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that name a key."""
        return {f"the_{column}": values[column] for column in self.key}


DECISIONS = FactTable("decisions", ("query", "doc"), {"grade": sa.Integer})  # NULL: cannot be judged
ORDERS = FactTable("orders", ("query", "rater"), {"docs": sa.Text})  # a JSON list
JUDGES = FactTable("judges", ("judge",), {"kind": sa.Text})
SETTINGS = FactTable("settings", ("name",), {"value": sa.Text})  # JSON
TEAM = (DECISIONS, ORDERS, JUDGES, SETTINGS)
OTHER_JUDGES = sa.select(JUDGES.table.c.judge).where(
    JUDGES.table.c.superseded_by.is_(None), JUDGES.table.c.withdrawn.is_(None), JUDGES.table.c.kind != "person"
)
# a number that grows whenever a decision, a judge or a setting changes
CHANGES = sum(
    (one.last_id.scalar_subquery() + one.n_withdrawn.scalar_subquery() for one in (DECISIONS, JUDGES, SETTINGS)),
    start=sa.literal(0),
)


DatabaseError = sa.exc.SQLAlchemyError

STORE = sa.Table(
    "label_store",
    METADATA,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("identity", sa.Text),  # tells this store from every other, wherever it is moved; since version 2
)
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
    sa.Column("page", sa.Text),  # where it was given; since version 3
    sa.Column("withdrawn_page", sa.Text),  # where it was taken back; since version 3
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
    sa.Column("id", sa.Text, primary_key=True),  # made where the key was pressed: what is sent twice counts once
    sa.Column("kind", sa.Text, nullable=False),  # label, skip, undo, decision, order
    sa.Column("rater", sa.Text, nullable=False),
    sa.Column("query", sa.Text),
    sa.Column("doc", sa.Text),
    sa.Column("label", sa.ForeignKey("labels.id")),  # that was given, or taken back; NULL: none
    sa.Column("fact", sa.Integer),  # the id of another fact than a label; since version 3
)
CHECKS = sa.Table(  # some stores of version 2 have none
    "checks",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),  # 1, 2, 3, ...
    sa.Column("last_label", sa.Integer, nullable=False),  # the model learned from labels up to this id
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("today", sa.Text, nullable=False),
    sa.Column("time", sa.Text, nullable=False),  # ISO 8601, UTC
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


class Reading(NamedTuple):
    """The statements that read labels: those of an older store, which can only be read, lack its columns."""

    state: sa.Select[Any]
    history: sa.Select[Any]
    current: sa.Select[Any]
    of_rater: sa.Select[Any]


def _reading(changes: sa.ColumnElement[int], *columns: sa.ColumnElement[Any]) -> Reading:
    state = sa.select(LAST_ID.scalar_subquery(), N_WITHDRAWN.scalar_subquery(), changes)
    history = sa.select(*columns).order_by(LABELS.c.id)
    current = history.where(CURRENT, LABELS.c.id > sa.bindparam("after"))
    return Reading(state, history, current, current.where(LABELS.c.rater == RATER))


NEW = ("page", "withdrawn_page")  # columns of labels since version 3
READING = _reading(CHANGES, *LABELS.c)
READING_OLD = _reading(sa.literal(0), *(sa.null().label(c.name) if c.name in NEW else c for c in LABELS.c))
LATEST_OF_RATER = sa.select(LABELS).where(CURRENT, LABELS.c.rater == RATER).order_by(LABELS.c.id.desc()).limit(1)
OWN_LABEL = sa.select(LABELS).where(CURRENT, _own(LABELS))
ONE_LABEL = sa.select(LABELS).where(LABELS.c.id == LABEL_ID)

TOUCH = STORE.update().values(version=STORE.c.version)  # changes nothing, and fails where nothing can be written
KNOWN_JUDGEMENT = sa.select(JUDGEMENTS).where(JUDGEMENTS.c.id == sa.bindparam("judgement_id"))
ADD_JUDGEMENT = JUDGEMENTS.insert()

SUPERSEDE = LABELS.update().where(CURRENT, _own(LABELS)).values(superseded_by=NEW_ID)
ADD_LABEL = _insert(LABELS, id=NEW_ID, grade=sa.bindparam("new_grade"), time=NOW, page=sa.bindparam("new_page"))
WITHDRAW = LABELS.update().where(LABELS.c.id == LABEL_ID).values(withdrawn=NOW, withdrawn_page=sa.bindparam("new_page"))
BRING_BACK = LABELS.update().where(LABELS.c.superseded_by == LABEL_ID).values(superseded_by=None)

LIVE_CLAIMS = sa.select(CLAIMS).where(CLAIMS.c.until > NOW).order_by(*CLAIMS.c["until", "query", "doc"])
HOLDERS = sa.union(
    sa.select(CLAIMS.c.rater).where(_same_doc(CLAIMS), CLAIMS.c.until > NOW),
    sa.select(LABELS.c.rater).where(_same_doc(LABELS), CURRENT, LABELS.c.rater.not_in(OTHER_JUDGES)),
)  # a judge who is no person keeps nobody from judging
CLEAR_CLAIMS = CLAIMS.delete().where((CLAIMS.c.until <= NOW) | _own(CLAIMS))
DROP_CLAIM = CLAIMS.delete().where(_own(CLAIMS))
ADD_CLAIM = _insert(CLAIMS, until=sa.bindparam("new_until"))

SKIPPED = sa.select(SKIPS.c.query, SKIPS.c.doc).where(SKIPS.c.rater == RATER).order_by(*SKIPS.c["time", "query", "doc"])
ALL_SKIPS = sa.select(SKIPS).order_by(*SKIPS.c["time", "query", "doc", "rater"])
DROP_SKIP = SKIPS.delete().where(_own(SKIPS))
ADD_SKIP = _insert(SKIPS, time=NOW)

LAST_CHECK = sa.select(CHECKS).order_by(CHECKS.c.id.desc()).limit(1)
ADD_CHECK = CHECKS.insert()
