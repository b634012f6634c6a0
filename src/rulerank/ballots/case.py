"""What a ranker hands over to be explained: one document's ballot, and words for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rulerank.ballots.ballot import Ballot
from rulerank.ballots.heard import GradeVote, MemberVote, QueryVote
from rulerank.dataset import Array
from rulerank.rules.rule import Item


@dataclass(frozen=True, eq=False)
class Case:
    """One document as a ranker sees it."""

    method: str
    ballot: Ballot
    item: Callable[[int, int], Item]  # (cell, feature) -> what a person reads
    value: Callable[[int], str]  # feature -> the document's value or interval, in words
    base_text: str = "the mean grade in training"
    arithmetic: tuple[str, ...] = ()
    grades: tuple[GradeVote, ...] = ()
    queries: tuple[QueryVote, ...] = ()
    members: tuple[MemberVote, ...] = ()
    notes: tuple[str, ...] = ()
    tallies: Array | None = None  # int (n_cells, 3 or more) queries that hold each cell, lift it, lower it
