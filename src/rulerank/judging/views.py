"""What the judging loop hands out: frozen values, each with a JSON twin."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from rulerank.judging.agreement import Agreement


class Plain:
    """Something that becomes plain values for JSON."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)  # type: ignore[call-overload]  # every subclass is a dataclass


@dataclass(frozen=True, slots=True)
class Task(Plain):
    """One document of one query to be judged, with what the pool says of both.

    >>> Task("q1", "d7", title="Milk").to_json()["title"]
    'Milk'
    """

    query: str
    doc: str
    query_text: str | None = None
    description: str | None = None
    title: str | None = None
    text: str | None = None
    url: str | None = None


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
    done: bool  # there was nothing more for this rater when last asked
    reason: str = ""  # why, in words


@dataclass(frozen=True, slots=True)
class Estimate(Plain):
    """What the model of the labels so far makes of a document."""

    grade: float  # the grade to be expected, from 0 to the highest
    rank: int  # among the documents of its query, best first, from 1
    n_docs: int  # documents of its query in the pool
    reasons: tuple[str, ...]  # what adds most to its score, or takes most away
    n_labels: int  # documents the model was trained on


class FeatureValue(NamedTuple):
    """A feature of a document and how many percent of the pool's values lie below (of equal ones, half do)."""

    name: str
    value: float | None  # None: missing
    percentile: float | None

    def to_json(self) -> dict[str, Any]:
        return self._asdict()


@dataclass(frozen=True, slots=True)
class QueryCount(Plain):
    """Labels of one query."""

    query: str
    query_text: str | None
    n_docs: int
    labelled: int
    cannot_judge: int
    mean_grade: float | None


@dataclass(frozen=True, slots=True)
class RaterCount(Plain):
    """Labels of one rater."""

    rater: str
    graded: int
    cannot_judge: int
    skipped: int
    mean_grade: float | None


@dataclass(frozen=True, slots=True)
class CurvePoint(Plain):
    """The cross-validated MAP of a model trained on the first labels that were given."""

    n_labels: int
    map: float | None  # None: too few queries with labels yet, or not computed yet
    n_queries: int  # queries the figure is a mean of


@dataclass(frozen=True, slots=True)
class Overview(Plain):
    """All labels at a glance."""

    labelled: int
    cannot_judge: int
    pool_size: int
    elsewhere: int  # labels in the store whose document is not in the pool
    closeness: float
    queries: tuple[QueryCount, ...]
    raters: tuple[RaterCount, ...]
    agreement: Agreement
    rules: tuple[str, ...]  # the strongest of the current model
    curve: tuple[CurvePoint, ...]

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = asdict(self)
        return plain | {"agreement": self.agreement.to_json()}
