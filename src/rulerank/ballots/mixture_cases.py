"""The case of a mixture: which members count how much, and their own cases put into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rulerank.ballots.ballot import Ballot, mixed
from rulerank.ballots.case import Baseline, Case, MakesCases, MemberVote
from rulerank.ballots.rule_cases import ItemText, items_of, make_ballot
from rulerank.core.words import decimal, listed
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.rules.engine import Engine
from rulerank.rules.rule import Item
from rulerank.rules.votes import MeanVotes, Parts

MEMBERS_BASELINES = "baseline ranking of members"


class Mix(NamedTuple):
    """How members' scores become the mixture's score of one document: sum of weight * estimate.

    An estimate is slope * score + what depends on the other documents of the query alone.
    """

    names: tuple[str, ...]
    scores: Array  # float64 (n_members,)
    estimates: Array
    weights: Array
    slopes: Array

    @property
    def factors(self) -> Array:
        """What one more point of each member's score adds to the mixture's."""
        return self.weights * self.slopes

    def base(self, bases: Array) -> float:
        """Return the mixture's score if the members scored `bases`."""
        return float(self.weights @ (self.estimates + self.slopes * (bases - self.scores)))

    def votes(self) -> tuple[MemberVote, ...]:
        """Return what each member counts, the weightiest first."""
        rows = zip(self.names, self.scores, self.estimates, self.weights, strict=True)
        found = [MemberVote(name, float(s), float(e), float(w), float(w * e)) for name, s, e, w in rows]
        return tuple(sorted(found, key=lambda vote: -vote.weight))


def member_case(member: Any, X: Array, row: int) -> Case | None:
    """Return the case of a member, or None if it is of another library or cannot be taken apart."""
    if not isinstance(member, MakesCases):
        return None
    try:
        return member.case(member.check_rows(X, np.zeros(len(X))), row)
    except DataError:
        return None


def mixture_of_rankers(mix: Mix, cases: Sequence[Case | None]) -> tuple[Ballot, list[Case], tuple[str, ...]]:
    """Put the members' ballots into one; those that cannot be taken apart are part of the base, which a note says."""
    known = [place for place, case in enumerate(cases) if case is not None]
    found = [case for case in cases if case is not None]
    bases = mix.scores.copy()
    bases[known] = [case.ballot.base for case in found]
    ballot = mixed([case.ballot for case in found], mix.factors[known].tolist(), mix.base(bases))
    opaque = [mix.names[m] for m in range(len(cases)) if m not in known and mix.weights[m] > 0]
    notes = (f"Not taken apart: {listed(opaque)}, whose part is in the base.",) if opaque else ()
    return ballot, found, notes


def mixture_of_metrics(mix: Mix, engine: Engine, row_bins: Array) -> Ballot:
    """Return the ballot of one set of rules that several metrics read."""
    scheme, training = engine.scheme, engine.training
    assert isinstance(scheme, MeanVotes)
    counts, votes = engine.votes_of(row_bins)
    parts = [scheme.parts(votes, training, metric) for metric in range(len(scheme.metrics))]
    base = mix.base(np.full(len(mix.names), training.mean_grade))

    def tally(sums: Array) -> Array:
        above = scheme.scores_by_metric(sums, training) - training.mean_grade
        return base + above @ mix.factors

    summed = Parts(
        sum((f * part.adds for f, part in zip(mix.factors, parts, strict=True)), np.zeros(len(votes))),
        sum((f * part.weights for f, part in zip(mix.factors, parts, strict=True)), np.zeros(len(votes))),
        parts[0].voted,
    )
    return make_ballot(engine, row_bins, votes, summed, tally, counts.grades, base)


def mixture_case(
    mix: Mix,
    ballot: Ballot,
    cases: Sequence[Case],
    item_text: ItemText,
    names: tuple[str, ...],
    values: Array,
    method: str,
    notes: tuple[str, ...],
) -> Case:
    """Return the case of a mixture, given its ballot and either its members' cases or the texts of its rules' items."""
    starts = np.cumsum([0, *(len(case.ballot.adds) for case in cases)])

    def item(cell: int, feature: int) -> Item:
        if not cases:
            return items_of(ballot, item_text)(cell, feature)
        member = int(np.searchsorted(starts, cell, side="right")) - 1
        return cases[member].item(cell - int(starts[member]), feature)

    # a member may have the baseline ranking as a part of its own, beside the features
    extra = Baseline(MEMBERS_BASELINES, len(names), None) if ballot.n_features > len(names) else None

    def value(feature: int) -> str:
        if extra is not None and feature == extra.part:
            own = [case for case in cases if case.baseline is not None and case.baseline.part == feature]
            return f"{extra.name}: {', '.join(case.value(feature) for case in own)}"
        known = not np.isnan(values[feature])
        return f"{names[feature]} = {decimal(float(values[feature]), 4)}" if known else f"{names[feature]} is missing"

    members = mix.votes()
    counting = [vote for vote in members if vote.weight > 0]
    if len(counting) == 1:
        lines: tuple[str, ...] = (f"the score is that of {counting[0].name}, chosen for this document",)
    else:
        sums = " + ".join(f"{vote.weight:.4f} * {vote.estimate:.4f}" for vote in counting)
        lines = (f"weights times members' estimates: {sums} = {ballot.score:.4f}",)
    return Case(
        method=method,
        ballot=ballot,
        item=item,
        value=value,
        base_text="the score if no rule of any member voted",
        arithmetic=lines,
        members=members,
        notes=notes,
        baseline=extra,
    )
