"""The words of judging: a label, who may hold a document, what a rater sees, and what keeps labels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.dataset import MAX_GRADE
from rulerank.errors import DataError, RulerankError

if TYPE_CHECKING:
    pass

MONEY = re.compile(r"(^|[^a-z])(price|cost|amount|fee|eur|usd|gbp)([^a-z]|$)", re.IGNORECASE)
GROUPED = 10_000  # whole numbers from here on have commas; a year has none


@dataclass(frozen=True, slots=True)
class ShownField:
    """A named value of a document, as text."""

    name: str
    text: str


def field_text(name: str, value: Any) -> str | None:
    """Return a value as people write it; None: there is nothing to show.

    >>> field_text("price", 24.9), field_text("reviews", 12400.0), field_text("year", 2019), field_text("rating", 4.25)
    ('24.90', '12,400', '2019', '4.25')
    >>> field_text("in_stock", True), field_text("brand", "Aldermoor"), field_text("rating", float("nan"))
    ('yes', 'Aldermoor', None)
    >>> field_text("genres", ["Horror", "Comedy"]), field_text("genres", [])
    ('Horror, Comedy', None)
    """
    if value is None:
        return None
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number):
        return _number_text(name, float(value))
    if isinstance(value, list | tuple | np.ndarray):
        texts = (field_text(name, one) for one in value)
        return ", ".join(text for text in texts if text is not None) or None
    return str(value).strip() or None


def _number_text(name: str, value: float) -> str | None:
    if not math.isfinite(value):
        return None
    if MONEY.search(name):
        return f"{value:,.2f}"
    if value == int(value):
        return f"{value:,.0f}" if abs(value) >= GROUPED else f"{value:.0f}"
    if abs(value) < 0.001:
        return f"{value:.2g}"
    n_decimals = max(0, 2 - math.floor(math.log10(abs(value))))  # three digits that say something
    return f"{value:,.{n_decimals}f}".rstrip("0").rstrip(".") if n_decimals else f"{value:,.0f}"


MOST_BYTES = {
    "query": 1000,
    "doc": 1000,
    "rater": 200,
    "judgement": 200,
    "page": 50,
}  # together below what a PostgreSQL index can hold
PAGES = {  # where labels come from, as the history names it
    "document": "one document at a time",
    "list": "the list of a query",
    "duel": "new against today",
    "disputes": "the disputes",
    "lead": "the lead's page",
    "import": "a file",
    "terminal": "the terminal",
    "api": "the API",
}
MAX_RATER = 50  # characters of a rater's name, of at most four bytes each


class StoreError(RulerankError, OSError):
    """A label store that cannot be opened, read or written."""


class ReadOnlyError(StoreError):
    """A label store that can at most be read."""


@dataclass(frozen=True, slots=True)
class Label:
    """One fact: a rater gave a grade to a document of a query, or said that it cannot be judged.

    >>> from datetime import UTC
    >>> label = Label(7, "q1", "d1", 2, "ann", datetime(2026, 1, 5, tzinfo=UTC))
    >>> label.is_current, label.to_dict()["time"]
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
    page: str | None = None  # where it was given, one of PAGES or a word of your own; None: it is not known
    withdrawn_page: str | None = None  # where it was taken back

    @property
    def is_current(self) -> bool:
        return self.superseded_by is None and self.withdrawn is None

    def to_dict(self) -> dict[str, Any]:
        withdrawn = None if self.withdrawn is None else self.withdrawn.isoformat()
        return asdict(self) | {"time": self.time.isoformat(), "withdrawn": withdrawn}


@dataclass(frozen=True, slots=True)
class Claim:
    """A document that was handed to a rater and is kept for that rater until a time."""

    query: str
    doc: str
    rater: str
    until: datetime  # UTC


class State(NamedTuple):
    """Numbers that only grow, and one of which grows whenever a label changes, or how labels count."""

    last_id: int
    n_withdrawn: int
    changes: int = 0  # of decisions, judges and settings


class Skip(NamedTuple):
    """A document that a rater passed over and has not graded since."""

    query: str
    doc: str
    rater: str
    time: datetime  # UTC


class Glance(NamedTuple):
    """What there is to know before a rater is answered, all of one moment."""

    state: State
    claims: list[Claim]
    skipped: list[tuple[str, str]]  # by the rater who asks


class CheckRecord(NamedTuple):
    """Which model was trained to be compared with today's ranking: by the labels of then it can be trained again."""

    id: int
    last_label: int  # id of the last label it learned from
    method: str
    today: str
    time: datetime  # UTC


class Plain:
    """Something that becomes plain values, which JSON and templates can take."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)  # type: ignore[call-overload]  # every subclass is a dataclass


@dataclass(frozen=True, slots=True)
class JudgingTask(Plain):
    """One document of one query to be judged, with what the pool says of both.

    >>> JudgingTask("q1", "d7", title="Milk").to_dict()["title"]
    'Milk'
    """

    query: str
    doc: str
    query_text: str | None = None
    description: str | None = None
    title: str | None = None
    text: str | None = None
    url: str | None = None
    image: str | None = None  # an address
    fields: tuple[ShownField, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress(Plain):
    """How far one rater and all together have come."""

    rater: str
    mine: int  # documents this rater has graded
    labelled: int  # documents anybody has graded
    cannot_judge: int  # documents nobody has graded and somebody said cannot be judged
    skipped: int  # documents this rater has skipped and not judged since
    pool_size: int  # documents in the pool
    closeness: float  # how near the sampler's stop is, from 0 to 1
    stops: bool  # by itself; else closeness is the share of the pool that is labelled
    done: bool  # there was nothing more for this rater when last asked
    reason: str = ""  # why, in words


def agreed_grade(grades: Iterable[int | None]) -> int | None:
    """Return the grade of a document judged by several, the median; None where it falls between two grades.

    An even number of raters may have no grade in the middle: of two who say 0 and 1 neither is more right. None, too,
    when nobody could judge it.

    >>> agreed_grade([3]), agreed_grade([0, 2, None, 4]), agreed_grade([1, 3])
    (3, 2, 2)
    >>> agreed_grade([0, 1]), agreed_grade([None])
    (None, None)
    """
    given = sorted(grade for grade in grades if grade is not None)
    if not given:
        return None
    middle, odd = divmod(given[(len(given) - 1) // 2] + given[len(given) // 2], 2)
    return None if odd else middle


def check_name(kind: str, text: object) -> str:
    """Return the name of a query, doc, rater, page or judgement as it is, if it is text that every store can hold.

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


def check_rater(name: str) -> str:
    """Return the name that a person gave, without spaces around it, or say what is wrong with it.

    >>> check_rater(" Ada Lovelace ")
    'Ada Lovelace'
    """
    name = name.strip()
    if not 1 <= len(name) <= MAX_RATER or not name.isprintable():
        raise DataError(f"a rater's name has 1 to {MAX_RATER} printable characters: got {ascii(name)[:80]}")
    return name


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


def labels_at(history: Iterable[Label], last_id: int, time: datetime) -> list[Label]:
    """Return the labels that were in force when the one of an id was the last, whatever became of them since.

    >>> from datetime import UTC
    >>> then, later = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 6, tzinfo=UTC)
    >>> given = [Label(1, "q", "d", 0, "ann", then, superseded_by=3), Label(2, "q", "e", 1, "ann", then, None, later)]
    >>> [label.id for label in labels_at([*given, Label(3, "q", "d", 2, "ann", later)], 2, then)]
    [1, 2]
    """
    found: dict[tuple[str, str, str], Label] = {}
    for label in history:
        replaced = label.superseded_by is not None and label.superseded_by <= last_id
        gone = label.withdrawn is not None and label.withdrawn <= time
        if label.id <= last_id and not replaced and not gone:
            found[label.query, label.doc, label.rater] = label  # an undo since then brought older ones back
    return [*found.values()]
