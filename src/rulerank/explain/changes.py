"""What would change it: the smallest move of one feature that lifts a document above a score."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from rulerank.ballots import BinForm, LinearForm
from rulerank.core.words import decimal
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.explain.score import doc_name, find_row
from rulerank.explain.standing import Background, background_of
from rulerank.rankers.base import Ranker
from rulerank.rankers.rows import recoded

TRIED_AT_ONCE = 16  # copies of a query
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
    """Return the smallest change of each feature that lifts a document above a score, the smallest first."""
    if isinstance(above, bool) or not isinstance(above, int | float | np.number) or not math.isfinite(above):
        raise DataError(f"above must be a number, the score to beat: got {above!r}")
    found = find_row(ranker, x, row)
    if ranker.needs_the_query():  # another value changes the scale of the whole query: it is scored anew with it
        own = background_of(ranker, x, row)
        if isinstance(x, Dataset):  # which may have its own codes
            X = recoded(own.X, x, own.names, ranker.categories_)
            own = replace(own, X=X, categories=ranker.categories_)
        return tried_changes(ranker, own, float(above))
    values, in_bins, in_values = _dense(found.X, found.row), ranker.bin_form(), ranker.linear_form()
    if in_bins is not None:
        return bin_changes(in_bins, values, float(above))
    if in_values is not None:
        return linear_changes(in_values, values, float(above))
    in_tables = ranker.table_form()
    if in_tables is not None:
        from rulerank.explain.table_effects import table_changes

        return table_changes(in_tables, values, float(above))
    raise DataError(
        f"{type(ranker).__name__} has no bins to change; what_if works for FittedRules, GlobalRules, StableRules, "
        "QueryRules, Competence and QueryIntercepts"
    )


def _dense(X: Any, row: int) -> Array:
    own = X[row : row + 1]
    values: Array = (own.toarray() if issparse(own) else own)[0]
    return values


def bin_changes(form: BinForm, values: Array, above: float) -> tuple[Change, ...]:
    """Try every bin that training has seen of every feature; a value is never asked to go missing."""
    now = form.bins(values[None, :])[:, 0]
    known = form.known_bins(values[None, :])[:, 0]
    cuts = form.cuts
    moves = [
        (feature, bin)
        for block in form.engine.layout.sets[:1]
        for feature in block.features[:, 0].tolist()
        for bin in form.engine.seen_bins(feature).tolist()
        if bin != now[feature] and not (cuts is not None and bin > len(cuts[feature]))
    ]
    if not moves:
        return ()
    bins = np.repeat(known[:, None], len(moves), axis=1)
    bins[[feature for feature, _ in moves], np.arange(len(moves))] = [bin for _, bin in moves]
    scores = form.score(np.ascontiguousarray(bins))
    own, *_ = form.score(np.ascontiguousarray(known[:, None]))
    if own > above:
        return ()
    found: dict[int, tuple[tuple[float, float], Change]] = {}
    for (feature, bin), score in zip(moves, scores.tolist(), strict=True):
        if score <= above:
            continue
        own_cuts = None if cuts is None else cuts[feature]
        missing = own_cuts is not None and now[feature] > len(own_cuts)
        n_bins = 1 if missing else abs(int(bin) - int(now[feature]))
        move = math.nan if missing else _move(float(values[feature]), int(now[feature]), bin, own_cuts)
        size = (n_bins, math.inf if math.isnan(move) else abs(move) / _scale(own_cuts))
        if feature not in found or size < found[feature][0]:
            texts = [form.text(feature, int(b)) for b in (now[feature], bin)]
            found[feature] = size, Change(form.names[feature], texts[0], texts[1], n_bins, move, score)
    return tuple(change for _, change in sorted(found.values(), key=lambda pair: pair[0]))


def tried_changes(ranker: Ranker, own: Background, above: float) -> tuple[Change, ...]:
    """Try, one feature at a time, the values that the other documents of the query have, the nearest first.

    A score that depends on the whole query is computed anew for it with each value: what comes out is what `predict`
    says, though a smaller move to a value that no document has may do as well.
    """
    X, row = own.X, own.row
    if float(ranker.predict_codes(X, qid=np.zeros(len(X)))[row]) > above:
        return ()
    changes = []
    for feature, name in enumerate(ranker.feature_names_):
        now = float(X[row, feature])
        values = np.unique(X[np.isfinite(X[:, feature]) & (X[:, feature] != now), feature])
        if not values.size:
            continue
        values = values[np.linspace(0, len(values) - 1, min(len(values), MOST_TRIED)).astype(np.int64)]
        values = values[np.argsort(np.abs(values - now), kind="stable")] if math.isfinite(now) else values
        spread = float(np.ptp(X[np.isfinite(X[:, feature]), feature])) or 1.0
        for some in np.array_split(values, max(1, -(-len(values) // TRIED_AT_ONCE))):
            worlds = np.repeat(X[None], len(some), axis=0)
            worlds[:, row, feature] = some
            numbers = np.repeat(np.arange(len(some)), len(X))
            scores = ranker.predict_codes(worlds.reshape(-1, X.shape[1]), qid=numbers).reshape(len(some), -1)[:, row]
            lifted = np.flatnonzero(scores > above)
            if lifted.size:
                value = float(some[lifted[0]])
                texts = [f"{name} {own.written(feature, one)}" for one in (now, value)]
                move = math.nan if name in own.categories else value - now
                changes.append(
                    (
                        math.inf if math.isnan(move) else abs(move) / spread,
                        Change(name, texts[0], texts[1], None, move, float(scores[lifted[0]])),
                    )
                )
                break
    return tuple(change for _, change in sorted(changes, key=lambda pair: pair[0]))


def linear_changes(form: LinearForm, values: Array, above: float) -> tuple[Change, ...]:
    """Solve for the value of each feature with which the score equals `above`: anything beyond lifts it higher."""
    filled = form.fill(values[None, :])[0]
    score = float(form.score(filled[None, :])[0])
    if score > above:
        return ()
    changes = []
    for feature in np.flatnonzero(form.coef * form.scale).tolist():
        name, move = form.names[feature], (above - score) / float(form.coef[feature])
        now, sign = float(filled[feature]), ">" if form.coef[feature] > 0 else "<"
        texts = form.text(feature, now), form.text(feature, now + move, sign)
        change = Change(name, *texts, None, move, above)
        changes.append((abs(move) / float(form.scale[feature]), change))
    return tuple(change for _, change in sorted(changes, key=lambda pair: pair[0]))


def _move(value: float, now: int, bin: int, cuts: Array | None) -> float:
    """Return how far a value has to go to reach a bin, which begins at its lower cut and ends before the upper one."""
    if cuts is None:
        return float(bin - now)
    return float(cuts[bin - 1] - value) if bin > now else float(cuts[bin] - value)


def _scale(cuts: Array | None) -> float:
    """Return the distance of the outermost cuts, which makes moves of different features comparable."""
    if cuts is None or len(cuts) == 0:
        return 1.0
    return float(cuts[-1] - cuts[0]) or abs(float(cuts[0])) or 1.0
