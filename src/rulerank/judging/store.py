"""The label store, in an SQLite file or a PostgreSQL database. Nothing is deleted.

Besides labels it keeps the admin's decisions and settings, and which raters are not human.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeVar

from rulerank._util.parameters import check_number, is_whole
from rulerank.errors import DataError
from rulerank.judging import schema as sql
from rulerank.judging.database import Database
from rulerank.judging.labels import (
    PERSON,
    CheckRecord,
    Claim,
    Decision,
    Glance,
    Label,
    Pair,
    RaterKind,
    Revocable,
    Setting,
    Settings,
    Skip,
    State,
    check_grade,
    check_kind,
    check_name,
)
from rulerank.judging.schema import DECISIONS, LABELS, RATER_KINDS, SETTINGS, TEAM, Facts, as_text, value_of

if TYPE_CHECKING:
    import sqlalchemy as sa

Judged = tuple[str, str, int | None, str]  # query, doc, grade, rater
Kind = TypeVar("Kind", bound=Revocable)


class LabelStore(Database):
    """Stores labels: every label that `add` has returned survives a crash.

    target: the path of an SQLite file, created if missing, or a URL such as postgresql://user@host/labels.
    Several threads and processes may use a store at once. A new grade of the same rater supersedes the old one; `undo`
    withdraws it; old labels stay in `history`. A read-only store can be read.

    Requests that may be sent twice can carry a `judgement` id: a second request with the same id changes nothing and
    gets the first answer. `page` is where a label was given, for the history.

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

    def add(
        self,
        query: str,
        doc: str,
        grade: int | None,
        rater: str,
        *,
        judgement: str | None = None,
        once: bool = False,
        page: str | None = None,
    ) -> Label:
        """Store a grade (None: cannot be judged), superseding this rater's previous label of the document.

        judgement: an id; if it is known, returns the label that was stored with it.
        once: without an id, do not store a grade that is current already.
        """
        return self._give(LABELS, _graded(query, doc, grade, rater, page), judgement, once=once)

    def add_all(
        self, judged: Iterable[Judged], *, page: str | None = None, pages: Mapping[Pair, str] | None = None
    ) -> list[Label]:
        """Store many grades, given as (query, doc, grade, rater): all, or none if one is invalid.

        pages: of some documents, instead of `page`.
        """
        own = pages or {}
        rows = [_graded(query, doc, grade, rater, own.get((query, doc), page)) for query, doc, grade, rater in judged]
        times = Counter((row["query"], row["doc"], row["rater"]) for row in rows)
        if len(times) < len(rows):
            (query, doc, rater), _ = times.most_common(1)[0]
            raise DataError(
                "a rater can grade a document only once at a time: "
                f"{doc!r:.60} of query {query!r:.60} by {rater!r} is given twice"
            )
        if not rows:
            return []
        with self._write() as connection:
            return self._add(connection, LABELS, rows)

    def undo(self, rater: str, *, judgement: str | None = None, page: str | None = None) -> Label | None:
        """Withdraw this rater's latest label and restore the one it superseded; None if there is no label."""
        own = {"rater": check_name("rater", rater)}
        return self._take_back(LABELS, LABELS.latest_of_rater, own, judgement, page)

    def labels(self, rater: str | None = None, *, after: int = 0) -> list[Label]:
        """Return the current labels of one rater or of all, oldest first, with ids above `after`."""
        if rater is None:
            return self._facts(LABELS, LABELS.newer, {"after": after})
        own = {"after": after, "the_rater": check_name("rater", rater)}
        return self._facts(LABELS, LABELS.newer_of_rater, own)

    def history(self) -> list[Label]:
        """Return every label ever given, oldest first."""
        return self._facts(LABELS, LABELS.history)

    def state(self) -> State:
        """Return counters that change with the labels; cheap to read."""
        with self._read() as connection:
            return State(*connection.execute(sql.STATE).one())

    def glance(self, rater: str) -> Glance:
        """Return `state`, `claims` and this rater's `skipped` at once."""
        with self._read() as connection:
            state = State(*connection.execute(sql.STATE).one())
            return Glance(state, self._claims(connection), _skipped(connection, rater))

    def claim(self, query: str, doc: str, rater: str, *, raters: int = 1, seconds: float = 900) -> bool:
        """Reserve a document for a rater for some time; False if `raters` others have reserved or judged it.

        A rater's own live claim, and a claim on a document the rater has judged, is always renewed.
        """
        names = _the(_names(query, doc, rater))
        if not is_whole(raters, 1):
            raise DataError(f"raters must be an integer of at least 1: got {raters!r}")
        check_number("seconds", seconds, 0, 1e9, "how long the claim lasts")
        now = self._now().timestamp()
        with self._write("for now") as connection:
            holders = {name for (name,) in connection.execute(sql.HOLDERS, names | {"now": now})}
            if rater not in holders and len(holders) >= raters:
                return False
            connection.execute(sql.CLEAR_CLAIMS, names | {"now": now})
            connection.execute(sql.ADD_CLAIM, names | {"new_until": now + seconds})
            return True

    def claims(self) -> list[Claim]:
        """Return the live claims, oldest first."""
        with self._read() as connection:
            return self._claims(connection)

    def skip(self, query: str, doc: str, rater: str, *, judgement: str | None = None) -> None:
        """Record that a rater skips a document, and drop the claim; grading it removes the record."""
        names = _names(query, doc, rater)
        with self._write() as connection:
            if _seen(connection, "skip", judgement, names) is not None:
                return
            _note(connection, None, "skip", judgement, names)
            for statement in (sql.DROP_CLAIM, sql.DROP_SKIP, sql.ADD_SKIP):
                connection.execute(statement, _the(names) | {"now": as_text(self._now())})

    def skipped(self, rater: str) -> list[Pair]:
        """Return the (query, doc) pairs that a rater has skipped, oldest first."""
        with self._read() as connection:
            return _skipped(connection, rater)

    def skips(self) -> list[Skip]:
        """Return all skips of documents that were not graded since, oldest first."""
        with self._read() as connection:
            return [value_of(Skip, row._asdict(), self.name) for row in connection.execute(sql.ALL_SKIPS)]

    def note_check(self, last_label: int, method: str, baseline: str) -> CheckRecord:
        """Record that a model, trained on the labels up to an id, is now compared with the baseline ranking."""
        with self._write() as connection:
            before = connection.execute(sql.LAST_CHECK).first()
            record = CheckRecord(1 if before is None else before.id + 1, last_label, method, baseline, self._now())
            connection.execute(sql.ADD_CHECK, asdict(record) | {"time": as_text(record.time)})
        return record

    def last_check(self) -> CheckRecord | None:
        """Return the latest record of `note_check`, or None."""
        with self._read() as connection:
            found = connection.execute(sql.LAST_CHECK).first()
        return None if found is None else value_of(CheckRecord, found._asdict(), self.name)

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
        """Store the admin's grade of a document (None: cannot be judged), which overrides the raters' grades."""
        return self._give(DECISIONS, _graded(query, doc, grade, rater, page), judgement)

    def undo_decision(
        self, query: str, doc: str, rater: str, *, judgement: str | None = None, page: str | None = None
    ) -> Decision | None:
        """Withdraw the decision on a document and restore the one it superseded; None if there is none."""
        return self._take_back(DECISIONS, DECISIONS.same, _names(query, doc, rater), judgement, page)

    def decisions(self) -> list[Decision]:
        """Return the current decisions, oldest first."""
        return self._facts(DECISIONS, DECISIONS.current)

    def history_of(self, kind: type[Kind]) -> list[Kind]:
        """Return every `Label`, `Decision`, `RaterKind` or `Setting` ever made, or every `Order` of version 0.1."""
        facts: Any = next(one for one in (LABELS, *TEAM) if one.kind is kind)
        return self._facts(facts, facts.history)

    def set_rater_kind(self, name: str, kind: str, rater: str, *, page: str | None = None) -> RaterKind:
        """Set the kind of a rater, one of `labels.KINDS`."""
        values = {"name": check_name("rater", name), "kind": check_kind(kind)}
        return self._say(RATER_KINDS, values, rater, page)

    def other_raters(self) -> dict[str, str]:
        """Return the non-human raters with their kinds."""
        return {one.name: one.kind for one in self._facts(RATER_KINDS, RATER_KINDS.current) if one.kind != PERSON}

    def change_setting(self, name: str, value: Any, rater: str, *, page: str | None = None) -> Setting:
        """Change one of the `labels.Settings`, for all processes."""
        known = Settings.of({name: value}).to_dict()
        if name not in known:
            raise DataError(f"unknown setting {name!r:.60}; choose from {', '.join(known)}")
        return self._say(SETTINGS, {"name": name, "value": json.dumps(known[name])}, rater, page)

    def settings(self) -> Settings:
        """Return the settings, with defaults for the rest."""
        return Settings.of({one.name: one.value for one in self._facts(SETTINGS, SETTINGS.current)})

    def _say(self, facts: Facts[Kind], values: dict[str, Any], rater: str, page: str | None) -> Kind:
        values |= {"rater": check_name("rater", rater), "page": _page(page)}
        with self._write() as connection:
            (fact,) = self._add(connection, facts, [values])
        return fact

    def _give(self, facts: Facts[Kind], values: dict[str, Any], judgement: str | None, *, once: bool = False) -> Kind:
        """Store a fact, unless its judgement id is known, or `once` is set and it is current already."""
        word, names = facts.word, {name: values[name] for name in ("query", "doc", "rater")}
        with self._write() as connection:
            before = _seen(connection, word, judgement, names)
            if before is not None:
                given: Any = self._one(connection, facts, before.label or before.fact)
                return replace(given, **facts.as_given)
            same = connection.execute(facts.same, _the(names)).first() if once and judgement is None else None
            if same is not None and same.grade == values["grade"]:
                return value_of(facts.kind, same._asdict(), self.name)
            (fact,) = self._add(connection, facts, [values])
            _note(connection, facts, word, judgement, names, fact.id)
        return fact

    def _add(self, connection: sa.Connection, facts: Facts[Kind], rows: list[dict[str, Any]]) -> list[Kind]:
        """Store facts, each superseding the current one of its key; a label ends claims and skips."""
        last_id, now = connection.execute(facts.last_id).scalar_one(), as_text(self._now())
        rows = [row | {"id": last_id + number, "time": now} for number, row in enumerate(rows, start=1)]
        keys = [_the({name: row[name] for name in facts.key}) for row in rows]
        connection.execute(facts.supersede, [key | {"new_id": row["id"]} for key, row in zip(keys, rows, strict=True)])
        connection.execute(facts.add, rows)
        if facts is LABELS:
            for statement in (sql.DROP_CLAIM, sql.DROP_SKIP):
                connection.execute(statement, keys)
        return [value_of(facts.kind, dict(row), self.name) for row in rows]

    def _take_back(
        self, facts: Facts[Kind], chosen: sa.Select[Any], names: dict[str, Any], judgement: str | None, page: str | None
    ) -> Kind | None:
        """Withdraw a fact and restore the one it superseded."""
        page, word = _page(page), facts.undo_word
        with self._write() as connection:
            before = _seen(connection, word, judgement, names)
            if before is not None:
                known = before.label or before.fact
                return None if known is None else self._one(connection, facts, known)
            found = connection.execute(chosen, _the(names)).first()
            _note(connection, facts, word, judgement, names, None if found is None else found.id)
            if found is None:
                return None
            gone = {"fact_id": found.id, "now": as_text(self._now()), "where": page, "who": names["rater"]}
            connection.execute(facts.withdraw, gone)
            connection.execute(facts.bring_back, {"fact_id": found.id})
            return self._one(connection, facts, found.id)

    def _facts(
        self, facts: Facts[Kind], chosen: sa.Select[Any], parameters: dict[str, Any] | None = None
    ) -> list[Kind]:
        with self._read() as connection:
            found = connection.execute(chosen, parameters or {})
            return [value_of(facts.kind, row._asdict(), self.name) for row in found]

    def _one(self, connection: sa.Connection, facts: Facts[Kind], fact_id: int) -> Kind:
        return value_of(facts.kind, connection.execute(facts.one, {"fact_id": fact_id}).one()._asdict(), self.name)

    def _claims(self, connection: sa.Connection) -> list[Claim]:
        live = connection.execute(sql.LIVE_CLAIMS, {"now": self._now().timestamp()})
        return [value_of(Claim, row._asdict(), self.name) for row in live]


def _skipped(connection: sa.Connection, rater: str) -> list[Pair]:
    found = connection.execute(sql.SKIPPED, {"the_rater": check_name("rater", rater)})
    return [(query, doc) for query, doc in found]


def _names(query: str, doc: str, rater: str) -> dict[str, Any]:
    return {"query": check_name("query", query), "doc": check_name("doc", doc), "rater": check_name("rater", rater)}


def _graded(query: str, doc: str, grade: int | None, rater: str, page: str | None) -> dict[str, Any]:
    return _names(query, doc, rater) | {"grade": check_grade(grade), "page": _page(page)}


def _page(page: str | None) -> str | None:
    return None if page is None else check_name("page", page)


def _the(names: dict[str, Any]) -> dict[str, Any]:
    """Return names as the parameters of statements."""
    return {f"the_{name}": value for name, value in names.items()}


def _seen(connection: sa.Connection, kind: str, judgement: str | None, names: dict[str, Any]) -> Any:
    """Return the stored row of a judgement id; None if it is new or there is no id.

    An id that was used for something else is refused.
    """
    if judgement is None:
        return None
    row = connection.execute(sql.KNOWN_JUDGEMENT, {"judgement_id": check_name("judgement", judgement)}).first()
    meant = kind, names["rater"], names.get("query"), names.get("doc")
    if row is not None and (row.kind, row.rater, row.query, row.doc) != meant:
        raise DataError(
            f"the judgement id {judgement!r:.60} was used for another judgement: make a new id for each key press"
        )
    return row


def _note(
    connection: sa.Connection,
    facts: Facts[Any] | None,
    word: str,
    judgement: str | None,
    names: dict[str, Any],
    fact: int | None = None,
) -> None:
    """Store the id of a judgement and the id of its label, or of its fact of another kind."""
    if judgement is not None:
        known = {"label": fact, "fact": None} if facts is LABELS else {"label": None, "fact": fact}
        connection.execute(
            sql.ADD_JUDGEMENT, {"query": None, "doc": None, "id": judgement, "kind": word} | names | known
        )
