"""What a model makes of features: each alone, score against bin; and pairs whose rules say more than the two apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from rulerank.ballots import BinForm, LinearForm
from rulerank.dataset import Array
from rulerank.rules.tables import UNIT

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)  # of a linear ranker's feature, as shares of the documents below
SPREAD = (0.1, 0.9)
CHANCE = 0.001  # pairs without any interaction that pass for one


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


def bin_curve(form: BinForm, bins: Array, feature: int, n_scored: int) -> tuple[BinEffect, ...]:
    """Score documents, given as bins (n_features, n_docs), with one feature in each bin that training has seen."""
    places = np.linspace(0, bins.shape[1] - 1, min(n_scored, bins.shape[1])).astype(np.int64)
    points = []
    for bin in form.engine.seen_bins(feature).tolist():
        changed = np.ascontiguousarray(bins[:, places])
        changed[feature] = bin
        share = float((bins[feature] == bin).mean())
        points.append(point_of(form.item_text(feature, bin), share, form.score(changed)))
    return tuple(points)


def value_curve(form: LinearForm, X: Array, feature: int) -> tuple[BinEffect, ...]:
    """Score documents with one feature at the levels that shares of them lie below."""
    points = []
    values = np.quantile(X[:, feature], LEVELS)
    for level, value in zip(LEVELS, values.tolist(), strict=True):
        changed = X.copy()
        changed[:, feature] = value
        points.append(point_of(form.text(feature, value), level, form.score(changed)))
    return tuple(points)


def interactions(form: BinForm, most: int = 10) -> tuple[Interaction, ...]:
    """Return the strongest interactions of the training rows, or none if pairs are not counted or not kept."""
    engine = form.engine
    if engine.counts is None or len(engine.layout.sets) < 2:
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
                    (form.names[a], form.names[b]),
                    math.sqrt((squares - noise * n_free) / rows.sum()),
                    (form.item_text(a, int(i)), form.item_text(b, int(j))),
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


def point_of(text: str, share: float, scores: Array) -> BinEffect:
    """Sum up the scores of documents with one feature in one place."""
    low, high = np.quantile(scores, SPREAD)
    return BinEffect(text, share, float(scores.mean()), float(low), float(high))
