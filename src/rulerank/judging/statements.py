"""The statements of a label store, built once: building one takes longer than running it."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from rulerank.judging.schema import CLAIMS, CURRENT, LABELS, SKIPS

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
