"""The words of a team: what the lead decides and sets, raters who are no people, and orders of documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rulerank.core.checks import is_whole
from rulerank.errors import DataError
from rulerank.judging.combine import check_combination
from rulerank.judging.labels import check_name

if TYPE_CHECKING:
    pass

PERSON = "person"
KINDS = {  # what a rater is; labels of any but a person count nowhere unless the lead says so
    PERSON: "a person",
    "llm": "a language model",
    "clicks": "clicks turned into grades",
    "project": "labels of an old project",
    "other": "another judge",
}
MOST_JUDGEMENTS = 9  # raters of a document


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What somebody of a team said, when and on which page; the next of its kind supersedes it; it can be undone."""

    id: int
    rater: str  # who said it
    time: datetime  # UTC
    page: str | None = None  # where
    superseded_by: int | None = None
    withdrawn: datetime | None = None  # when it was undone
    withdrawn_by: str | None = None
    withdrawn_page: str | None = None

    @property
    def is_current(self) -> bool:
        return self.superseded_by is None and self.withdrawn is None

    def to_dict(self) -> dict[str, Any]:
        withdrawn = None if self.withdrawn is None else self.withdrawn.isoformat()
        return asdict(self) | {"time": self.time.isoformat(), "withdrawn": withdrawn}


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
class Settings:
    """What the lead has set for all raters and processes; a store where nothing was set has these.

    >>> Settings().combine, Settings().judgements
    ('median', 1)
    """

    combine: str = "median"  # how labels of several raters become one, as `judging.combine` has it
    judgements: int = 1  # people who judge each document
    training_judges: tuple[str, ...] = ()  # raters who are no people and yet count in training

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"training_judges": list(self.training_judges)}


def check_setting(name: str, value: Any) -> Any:
    """Return a setting's value as it is kept, or say what is wrong with it.

    >>> check_setting("judgements", 2), check_setting("training_judges", ["gpt"])
    (2, ['gpt'])
    """
    if name not in SETTINGS:
        raise DataError(f"unknown setting {name!r:.60}; choose from {', '.join(SETTINGS)}")
    return SETTINGS[name](value)


def settings_of(values: dict[str, Any]) -> Settings:
    """Return settings from kept values; those that only another version knows are passed over."""
    known = {name: check_setting(name, value) for name, value in values.items() if name in SETTINGS}
    if "training_judges" in known:
        known["training_judges"] = tuple(known["training_judges"])
    return Settings(**known)


def check_kind(kind: str) -> str:
    """Return what a rater is, if there is such a kind."""
    if kind not in KINDS:
        raise DataError(f"a rater is one of {', '.join(KINDS)}: got {kind!r:.60}")
    return kind


def _judgements(value: Any) -> int:
    if not is_whole(value, 1, MOST_JUDGEMENTS):
        raise DataError(f"judgements per document are a whole number from 1 to {MOST_JUDGEMENTS}: got {value!r:.60}")
    return int(value)


def _judges(value: Any) -> list[str]:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise DataError(f"judges that count in training are a list of names: got {value!r:.60}")
    return sorted({check_name("rater", name) for name in value})


SETTINGS: dict[str, Callable[[Any], Any]] = {
    "combine": check_combination,
    "judgements": _judgements,
    "training_judges": _judges,
}
assert set(SETTINGS) == {field.name for field in fields(Settings)}
