"""Why one document stands above another, and the smallest set of features, or rules, without which it would not."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.explain.ballot import Ballot
from rulerank.explain.cases import Case, case_of
from rulerank.explain.explanation import (
    Explanation,
    RuleVote,
    Shown,
    explained,
    find_row,
    fold,
    rule_dict,
    rule_vote,
    share_of,
)
from rulerank.explain.standing import Background, background_of
from rulerank.rankers.base import Ranker
from rulerank.render import Page
from rulerank.render.document import Bar, in_digits, sum_digits, summed, units

LISTED = 20  # rules of a swap that JSON lists
STEPS = 2e7  # looks at a cell: some 0.2 s
SURE = 1e-9  # scores closer than this are tied


@dataclass(frozen=True, slots=True)
class FeatureGap:
    """What one feature has to do with the difference of two scores."""

    feature: str
    of_high: str  # the item or value in words
    of_low: str
    adds: float  # to the difference
    high_value: str = ""  # as it came
    low_value: str = ""
    high_standing: str = ""  # of the value, among those of its query
    low_standing: str = ""

    @property
    def differs(self) -> bool:
        """Whether the two differ as the model sees them."""
        return self.of_high != self.of_low


@dataclass(frozen=True, slots=True)
class RuleGap:
    """The rules over the same features that vote for one document and for the other."""

    of_high: RuleVote | None  # None: no rule votes
    of_low: RuleVote | None
    adds: float  # to the difference
    same: bool  # both have the same items, and the rule weighs differently among their others


@dataclass(frozen=True, slots=True)
class GapGroup:
    """Rules that share a feature with the strongest of them and favour the same document."""

    rules: tuple[RuleGap, ...]
    n_rules: int
    adds: float


@dataclass(frozen=True, slots=True)
class Swap:
    """What would have to be removed from the model for the lower document to be the higher one; empty: nothing does."""

    features: tuple[str, ...]  # empty when it is about rules, too
    rules: tuple[RuleVote, ...]  # rules that the higher document has, and then those that the other has alone
    proven: bool  # no smaller set would do; else it was found by greedy search


@dataclass(frozen=True, repr=False)
class Versus(Shown):
    """Why one document scores above another. difference = base_difference + what the features, or groups, add."""

    high: Explanation
    low: Explanation
    difference: float
    base_difference: float  # of where the two start: 0 except for mixtures
    features: tuple[FeatureGap, ...]  # the largest first
    groups: tuple[GapGroup, ...]
    n_same: int  # rules that vote for both
    n_only_high: int
    n_only_low: int
    adds_same: float  # what the rules that vote for both add, because they weigh differently
    swap_features: Swap | None  # None: they are tied
    swap_rules: Swap | None  # None: they are tied, no rules were found, or no rules vote

    @property
    def tied(self) -> bool:
        return self.difference == 0

    @property
    def digits(self) -> int:
        """With how many decimals the two scores, their difference and its parts are printed."""
        adds = [self.base_difference, *(gap.adds for gap in self.features)]
        return sum_digits(adds, self.difference)

    @property
    def printed_difference(self) -> str:
        """The difference of the two scores as they are printed."""
        return in_digits(self._difference_in_units, self.digits)

    @property
    def _difference_in_units(self) -> int:
        return units(self.high.score, self.digits) - units(self.low.score, self.digits)

    def parts(self, adds: Iterable[float]) -> list[Bar]:
        """Return parts as they are printed: they add up to the printed difference."""
        return summed(adds, self._difference_in_units, self.digits)

    def page(self) -> Page:
        from rulerank.explain.pages import versus_page

        return versus_page(self)

    def lines(self, n: int = 5) -> list[str]:
        """Return plain sentences: who is above, then the n strongest reasons, then what would swap them."""
        from rulerank.explain.pages import versus_lines

        return versus_lines(self, n)

    def to_dict(self) -> dict[str, Any]:
        numbers = ("difference", "base_difference", "n_same", "n_only_high", "n_only_low", "adds_same")
        return (
            {"kind": "versus", "high": self.high.to_dict(), "low": self.low.to_dict()}
            | {name: getattr(self, name) for name in numbers}
            | {
                "features": [asdict(gap) for gap in self.features],
                "groups": [_group_dict(group) for group in self.groups],
                "swap_features": _swap_dict(self.swap_features),
                "swap_rules": _swap_dict(self.swap_rules),
            }
        )


def explain_versus(ranker: Ranker, x: Any, row: int | None, versus: Any, n_rules: int | None) -> Versus:
    """Explain why one document stands above or below another."""
    one = find_row(ranker, x, row, "a")
    if is_whole(versus, 0) and versus == row:
        raise DataError(f"{one.name} cannot be compared with itself: row and versus must be two documents, got {row}")
    beside = is_whole(versus, 0)
    other = find_row(ranker, x, versus) if beside else find_row(ranker, versus, None, "b")
    behind = background_of(ranker, x, row), background_of(ranker, *((x, versus) if beside else (versus, None)))
    docs = [
        Compared(case_of(ranker, doc.X, doc.row), doc.name, own) for doc, own in zip((one, other), behind, strict=True)
    ]
    high, low = sorted(docs, key=lambda doc: -doc.case.ballot.score)
    return compared(high, low, n_rules)


class Compared(NamedTuple):
    """One of two documents."""

    case: Case
    name: str
    behind: Background


def feature_gaps(high: Compared, low: Compared) -> tuple[FeatureGap, ...]:
    """Return what features have to do with the difference of two scores, the largest first."""
    above, below = high.case.ballot, low.case.ballot
    shares = shared_gaps(above, below, above.adds - below.adds)
    gaps = []
    for f in np.flatnonzero((above.holds | below.holds).any(axis=0)).tolist():
        one, two = (share_of(doc.case, doc.behind, f, float(shares[f]), 0.0) for doc in (high, low))
        known = one.value, two.value, one.standing, two.standing
        gaps.append(FeatureGap(one.feature, one.text, two.text, one.adds, *known))
    return tuple(sorted(gaps, key=lambda gap: -abs(gap.adds)))


def compared(one: Compared, other: Compared, n_rules: int | None) -> Versus:
    """Compare two documents under the same ranker, the higher one first."""
    high, low = one.case, other.case
    above, below = high.ballot, low.ballot
    net = above.adds - below.adds
    voted = above.voted | below.voted
    same = above.same_as(below) & voted
    groups = fold(net, above.holds | below.holds, voted, above.by_grade.sum(axis=1))
    tied = above.score == below.score
    feature_swap = None if tied else features_that_swap(above, below)
    rule_swap = None if tied or high.noun != "rule" else rules_that_swap(above, below)

    def rule_gap(cell: int) -> RuleGap:
        docs = ((high, one.behind), (low, other.behind))
        votes = [rule_vote(case, cell, behind) if case.ballot.voted[cell] else None for case, behind in docs]
        return RuleGap(votes[0], votes[1], float(net[cell]), bool(same[cell]))

    return Versus(
        high=explained(high, one.name, one.behind, n_rules),
        low=explained(low, other.name, other.behind, n_rules),
        difference=above.score - below.score,
        base_difference=above.base - below.base,
        features=feature_gaps(one, other),
        groups=tuple(
            GapGroup(tuple(rule_gap(int(cell)) for cell in cells[:n_rules]), cells.size, float(net[cells].sum()))
            for cells in groups
        ),
        n_same=int(same.sum()),
        n_only_high=int((above.voted & ~same).sum()),
        n_only_low=int((below.voted & ~same).sum()),
        adds_same=float(net[same].sum()),
        swap_features=feature_swap and Swap(tuple(map(high.part_name, feature_swap.features)), (), feature_swap.proven),
        swap_rules=rule_swap
        and Swap(
            (),
            (
                *(rule_vote(high, cell) for cell in (*rule_swap.both, *rule_swap.only_high)),
                *(rule_vote(low, cell) for cell in rule_swap.only_low),
            ),
            rule_swap.proven,
        ),
    )


def shared_gaps(high: Ballot, low: Ballot, net: Array) -> Array:
    """Share what rules add to the difference alike by those of their features in which the two documents differ.

    A rule that both have weighs differently among their other rules: that is shared by all its features.
    """
    holds = high.holds | low.holds
    differs = np.zeros(high.n_features, dtype=bool)
    differs[high.sets[high.bins != low.bins]] = True
    takes = holds & differs
    takes |= holds & ~takes.any(axis=1, keepdims=True)
    return (net / np.maximum(takes.sum(axis=1), 1)) @ takes


def _group_dict(group: GapGroup) -> dict[str, Any]:
    rules = [
        {
            "adds": gap.adds,
            "same": gap.same,
            "of_high": gap.of_high and rule_dict(gap.of_high),
            "of_low": gap.of_low and rule_dict(gap.of_low),
        }
        for gap in group.rules
    ]
    return {"adds": group.adds, "n_rules": group.n_rules, "rules": rules}


def _swap_dict(swap: Swap | None) -> dict[str, Any] | None:
    if swap is None:
        return None
    if not swap.rules:
        return {"features": list(swap.features), "proven_smallest": swap.proven}
    first = [str(rule) for rule in swap.rules[:LISTED]]
    return {"n_rules": len(swap.rules), "first_rules": first, "proven_smallest": swap.proven}


class FeatureSwap(NamedTuple):
    """Features to remove, and whether no smaller set would do; none at all if no set does, or none was found."""

    features: tuple[int, ...]
    proven: bool


class RuleSwap(NamedTuple):
    """Rules to remove, by cell: those of both documents, and of one alone; and whether no smaller set would do."""

    both: tuple[int, ...]
    only_high: tuple[int, ...]
    only_low: tuple[int, ...]
    proven: bool


def features_that_swap(high: Ballot, low: Ballot, steps: float = STEPS) -> FeatureSwap:
    """Find the smallest set of features without which `low` scores above `high`.

    A greedy search comes first; then all smaller sets are tried, size by size, as long as that takes at most `steps`.
    """
    candidates = np.union1d(high.used, low.used)
    found = _greedily(high, low, candidates)
    largest = len(found) - 1 if found else candidates.size
    n_cells = len(high.adds) + len(low.adds)
    for size in range(1, largest + 1):
        steps -= math.comb(candidates.size, size) * n_cells
        if steps < 0:
            return FeatureSwap(found, proven=False)
        flat = chain.from_iterable(combinations(candidates.tolist(), size))
        sets = np.fromiter(flat, dtype=np.int64).reshape(-1, size)
        gaps = _gaps(high, low, sets)
        if gaps.size and gaps.min() < -SURE:
            return FeatureSwap(tuple(sets[gaps.argmin()].tolist()), proven=True)
    return FeatureSwap(found, proven=True)


def rules_that_swap(high: Ballot, low: Ballot) -> RuleSwap | None:
    """Find rules without which `low` scores above `high`: those that favour `high` most, as many as it takes.

    A rule that both have goes for both. A set of one is the smallest; larger ones are not proven to be.
    """
    same = high.same_as(low) & (high.voted | low.voted)
    drops = {  # which rules there are, and for whom they vote
        "both": np.flatnonzero(same),
        "only_high": np.flatnonzero(~same & high.voted),
        "only_low": np.flatnonzero(~same & low.voted),
    }
    units = np.concatenate(list(drops.values()))
    kind = np.repeat(np.arange(3), [cells.size for cells in drops.values()])
    of_high = np.where((kind != 2)[:, None], high.votes[units], 0.0)
    of_low = np.where((kind != 1)[:, None], low.votes[units], 0.0)
    sums = [ballot.votes.sum(axis=0) for ballot in (high, low)]
    gaps = high.tally(sums[0] - of_high) - low.tally(sums[1] - of_low)
    order = np.argsort(gaps, kind="stable")
    left = [sums[0] - np.cumsum(of_high[order], axis=0), sums[1] - np.cumsum(of_low[order], axis=0)]
    gaps = high.tally(left[0]) - low.tally(left[1])  # as differences, nearly exact
    for n in (np.flatnonzero(gaps < -SURE) + 1).tolist():
        dropped, kinds = units[order[:n]], kind[order[:n]]
        kept = [np.ones(len(ballot.adds), dtype=bool) for ballot in (high, low)]
        kept[0][dropped[kinds != 2]] = False
        kept[1][dropped[kinds != 1]] = False
        if high.score_of(kept[0]) - low.score_of(kept[1]) < -SURE:
            parts = [tuple(dropped[kinds == k].tolist()) for k in range(3)]
            return RuleSwap(parts[0], parts[1], parts[2], proven=n == 1)
    return None


def _greedily(high: Ballot, low: Ballot, candidates: Array) -> tuple[int, ...]:
    removed: list[int] = []
    while len(removed) < candidates.size:
        rest = [feature for feature in candidates.tolist() if feature not in removed]
        gaps = _gaps(high, low, np.array([[*removed, feature] for feature in rest]))
        removed.append(rest[int(gaps.argmin())])
        if gaps.min() < -SURE:
            return tuple(sorted(removed))
    return ()


def _gaps(high: Ballot, low: Ballot, sets: Array) -> Array:
    """Return by how much `high` scores above `low` without each set of features, (n_sets, size)."""
    removed = np.zeros((len(sets), high.n_features), dtype=bool)
    np.put_along_axis(removed, sets, True, axis=1)
    return high.scores_without_sets(removed) - low.scores_without_sets(removed)
