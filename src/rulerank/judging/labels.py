"""The values of judging: labels and a team's other facts, settings, what a rater sees, and what names may be."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple

from rulerank.core.parameters import is_whole
from rulerank.dataset import MAX_GRADE
from rulerank.errors import DataError, RulerankError

MOST_BYTES = {  # together below what a PostgreSQL index can hold
    "query": 1000,
    "doc": 1000,
    "rater": 200,
    "judgement": 200,
    "page": 50,
}
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
PERSON = "person"
KINDS = {  # what a rater is; labels of any but a person count nowhere unless the lead says so
    PERSON: "a person",
    "llm": "a language model",
    "clicks": "clicks turned into grades",
    "project": "labels of an old project",
    "other": "another judge",
}
COMBINATIONS = {  # how labels of several raters become one (`judging.grades`), and what to say of it
    "median": "the median of the raters, and no grade where it falls between two until that is decided",
    "mean": "the mean of the raters, rounded",
    "majority": "what most raters say",
    "reliability": "the most probable grade by how reliable each rater is",
    "dawid-skene": "the most probable grade by which grades each rater gives to which documents",
}
MAX_RATER = 50  # characters of a rater's name, of at most four bytes each
MOST_JUDGEMENTS = 9  # raters of a document
Pair = tuple[str, str]  # query, doc


class StoreError(RulerankError, OSError):
    """A label store that cannot be opened, read or written."""


class ReadOnlyError(StoreError):
    """A label store that can at most be read."""


class BusyError(RulerankError):
    """A model is being trained, and only one is at a time."""


class Plain:
    """Something that becomes plain values, which JSON and templates can take."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)  # type: ignore[call-overload]  # every subclass is a dataclass


class Revocable(Plain):
    """What somebody said, when and on which page; the next of its kind supersedes it; it can be taken back."""

    __slots__ = ()
    id: int
    time: datetime  # UTC
    superseded_by: int | None  # id of what has replaced it
    withdrawn: datetime | None  # when it was taken back

    def to_dict(self) -> dict[str, Any]:
        withdrawn = None if self.withdrawn is None else self.withdrawn.isoformat()
        return super().to_dict() | {"time": self.time.isoformat(), "withdrawn": withdrawn}


@dataclass(frozen=True, slots=True)
class Label(Revocable):
    """One fact: a rater gave a grade to a document of a query, or said that it cannot be judged.

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
    superseded_by: int | None = None  # id of the label by which the same rater replaced it
    withdrawn: datetime | None = None  # when the rater took it back
    page: str | None = None  # where it was given, one of PAGES or a word of your own; None: it is not known
    withdrawn_page: str | None = None  # where it was taken back


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Revocable):
    """What somebody of a team said beside labels."""

    id: int
    rater: str  # who said it
    time: datetime  # UTC
    page: str | None = None  # where
    superseded_by: int | None = None
    withdrawn: datetime | None = None  # when it was undone
    withdrawn_by: str | None = None
    withdrawn_page: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Fact):
    """The lead's grade of a document, which counts instead of what raters say of it and stays beside it."""

    query: str
    doc: str
    grade: int | None  # None: cannot be judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Fact):
    """Documents of a query as a rater of version 0.1 preferred them, the best first; they are kept and no more."""

    query: str
    docs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeKind(Fact):
    """What a rater is, one of KINDS; `rater` is who said so."""

    judge: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Fact):
    """One setting of the lead's; `rater` is who made it."""

    name: str
    value: Any  # as JSON has it


@dataclass(frozen=True, slots=True)
class Claim:
    """A document that was handed to a rater and is kept for that rater until a time."""

    query: str
    doc: str
    rater: str
    until: float  # seconds since 1970, UTC


class State(NamedTuple):
    """Numbers that only grow, and one of which grows whenever a label changes, or how labels count."""

    last_id: int
    n_withdrawn: int
    changes: int = 0  # of decisions, judges and settings


@dataclass(frozen=True, slots=True)
class Skip:
    """A document that a rater passed over and has not graded since."""

    query: str
    doc: str
    rater: str
    time: datetime  # UTC


class Glance(NamedTuple):
    """What there is to know before a rater is answered, all of one moment."""

    state: State
    claims: list[Claim]
    skipped: list[Pair]  # by the rater who asks


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """Which model was trained to be compared with the baseline, and which labels were there to learn from."""

    id: int
    last_label: int  # id of the last label it learned from
    method: str
    today: str
    time: datetime  # UTC


@dataclass(frozen=True, slots=True)
class ShownField:
    """A named value of a document, as text."""

    name: str
    text: str


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


@dataclass(frozen=True, slots=True)
class Settings(Plain):
    """What the lead has set for all raters and processes; a store where nothing was set has these.

    >>> Settings().combine, Settings().judgements
    ('median', 1)
    """

    combine: str = "median"  # how labels of several raters become one, one of COMBINATIONS
    judgements: int = 1  # people who judge each document
    training_judges: tuple[str, ...] = ()  # raters who are no people and yet count in training

    def __post_init__(self) -> None:
        check_combination(self.combine)
        if not is_whole(self.judgements, 1, MOST_JUDGEMENTS):
            got = f"{self.judgements!r:.60}"
            raise DataError(f"judgements per document are a whole number from 1 to {MOST_JUDGEMENTS}: got {got}")
        for name in self.training_judges:
            check_name("rater", name)

    @classmethod
    def of(cls, values: dict[str, Any]) -> Settings:
        """Return settings from kept values; those that only another version knows are passed over."""
        known = {field.name: values[field.name] for field in fields(cls) if field.name in values}
        if "training_judges" in known:
            judges = known["training_judges"]
            if not isinstance(judges, list | tuple):
                raise DataError(f"judges that count in training are a list of names: got {judges!r:.60}")
            known["training_judges"] = tuple(sorted(set(map(str, judges))))
        return cls(**known)


def check_combination(how: str) -> str:
    """Return the name of a way to combine labels, if there is such a way."""
    return _one_of(how, COMBINATIONS, "labels are combined by")


def check_kind(kind: str) -> str:
    """Return what a rater is, if there is such a kind."""
    return _one_of(kind, KINDS, "a rater is one of")


def _one_of(word: str, known: dict[str, str], what: str) -> str:
    if word not in known:
        raise DataError(f"{what} {', '.join(known)}: got {word!r:.60}")
    return word


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
