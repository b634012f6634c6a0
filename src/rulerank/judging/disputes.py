"""The documents on which raters disagree, largest first: what the lead should decide."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

Doc = TypeVar("Doc")


@dataclass(frozen=True, slots=True)
class Dispute(Generic[Doc]):
    """A document with different grades, by whom."""

    doc: Doc
    grades: Mapping[str, int]  # by rater
    spread: int  # the highest grade minus the lowest
    apart: float  # how far two raters are apart, on average over all pairs of them


def disputes(docs: Mapping[Doc, Mapping[str, int | None]], judges: Collection[str] = ()) -> list[Dispute[Doc]]:
    """Return the documents whose raters gave different grades: the widest spread first, then the farthest apart.

    "Cannot be judged" is no grade. Of equal disputes the one with more raters comes first, then the order of docs.
    judges: raters who are no people; what only they see otherwise than people comes behind what people differ on, and
    a document that no person has graded is no dispute.

    >>> docs = {"a": {"ann": 0, "bob": 1}, "b": {"ann": 2, "bob": 2}, "c": {"ann": 0, "bob": 3, "eve": 3}}
    >>> [(one.doc, one.spread) for one in disputes(docs)]
    [('c', 3), ('a', 1)]
    >>> [one.doc for one in disputes(docs, judges=["eve", "ann"])]
    ['c', 'a']
    """
    people_agree: dict[Doc, bool] = {}
    found = []
    for doc, by_rater in docs.items():
        given = {rater: grade for rater, grade in by_rater.items() if grade is not None}
        by_people = {grade for rater, grade in given.items() if rater not in judges}
        if by_people and len(set(given.values())) > 1:
            people_agree[doc] = len(by_people) == 1
            gaps = [abs(a - b) for a, b in combinations(given.values(), 2)]
            spread = max(given.values()) - min(given.values())
            found.append(Dispute(doc, given, spread, sum(gaps) / len(gaps)))
    return sorted(found, key=lambda one: (people_agree[one.doc], -one.spread, -one.apart, -len(one.grades)))
