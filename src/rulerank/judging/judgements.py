"""What a store has been sent already: one row per id, so that a judgement that comes twice counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulerank.errors import DataError
from rulerank.judging import schema as sql
from rulerank.judging.labels import Label, check_name

if TYPE_CHECKING:
    import sqlalchemy as sa


def seen(connection: sa.Connection, kind: str, judgement: str | None, names: dict[str, Any]) -> Any:
    """Return the row of a judgement that was kept before; None: it is new, or has no id.

    An id that stands for anything else is refused: nobody is told that something is kept which is not.
    """
    if judgement is None:
        return None
    row = connection.execute(sql.KNOWN_JUDGEMENT, {"judgement_id": check_name("judgement", judgement)}).first()
    if row is not None and (row.kind, row.rater, row.query, row.doc) != _what(kind, names):
        raise DataError(
            f"the judgement id {judgement!r:.60} stands for another judgement: make a new id for each key press"
        )
    return row


def note(
    connection: sa.Connection,
    kind: str,
    judgement: str | None,
    names: dict[str, Any],
    label: Label | None = None,
    fact: int | None = None,
) -> None:
    """Keep the id of a judgement and what came of it: a label, or the id of a fact of another kind."""
    if judgement is None:
        return
    columns = dict(zip(("kind", "rater", "query", "doc"), _what(kind, names), strict=True))
    row = columns | {"id": judgement, "label": None if label is None else label.id, "fact": fact}
    connection.execute(sql.ADD_JUDGEMENT, row)


def _what(kind: str, names: dict[str, Any]) -> tuple[Any, ...]:
    return kind, names["the_rater"], names.get("the_query"), names.get("the_doc")
