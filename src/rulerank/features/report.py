"""What was found: fields and their kinds, features, how many rows have them and how well each ranks alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulerank.dataset import Dataset, has_contrast, query_index
from rulerank.evaluation import evaluate
from rulerank.evaluation.single_feature import feature_scores
from rulerank.features.fields import Field

MEASURE = "NDCG@10"


def found_fields(fields: Sequence[Field]) -> list[dict[str, Any]]:
    """Return the fields as plain values.

    >>> found_fields([Field("title", "title", 1.0)])
    [{'field': 'title', 'kind': 'title', 'coverage': 1.0, 'unread': 0}]
    """
    return [
        {"field": field.name, "kind": field.kind, "coverage": field.coverage, "unread": field.n_unread}
        for field in fields
    ]


def found_features(data: Dataset) -> list[dict[str, Any]]:
    """Return, for each feature, the share of rows that have it and, with judgements, its NDCG@10 alone.

    >>> data = Dataset([[1.0], [2.0]], [1, 0], ["q", "q"], feature_names=["price"])
    >>> found_features(data)
    [{'feature': 'price', 'coverage': 1.0, 'NDCG@10': 1.0, 'best': 'lowest'}]
    """
    counting = data.counted_rows()
    judged = data.counted(counting)
    contrast = has_contrast(judged.y, query_index(judged.qid)[0])  # else every feature would have the same NDCG
    known = 1.0 - np.isnan(data.X).mean(axis=0)
    found = []
    for name, share in zip(data.feature_names, known.tolist(), strict=True):
        alone: dict[str, Any] = {MEASURE: None, "best": None}
        if contrast and name not in data.categories:
            quality = {
                best: evaluate(
                    data, feature_scores(data, sign + name), measures=MEASURE, unjudged=counting.unjudged
                ).means[MEASURE]
                for best, sign in (("highest", ""), ("lowest", "-"))
            }
            best = max(quality, key=lambda one: quality[one])
            alone = {MEASURE: quality[best], "best": best}
        found.append({"feature": name, "coverage": share, **alone})
    return found
