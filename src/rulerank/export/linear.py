"""A linear ranker for a search engine: the document its learning-to-rank plugin takes, and where to send it.

The plugins multiply and add in float32, so their scores agree with `predict` to about seven digits.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.errors import DataError
from rulerank.export import Export


def export(ranker: Any, to: str, model_name: str, feature_set: str) -> Export:
    """Return the document that makes a search engine score as a linear ranker does."""
    return ENGINES[to](linear_weights(ranker), model_name, feature_set)


def linear_weights(ranker: Any) -> dict[str, float]:
    """Return the weight of each feature, or say why the ranker is not just that."""
    check_is_fitted(ranker)
    kind = type(ranker).__name__
    if not hasattr(ranker, "coef_"):
        raise DataError(
            f"{kind} cannot be exported exactly: its score is not a weighted sum of features, which is all a search "
            "engine's linear model can hold; export a QueryIntercepts model, or score with rulerank itself"
        )
    if getattr(ranker, "normalize_", None) is not None:
        raise DataError(
            f"this {kind} normalises features by query (normalize={ranker.normalize_!r}), and a search engine scores "
            "each document by itself; train it with normalize=None to export it"
        )
    if getattr(ranker, "n_missing_", 0):
        raise DataError(
            f"this {kind} puts means in the place of missing values, and a search engine puts 0; "
            "train it on features with 0 where they are missing to export it"
        )
    coef = np.asarray(ranker.coef_, dtype=np.float64)
    probes = np.random.default_rng(0).standard_normal((4, coef.size))
    if not np.allclose(np.diff(ranker.predict(probes)), np.diff(probes @ coef), rtol=1e-6):
        raise DataError(f"{kind} cannot be exported exactly: its scores are not what its coefficients add up to")
    return dict(zip(ranker.feature_names_, coef.tolist(), strict=True))


def _ltr_plugin(weights: dict[str, float], model_name: str, feature_set: str) -> Export:
    """The plugin of OpenSearch and of Elasticsearch, which share an origin: the weights are JSON within JSON."""
    model = {"type": "model/linear", "definition": json.dumps(weights)}
    request = f"POST /_ltr/_featureset/{quote(feature_set, safe='')}/_createmodel"
    return Export(request, {"model": {"name": model_name, "model": model}})


def _solr(weights: dict[str, float], model_name: str, feature_set: str) -> Export:
    document = {
        "class": "org.apache.solr.ltr.model.LinearModel",
        "store": feature_set,
        "name": model_name,
        "features": [{"name": name} for name in weights],
        "params": {"weights": weights},
    }
    return Export("PUT /solr/COLLECTION/schema/model-store", document)


ENGINES: dict[str, Callable[[dict[str, float], str, str], Export]] = {
    "opensearch-ltr": _ltr_plugin,
    "elasticsearch-ltr": _ltr_plugin,
    "solr-ltr": _solr,
}
