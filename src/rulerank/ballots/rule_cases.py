"""The cases of rankers that vote with rules: RE-GR, RE-SR and RE-QR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.ballots.ballot import Ballot, Tally
from rulerank.ballots.case import Case, GradeVote
from rulerank.core.words import counted
from rulerank.dataset import Array
from rulerank.rules.engine import Engine
from rulerank.rules.layout import UNSEEN
from rulerank.rules.rule import Item
from rulerank.rules.stable.counts import QueryCounts
from rulerank.rules.stable.votes import ConfidenceVotes
from rulerank.rules.votes import MeanVotes, Parts, Training, Votes

ItemText = Callable[[int, int], str]  # (feature, bin) -> the item as a person reads it


@dataclass(frozen=True, eq=False)
class BinForm:
    """A model of rules as a function of bins, which explanations try other bins on."""

    names: tuple[str, ...]
    engine: Engine
    cuts: Sequence[Array] | None  # of each feature; None where bins do not come from cuts
    bins: Callable[[Array], Array]  # checked rows -> bins (n_features, n_rows)
    known_bins: Callable[[Array], Array]  # the same as uint8, UNSEEN where training saw none
    score: Callable[[Array], Array]  # known bins (n_features, n_rows) -> scores
    item_text: ItemText

    def text(self, feature: int, bin: int) -> str:
        """Return a known bin in words."""
        return f"{self.names[feature]}: not seen in training" if bin == UNSEEN else self.item_text(feature, bin)


def rule_ballot(engine: Engine, row_bins: Array) -> tuple[Ballot, Array | None]:
    """Return the ballot of one document under an engine, and what queries by themselves say of its cells, if known."""
    counts, votes = engine.votes_of(row_bins)
    tallies = counts.tallies if isinstance(counts, QueryCounts) else None
    scheme, training = engine.scheme, engine.training
    parts = scheme.parts(votes, training)
    return make_ballot(
        engine, row_bins, votes, parts, lambda sums: scheme.scores(sums, training), counts.grades
    ), tallies


def make_ballot(
    engine: Engine,
    row_bins: Array,
    votes: Array,
    parts: Parts,
    tally: Tally,
    by_grade: Array,
    base: float | None = None,
) -> Ballot:
    """Put a document's votes under an engine, taken apart, into a ballot."""
    sets = tuple(block.features for block in engine.layout.sets)
    return Ballot(
        sets=sets,
        bins=tuple(row_bins[block] for block in sets),
        votes=votes,
        tally=tally,
        adds=parts.adds,
        weights=parts.weights,
        voted=parts.voted,
        base=engine.training.mean_grade if base is None else base,
        n_features=row_bins.size,
        by_grade=by_grade,
    )


def rule_case(form: BinForm, row_bins: Array, method: str) -> Case:
    """Return the case of a document, given as known bins, that rules vote on."""
    engine = form.engine
    ballot, tallies = rule_ballot(engine, row_bins)
    grades, by_grade_lines = grade_votes(engine.scheme, engine.training, ballot)
    notes: tuple[str, ...] = ()
    if tallies is not None:
        n_covering = int((tallies[:, 0] > 0).sum())
        fell_back = not _stable_vote(engine, ballot)
        notes = (
            "No stable rule covers it, so all rules vote."
            if fell_back
            else f"{int(ballot.voted.sum()):,} of the {n_covering:,} rules that cover it are stable; they alone vote.",
        )
    added = round(ballot.score, 4) - round(ballot.base, 4)  # what is printed adds up
    lines = by_grade_lines or (
        f"{counted(int(ballot.voted.sum()), 'rule')} vote with their weights: "
        f"weighted mean {abs(added):.4f} {'above' if added >= 0 else 'below'} "
        f"{ballot.base:.4f}, the mean grade in training",
        f"{ballot.base:.4f} {added:+.4f} = {ballot.score:.4f}",
    )
    return Case(
        method=method,
        ballot=ballot,
        item=items_of(ballot, form.item_text),
        value=lambda feature: form.text(feature, int(row_bins[feature])),
        arithmetic=lines,
        grades=grades,
        notes=notes,
        tallies=tallies,
    )


def grade_votes(scheme: Votes, training: Training, ballot: Ballot) -> tuple[tuple[GradeVote, ...], tuple[str, ...]]:
    """Return the means per grade where rules vote for grades, and the arithmetic in words; empty where they do not."""
    n_grades = training.n_grades
    if isinstance(scheme, ConfidenceVotes):
        mean, width = scheme.mean, scheme.mean.width(training)
        stable = ballot.votes[:, n_grades:width].any()
        votes = ballot.votes[:, :width] if stable else ballot.votes[:, width:]
    elif isinstance(scheme, MeanVotes):
        mean = scheme
        votes = np.hstack([ballot.votes[:, :n_grades], ballot.votes[:, -n_grades:]])
    else:
        return (), ()
    theta, n_rules = votes[:, :n_grades].sum(axis=0), votes[:, n_grades:].sum(axis=0)
    means = theta / np.maximum(n_rules, 1)
    total = mean.total(means)
    shares = means / total if total else np.zeros(n_grades)
    found = tuple(GradeVote(g, int(n_rules[g]), float(means[g]), float(shares[g])) for g in range(n_grades))
    if not total:
        why = "the rules' votes cancel out" if means.any() else "no rule votes"
        return found, (f"{why}: {ballot.base:.4f}, the mean grade in training",)
    sums = " + ".join(f"{vote.grade} * {vote.share:.4f}" for vote in found)
    each = ", ".join(f"{vote.mean:.4f} of {counted(vote.n_rules, 'rule')} for {vote.grade}" for vote in found)
    return found, (
        f"mean strength of the rules for each grade: {each}",
        f"as shares of their sum, times the grades: {sums} = {ballot.score:.4f}",
    )


def items_of(ballot: Ballot, item_text: ItemText) -> Callable[[int, int], Item]:
    """Return what makes the item of a feature in a cell."""

    def item(cell: int, feature: int) -> Item:
        bin = ballot.bins_of(cell)[ballot.features_of(cell).index(feature)]
        return Item(feature, bin, item_text(feature, bin))

    return item


def _stable_vote(engine: Engine, ballot: Ballot) -> bool:
    scheme: Any = engine.scheme
    by_rule = isinstance(scheme, ConfidenceVotes)
    own = slice(engine.training.n_grades, scheme.mean.width(engine.training)) if by_rule else 1
    return bool(ballot.votes[:, own].any())
