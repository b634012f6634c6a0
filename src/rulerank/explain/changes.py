"""What would change it: the smallest move of one feature that lifts a document above a score."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import issparse

from rulerank.core.words import decimal
from rulerank.dataset import Array, Dataset, doc_name
from rulerank.errors import DataError
from rulerank.explain.cases import bin_text, rules_of, value_text
from rulerank.explain.explanation import find_row
from rulerank.explain.standing import Background, background_of
from rulerank.rankers.base import Ranker
from rulerank.rankers.global_rules import axes_of
from rulerank.rankers.linear.linear_ranker import WeightedSum
from rulerank.rankers.rows import recoded
from rulerank.rankers.rule_ranker import RuleRanker
from rulerank.rules.additive import AdditiveTables
from rulerank.rules.engine import Engine
from rulerank.rules.layout import UNSEEN

AT_ONCE = 16  # values of a feature, each with a copy of the query
MOST_TRIED = 64  # values of a feature, evenly spaced among those of the query


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one feature, and the score that it leads to.

    >>> print(Change("pagerank", "pagerank < 0.02", "pagerank in [0.02, 0.1)", n_bins=1, move=0.013, score=0.61))
    pagerank in [0.02, 0.1) instead of pagerank < 0.02 (1 bin, a move of 0.013): 0.6100
    >>> print(Change("price", "price 343", "price 151", None, -192.0, 1.7))
    price 151 instead of price 343 (a move of 192): 1.7000
    """

    feature: str
    now: str  # interval or value in words
    then: str
    n_bins: int | None  # bins away; None where values count, not bins
    move: float  # of the value, in its own units, to the near edge of the bin; NaN: not known
    score: float  # after it; for a linear ranker, the score that is to be beaten

    def __str__(self) -> str:
        steps = [] if self.n_bins is None else [f"{self.n_bins} bin{'s' if self.n_bins > 1 else ''}"]
        steps += [] if math.isnan(self.move) else [f"a move of {decimal(abs(self.move))}"]
        how = f" ({', '.join(steps)})" if steps else ""
        return f"{self.then} instead of {self.now}{how}: {self.score:.4f}"


class Lift(NamedTuple):
    """What would lift a document above a score."""

    document: str
    above: float
    changes: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a move that is not known is None, as JSON has no NaN."""
        changes = [asdict(one) | {"move": None if math.isnan(one.move) else one.move} for one in self.changes]
        return {"document": self.document, "above": self.above, "changes": changes}


def lift_of(ranker: Ranker, own: Dataset, scores: Array, row: int, other: int | None = None) -> Lift | None:
    """Return what would lift a document of a query above another, or above the one ranked just before it."""
    above = score_before(scores, row, other)
    return None if above is None else Lift(doc_name(own, row), above, what_if(ranker, own, row, above))


def score_before(scores: Array, row: int, other: int | None) -> float | None:
    """Return the score of the other document, or of the one ranked just before; None if there is none to beat."""
    if other is not None:
        return float(scores[other]) if scores[other] >= scores[row] else None
    higher = scores[scores > scores[row]]
    return float(higher.min()) if higher.size else None


def what_if(ranker: Ranker, x: Any, row: int | None, above: float) -> tuple[Change, ...]:
    """Return the smallest change of each feature that lifts a document above a score, the smallest first.

    Values are tried, the nearest first, by scoring the document anew, among all documents of its query where they are
    compared with each other: one value in each bin that the model tells apart, or those of the query's other documents.
    Where a feature has nothing but a weight, its value is solved for: anything beyond lifts the document higher.
    """
    if isinstance(above, bool) or not isinstance(above, int | float | np.number) or not math.isfinite(above):
        raise DataError(f"above must be a number, the score to beat: got {above!r}")
    document, whole_query = find_row(ranker, x, row), ranker.needs_the_query()
    if whole_query:
        own = background_of(ranker, x, row)
        if isinstance(x, Dataset):  # which may have its own codes
            own = replace(own, X=recoded(own.X, x, own.names, ranker.categories_), categories=ranker.categories_)
        X, place = own.X, own.row
    else:
        one: Any = document.X[document.row : document.row + 1]
        X, place = np.asarray(one.toarray() if issparse(one) else one, dtype=np.float64), 0
    as_it_is = np.zeros(1, dtype=np.int64)
    score = float(scores_with(ranker, X, place, as_it_is, X[place, as_it_is])[0])
    if score > above:
        return ()
    if isinstance(ranker, WeightedSum) and not whole_query:
        return solved(ranker, X[0], above, above - score)
    steps = values_of_query(own) if whole_query else values_in_bins(ranker, X[0])
    nearest = np.lexsort((steps.shares, steps.n_bins, steps.features))
    at_once = AT_ONCE if whole_query else len(nearest)
    found: list[tuple[int, float]] = []
    while nearest.size:
        features = steps.features[nearest]
        first = np.searchsorted(features, features)  # of the same feature
        now = np.arange(nearest.size) - first < at_once  # the next few of each feature
        tried, nearest = nearest[now], nearest[~now]
        scores = scores_with(ranker, X, place, steps.features[tried], steps.values[tried])
        lifted = np.flatnonzero(scores > above)
        tried, scores = tried[lifted], scores[lifted]
        best = np.lexsort((-scores, steps.shares[tried], steps.n_bins[tried]))
        done, firsts = np.unique(steps.features[tried[best]], return_index=True)
        found += zip(tried[best[firsts]].tolist(), scores[best[firsts]].tolist(), strict=True)
        nearest = nearest[~np.isin(steps.features[nearest], done)]
    found.sort(key=lambda pair: (steps.n_bins[pair[0]], steps.shares[pair[0]], steps.features[pair[0]]))
    changes = []
    for step, score in found:
        n_bins = None if whole_query else int(steps.n_bins[step])
        name = ranker.feature_names_[steps.features[step]]
        before, then = steps.words(step)
        changes.append(Change(name, before, then, n_bins, float(steps.moves[step]), score))
    return tuple(changes)


class Steps(NamedTuple):
    """Other values of features, to be tried: an entry of each array for each of them."""

    features: Array
    values: Array
    n_bins: Array  # bins away; 1 where values count, not bins
    moves: Array  # NaN: not known
    shares: Array  # of the feature's range that it moves; infinite where that is not known
    words: Callable[[int], Iterable[str]]  # what there is now, and with one of them


def scores_with(ranker: Ranker, X: Array, row: int, features: Array, values: Array) -> Array:
    """Return a document's score with each of some values of features, its query scored anew."""
    n_worlds = len(features)
    worlds = np.repeat(X[None], n_worlds, axis=0)
    worlds[np.arange(n_worlds), row, features] = values
    rows = worlds.reshape(-1, X.shape[1])
    if not ranker.needs_the_query():
        return ranker.checked_scores(rows)
    scores = ranker.predict_codes(rows, qid=np.repeat(np.arange(n_worlds), len(X)))
    return scores.reshape(n_worlds, -1)[:, row]


def values_of_query(own: Background) -> Steps:
    """Return the values of each feature that other documents of the query have, or evenly spaced ones of many.

    A smaller move to a value that no document has may do as well.
    """
    features, values, moves, shares = [], [], [], []
    for feature, name in enumerate(own.names):
        now, known = float(own.X[own.row, feature]), own.X[np.isfinite(own.X[:, feature]), feature].astype(np.float64)
        others = np.unique(known[known != now])
        some = others[np.linspace(0, len(others) - 1, min(len(others), MOST_TRIED)).astype(np.int64)]
        move = np.full(len(some), math.nan) if name in own.categories else some - now
        spread = float(np.ptp(known)) or 1.0 if known.size else 1.0
        features.append(np.full(len(some), feature))
        values.append(some)
        moves.append(move)
        shares.append(np.where(np.isnan(move), math.inf, np.abs(move) / spread))
    feature_of, value_of = np.concatenate(features), np.concatenate(values)

    def words(step: int) -> Iterable[str]:
        feature = int(feature_of[step])
        return (
            f"{own.names[feature]} {own.written(feature, float(one))}"
            for one in (own.X[own.row, feature], value_of[step])
        )

    n_bins = np.ones(len(value_of), dtype=np.int64)
    return Steps(feature_of, value_of, n_bins, np.concatenate(moves), np.concatenate(shares), words)


def values_in_bins(ranker: Ranker, x: Array) -> Steps:
    """Return a value in every bin of each feature that training has seen; none is asked to go missing."""
    rules = rules_of(ranker)
    tables = ranker.as_tables() if rules is None else None
    if rules is not None:
        bins = _bins.get(rules.engine_) or _bins.setdefault(rules.engine_, Bins.of(_axes_of_rules(rules)))
        return bins.steps(x, partial(_rules_text, rules, {axis.feature: axis for axis in bins.axes}))
    if tables is not None:
        bins = _bins.get(tables) or _bins.setdefault(tables, Bins.of(_axes_of_tables(tables)))
        return bins.steps(x, lambda feature, bin: tables.item_text(*tables.finest[feature], bin, dates=ranker.dates_))
    raise DataError(
        f"{type(ranker).__name__} has no bins to change; what_if works for FittedRules, GlobalRules, StableRules, "
        "QueryRules, Competence and QueryIntercepts"
    )


def _rules_text(rules: RuleRanker, axes: Mapping[int, Axis], feature: int, bin: int) -> str:
    group = axes[feature].group_of(bin)
    return bin_text(rules, feature, UNSEEN if group < 0 else group)


class Axis(NamedTuple):
    """The bins of one feature, numbered from the lowest; then the one for missing values."""

    feature: int
    cuts: Array
    groups: list[int]  # by bin: those of one group are told apart by nobody
    seen: list[int]  # the bins to go to
    kinds: bool  # of categories, which have no order
    whole: bool = False  # values are bin numbers themselves

    def bin_of(self, value: float) -> int:
        if math.isnan(value):
            return len(self.cuts) + 1
        return int(value) if self.whole else bisect_right(self.cuts, value)

    def group_of(self, bin: int) -> int:
        return self.groups[min(bin, len(self.groups) - 1)]


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of all features of a model to go to, laid out once: an entry of each array for each of them."""

    axes: list[Axis]
    axis: Array  # its number
    features: Array
    bins: Array
    groups: Array
    edges: Array  # (2, n): that is reached from above, and from below
    inside: Array  # (2, n): the value nearest to that edge
    widths: Array  # distance of the feature's outermost cuts, which makes moves of different features comparable
    kinds: Array

    @classmethod
    def of(cls, axes: list[Axis]) -> Bins:
        """Lay the bins of some features out."""
        rows = []
        for number, axis in enumerate(axes):
            cuts, last = axis.cuts.tolist(), len(axis.cuts)
            plain = axis.kinds or axis.whole or not last
            width = 1.0 if axis.whole or not last else cuts[-1] - cuts[0] or abs(cuts[0]) or 1.0
            for bin in axis.seen:
                low = float(bin) if plain else cuts[max(bin - 1, 0)]
                high = float(bin) if plain else cuts[min(bin, last - 1)]
                below = high if plain or bin == last else math.nextafter(high, -math.inf)
                rows.append((number, axis.feature, bin, axis.groups[bin], high, low, below, low, width, axis.kinds))
        found = np.array(rows, dtype=np.float64).reshape(-1, 10).T
        axis_of, features, bins, groups = found[:4].astype(np.int64)
        return cls(axes, axis_of, features, bins, groups, found[4:6], found[6:8], found[8], found[9] > 0)

    def steps(self, x: Array, text: Callable[[int, int], str]) -> Steps:
        """Return the steps of a document into the bins that it is not in; text: (feature, bin) -> words."""
        values = [float(x[axis.feature]) for axis in self.axes]
        at = [axis.bin_of(value) for axis, value in zip(self.axes, values, strict=True)]
        own = np.array([axis.group_of(bin) for axis, bin in zip(self.axes, at, strict=True)], dtype=np.int64)
        to = np.flatnonzero(self.groups != own[self.axis])  # rare kinds share a group
        features, bins, axis = self.features[to], self.bins[to], self.axis[to]
        now, value = np.array(at, dtype=np.int64)[axis], np.array(values)[axis]
        rises = bins > now
        loose = self.kinds[to] | np.isnan(value)  # no distance is known
        moves = np.where(loose, math.nan, np.where(rises, self.edges[1, to], self.edges[0, to]) - value)
        return Steps(
            features=features,
            values=np.where(rises, self.inside[1, to], self.inside[0, to]),
            n_bins=np.where(loose, 1, np.abs(bins - now)),
            moves=moves,
            shares=np.where(loose, math.inf, np.abs(moves) / self.widths[to]),
            words=lambda step: [text(int(features[step]), int(bin)) for bin in (now[step], bins[step])],
        )


_bins: WeakKeyDictionary[Engine | AdditiveTables, Bins] = WeakKeyDictionary()  # of the models that were asked


def _axes_of_rules(rules: RuleRanker) -> list[Axis]:
    engine, whole = rules.engine_, rules.discretizer_ is None
    axes, found = axes_of(rules.discretizer_, rules.n_bins_), []
    for feature in engine.layout.sets[0].features[:, 0].tolist() if engine.layout.sets else ():
        axis, groups = axes[feature], axes[feature].bins.tolist()
        seen = [groups.index(bin) for bin in engine.seen_bins(feature).tolist()]
        inner = [bin for bin in seen if bin <= len(axis.cuts)]
        found.append(Axis(feature, axis.cuts, groups, inner, axis.kinds is not None, whole))
    return found


def _axes_of_tables(tables: AdditiveTables) -> list[Axis]:
    found = []
    for feature, (table, number) in sorted(tables.finest.items()):
        cuts, kinds = tables.tables[table].cuts[number], tables.feature_names[feature] in tables.categories
        found.append(Axis(feature, cuts, list(range(len(cuts) + 2)), list(range(len(cuts) + (not kinds))), kinds))
    return found


def solved(ranker: WeightedSum, x: Array, above: float, gap: float) -> tuple[Change, ...]:
    """Return the value of each feature with which the score of a weighted sum equals `above`."""
    scale = getattr(ranker, "scale_", np.ones_like(ranker.coef_))
    filled = x if ranker.fill_ is None else np.where(np.isnan(x), ranker.fill_, x)
    changes = []
    for feature in np.flatnonzero(ranker.coef_ * scale).tolist():
        name, weight, now = ranker.feature_names_[feature], float(ranker.coef_[feature]), float(filled[feature])
        move = gap / weight
        then = value_text(ranker, name, now + move, ">" if weight > 0 else "<")
        change = Change(name, value_text(ranker, name, now), then, None, move, above)
        changes.append((abs(move) / float(scale[feature]), change))
    return tuple(change for _, change in sorted(changes, key=lambda pair: pair[0]))
