"""What would change a rank: the smallest change of one feature, in its own units, that lifts a document."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rulerank._util.words import decimal
from rulerank.dataset import Array, Dataset, doc_name
from rulerank.errors import DataError
from rulerank.explain.documents import Documents, find_documents
from rulerank.explain.explanation import label_of
from rulerank.rankers.base import Ranker
from rulerank.rankers.global_rules import RuleAxis, axes_of
from rulerank.render.document import Sentences, Table, shown

MOST_TRIED = 64  # values of a feature that other documents have, evenly spaced among them
A_LITTLE = 1e-6  # more than what a weight needs


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one feature, and the resulting score.

    >>> print(Change("price", "343", "151 or less", -192.0, 1.7))
    price 151 or less instead of 343 (-192): new score 1.7000
    """

    feature: str
    now: str  # the value as people write it
    then: str
    move: float  # of the value, in its own units; NaN: there is no distance
    score: float  # after it
    name: str = ""  # what people call the feature

    def __str__(self) -> str:
        how = "" if math.isnan(self.move) else f" ({'-' if self.move < 0 else '+'}{decimal(abs(self.move))})"
        return f"{self.name or self.feature} {self.then} instead of {self.now}{how}: new score {self.score:.4f}"


class Lift(NamedTuple):
    """What would lift a document above a score."""

    document: str
    above: float
    changes: tuple[Change, ...]
    note: str = ""  # why there is nothing to change

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; a move that is not known is None, as JSON has no NaN."""
        changes = [asdict(one) | {"move": None if math.isnan(one.move) else one.move} for one in self.changes]
        found = {"document": self.document, "above": self.above, "changes": changes}
        return found | ({"note": self.note} if self.note else {})

    def block(self, n: int = 10) -> Table | Sentences:
        """Return it as a part of a page."""
        if self.note:
            return Sentences(f"What would lift {self.document}", (self.note,))
        title = f"What would lift {self.document} above {shown(self.above)}"
        if not self.changes:
            return Sentences(title, ("No change of a single feature is enough.",))
        rows = tuple((label_of(one.feature, one.name), one.now, one.then, shown(one.score)) for one in self.changes[:n])
        note = "Each of these changes alone is enough. The smallest change comes first."
        return Table(title, ("feature", "now", "then", "new score"), rows, 3, note)


def lift_of(ranker: Ranker, own: Dataset, scores: Array, row: int, other: int | None = None) -> Lift:
    """Return what would lift a document of a query above another, or above the one ranked just before it."""
    higher = scores[scores > scores[row]] if other is None else scores[[other]][scores[[other]] >= scores[row]]
    if not higher.size:
        above = "all others" if other is None else doc_name(own, other)
        return Lift(doc_name(own, row), float(scores[row]), (), f"It already ranks above {above}.")
    above_score = float(higher.min())
    return Lift(doc_name(own, row), above_score, what_if(ranker, own, row, above_score))


class Step(NamedTuple):
    """Another value of a feature, to be tried."""

    value: float
    text: str
    move: float  # NaN: there is no distance


def what_if(ranker: Ranker, x: Any, row: int | None, above: float) -> tuple[Change, ...]:
    """Return the smallest change of each feature that lifts a document above a score, the smallest first.

    Values are tried by scoring the document anew, among all documents of its query where they are compared with each
    other: the edges of the model's bins and what a weight needs, or the values of the query's other documents. A change
    is small that moves the value by a small part of the feature's range.
    """
    if isinstance(above, bool) or not isinstance(above, int | float | np.number) or not math.isfinite(above):
        raise DataError(f"above must be a number, the score to beat: got {above!r}")
    documents, place = find_documents(ranker, x, row)
    score, whole_query = documents.score(place), ranker.needs_the_query()
    if score > above:
        return ()
    axes = None if whole_query else axes_by_feature(documents)
    if axes is None and not whole_query and len(documents.raw) < 2:
        raise DataError(
            f"{type(ranker).__name__} has no bins whose edges are known: give all documents of the query, whose values "
            "are tried, and give the row of the document, what_if(X_of_the_query, row=3, above=...)"
        )
    X = documents.raw
    if not whole_query:
        X, place = np.asarray(X[place : place + 1], dtype=np.float64), 0
    found = []
    for feature, name in enumerate(documents.features):
        now = float(X[place, feature])
        steps = values_of_others(documents, feature, now) if axes is None else edges(documents, feature, now, axes)
        if axes is not None and documents.tables is not None and documents.tables.weights is not None:
            steps += solved(documents, feature, now, float(documents.tables.weights[feature]), above - score)
        lifted = [
            (math.inf if math.isnan(step.move) else abs(step.move) / spread(documents, feature, axes), -new, step)
            for step, new in zip(steps, scores_with(ranker, X, place, feature, steps), strict=True)
            if new > above
        ]
        if lifted:
            share, minus, step = min(lifted)
            written, human = documents.written(feature, now), documents.human(feature)
            found.append((share, feature, Change(name, written, step.text, step.move, -minus, human)))
    return tuple(change for *_, change in sorted(found, key=lambda one: one[:2]))


def scores_with(ranker: Ranker, X: Array, row: int, feature: int, steps: list[Step]) -> list[float]:
    """Return a document's score with each of some values of a feature, its query scored anew."""
    if not steps:
        return []
    copies = np.repeat(X[None], len(steps), axis=0)
    copies[:, row, feature] = [step.value for step in steps]
    qid = np.repeat(np.arange(len(steps)), len(X))
    scores: list[float] = (
        ranker.predict_codes(copies.reshape(-1, X.shape[1]), qid).reshape(len(steps), -1)[:, row].tolist()
    )
    return scores


def axes_by_feature(documents: Documents) -> dict[int, RuleAxis] | None:
    """Return how a model cuts the features it reads; None where that is not known."""
    rules, tables = documents.rules, documents.tables
    if rules is not None:
        axes = axes_of(rules.discretizer_, rules.n_bins_)
        used = rules.engine_.layout.sets[0].features[:, 0].tolist()
        seen = {feature: rules.engine_.seen_bins(feature) for feature in used}
        return {
            f: replace(axes[f], bins=np.where(np.isin(axes[f].bins, own), axes[f].bins, -1)) for f, own in seen.items()
        }
    if tables is None:
        return None
    found = {}
    for feature in tables.finest:
        own = [table.cuts[table.features.index(feature)] for table in tables.tables if feature in table.features]
        cuts = np.unique(np.concatenate(own))
        kinds = tables.categories.get(tables.feature_names[feature])
        found[feature] = RuleAxis(cuts, np.arange(len(cuts) + 2), kinds)
    return found


def edges(documents: Documents, feature: int, now: float, axes: dict[int, RuleAxis]) -> list[Step]:
    """Return the nearest value in every other bin that training has seen; none is asked to go missing."""
    if feature not in axes:
        return []
    axis, whole = axes[feature], documents.rules is not None and documents.rules.discretizer_ is None
    missing = math.isnan(now)
    here = len(axis.cuts) + 1 if missing else int(np.searchsorted(axis.cuts, now, side="right"))
    steps = []
    for bin in range(len(axis.cuts) + (axis.kinds is None)):
        if axis.bins[bin] < 0 or axis.bins[bin] == axis.bins[here]:
            continue
        if axis.kinds is not None or whole:
            value = float(bin)
            move = math.nan if axis.kinds is not None or missing else value - now
            steps.append(Step(value, documents.written(feature, value), move))
        elif bin > here or (missing and bin):
            cut = float(axis.cuts[bin - 1])
            steps.append(Step(cut, f"{documents.written(feature, cut)} or more", cut - now))
        elif len(axis.cuts):
            cut = float(axis.cuts[bin])
            steps.append(
                Step(math.nextafter(cut, -math.inf), f"less than {documents.written(feature, cut)}", cut - now)
            )
    return steps


def solved(documents: Documents, feature: int, now: float, weight: float, gap: float) -> list[Step]:
    """Return the value with which a weight alone makes up for what a score lacks, and a little more."""
    fill = None if documents.tables is None else documents.tables.fill
    if math.isnan(now) and fill is not None:
        now = float(fill[feature])
    if not weight or math.isnan(now):
        return []
    value = now + (gap + A_LITTLE * max(1.0, abs(gap))) / weight
    return [Step(value, f"{documents.written(feature, value)} or {'more' if weight > 0 else 'less'}", value - now)]


def values_of_others(documents: Documents, feature: int, now: float) -> list[Step]:
    """Return the values of a feature that other documents of the query have, or evenly spaced ones of many.

    A smaller move to a value that no document has may do as well.
    """
    values = documents.raw[:, feature].astype(np.float64)
    others = np.unique(values[np.isfinite(values) & (values != now)])
    some = others[np.linspace(0, len(others) - 1, min(len(others), MOST_TRIED)).astype(np.int64)].tolist()
    kinds = documents.features[feature] in documents.ranker.categories_
    return [Step(value, documents.written(feature, value), math.nan if kinds else value - now) for value in some]


def spread(documents: Documents, feature: int, axes: dict[int, RuleAxis] | None) -> float:
    """Return the range of a feature: of the documents' values, or between the outermost cuts; else its deviation."""
    known = documents.raw[np.isfinite(documents.raw[:, feature]), feature].astype(np.float64)
    if axes is not None and feature in axes:
        known = np.append(known, axes[feature].cuts)
    scale = getattr(documents.ranker, "scale_", None)
    return float(np.ptp(known) if known.size else 0.0) or (1.0 if scale is None else float(scale[feature])) or 1.0
