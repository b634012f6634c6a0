"""The words of a team: what the lead decides and sets, raters who are no people, and how labels become grades."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from rulerank.core.checks import is_whole
from rulerank.errors import DataError
from rulerank.judging.combine import COMBINATIONS, check_combination, combine
from rulerank.judging.labels import Label, check_name

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore
    from rulerank.judging.team_store import TeamStore

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


Pair = tuple[str, str]  # query, doc
AnyFact = TypeVar("AnyFact", bound=Fact)


class Counting(NamedTuple):
    """What turns labels into grades at one moment.

    People's labels of a document become one grade as `settings.combine` says; what the lead has decided counts instead.
    Labels of other judges are never among them: `others` has those of the judges that count in training.
    """

    settings: Settings = Settings()
    judges: Mapping[str, str] = {}  # raters who are no people, and what they are
    decided: Mapping[Pair, int | None] = {}  # by the lead; None: cannot be judged

    @classmethod
    def now(cls, store: LabelStore) -> Counting:
        """Return what counts now."""
        decided = {(one.query, one.doc): one.grade for one in store.decisions()}
        return cls(store.settings(), store.judges(), decided)

    @classmethod
    def at(cls, store: TeamStore, time: datetime) -> Counting:
        """Return what counted at a time, whatever was changed since."""
        settings = facts_at(store.setting_history(), time, "name")
        judges = facts_at(store.judge_history(), time, "judge")
        decided = facts_at(store.decision_history(), time, "query", "doc")
        return cls(
            settings_of({one.name: one.value for one in settings}),
            {one.judge: one.kind for one in judges if one.kind != PERSON},
            {(one.query, one.doc): one.grade for one in decided},
        )

    def people(self, labels: Iterable[Label]) -> dict[Pair, dict[str, int | None]]:
        """Return the grades of each document by the people who judged it."""
        given: dict[Pair, dict[str, int | None]] = {}
        for label in labels:
            if label.rater not in self.judges:
                given.setdefault((label.query, label.doc), {})[label.rater] = label.grade
        return given

    def grades(self, labels: Iterable[Label], how: str | None = None) -> dict[Pair, int]:
        """Return the grade of every document that people or the lead could grade; how: another way to combine."""
        return combine(self.people(labels), how or self.settings.combine, self.decided)

    def others(self, labels: Iterable[Label]) -> dict[str, dict[Pair, int]]:
        """Return the grades of the judges that count in training, by judge; each is to have intercepts of its own."""
        training = [judge for judge in self.settings.training_judges if judge in self.judges]
        given: dict[str, dict[Pair, int]] = {judge: {} for judge in training}
        for label in labels:
            if label.rater in given and label.grade is not None:
                given[label.rater][label.query, label.doc] = label.grade
        return {judge: found for judge, found in given.items() if found}

    def sentence(self) -> str:
        """Say how labels become grades.

        >>> print(Counting(Settings(combine="majority")).sentence())
        A document that several people judged has what most raters say; what the lead has decided counts first.
        """
        how = COMBINATIONS[self.settings.combine]
        text = f"A document that several people judged has {how}; what the lead has decided counts first."
        if not self.judges:
            return text
        names = [judge for judge in self.settings.training_judges if judge in self.judges]
        trains = f"{', '.join(names)}, with intercepts of their own" if names else "none of them"
        return (
            f"{text} Labels of other judges ({', '.join(sorted(self.judges))}) are no people's; in training: {trains}."
        )


def facts_at(history: Iterable[AnyFact], time: datetime, *key: str) -> list[AnyFact]:
    """Return the facts that were in force at a time, in the order of their ids; key: the fields that name a fact."""
    found: dict[Hashable, AnyFact] = {}
    for fact in history:
        if fact.time <= time and (fact.withdrawn is None or fact.withdrawn > time):
            found[tuple(getattr(fact, name) for name in key)] = fact
    return [*found.values()]
