"""Score against bin: what a model makes of a feature, with the data's spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.dataset import Array

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)  # of a linear ranker's feature, as shares of the documents below
SPREAD = (0.1, 0.9)


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


def bin_curve(ranker: Any, bins: Array, feature: int, n_scored: int) -> tuple[BinEffect, ...]:
    """Score documents, given as bins (n_features, n_docs), with one feature in each bin that training has seen."""
    places = np.linspace(0, bins.shape[1] - 1, min(n_scored, bins.shape[1])).astype(np.int64)
    points = []
    for bin in ranker.engine_.seen_bins(feature).tolist():
        changed = np.ascontiguousarray(bins[:, places])
        changed[feature] = bin
        share = float((bins[feature] == bin).mean())
        points.append(_point(ranker._item_text(feature, bin), share, ranker._score_bins(changed)))
    return tuple(points)


def value_curve(ranker: Any, X: Array, feature: int) -> tuple[BinEffect, ...]:
    """Score documents with one feature at the levels that shares of them lie below."""
    points = []
    values = np.quantile(X[:, feature], LEVELS)
    for level, value in zip(LEVELS, values.tolist(), strict=True):
        changed = X.copy()
        changed[:, feature] = value
        points.append(_point(f"{ranker.feature_names_[feature]} = {value:.4g}", level, ranker._score(changed)))
    return tuple(points)


def _point(text: str, share: float, scores: Array) -> BinEffect:
    low, high = np.quantile(scores, SPREAD)
    return BinEffect(text, share, float(scores.mean()), float(low), float(high))
