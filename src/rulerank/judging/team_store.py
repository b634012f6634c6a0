"""What a team's store keeps beside labels: the lead's decisions and settings, and what raters are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from rulerank.errors import DataError
from rulerank.judging import schema as sql
from rulerank.judging.engines import StoreFile
from rulerank.judging.labels import Label, check_grade, check_name
from rulerank.judging.rows import as_text, decision_of, judge_of, order_of, setting_of
from rulerank.judging.schema import DECISIONS, JUDGES, ORDERS, SETTINGS, FactTable
from rulerank.judging.team import (
    PERSON,
    Decision,
    Fact,
    JudgeKind,
    Order,
    Setting,
    Settings,
    check_kind,
    check_setting,
    settings_of,
)

if TYPE_CHECKING:
    import sqlalchemy as sa

AnyFact = TypeVar("AnyFact", bound=Fact)
ReadFact = Callable[[Any, str], AnyFact]
AS_IT_WAS: dict[str, Any] = dict.fromkeys(("superseded_by", "withdrawn", "withdrawn_by", "withdrawn_page"))


class TeamStore(StoreFile):
    """Facts of a team. As of labels, nothing is deleted: the next fact of its key supersedes one, undoing withdraws it.

    A judgement's id makes what is sent twice count once, as it does for labels; page is where something was said.
    """

    def decide(
        self,
        query: str,
        doc: str,
        grade: int | None,
        rater: str,
        *,
        judgement: str | None = None,
        page: str | None = None,
    ) -> Decision:
        """Keep the lead's grade of a document (None: cannot be judged), which counts instead of the raters' grades."""
        values = {"query": check_name("query", query), "doc": check_name("doc", doc), "grade": check_grade(grade)}
        return self._keep(DECISIONS, decision_of, values, rater, page, "decision", judgement)

    def undo_decision(
        self, query: str, doc: str, rater: str, *, judgement: str | None = None, page: str | None = None
    ) -> Decision | None:
        """Withdraw the decision on a document, which brings back the one it superseded; None: there is none."""
        values = {"query": check_name("query", query), "doc": check_name("doc", doc)}
        return self._withdraw(DECISIONS, decision_of, values, rater, page, "undo decision", judgement)

    def decisions(self) -> list[Decision]:
        """Return the decisions in force, in the order of time."""
        return self._facts(DECISIONS.current, decision_of)

    def decision_history(self) -> list[Decision]:
        """Return every decision ever taken."""
        return self._facts(DECISIONS.history, decision_of)

    def orders(self, rater: str | None = None) -> list[Order]:
        """Return the orders in force that raters gave in version 0.1, of one rater or of all, in the order of time."""
        return [order for order in self._facts(ORDERS.current, order_of) if rater in (None, order.rater)]

    def order_history(self) -> list[Order]:
        """Return every order ever given."""
        return self._facts(ORDERS.history, order_of)

    def name_judge(self, judge: str, kind: str, rater: str, *, page: str | None = None) -> JudgeKind:
        """Say that a rater is no person but another judge, one of `team.KINDS`; "person" takes it back."""
        values = {"judge": check_name("rater", judge), "kind": check_kind(kind)}
        return self._keep(JUDGES, judge_of, values, rater, page)

    def judges(self) -> dict[str, str]:
        """Return the raters who are no people, each with what it is."""
        return {one.judge: one.kind for one in self._facts(JUDGES.current, judge_of) if one.kind != PERSON}

    def judge_history(self) -> list[JudgeKind]:
        """Return everything that was ever said of what raters are."""
        return self._facts(JUDGES.history, judge_of)

    def change_setting(self, name: str, value: Any, rater: str, *, page: str | None = None) -> Setting:
        """Keep a setting of the lead's, one of `team.SETTINGS`; all processes have it from now on."""
        values = {"name": name, "value": json.dumps(check_setting(name, value))}
        return self._keep(SETTINGS, setting_of, values, rater, page)

    def settings(self) -> Settings:
        """Return what the lead has set, and the usual values of the rest."""
        return settings_of({one.name: one.value for one in self._facts(SETTINGS.current, setting_of)})

    def setting_history(self) -> list[Setting]:
        """Return every setting ever made."""
        return self._facts(SETTINGS.history, setting_of)

    def _keep(
        self,
        facts: FactTable,
        read: ReadFact[AnyFact],
        values: dict[str, Any],
        rater: str,
        page: str | None,
        kind: str = "",
        judgement: str | None = None,
    ) -> AnyFact:
        values = values | {"rater": check_name("rater", rater), "page": page_named(page)}
        names = _names(values)
        with self._write() as connection:
            before = seen(connection, kind, judgement, names)
            if before is not None:
                return replace(self._fact(connection, facts, read, before.fact), **AS_IT_WAS)
            new_id = connection.execute(facts.last_id).scalar_one() + 1
            connection.execute(facts.supersede, facts.key_of(values) | {"new_id": new_id})
            connection.execute(facts.add, values | {"id": new_id, "time": as_text(self._now())})
            note(connection, kind, judgement, names, fact=new_id)
            return self._fact(connection, facts, read, new_id)

    def _withdraw(
        self,
        facts: FactTable,
        read: ReadFact[AnyFact],
        values: dict[str, Any],
        rater: str,
        page: str | None,
        kind: str,
        judgement: str | None,
    ) -> AnyFact | None:
        values = values | {"rater": check_name("rater", rater)}
        names = _names(values)
        gone = {"now": as_text(self._now()), "who": rater, "where": page_named(page)}
        with self._write() as connection:
            before = seen(connection, kind, judgement, names)
            if before is not None:
                return None if before.fact is None else self._fact(connection, facts, read, before.fact)
            found = connection.execute(facts.in_force, facts.key_of(values)).first()
            note(connection, kind, judgement, names, fact=None if found is None else found.id)
            if found is None:
                return None
            connection.execute(facts.withdraw, gone | {"fact_id": found.id})
            connection.execute(facts.bring_back, {"fact_id": found.id})
            return self._fact(connection, facts, read, found.id)

    def _facts(self, chosen: sa.Select[Any], read: ReadFact[AnyFact]) -> list[AnyFact]:
        if self._is_old:  # its tables are not there yet
            return []
        with self._read() as connection:
            return [read(row, self.name) for row in connection.execute(chosen)]

    def _fact(self, connection: sa.Connection, facts: FactTable, read: ReadFact[AnyFact], fact_id: int) -> AnyFact:
        return read(connection.execute(facts.one, {"fact_id": fact_id}).one(), self.name)


def page_named(page: str | None) -> str | None:
    """Return where something was said, if it is a name."""
    return None if page is None else check_name("page", page)


def _names(values: dict[str, Any]) -> dict[str, Any]:
    return {f"the_{name}": values[name] for name in ("query", "doc", "rater") if name in values}


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
