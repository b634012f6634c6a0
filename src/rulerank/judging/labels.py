"""What the label store holds: who gave which grade to which document, and when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rulerank.core.checks import is_whole
from rulerank.dataset import MAX_GRADE
from rulerank.errors import DataError, RulerankError

MOST_BYTES = {"query": 1000, "doc": 1000, "rater": 200}  # together below what a PostgreSQL index can hold


class StoreError(RulerankError, OSError):
    """A label store that cannot be opened, read or written."""


@dataclass(frozen=True, slots=True)
class Label:
    """One fact: a rater gave a grade to a document of a query, or said that it cannot be judged.

    >>> from datetime import UTC
    >>> label = Label(7, "q1", "d1", 2, "ann", datetime(2026, 1, 5, tzinfo=UTC))
    >>> label.is_current, label.to_json()["time"]
    (True, '2026-01-05T00:00:00+00:00')
    """

    id: int
    query: str
    doc: str
    grade: int | None  # None: cannot be judged
    rater: str
    time: datetime  # UTC
    superseded_by: int | None = None  # id of the label by which the same rater replaced it
    withdrawn: datetime | None = None  # when the rater took it back

    @property
    def is_current(self) -> bool:
        return self.superseded_by is None and self.withdrawn is None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "query": self.query,
            "doc": self.doc,
            "grade": self.grade,
            "rater": self.rater,
            "time": self.time.isoformat(),
            "superseded_by": self.superseded_by,
            "withdrawn": None if self.withdrawn is None else self.withdrawn.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class Claim:
    """A document that was handed to a rater and is kept for that rater until a time."""

    query: str
    doc: str
    rater: str
    until: datetime  # UTC


def agreed_grade(grades: Iterable[int | None]) -> int | None:
    """Return the grade of a document judged by several: the median, rounded down; None when nobody could judge it.

    >>> agreed_grade([3]), agreed_grade([1, 4]), agreed_grade([0, 2, None, 4]), agreed_grade([None])
    (3, 2, 2, None)
    """
    given = sorted(grade for grade in grades if grade is not None)
    if not given:
        return None
    return (given[(len(given) - 1) // 2] + given[len(given) // 2]) // 2


def check_name(kind: str, text: object) -> str:
    """Return a query, doc or rater as it is, once it is known to be text that every store can hold.

    >>> check_name("rater", "ann")
    'ann'
    """
    if not isinstance(text, str):
        raise DataError(f"a {kind} must be text: got {text!r:.60}")
    if not text.strip():
        raise DataError(f"a {kind} must not be empty: got {text!r:.60}")
    if "\0" in text:
        raise DataError(f"a {kind} must not hold a NUL character: got {text!r:.60}")
    try:
        n_bytes = len(text.encode())
    except UnicodeEncodeError:
        raise DataError(f"a {kind} must be text that UTF-8 can hold: got {text!r:.60}") from None
    if n_bytes > MOST_BYTES[kind]:
        raise DataError(f"a {kind} must have at most {MOST_BYTES[kind]:,} bytes: got {n_bytes:,}, {text[:40]!r} ...")
    return str(text)


def check_grade(grade: object, max_grade: int = MAX_GRADE) -> int | None:
    """Return a grade as a plain integer, None for a document that cannot be judged.

    >>> check_grade(2), check_grade(None)
    (2, None)
    """
    if grade is None:
        return None
    if not is_whole(grade, 0, max_grade):
        raise DataError(f"a grade must be a whole number from 0 to {max_grade}, or None: got {grade!r:.60}")
    return int(grade)  # type: ignore[call-overload]  # is_whole looked
