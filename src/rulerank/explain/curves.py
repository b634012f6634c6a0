"""What one feature adds to the score, by its value: steps of tables, lines of weights, means; how many have it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulerank._util.estimator import check_is_fitted
from rulerank._util.parameters import is_whole
from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.explain.documents import bins_of, called
from rulerank.explain.explanation import Shown
from rulerank.rankers.rows import Sample, importances_of, sample_of
from rulerank.rankers.rule_ranker import RuleRanker
from rulerank.render.document import Page
from rulerank.rules.additive import AdditiveTables, Table

if TYPE_CHECKING:
    from rulerank.rankers.base import Ranker

MOST = 9  # features
N_BARS = 30  # of a histogram
STEPS = 10  # of a curve that is a mean over documents
WIDE = "Rules of several features are in it as their mean over these documents."
OBSERVED = (
    "Each step is a mean over the documents with such values: what a feature adds depends on other features, too."
)
ENDS = (0.01, 0.99)  # shares of the values between which a curve is drawn


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Number of documents by value of a feature."""

    edges: Array  # float64, of bars that are equally wide; what lies beyond is counted in the outermost
    counts: Array  # int64, of each bar; of kinds: of each kind, and last of those not seen in training
    missing: int

    @property
    def n_docs(self) -> int:
        """How many documents were counted."""
        return int(self.counts.sum()) + self.missing


@dataclass(frozen=True, eq=False)
class FeatureCurve:
    """Contribution of a feature: the vote of the value's bin, plus slope times value, minus the mean over documents.

    >>> counts = count_values(np.array([1.0, 2.0]), None)
    >>> curve = FeatureCurve("bm25", np.array([2.0, 5.0]), np.array([-0.5, 0.25, 1.0, 0.0]), counts, mean=0.25)
    >>> curve.adds(np.array([1.0, 2.0, 7.0, math.nan])).tolist()
    [-0.75, 0.0, 0.75, -0.25]
    """

    feature: str
    cuts: Array  # float64, ascending: bins are intervals [low, high)
    votes: Array  # float64 (len(cuts) + 2,), missing last: as the model's tables have them
    counts: ValueCounts
    mean: float = 0.0  # over the documents, of what is not centred
    slope: float = 0.0
    fill: float = math.nan  # what stands for a missing value in slope times value
    spread: Array | None = None  # of the votes, one deviation
    slope_error: float | None = None  # one standard error
    middle: float = 0.0  # mean value of the documents: where an unsure slope does not matter
    kinds: tuple[str, ...] | None = None  # what the codes 0, 1, ... name
    date: bool = False  # the values are days since 1970-01-01
    name: str = ""  # what people call the feature

    def adds(self, values: Array) -> Array:
        """Return what the feature adds to the score of documents with these values."""
        values = np.asarray(values, dtype=np.float64)
        added = self.votes[bins_of(values, self.cuts)] - self.mean
        if self.slope:
            added = added + self.slope * np.where(np.isnan(values), self.fill, values)
        return added

    def unsure(self, values: Array) -> Array | None:
        """Return the standard deviation of the contribution at values; None if the model has none."""
        values = np.asarray(values, dtype=np.float64)
        found = None if self.spread is None else self.spread[bins_of(values, self.cuts)]
        if self.slope_error is not None and not math.isnan(self.slope_error):
            of_slope = self.slope_error * np.abs(np.where(np.isnan(values), self.fill, values) - self.middle)
            found = of_slope if found is None else np.hypot(found, of_slope)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values with all their digits."""
        spread, counts = self.spread, self.counts
        known = {
            "slope": self.slope or None,
            "slope_error": None if self.slope_error is None or math.isnan(self.slope_error) else self.slope_error,
            "spread": None if spread is None else spread.tolist(),
            "kinds": None if self.kinds is None else list(self.kinds),
            "counts": counts.counts.tolist(),
            "count_edges": None if self.kinds is not None else counts.edges.tolist(),
            "n_missing": counts.missing,
        }
        plain = {
            "feature": self.feature,
            "name": self.name or self.feature,
            "cuts": self.cuts.tolist(),
            "adds": (self.votes - self.mean).tolist(),
        }
        return plain | {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True, repr=False)
class FeatureCurves(Shown):
    """Contribution of each feature to the score, by value; the most important features first."""

    method: str
    curves: tuple[FeatureCurve, ...]
    n_docs: int  # that they are centred on
    noun: str = "document"  # or training row
    scale: str | None = None  # how features were normalised by query
    how: str = ""  # more on what they are, in a sentence
    n_left_out: int = 0  # weaker features

    def page(self) -> Page:
        from rulerank.explain.figures import TITLE, curves_table

        return Page(TITLE, (f"{self.method}.",), (curves_table(self),))

    def drawn(self) -> Page:
        from rulerank.explain.figures import curves_picture

        page = self.page()
        return replace(page, blocks=(*curves_picture(self), *page.blocks))

    def to_dict(self) -> dict[str, Any]:
        plain = {"kind": "curves", "method": self.method, "n_docs": self.n_docs, "of": self.noun, "scale": self.scale}
        return plain | {"curves": [curve.to_dict() for curve in self.curves]}


def curves_of(
    ranker: Ranker, data: Dataset | None = None, most: int = MOST, remembered: Sample | None = None
) -> FeatureCurves:
    """Return the curves of a ranker on documents; without any, on training rows that are remembered."""
    check_is_fitted(ranker)
    if data is not None and (not isinstance(data, Dataset) or not len(data)):
        raise DataError("curves need a Dataset with at least one document: make one with rr.Dataset(X, y, qid)")
    if not is_whole(most, 1):
        raise DataError(f"most, the number of features to draw, must be an integer of at least 1: got {most!r}")
    rows = remembered if data is None else Sample(ranker.check_rows(data, None), query_index(data.qid)[0])
    if rows is None:
        raise DataError(
            f"this {type(ranker).__name__} has no training rows: give documents, ranker.curves(data) or "
            "rulerank explain DATA MODEL -o curves.svg"
        )
    order = np.argsort(-importances_of(ranker, rows), kind="stable")
    return make_curves(ranker, rows, order, most, "document" if data is not None else "training row")


def make_curves(ranker: Ranker, rows: Sample, order: Array, most: int = MOST, noun: str = "document") -> FeatureCurves:
    """Return the curves of the first features in an order, on checked rows."""
    tables = ranker.as_tables()
    if tables is None or tables.from_model:
        return observed_curves(ranker, rows, order, most, noun)
    moved = {feature for table in tables.tables if table.votes.any() for feature in table.features}
    moved |= set() if tables.weights is None else set(np.flatnonzero(tables.weights).tolist())
    wide = any(len(table.features) > 1 for table in tables.tables) and isinstance(ranker, RuleRanker)
    cells = OtherCells(rows.X) if wide else None
    errors = getattr(ranker, "standard_errors_", None)
    chosen = [f for f in order.tolist() if f in moved]
    curves = [one_curve(tables, f, rows.X, cells, errors) for f in chosen[:most]]
    return _together(ranker, curves, len(chosen), len(rows.queries), noun, WIDE if wide else "")


def observed_curves(ranker: Ranker, rows: Sample, order: Array, most: int, noun: str) -> FeatureCurves:
    """Return what features add on average to the scores of documents, where what they add depends on the others."""
    rows = sample_of(rows.X, np.unique(rows.queries, return_inverse=True)[1])
    shares = ranker.checked_contributions(rows.X, rows.queries).by_feature(len(ranker.feature_names_) + 1)
    chosen, curves = [f for f in order.tolist() if shares[:, f].any()], []
    for feature in chosen[:most]:
        name, values, adds = ranker.feature_names_[feature], column_of(rows.X, feature), shares[:, feature]
        kinds, known = ranker.categories_.get(name), values[~np.isnan(values)]
        cuts = np.arange(len(kinds or ())) + 0.5
        if kinds is None and known.size:
            cuts = np.unique(np.quantile(known, np.arange(1, STEPS) / STEPS))
        bins = bins_of(values, cuts)
        n = np.maximum(np.bincount(bins, minlength=len(cuts) + 2), 1)
        votes, squares = (np.bincount(bins, own, len(cuts) + 2) / n for own in (adds, adds**2))
        spread = np.sqrt(np.maximum(squares - votes**2, 0.0))
        counts = count_values(values, kinds)
        curves.append(FeatureCurve(name, cuts, votes, counts, float(adds.mean()), spread=spread, kinds=kinds))
    return _together(ranker, curves, len(chosen), len(rows.queries), noun, OBSERVED)


def _together(
    ranker: Ranker, curves: list[FeatureCurve], n_chosen: int, n_docs: int, noun: str, how: str
) -> FeatureCurves:
    if not curves:
        raise DataError(f"there is no curve to draw: no feature moves the scores of this {type(ranker).__name__}")
    dates = ranker.dates_ if ranker.normalize_ is None else ()
    dated = tuple(replace(curve, date=curve.feature in dates, name=called(ranker, curve.feature)) for curve in curves)
    return FeatureCurves(type(ranker).__name__, dated, n_docs, noun, ranker.normalize_, how, n_chosen - len(dated))


def one_curve(
    tables: AdditiveTables, feature: int, X: Any, cells: OtherCells | None, errors: Array | None
) -> FeatureCurve:
    """Return what one feature adds: its own tables, its weight and, given others' cells, its part of wider tables."""
    name = tables.feature_names[feature]
    own = [table for table in tables.tables if table.features == (feature,) or (cells and feature in table.features)]
    cuts = np.unique(np.concatenate([np.zeros(0), *(_cuts(table, feature) for table in own)]))
    votes, squares = np.zeros(len(cuts) + 2), np.zeros(len(cuts) + 2)
    for table in own:
        # a bin of all cuts together begins at the cut before it
        inner = _cuts(table, feature)
        places = np.append(np.searchsorted(inner, np.append(-np.inf, cuts), side="right"), len(inner) + 1)
        mean_votes = table.votes if len(table.features) == 1 or cells is None else cells.mean_votes(table, feature)
        votes += mean_votes[places]
        squares += 0.0 if table.spread is None or len(table.features) > 1 else table.spread[places] ** 2
    slope = 0.0 if tables.weights is None else float(tables.weights[feature])
    fill = math.nan if tables.fill is None else float(tables.fill[feature])
    error = None if errors is None or not slope else float(errors[feature])
    kinds = tables.categories.get(name)
    spread = np.sqrt(squares) if any(table.spread is not None for table in own) else None
    values = column_of(X, feature)
    known = values[~np.isnan(values)]
    middle = float(known.mean()) if known.size else 0.0
    counts = count_values(values, kinds)
    curve = FeatureCurve(name, cuts, votes, counts, 0.0, slope, fill, spread, error, middle, kinds)
    return replace(curve, mean=float(curve.adds(values).mean()))


class OtherCells:
    """How often the documents lie in the cells of the other features of a table."""

    def __init__(self, X: Array) -> None:
        self.X = X
        self.known: dict[tuple[tuple[int, bytes], ...], Array] = {}  # by features and their cuts

    def mean_votes(self, table: Table, feature: int) -> Array:
        """Return a table's mean vote over the documents, were their value of the feature in each of its bins."""
        axis = table.features.index(feature)
        others = tuple(f for f in table.features if f != feature)
        sizes = tuple(n for place, n in enumerate(table.votes.shape) if place != axis)
        key = tuple((f, _cuts(table, f).tobytes()) for f in others)
        counts = self.known.get(key)
        if counts is None:
            bins = [bins_of(self.X[:, f], _cuts(table, f)) for f in others]
            places = np.ravel_multi_index(tuple(bins), sizes)
            counts = self.known[key] = np.bincount(places, minlength=math.prod(sizes))
        flat = np.moveaxis(table.votes, axis, 0).reshape(table.votes.shape[axis], -1)
        mean: Array = (flat @ counts) / len(self.X)
        return mean


def count_values(values: Array, kinds: tuple[str, ...] | None) -> ValueCounts:
    """Count values in equally wide bars between nearly the lowest and nearly the highest; kinds one by one.

    >>> found = count_values(np.array([0.0, 1.0, 3.0, 3.0, math.nan]), None)
    >>> int(found.counts.sum()), found.missing, found.edges[[0, -1]].tolist()
    (4, 1, [0.0, 3.0])
    """
    known = values[~np.isnan(values)]
    missing = int(values.size - known.size)
    if kinds is not None:
        cuts = np.arange(len(kinds)) + 0.5
        return ValueCounts(np.zeros(0), np.bincount(bins_of(known, cuts), minlength=len(kinds) + 1), missing)
    low, high = np.quantile(known, ENDS, method="lower").tolist() if known.size else (0.0, 0.0)
    high = float(known[known >= np.quantile(known, ENDS[1])].min()) if known.size else high
    if low == high and known.size:  # nearly all are alike
        low, high = float(known.min()), float(known.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, N_BARS + 1)
    places = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, N_BARS - 1)
    return ValueCounts(edges, np.bincount(places, minlength=N_BARS), missing)


def column_of(X: Any, feature: int) -> Array:
    """Return the values of one feature as float64, of an array or a CSR matrix."""
    column = X[:, [feature]]
    dense: Array = (column.toarray() if hasattr(column, "toarray") else column).ravel().astype(np.float64)
    return dense


def _cuts(table: Table, feature: int) -> Array:
    return table.cuts[table.features.index(feature)]
