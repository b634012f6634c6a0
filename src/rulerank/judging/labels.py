"""The values of judging: labels, decisions, settings, judging tasks, and checks of names."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple

from rulerank._util.parameters import is_whole
from rulerank.dataset import MAX_GRADE
from rulerank.errors import DataError, RulerankError

MOST_BYTES = {  # together below what a PostgreSQL index can hold
    "query": 1000,
    "doc": 1000,
    "rater": 200,
    "judgement": 200,
    "page": 50,
}
PAGES = {  # pages in the history
    "document": "one document at a time",
    "list": "the list of a query",
    "side-by-side": "the comparison with the baseline",
    "disputes": "the disputes",
    "admin": "the admin page",
    "import": "a file",
    "terminal": "the terminal",
    "api": "the API",
}
PERSON = "person"
KINDS = {  # kinds of raters; labels of non-human raters are used only if the admin enables them
    PERSON: "a person",
    "llm": "a language model",
    "clicks": "clicks turned into grades",
    "project": "labels of an old project",
    "other": "another rater",
}
COMBINATIONS = {  # how labels of several raters are combined (`judging.grades`), with a description
    "median": "the median (undecided between two grades)",
    "mean": "the mean, rounded",
    "majority": "the majority",
    "reliability": "the most probable grade, with one reliability per rater",
    "dawid-skene": "the most probable grade, with one confusion matrix per rater (Dawid-Skene)",
}
MAX_RATER = 50  # characters of a rater's name, of at most four bytes each
MOST_JUDGEMENTS = 9  # raters of a document
Pair = tuple[str, str]  # query, doc


class StoreError(RulerankError, OSError):
    """A label store that cannot be opened, read or written."""


class ReadOnlyError(StoreError):
    """A label store that can only be read."""


class BusyError(RulerankError):
    """A model is being trained already."""


class Plain:
    """A dataclass with plain values for JSON and templates."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)  # type: ignore[call-overload]  # every subclass is a dataclass


class Revocable(Plain):
    """A statement with its time and page; the next one on the same subject supersedes it; it can be withdrawn."""

    __slots__ = ()
    id: int
    time: datetime  # UTC
    superseded_by: int | None  # id of its successor
    withdrawn: datetime | None  # when it was withdrawn

    def to_dict(self) -> dict[str, Any]:
        withdrawn = None if self.withdrawn is None else self.withdrawn.isoformat()
        return super().to_dict() | {"time": self.time.isoformat(), "withdrawn": withdrawn}


@dataclass(frozen=True, slots=True)
class Label(Revocable):
    """A rater's grade of a document of a query, or "cannot judge".

    >>> from datetime import UTC
    >>> label = Label(7, "q1", "d1", 2, "ann", datetime(2026, 1, 5, tzinfo=UTC))
    >>> label.to_dict()["time"]
    '2026-01-05T00:00:00+00:00'
    """

    id: int
    query: str
    doc: str
    grade: int | None  # None: cannot be judged
    rater: str
    time: datetime  # UTC
    superseded_by: int | None = None  # id of the same rater's next label
    withdrawn: datetime | None = None  # when the rater withdrew it
    page: str | None = None  # where it was given, one of PAGES or your own word; None: unknown
    withdrawn_page: str | None = None  # where it was withdrawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Revocable):
    """A statement other than a label."""

    id: int
    rater: str  # who made it
    time: datetime  # UTC
    page: str | None = None  # where
    superseded_by: int | None = None
    withdrawn: datetime | None = None  # when it was undone
    withdrawn_by: str | None = None
    withdrawn_page: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Fact):
    """The admin's grade of a document, which overrides the raters' labels."""

    query: str
    doc: str
    grade: int | None  # None: cannot be judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Fact):
    """A rater's preferred order of documents, best first; only in stores of version 0.1."""

    query: str
    docs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterKind(Fact):
    """The kind of a rater, one of KINDS; `rater` is who set it."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Fact):
    """A setting of the admin page; `rater` is who made it."""

    name: str
    value: Any  # JSON


@dataclass(frozen=True, slots=True)
class Claim:
    """A document that is reserved for a rater until a time."""

    query: str
    doc: str
    rater: str
    until: float  # seconds since 1970, UTC


class State(NamedTuple):
    """Counters; one of them grows whenever a label changes or how labels are combined."""

    last_id: int
    n_withdrawn: int
    changes: int = 0  # of decisions, kinds of raters and settings


@dataclass(frozen=True, slots=True)
class Skip:
    """A document that a rater skipped and has not graded since."""

    query: str
    doc: str
    rater: str
    time: datetime  # UTC


class Glance(NamedTuple):
    """The state of the store, the claims and a rater's skips, read at once."""

    state: State
    claims: list[Claim]
    skipped: list[Pair]  # by the rater


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """The model that is compared with the baseline, and the labels it was trained on."""

    id: int
    last_label: int  # id of the last training label
    method: str
    baseline: str
    time: datetime  # UTC


@dataclass(frozen=True, slots=True)
class ShownField:
    """A named value of a document, as text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class JudgingTask(Plain):
    """A document of a query to judge, with the texts of both.

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
    fields: tuple[ShownField, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress(Plain):
    """Progress of one rater and of all together."""

    rater: str
    mine: int  # documents this rater has graded
    labelled: int  # documents that have a grade
    cannot_judge: int  # documents without a grade that a rater said cannot be judged
    skipped: int  # documents this rater has skipped and not judged since
    pool_size: int  # documents in the pool
    closeness: float  # to the sampler's stopping point, from 0 to 1
    stops: bool  # whether the sampler stops by itself; if not, closeness is the labelled share of the pool
    done: bool  # no document was left for this rater
    reason: str = ""  # why, in words


@dataclass(frozen=True, slots=True)
class Settings(Plain):
    """The admin's settings, for all raters and processes.

    >>> Settings().combine, Settings().judgements
    ('median', 1)
    """

    combine: str = "median"  # how labels of several raters are combined, one of COMBINATIONS
    judgements: int = 1  # human raters per document
    training_raters: tuple[str, ...] = ()  # non-human raters that training uses

    def __post_init__(self) -> None:
        check_combination(self.combine)
        if not is_whole(self.judgements, 1, MOST_JUDGEMENTS):
            got = f"{self.judgements!r:.60}"
            raise DataError(f"raters per document must be an integer from 1 to {MOST_JUDGEMENTS}: got {got}")
        for name in self.training_raters:
            check_name("rater", name)

    @classmethod
    def of(cls, values: dict[str, Any]) -> Settings:
        """Return settings from stored values; unknown ones are ignored."""
        known = {field.name: values[field.name] for field in fields(cls) if field.name in values}
        if "training_raters" in known:
            raters = known["training_raters"]
            if not isinstance(raters, list | tuple):
                raise DataError(f"the raters for training must be a list of names: got {raters!r:.60}")
            known["training_raters"] = tuple(sorted(set(map(str, raters))))
        return cls(**known)


def check_combination(how: str) -> str:
    """Return the name of a way to combine labels, if it is known."""
    return _one_of(how, COMBINATIONS, "labels can be combined by")


def check_kind(kind: str) -> str:
    """Return a kind of rater, if it is known."""
    return _one_of(kind, KINDS, "the kind of a rater must be one of")


def _one_of(word: str, known: dict[str, str], what: str) -> str:
    if word not in known:
        raise DataError(f"{what} {', '.join(known)}: got {word!r:.60}")
    return word


def check_name(kind: str, text: object) -> str:
    """Return the name of a query, doc, rater, page or judgement, if every store can hold it.

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
    """Return a rater's name without surrounding spaces, if it is valid.

    >>> check_rater(" Ada Lovelace ")
    'Ada Lovelace'
    """
    name = name.strip()
    if not 1 <= len(name) <= MAX_RATER or not name.isprintable():
        raise DataError(f"a rater's name must have 1 to {MAX_RATER} printable characters: got {ascii(name)[:80]}")
    return name


def check_grade(grade: object, max_grade: int = MAX_GRADE) -> int | None:
    """Return a grade as a plain integer, None for a document that cannot be judged.

    >>> check_grade(2), check_grade(None)
    (2, None)
    """
    if grade is None:
        return None
    if not is_whole(grade, 0, max_grade):
        raise DataError(f"a grade must be an integer from 0 to {max_grade}, or None: got {grade!r:.60}")
    return int(grade)  # type: ignore[call-overload]  # is_whole looked
