"""What a ranker hands over to be explained: one document's ballot, who was heard beside the rules, and words for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from rulerank.ballots.ballot import Ballot
from rulerank.dataset import Array
from rulerank.rules.rule import Item


@dataclass(frozen=True, slots=True)
class GradeVote:
    """What the rules for one grade say together, where rules vote for grades."""

    grade: int
    n_rules: int
    mean: float  # of the rules' strengths
    share: float  # of that mean among all grades': p(grade)


@dataclass(frozen=True, slots=True)
class QueryVote:
    """A training query that is heard."""

    query: Any
    rank: float  # rank(q, d), its own estimate
    weight: float
    adds: float  # weight * (rank - mean grade)


@dataclass(frozen=True, slots=True)
class MemberVote:
    """A member of a mixture."""

    name: str
    score: float  # its own
    estimate: float  # on the common scale
    weight: float
    adds: float  # weight * estimate


class Baseline(NamedTuple):
    """The baseline ranking as one part of a score."""

    name: str
    part: int  # its number among the ballot's features
    column: int | None  # the feature that it is; None: a model's scores


@dataclass(frozen=True, eq=False)
class Case:
    """One document as a ranker sees it."""

    method: str
    ballot: Ballot
    item: Callable[[int, int], Item]  # (cell, feature) -> what a person reads
    value: Callable[[int], str]  # feature -> the document's value or interval, in words
    base_text: str = "the mean grade in training"
    noun: str = "rule"  # what votes: rules, or features by themselves
    arithmetic: tuple[str, ...] = ()
    grades: tuple[GradeVote, ...] = ()
    queries: tuple[QueryVote, ...] = ()
    members: tuple[MemberVote, ...] = ()
    notes: tuple[str, ...] = ()
    tallies: Array | None = None  # int (n_cells, 3 or more) queries that hold each cell, lift it, lower it
    baseline: Baseline | None = None  # where the baseline ranking is a part of the score


@runtime_checkable
class MakesCases(Protocol):
    """What a member of a mixture must offer to be taken apart; every `Ranker` of this library does."""

    def check_rows(self, X: Any, qid: Any) -> Array:
        """Return rows as the ranker scores them: checked, and normalised by query if it does that."""

    def case(self, X: Array, row: int) -> Case:
        """Return one of the checked rows of a query with all that is needed to explain it, or raise a DataError."""
