"""One document as a ranker sees it: its ballot, who was heard beside the rules, and words for all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from rulerank.core.intervals import on_scale
from rulerank.core.words import as_date, counted, decimal
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.explain.ballot import Ballot, Tally, sum_ballot
from rulerank.rankers.base import Ranker
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.linear_ranker import WeightedSum
from rulerank.rankers.rule_ranker import RuleRanker
from rulerank.rankers.stable_rules import StableRules
from rulerank.rules.additive import AdditiveTables, Contributions, baseline_name, padded
from rulerank.rules.engine import Engine
from rulerank.rules.layout import UNSEEN
from rulerank.rules.rule import Item
from rulerank.rules.stable import ConfidenceVotes
from rulerank.rules.tables import Training
from rulerank.rules.votes import MeanVotes, Parts, Votes

ItemText = Callable[[int, int], str]  # (feature, bin) -> the item as a person reads it

# beside a model that is the baseline ranking
READS_TOO = (
    "the baseline ranking's part is the model's own score, which reads features too; explain the model itself to take "
    "it apart"
)


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
    """The baseline ranking as one part of a score, numbered after the features."""

    name: str
    column: int | None  # the feature that it is; None: a model's scores


@dataclass(frozen=True, eq=False)
class Case:
    """One document as a ranker sees it. The parts of its score are the features, and then the baseline ranking."""

    method: str
    ballot: Ballot
    item: Callable[[int, int], Item]  # (cell, part) -> what a person reads
    value: Callable[[int], str]  # part -> the document's value or interval, in words
    names: tuple[str, ...]  # of the features
    base_text: str = "the mean grade in training"
    noun: str = "rule"  # what votes: rules, or features by themselves
    arithmetic: tuple[str, ...] = ()
    grades: tuple[GradeVote, ...] = ()
    queries: tuple[QueryVote, ...] = ()
    members: tuple[MemberVote, ...] = ()
    notes: tuple[str, ...] = ()
    tallies: Array | None = None  # int (n_cells, 3 or more) queries that hold each cell, lift it, lower it
    baseline: Baseline | None = None  # where the baseline ranking is a part of the score

    def part_name(self, part: int) -> str:
        """Return what a part of the score is called: a feature, or the baseline ranking."""
        return self.names[part] if self.baseline is None or part < len(self.names) else self.baseline.name

    def column(self, part: int) -> int | None:
        """Return the column of the raw values of a part of the score; None for a model's scores."""
        return part if self.baseline is None or part < len(self.names) else self.baseline.column


@singledispatch
def case_of(ranker: Ranker, X: Any, row: int) -> Case:
    """Return one of the checked rows of a query with all that is needed to explain it."""
    tables = ranker.as_tables()
    if tables is not None:
        return sum_case(ranker, tables, X[row : row + 1])
    if hasattr(ranker, "mix"):
        from rulerank.explain.mixture_cases import mixture_case

        return mixture_case(ranker, X, row)
    raise DataError(
        f"{type(ranker).__name__} gives no explanation: its score is not a sum of parts that can be read; "
        "FittedRules, GlobalRules, StableRules, QueryRules, QueryIntercepts and Competence give one"
    )


def contributions_of(ranker: Ranker, X: Array, queries: Array) -> Contributions:
    """Return the contributions to the scores of checked rows, document by document."""
    ballots: list[Ballot] = [None] * len(X)  # type: ignore[list-item]  # filled query by query
    for query in np.unique(queries):
        own = np.flatnonzero(queries == query)
        for place, row in enumerate(own.tolist()):
            ballots[row] = case_of(ranker, X[own], place).ballot
    sets = ballots[0].sets if ballots else padded([])
    terms, number = np.unique(sets, axis=0, return_inverse=True)  # members of a mixture may share them
    values = np.zeros((len(ballots), len(terms)))
    for row, ballot in enumerate(ballots):
        np.add.at(values[row], number, np.where(ballot.voted, ballot.adds, 0.0))
    features = tuple(tuple(feature for feature in term if feature >= 0) for term in terms.tolist())
    named = (*ranker.feature_names_, "baseline ranking of members")
    names = tuple(" & ".join(named[feature] for feature in term) for term in features)
    return Contributions(np.array([ballot.base for ballot in ballots]), values, names, features)


def sum_case(ranker: Ranker, tables: AdditiveTables, x: Any) -> Case:
    """Return the case of one row under a model that is a sum of tables and weighted values."""
    found = ranker.checked_contributions(x)
    values = np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float64)[0]
    filled = values if tables.fill is None else np.where(np.isnan(values), tables.fill, values)
    names, n_tables, baseline = ranker.feature_names_, len(tables.tables), None
    if tables.baseline is not None:
        column = None if tables.from_model else tables.baseline
        baseline = Baseline(baseline_name(tables.feature_names[tables.baseline]), column)
    sets = padded(found.features)
    bins = np.zeros(sets.shape)
    for cell, own in enumerate(tables.cells_of(values)):
        bins[cell, : len(own)] = own
    columns = np.where(sets[n_tables:, 0] == len(names), tables.baseline or 0, sets[n_tables:, 0])
    bins[n_tables:, 0] = filled[columns]
    n_parts = len(names) + (baseline is not None)
    ballot = sum_ballot(sets, bins, found.values[0], tables.base, n_parts)

    def value(part: int) -> str:
        column = tables.baseline if part == len(names) else part
        assert column is not None
        weighed = tables.weights is not None and (part == len(names) or not tables.tables)
        if not weighed and column not in tables.finest:
            return f"{names[part]} has no vote"
        if not weighed:
            table, axis = tables.finest[column]
            inner = tables.tables[table]
            bin = inner.bins([float(values[f]) for f in inner.features])[axis]
            return tables.item_text(table, axis, bin, ranker.normalize_, ranker.dates_)
        name = baseline.name if baseline is not None and part == len(names) else names[part]
        stands_for = "behind all others" if part == len(names) else "the training mean"
        missing = f" (missing: {stands_for})" if np.isnan(values[column]) else ""
        return f"{value_text(ranker, name, float(filled[column]))}{missing}"

    def item(cell: int, part: int) -> Item:
        if cell >= n_tables:
            assert tables.weights is not None
            weight = float(tables.weights[columns[cell - n_tables]])
            return Item(part, -1, f"{value(part)} times {decimal(weight, 4)}")
        bin = ballot.bin_of(cell, part)
        axis = ballot.features_of(cell).index(part)
        return Item(part, bin, tables.item_text(cell, axis, bin, ranker.normalize_, ranker.dates_))

    linear = isinstance(ranker, WeightedSum)
    return Case(
        method=f"{type(ranker).__name__}{', linear' if linear else ''}",
        ballot=ballot,
        item=item,
        value=value,
        names=names,
        base_text=ranker.base_text,
        noun="feature" if linear else "rule",
        arithmetic=_sum_in_words(ballot, linear, baseline),
        notes=(READS_TOO,) if tables.from_model else (),
        baseline=baseline,
    )


def _sum_in_words(ballot: Ballot, linear: bool, baseline: Baseline | None) -> tuple[str, ...]:
    base, score = round(ballot.base, 4), round(ballot.score, 4)  # what is printed adds up
    if baseline is not None:
        own = ballot.sets[:, 0] == ballot.n_features - 1
        start = round(float(ballot.adds[own].sum()), 4)
        noun = "rule" if not linear else "feature" if baseline.column is None else "other feature"
        others = counted(int(ballot.voted[~own].sum()), noun)
        return (f"the baseline ranking gives {start:.4f}, and {others} move it by {score - start:+.4f} to {score:.4f}",)
    n_voted = int(ballot.voted.sum())
    if linear:
        return (f"the sum of weight times value over {counted(n_voted, 'feature')} is {score:.4f}",)
    return (
        f"{counted(n_voted, 'rule')} vote, one of each table: together {score - base:+.4f}",
        f"{base:.4f} {score - base:+.4f} = {score:.4f}",
    )


def value_text(ranker: Ranker, name: str, value: float, sign: str = "=") -> str:
    """Return a value that a weight takes in words, with the name of the scale that it is on."""
    scale = ranker.scale_of(name)
    number = as_date(round(value)) if name in ranker.dates_ and scale is None else decimal(value, 4)
    return on_scale(f"{name} {sign} {number}", name, scale)


@case_of.register(GlobalRules)
def _of_global_rules(ranker: GlobalRules, X: Array, row: int) -> Case:
    votes, metric = ranker.params_["votes"], ranker.params_["metric"]
    method = f"GlobalRules, votes={votes!r}" + (f", metric={metric!r}" if votes == "mean" else "")
    method += "" if ranker.params_["mapped"] else ", unmapped"
    return rule_case(ranker, bins_at(ranker, X, row), method)


@case_of.register(StableRules)
def _of_stable_rules(ranker: StableRules, X: Array, row: int) -> Case:
    scheme, given = ranker.engine_.scheme, ranker.params_
    how = "literal" if given["literal"] else f"stability={given['stability']!r}"
    how += f", phi={scheme.phi}" if isinstance(scheme, ConfidenceVotes) else ""
    return rule_case(ranker, bins_at(ranker, X, row), f"StableRules, {how}")


def bins_at(rules: RuleRanker, X: Array, row: int) -> Array:
    """Return the known bins of one of the checked rows."""
    return np.ascontiguousarray(rules.known_bins(X[row : row + 1])[:, 0])


def rule_case(ranker: RuleRanker, row_bins: Array, method: str) -> Case:
    """Return the case of a document, given as known bins, that rules vote on."""
    engine = ranker.engine_
    scheme, training = engine.scheme, engine.training
    counts, votes = engine.votes_of(row_bins)
    parts = scheme.parts(votes, training)
    ballot = rule_ballot(engine, row_bins, votes, parts, lambda sums: scheme.scores(sums, training), counts.grades)
    tallies = None if scheme.thetas is None else counts.tallies
    grades, by_grade_lines = grade_votes(scheme, training, ballot)
    notes: tuple[str, ...] = ()
    if tallies is not None:
        n_covering = int((tallies[:, 0] > 0).sum())
        notes = (
            f"{int(ballot.voted.sum()):,} of the {n_covering:,} rules that cover it are stable; they alone vote."
            if _stable_vote(engine, ballot)
            else "No stable rule covers it, so all rules vote.",
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
        item=items_of(ballot, ranker.item_text),
        value=lambda feature: bin_text(ranker, feature, int(row_bins[feature])),
        names=ranker.feature_names_,
        arithmetic=lines,
        grades=grades,
        notes=notes,
        tallies=tallies,
    )


def rule_ballot(
    engine: Engine,
    row_bins: Array,
    votes: Array,
    parts: Parts,
    tally: Tally,
    by_grade: Array,
    base: float | None = None,
) -> Ballot:
    """Put a document's votes under an engine, taken apart, into a ballot."""
    sets = engine.layout.members
    return Ballot(
        sets=sets,
        bins=np.where(sets < 0, 0, row_bins[sets]),
        votes=votes,
        tally=tally,
        adds=parts.adds,
        weights=parts.weights,
        voted=parts.voted,
        base=engine.training.mean_grade if base is None else base,
        n_features=row_bins.size,
        by_grade=by_grade,
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


def items_of(ballot: Ballot, text: ItemText) -> Callable[[int, int], Item]:
    """Return what makes the item of a feature in a cell."""

    def item(cell: int, feature: int) -> Item:
        bin = ballot.bin_of(cell, feature)
        return Item(feature, bin, text(feature, bin))

    return item


def rules_of(ranker: Any) -> RuleRanker | None:
    """Return the rules that score documents by their bins, one by one; None where there are none, or others too."""
    if isinstance(ranker, RuleRanker):
        return ranker
    found: RuleRanker | None = getattr(ranker, "picking_rules", None)
    return found


def bin_text(ranker: RuleRanker, feature: int, bin: int) -> str:
    """Return a known bin in words."""
    unseen = f"{ranker.feature_names_[feature]}: not seen in training"
    return unseen if bin == UNSEEN else ranker.item_text(feature, bin)


def _stable_vote(engine: Engine, ballot: Ballot) -> bool:
    scheme: Any = engine.scheme
    by_rule = isinstance(scheme, ConfidenceVotes)
    own = slice(engine.training.n_grades, scheme.mean.width(engine.training)) if by_rule else 1
    return bool(ballot.votes[:, own].any())
