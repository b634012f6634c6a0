"""Rows of the label store as labels, claims and a team's facts, or what is wrong with a row that was changed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, NoReturn

from rulerank.dataset import MAX_GRADE
from rulerank.judging.labels import CheckRecord, Claim, Label, Skip, StoreError
from rulerank.judging.team import Decision, JudgeKind, Order, Setting


def as_text(moment: datetime) -> str:
    """Return a moment as the store keeps it."""
    return moment.isoformat(timespec="microseconds")


def label_of(row: Any, store: str) -> Label:
    """Return the label that a row of the table `labels` holds; store: its name, for the message."""
    if not all(isinstance(name, str) for name in (row.query, row.doc, row.rater, row.page or "")):
        _damaged(store, f"label {row.id!r:.40}", "a name that is no text")
    _check_grade(row, "label", store)
    withdrawn = None if row.withdrawn is None else _moment(row.withdrawn, row.id, store)
    time = _moment(row.time, row.id, store)
    return Label(
        row.id, row.query, row.doc, row.grade, row.rater, time, row.superseded_by, withdrawn, row.page,
        row.withdrawn_page,
    )  # fmt: skip


def claim_of(row: Any, store: str) -> Claim:
    """Return the claim that a row of the table `claims` holds."""
    try:
        return Claim(row.query, row.doc, row.rater, datetime.fromtimestamp(row.until, UTC))
    except (TypeError, ValueError, OverflowError, OSError):
        _damaged(store, f"the claim on {row.doc!r:.40}", f"the time {row.until!r:.40}")


def skip_of(row: Any, store: str) -> Skip:
    """Return the skip that a row of the table `skips` holds."""
    return Skip(row.query, row.doc, row.rater, _moment(row.time, row.doc, store, "the skip of"))


def check_of(row: Any, store: str) -> CheckRecord:
    """Return the record that a row of the table `checks` holds."""
    if type(row.last_label) is not int or not all(isinstance(text, str) for text in (row.method, row.today)):
        _damaged(store, f"check {row.id!r:.40}", "a number or a name of another kind")
    return CheckRecord(row.id, row.last_label, row.method, row.today, _moment(row.time, row.id, store, "check"))


def decision_of(row: Any, store: str) -> Decision:
    """Return the decision that a row of the table `decisions` holds."""
    _check_grade(row, "decision", store)
    return Decision(query=row.query, doc=row.doc, grade=row.grade, **_fact(row, "decision", store))


def order_of(row: Any, store: str) -> Order:
    """Return the order that a row of the table `orders` holds."""
    return Order(query=row.query, docs=tuple(_from_json(row.docs, row, "order", store)), **_fact(row, "order", store))


def judge_of(row: Any, store: str) -> JudgeKind:
    """Return what a row of the table `judges` says of a rater."""
    return JudgeKind(judge=row.judge, kind=row.kind, **_fact(row, "judge", store))


def setting_of(row: Any, store: str) -> Setting:
    """Return the setting that a row of the table `settings` holds."""
    return Setting(name=row.name, value=_from_json(row.value, row, "setting", store), **_fact(row, "setting", store))


def _fact(row: Any, kind: str, store: str) -> dict[str, Any]:
    return {
        "id": row.id,
        "rater": row.rater,
        "time": _moment(row.time, row.id, store, kind),
        "page": row.page,
        "superseded_by": row.superseded_by,
        "withdrawn": None if row.withdrawn is None else _moment(row.withdrawn, row.id, store, kind),
        "withdrawn_by": row.withdrawn_by,
        "withdrawn_page": row.withdrawn_page,
    }


def _check_grade(row: Any, kind: str, store: str) -> None:
    if row.grade is not None and not (type(row.grade) is int and 0 <= row.grade <= MAX_GRADE):
        _damaged(store, f"{kind} {row.id!r:.40}", f"the grade {row.grade!r:.40}")


def _from_json(text: Any, row: Any, kind: str, store: str) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        _damaged(store, f"{kind} {row.id!r:.40}", f"{text!r:.40}, which is no JSON")


def _moment(text: Any, number: Any, store: str, kind: str = "label") -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        moment = None
    if moment is None or moment.tzinfo is None:
        _damaged(store, f"{kind} {number!r:.40}", f"the time {text!r:.40}; expected one like 2026-01-05T12:00:00+00:00")
    return moment


def _damaged(store: str, what: str, found: str) -> NoReturn:
    raise StoreError(f"{store}: {what} has {found}: something else has changed the store; restore a copy of it")
