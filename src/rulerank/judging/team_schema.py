"""The tables of a team in SQL: decisions, orders, what raters are, settings. All four are facts of one shape."""

from __future__ import annotations

from typing import Any

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
