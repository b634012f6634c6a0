"""Which labels count, and how those of a document become one grade: by the lead's settings, decisions and judges."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rulerank.judging.combine import COMBINATIONS, combine
from rulerank.judging.labels import Label
from rulerank.judging.team import PERSON, Fact, Settings, settings_of

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore
    from rulerank.judging.team_store import TeamStore

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
