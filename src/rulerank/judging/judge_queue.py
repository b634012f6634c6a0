"""Where other judges disagree most with the people or the model: what a person should look at next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rulerank.judging.labels import Label, Plain

LEAST_GAP = 0.5  # grades by which a judge must differ from what the model expects


@dataclass(frozen=True, slots=True)
class Doubt(Plain):
    """A document of which a judge says something else than the people, or than the model expects."""

    row: int
    judge: str
    grade: int  # the judge's
    expected: float  # the people's grade, or what the model of people's labels expects
    by: str  # "people" or "model"

    @property
    def gap(self) -> float:
        return abs(self.grade - self.expected)


def doubts(
    by_judge: Mapping[int, Mapping[str, Label]], people: Mapping[int, int], model: Mapping[int, float]
) -> list[Doubt]:
    """Return the documents on which judges differ from others, the largest gap first; of a row the largest only.

    by_judge: the judges' labels by row; people: the grades that people gave; model: what the model expects of rows.

    >>> from datetime import UTC, datetime
    >>> def said(row, grade): return {"gpt": Label(row, "q", str(row), grade, "gpt", datetime(2026, 1, 5, tzinfo=UTC))}
    >>> found = doubts({0: said(0, 3), 1: said(1, 1), 2: said(2, 2)}, {0: 1, 1: 1}, {2: 0.5})
    >>> [(one.row, one.gap, one.by) for one in found]
    [(0, 2, 'people'), (2, 1.5, 'model')]
    """
    found = []
    for row, labels in by_judge.items():
        here = []
        for judge, label in labels.items():
            if label.grade is None:
                continue
            if row in people:
                here.append(Doubt(row, judge, label.grade, people[row], "people"))
            elif row in model:
                here.append(Doubt(row, judge, label.grade, round(model[row], 2), "model"))
        least = 1 if row in people else LEAST_GAP
        found += sorted((one for one in here if one.gap >= least), key=lambda one: -one.gap)[:1]
    return sorted(found, key=lambda one: (-one.gap, one.by != "people"))
