"""The label store: facts about who graded what, in an SQLite file or a PostgreSQL database. Nothing is deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rulerank.core.checks import check_number, is_whole
from rulerank.errors import DataError
from rulerank.judging import schema as sql
from rulerank.judging import versions
from rulerank.judging.labels import CheckRecord, Claim, Glance, Label, Skip, State, check_grade, check_name
from rulerank.judging.rows import as_text, check_of, claim_of, label_of, skip_of
from rulerank.judging.team_store import TeamStore, note, page_named, seen

if TYPE_CHECKING:
    import sqlalchemy as sa

Judged = tuple[str, str, int | None, str]  # query, doc, grade, rater


class LabelStore(TeamStore):
    """Keep what raters say of documents: every label that `add` has returned survives a crash of anything.

    target: the path of an SQLite file, made when it is not there, or a URL such as postgresql://user@host/labels.
    Several threads and processes may use a store at once. A rater who grades a document again supersedes the own
    label; `undo` withdraws; old labels stay in `history`. A store that can only be read opens, and is read.

    Whatever may be sent twice can bring the id of its `judgement`, made where the key was pressed: the store keeps one
    of each, and what comes with a known id changes nothing and is answered as the first was.

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
        """Keep a grade (None: cannot be judged), superseding what this rater said of the document before.

        judgement: an id; the label of a known one is returned as it was given, and nothing changes.
        once: without an id, a grade that is in force already is no new label.
        page: where it was given, for the history.
        """
        names, grade, page = _names(query, doc, rater), check_grade(grade), page_named(page)
        with self._write() as connection:
            before = seen(connection, "label", judgement, names)
            if before is not None:
                first = self._one(connection, before.label)
                return replace(first, superseded_by=None, withdrawn=None, withdrawn_page=None)
            in_force = connection.execute(sql.OWN_LABEL, names).first() if once and judgement is None else None
            if in_force is not None and in_force.grade == grade:
                return label_of(in_force, self.name)
            (label,) = self._add(connection, [(names, grade)], page)
            note(connection, "label", judgement, names, label)
        return label

    def add_all(self, judged: Iterable[Judged], *, page: str | None = None) -> list[Label]:
        """Keep many grades, given as (query, doc, grade, rater): all of them or, when one is wrong, none."""
        checked = [(_names(query, doc, rater), check_grade(grade)) for query, doc, grade, rater in judged]
        times = Counter(tuple(names.values()) for names, _ in checked)
        if len(times) < len(checked):
            (query, doc, rater), _ = times.most_common(1)[0]
            raise DataError(
                "a rater can grade a document only once at a time: "
                f"{doc!r:.60} of query {query!r:.60} by {rater!r} is there twice"
            )
        if not checked:
            return []
        with self._write() as connection:
            return self._add(connection, checked, page_named(page))

    def _add(
        self, connection: sa.Connection, checked: list[tuple[dict[str, Any], int | None]], page: str | None
    ) -> list[Label]:
        last_id, now = connection.execute(sql.LAST_ID).scalar_one(), self._now()
        rows = [
            names | {"new_id": last_id + number, "new_grade": grade, "now": as_text(now), "new_page": page}
            for number, (names, grade) in enumerate(checked, start=1)
        ]
        for statement in (sql.SUPERSEDE, sql.ADD_LABEL, sql.DROP_CLAIM, sql.DROP_SKIP):
            connection.execute(statement, rows)
        return [
            Label(row["new_id"], row["the_query"], row["the_doc"], row["new_grade"], row["the_rater"], now, page=page)
            for row in rows
        ]

    def undo(self, rater: str, *, judgement: str | None = None, page: str | None = None) -> Label | None:
        """Withdraw this rater's latest label, which brings back the one it superseded; None: there is no label."""
        own, page = {"the_rater": check_name("rater", rater)}, page_named(page)
        with self._write() as connection:
            before = seen(connection, "undo", judgement, own)
            if before is not None:
                return None if before.label is None else self._one(connection, before.label)
            found = connection.execute(sql.LATEST_OF_RATER, own).first()
            undone = None
            if found is not None:
                now = self._now()
                connection.execute(sql.WITHDRAW, {"label_id": found.id, "now": as_text(now), "new_page": page})
                connection.execute(sql.BRING_BACK, {"label_id": found.id})
                undone = replace(label_of(found, self.name), withdrawn=now, withdrawn_page=page)
            note(connection, "undo", judgement, own, undone)
        return undone

    def labels(self, rater: str | None = None, *, after: int = 0) -> list[Label]:
        """Return the current labels in the order of time, of one rater or of all, those with a higher id than after."""
        if rater is None:
            return self._labels(self._reading.current, {"after": after})
        return self._labels(self._reading.of_rater, {"after": after, "the_rater": check_name("rater", rater)})

    def history(self) -> list[Label]:
        """Return every label ever given, in the order of time."""
        return self._labels(self._reading.history, {})

    def state(self) -> State:
        """Return what tells cheaply whether labels have changed since it was last asked."""
        with self._read() as connection:
            return self._state(connection)

    def glance(self, rater: str) -> Glance:
        """Return `state`, `claims` and what this rater has `skipped` in one go."""
        with self._read() as connection:
            return Glance(self._state(connection), self._claims(connection), _skipped(connection, rater))

    def claim(self, query: str, doc: str, rater: str, *, raters: int = 1, seconds: float = 900) -> bool:
        """Keep a document for a rater for some time, unless `raters` others hold it or have judged it already.

        A claim that has not run out, and one on a document the rater has judged, is always renewed.
        """
        names = _names(query, doc, rater)
        if not is_whole(raters, 1):
            raise DataError(f"raters must be a whole number from 1: got {raters!r}")
        check_number("seconds", seconds, 0, 1e9, "how long the claim lasts")
        now = self._now().timestamp()
        with self._write("for now") as connection:
            holders = {name for (name,) in connection.execute(sql.HOLDERS, names | {"now": now})}
            if rater not in holders and len(holders) >= raters:
                return False
            connection.execute(sql.CLEAR_CLAIMS, names | {"now": now})
            connection.execute(sql.ADD_CLAIM, names | {"new_until": now + seconds})
            return True

    def release(self, query: str, doc: str, rater: str) -> None:
        """Give up a claim."""
        with self._write() as connection:
            connection.execute(sql.DROP_CLAIM, _names(query, doc, rater))

    def claims(self) -> list[Claim]:
        """Return the claims that have not run out, the latest last."""
        with self._read() as connection:
            return self._claims(connection)

    def skip(self, query: str, doc: str, rater: str, *, judgement: str | None = None) -> None:
        """Note that a rater passes over a document, and give up the claim; grading it takes the note back."""
        names = _names(query, doc, rater)
        with self._write() as connection:
            if seen(connection, "skip", judgement, names) is not None:
                return
            note(connection, "skip", judgement, names)
            for statement in (sql.DROP_CLAIM, sql.DROP_SKIP, sql.ADD_SKIP):
                connection.execute(statement, names | {"now": as_text(self._now())})

    def skipped(self, rater: str) -> list[tuple[str, str]]:
        """Return the (query, doc) pairs a rater has passed over, in the order of time."""
        with self._read() as connection:
            return _skipped(connection, rater)

    def skips(self) -> list[Skip]:
        """Return what all raters have passed over and not graded since, in the order of time."""
        with self._read() as connection:
            return [skip_of(row, self.name) for row in connection.execute(sql.ALL_SKIPS)]

    def note_check(self, last_label: int, method: str, today: str) -> CheckRecord:
        """Note that a model, trained on the labels up to an id, is compared with today's ranking from now on."""
        with self._write() as connection:
            before = connection.execute(sql.LAST_CHECK).first()
            record = CheckRecord(1 if before is None else before.id + 1, last_label, method, today, self._now())
            connection.execute(sql.ADD_CHECK, record._asdict() | {"time": as_text(record.time)})
        return record

    def last_check(self) -> CheckRecord | None:
        """Return the latest of them; None: there is none."""
        with self._read() as connection:
            none = self._is_old and not versions.has_checks(connection)
            found = None if none else connection.execute(sql.LAST_CHECK).first()
        return None if found is None else check_of(found, self.name)

    @property
    def _reading(self) -> sql.Reading:
        return sql.READING_OLD if self._is_old else sql.READING

    def _state(self, connection: sa.Connection) -> State:
        return State(*connection.execute(self._reading.state).one())

    def _claims(self, connection: sa.Connection) -> list[Claim]:
        live = connection.execute(sql.LIVE_CLAIMS, {"now": self._now().timestamp()})
        return [claim_of(row, self.name) for row in live]

    def _labels(self, chosen: sa.Select[Any], parameters: dict[str, Any]) -> list[Label]:
        with self._read() as connection:
            return [label_of(row, self.name) for row in connection.execute(chosen, parameters)]

    def _one(self, connection: sa.Connection, label_id: int) -> Label:
        return label_of(connection.execute(sql.ONE_LABEL, {"label_id": label_id}).one(), self.name)


def _skipped(connection: sa.Connection, rater: str) -> list[tuple[str, str]]:
    found = connection.execute(sql.SKIPPED, {"the_rater": check_name("rater", rater)})
    return [(query, doc) for query, doc in found]


def _names(query: str, doc: str, rater: str) -> dict[str, Any]:
    return sql.document(check_name("query", query), check_name("doc", doc), check_name("rater", rater))
