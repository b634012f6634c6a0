"""Rank by one feature alone, the highest first or, for "-feature", the lowest."""

from __future__ import annotations

import numpy as np

from rulerank.core.words import listed
from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError
from rulerank.evaluation import evaluate


def feature_scores(data: Dataset, name: str) -> Array:
    """Return a feature as scores, or its negative for "-name"; documents that lack it come last.

    >>> data = Dataset([[0.5], [float("nan")], [2.0]], y=[0, 0, 1], qid=["q"] * 3, feature_names=["bm25"])
    >>> feature_scores(data, "bm25").argsort().tolist()  # from worst to best
    [1, 0, 2]
    """
    feature = feature_named(data, name)
    values = data.X[:, data.feature_names.index(feature)].astype(np.float64)
    if feature != name:
        values = -values
    missing = np.isnan(values)
    values[missing] = np.nextafter(values[~missing].min(initial=0.0), -np.inf)
    return values


def feature_named(data: Dataset, name: str) -> str:
    """Return the feature that a name or "-name" means.

    >>> feature_named(Dataset([[1.0]], [0], ["q"], feature_names=["bm25"]), "-bm25")
    'bm25'
    """
    feature = name if name in data.feature_names else name.removeprefix("-")
    if feature not in data.feature_names:
        raise DataError(f"there is no feature {feature!r}; the data has {listed(data.feature_names) or 'none'}")
    return feature


def best_feature(data: Dataset, measure: str = "MAP") -> str:
    """Return the feature, or "-feature" for lowest first, that ranks the documents best; of equals the first.

    >>> data = Dataset([[1.0, 5.0], [2.0, 5.0]], [1, 0], ["q"] * 2, feature_names=("depth", "same"))
    >>> best_feature(data)
    '-depth'
    """

    def quality(name: str) -> float:
        return float(evaluate(data, feature_scores(data, name), measures=measure, any_grades=True).values[0].mean())

    return max((sign + name for name in data.feature_names for sign in ("", "-")), key=quality)
