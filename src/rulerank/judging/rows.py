"""Rows of the label store as labels and claims, or what is wrong with a row that something else has changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NoReturn

from rulerank.dataset import MAX_GRADE
from rulerank.judging.labels import CheckRecord, Claim, Label, StoreError


def as_text(moment: datetime) -> str:
    """Return a moment as the store keeps it."""
    return moment.isoformat(timespec="microseconds")


def label_of(row: Any, store: str) -> Label:
    """Return the label that a row of the table `labels` holds; store: its name, for the message."""
    if not all(isinstance(name, str) for name in (row.query, row.doc, row.rater)):
        _damaged(store, f"label {row.id!r:.40}", "a name that is no text")
    if row.grade is not None and not (type(row.grade) is int and 0 <= row.grade <= MAX_GRADE):
        _damaged(store, f"label {row.id!r:.40}", f"the grade {row.grade!r:.40}")
    withdrawn = None if row.withdrawn is None else _moment(row.withdrawn, row.id, store)
    time = _moment(row.time, row.id, store)
    return Label(row.id, row.query, row.doc, row.grade, row.rater, time, row.superseded_by, withdrawn)


def claim_of(row: Any, store: str) -> Claim:
    """Return the claim that a row of the table `claims` holds."""
    try:
        return Claim(row.query, row.doc, row.rater, datetime.fromtimestamp(row.until, UTC))
    except (TypeError, ValueError, OverflowError, OSError):
        _damaged(store, f"the claim on {row.doc!r:.40}", f"the time {row.until!r:.40}")


def check_of(row: Any, store: str) -> CheckRecord:
    """Return the record that a row of the table `checks` holds."""
    if type(row.last_label) is not int or not all(isinstance(text, str) for text in (row.method, row.today)):
        _damaged(store, f"check {row.id!r:.40}", "a number or a name of another kind")
    return CheckRecord(row.id, row.last_label, row.method, row.today, _moment(row.time, row.id, store, "check"))


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
