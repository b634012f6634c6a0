"""Who was heard beside the rules: grades, training queries, members of a mixture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
