"""The case of a mixture: which members count how much, and their own cases put into one."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulerank.aggregate.competence import Mix
from rulerank.core.words import decimal, listed
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.explain.ballot import Ballot, mixed
from rulerank.explain.cases import Baseline, Case, MemberVote, bins_at, case_of, items_of, rule_ballot
from rulerank.rankers.base import Ranker
from rulerank.rules.rule import Item
from rulerank.rules.votes import MeanVotes, Parts

MEMBERS_BASELINES = "baseline ranking of members"


def mixture_case(ranker: Any, X: Array, row: int) -> Case:
    """Return the case of a document of a query under a fitted Competence."""
    mix: Mix = ranker.mix(X, row)
    cases = [_member_case(member, X, row) for member in ranker.members_]
    known = [case for case in cases if case is not None]
    ballot = _of_rankers(mix, cases) if ranker.members_ else _of_metrics(mix, X, row)
    opaque = [name for name, case, weight in zip(mix.names, cases, mix.weights, strict=False)
              if case is None and weight > 0]  # fmt: skip
    notes = (*mix.notes, f"Not taken apart: {listed(opaque)}, whose part is in the base.") if opaque else mix.notes
    starts = np.cumsum([0, *(len(case.ballot.adds) for case in known)])
    names, values = ranker.feature_names_, X[row]

    def item(cell: int, feature: int) -> Item:
        if mix.rules is not None:
            return items_of(ballot, mix.rules.item_text)(cell, feature)
        member = int(np.searchsorted(starts, cell, side="right")) - 1
        return known[member].item(cell - int(starts[member]), feature)

    # a member may have the baseline ranking as a part of its own, beside the features
    extra = Baseline(MEMBERS_BASELINES, None) if ballot.n_features > len(names) else None

    def value(part: int) -> str:
        if part == len(names):
            return f"{MEMBERS_BASELINES}: {', '.join(case.value(part) for case in known if case.baseline is not None)}"
        is_missing = np.isnan(values[part])
        return f"{names[part]} is missing" if is_missing else f"{names[part]} = {decimal(float(values[part]), 4)}"

    rows = zip(mix.names, mix.scores.tolist(), mix.estimates.tolist(), mix.weights.tolist(), strict=True)
    members = sorted((MemberVote(name, s, e, w, w * e) for name, s, e, w in rows), key=lambda vote: -vote.weight)
    counting = [vote for vote in members if vote.weight > 0]
    line = f"the score is that of {counting[0].name}, chosen for this document"
    if len(counting) > 1:
        sums = " + ".join(f"{vote.weight:.4f} * {vote.estimate:.4f}" for vote in counting)
        line = f"weights times members' estimates: {sums} = {ballot.score:.4f}"
    return Case(
        method=mix.method,
        ballot=ballot,
        item=item,
        value=value,
        names=names,
        base_text=ranker.base_text,
        arithmetic=(line,),
        members=tuple(members),
        notes=notes,
        baseline=extra,
    )


def _member_case(member: Any, X: Array, row: int) -> Case | None:
    """Return the case of a member, or None if it is of another library or cannot be taken apart."""
    if not isinstance(member, Ranker):
        return None
    try:
        return case_of(member, member.check_rows(X, np.zeros(len(X))), row)
    except DataError:
        return None


def _of_rankers(mix: Mix, cases: list[Case | None]) -> Ballot:
    """Put the members' ballots into one; those that cannot be taken apart are part of the base."""
    known = [place for place, case in enumerate(cases) if case is not None]
    ballots = [case.ballot for case in cases if case is not None]
    bases = mix.scores.copy()
    bases[known] = [ballot.base for ballot in ballots]
    return mixed(ballots, mix.factors[known].tolist(), mix.base(bases))


def _of_metrics(mix: Mix, X: Array, row: int) -> Ballot:
    """Return the ballot of one set of rules that several metrics read."""
    assert mix.rules is not None
    engine, row_bins = mix.rules.engine_, bins_at(mix.rules, X, row)
    scheme, training = engine.scheme, engine.training
    assert isinstance(scheme, MeanVotes)
    counts, votes = engine.votes_of(row_bins)
    parts = [scheme.parts(votes, training, metric) for metric in range(len(scheme.metrics))]
    base = mix.base(np.full(len(mix.names), training.mean_grade))

    def tally(sums: Array) -> Array:
        above = scheme.scores_by_metric(sums, training) - training.mean_grade
        return base + above @ mix.factors

    adds = sum((factor * part.adds for factor, part in zip(mix.factors, parts, strict=True)), np.zeros(len(votes)))
    weights = sum(
        (factor * part.weights for factor, part in zip(mix.factors, parts, strict=True)), np.zeros(len(votes))
    )
    return rule_ballot(engine, row_bins, votes, Parts(adds, weights, parts[0].voted), tally, counts.grades, base)
