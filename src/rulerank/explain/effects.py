"""What a model makes of features: each alone, score against bin; and pairs whose rules say more than the two apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri

from rulerank.core.intervals import in_words, on_scale, written_cuts
from rulerank.dataset import Array
from rulerank.explain.cases import rules_of, value_text
from rulerank.explain.curves import bins_of
from rulerank.rankers.base import Ranker
from rulerank.rankers.linear.linear_ranker import WeightedSum
from rulerank.rankers.rule_ranker import RuleRanker
from rulerank.rules.additive import AdditiveTables
from rulerank.rules.tables import UNIT

N_SCORED = 200  # documents for each point of a curve
POINTS = 10  # of a curve of tables: neighbouring bins are shown as one
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)  # of a linear ranker's feature, as shares of the documents below
SPREAD = (0.1, 0.9)
CHANCE = 0.001  # pairs without any interaction that pass for one

ItemText = Callable[[int, int, int], str]  # (table, axis, bin) -> words


@dataclass(frozen=True, slots=True)
class BinEffect:
    """The scores of documents if one feature lay in one bin, everything else as it is."""

    text: str
    share: float  # of the documents that really lie there
    score: float  # mean
    low: float  # a tenth of the documents would score lower
    high: float  # a tenth would score higher


@dataclass(frozen=True, slots=True)
class FeatureEffect:
    """What one feature does to the scores of a data set."""

    feature: str
    influence: float  # mean size of its part of the score
    curve: tuple[BinEffect, ...]  # by rising bin, missing last; empty where that cannot be told

    @property
    def swing(self) -> float:
        """Return how far apart the best and the worst bin lie, in mean score."""
        scores = [point.score for point in self.curve]
        return max(scores) - min(scores) if scores else 0.0


@dataclass(frozen=True, slots=True)
class Interaction:
    """Two features whose cells are not the sum of what each feature says alone."""

    features: tuple[str, str]
    strength: float  # deviation of the cells from the sum, in grades, over all training rows; chance taken off
    cell: tuple[str, str]  # the items where it shows most
    excess: float  # mean grade there above what the two say apart
    n_rows: int  # training rows there


def effect_of(ranker: Ranker, X: Array, bins: Array | None, feature: int) -> tuple[BinEffect, ...]:
    """Score checked rows with one feature at each of some levels; none where that cannot be told.

    bins: of all rows, by the rules where it has some.
    """
    linear = isinstance(ranker, WeightedSum)
    rows = X if linear else X[np.linspace(0, len(X) - 1, min(N_SCORED, len(X))).astype(np.int64)]
    levels = levels_of(ranker, X, bins, feature)
    changed = np.tile(rows, (len(levels), 1))
    changed[:, feature] = np.repeat([level.value for level in levels], len(rows))
    points = []
    for level, scores in zip(
        levels, ranker.checked_scores(changed).reshape(len(levels), -1) if levels else (), strict=True
    ):
        low, high = np.quantile(scores, SPREAD)
        points.append(BinEffect(level.text, level.share, float(scores.mean()), float(low), float(high)))
    return tuple(points)


class Level(NamedTuple):
    """A value that stands for those near it."""

    text: str
    share: float  # of the documents that are there; of a linear ranker, of those below
    value: float


def levels_of(ranker: Ranker, X: Array, bins: Array | None, feature: int) -> list[Level]:
    """Return the bins of a feature that documents are in, missing last; of a weight, some shares of the values."""
    name, values = ranker.feature_names_[feature], X[:, feature].astype(np.float64)
    rules, tables = rules_of(ranker), ranker.as_tables()
    if rules is not None and bins is not None:
        own = bins[feature]
        here = np.intersect1d(rules.engine_.seen_bins(feature), own)
        text: Callable[[int], str] = partial(rules.item_text, feature)
    elif tables is None:
        return []
    elif isinstance(ranker, WeightedSum):
        filled = values if tables.fill is None else np.where(np.isnan(values), tables.fill[feature], values)
        at = np.quantile(filled, LEVELS).tolist()
        return [Level(value_text(ranker, name, value), share, value) for share, value in zip(LEVELS, at, strict=True)]
    elif feature not in tables.finest:
        return []
    else:
        table, axis = tables.finest[feature]
        cuts = tables.tables[table].cuts[axis]
        if name in tables.categories:
            text = partial(tables.item_text, table, axis)
        else:
            cuts = fewer(cuts, values[~np.isnan(values)])
            shown = written_cuts(cuts, dates=name in ranker.dates_ and ranker.normalize_ is None)
            text = lambda bin: on_scale(in_words(name, bin, shown), name, ranker.normalize_)  # noqa: E731
        own = bins_of(values, cuts)
        here = np.unique(own)
        if name in tables.categories:  # the most frequent ones
            here = np.sort(np.argsort(-np.bincount(own), kind="stable")[: min(POINTS, here.size)])
    middle = np.median if name not in ranker.categories_ else partial(np.quantile, q=0.5, method="lower")
    return [Level(text(bin), float((own == bin).mean()), float(middle(values[own == bin]))) for bin in here.tolist()]


def fewer(cuts: Array, values: Array) -> Array:
    """Return some of the cuts, such that about equally many values lie between them."""
    if len(cuts) < POINTS or not values.size:
        return cuts
    below = np.searchsorted(np.sort(values), cuts) / values.size
    wanted = np.arange(1, POINTS) / POINTS
    kept = np.unique([int(np.abs(below - share).argmin()) for share in wanted])
    return cuts[kept]


def table_interactions(tables: AdditiveTables, X: Array, text: ItemText, most: int = 10) -> tuple[Interaction, ...]:
    """Return the tables of pairs that move the scores of documents most, and the cell of each where it shows most."""
    found = []
    for t, table in enumerate(tables.tables):
        if len(table.features) != 2:
            continue
        bins = [bins_of(X[:, f], cuts) for f, cuts in zip(table.features, table.cuts, strict=True)]
        counts = np.zeros(table.votes.shape)
        np.add.at(counts, tuple(bins), 1)
        i, j = np.unravel_index(int((np.sqrt(counts) * np.abs(table.votes)).argmax()), counts.shape)
        a, b = (tables.feature_names[f] for f in table.features)
        strength = math.sqrt(float((counts * table.votes**2).sum()) / max(1.0, float(counts.sum())))
        cell = text(t, 0, int(i)), text(t, 1, int(j))
        found.append(Interaction((a, b), strength, cell, float(table.votes[i, j]), int(counts[i, j])))
    return tuple(sorted(found, key=lambda one: -one.strength)[:most])


def interactions(rules: RuleRanker, names: Sequence[str], most: int = 10) -> tuple[Interaction, ...]:
    """Return the strongest interactions of the training rows, or none if pairs are not counted or not kept."""
    engine = rules.engine_
    if len(engine.layout.sets) < 2:
        return ()
    found = []
    block, n_bins = engine.layout.sets[1], engine.layout.n_bins
    shares = engine.training.n_by_grade / engine.training.n_by_grade.sum()
    levels = np.arange(shares.size)
    noise = float(shares @ levels**2 - (shares @ levels) ** 2)
    expected = engine.counts.expected
    for place, (a, b) in enumerate(block.features.tolist()):
        own = slice(int(block.offsets[place]), int(block.offsets[place + 1]))
        by_grade = engine.counts.grades[own]
        rows = by_grade.sum(axis=1)
        usual = expected[own] * UNIT if len(expected) else rows * engine.training.mean_grade
        lift = np.divide(by_grade @ levels - usual, rows, out=np.zeros(len(rows)), where=rows > 0)
        residual, n_free = beyond_sum(lift.reshape(n_bins[a], n_bins[b]), rows.reshape(n_bins[a], n_bins[b]))
        squares = float((rows.reshape(residual.shape) * residual**2).sum())
        if n_free > 0 and squares > noise * chdtri(n_free, CHANCE):
            weight = np.sqrt(rows).reshape(residual.shape) * np.abs(residual)
            i, j = np.unravel_index(int(weight.argmax()), residual.shape)
            found.append(
                Interaction(
                    (names[a], names[b]),
                    math.sqrt((squares - noise * n_free) / rows.sum()),
                    (rules.item_text(a, int(i)), rules.item_text(b, int(j))),
                    float(residual[i, j]),
                    int(rows.reshape(residual.shape)[i, j]),
                )
            )
    return tuple(sorted(found, key=lambda one: -one.strength)[:most])


def beyond_sum(lift: Array, rows: Array) -> tuple[Array, int]:
    """Return what the sum of row and column effects, fitted to all rows, leaves of each cell; and the cells left free.

    >>> residual, n_free = beyond_sum(np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[1, 1], [1, 1]]))
    >>> residual.round(2).tolist(), n_free
    ([[0.25, -0.25], [-0.25, 0.25]], 1)
    """
    i, j = np.nonzero(rows)
    design = np.zeros((i.size, sum(lift.shape)))
    design[np.arange(i.size), i] = 1.0
    design[np.arange(i.size), lift.shape[0] + j] = 1.0
    weight = np.sqrt(rows[i, j])
    fitted, _, rank, _ = np.linalg.lstsq(design * weight[:, None], lift[i, j] * weight, rcond=None)
    residual = np.zeros(lift.shape)
    residual[i, j] = lift[i, j] - design @ fitted
    return residual, i.size - int(rank)
