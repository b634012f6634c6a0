"""How search engines score, once more, obvious and slow: written from their documentation, one document at a time.

A document is a mapping from feature names to numbers, NaN where a value is missing.
"""

import json
import math
from functools import cache

import numpy as np

F = np.float32
parsed = cache(json.loads)  # a document is scored row by row


def ltr_plugin(document, features, *, missing_as_zero=False):
    """The learning-to-rank plugins of OpenSearch and Elasticsearch: float32, left when the value is less."""
    values = {name: F(0) if missing_as_zero and math.isnan(value) else F(value) for name, value in features.items()}
    model, total = document["model"]["model"], F(0)
    if model["type"] == "model/linear":
        for name, weight in parsed(model["definition"]).items():
            total = F(total + F(F(weight) * values[name]))
        return float(total)
    assert model["type"] == "model/xgboost+json"
    for node in parsed(model["definition"]):
        while "leaf" not in node:
            value = values[node["split"]]
            side = "missing" if np.isnan(value) else "yes" if value < F(node["split_condition"]) else "no"
            (node,) = [child for child in node["children"] if child["nodeid"] == node[side]]
        total = F(total + F(node["leaf"]))
    return float(total)


def solr(document, features):
    """Solr's models: float32, thresholds with 1e-6 added, left when the value is not more."""
    total = F(0)
    if document["class"].endswith(".LinearModel"):
        for feature in document["features"]:
            name = feature["name"]
            total = F(total + F(F(features[name]) * F(document["params"]["weights"][name])))
        return float(total)
    assert document["class"].endswith(".MultipleAdditiveTreesModel")
    for tree in document["params"]["trees"]:
        node = tree["root"]
        while "feature" in node:
            threshold = F(F(node["threshold"]) + F(1e-6))
            node = node["left"] if F(features[node["feature"]]) <= threshold else node["right"]
        total = F(total + F(F(tree["weight"]) * F(node["value"])))
    return float(total)


def elasticsearch(document, features):
    """Elasticsearch's own models: doubles, each node says how it compares and where missing values go."""
    ensemble = document["definition"]["trained_model"]["ensemble"]
    total, weights = 0.0, ensemble["aggregate_output"]["weighted_sum"]["weights"]
    for one, weight in zip(ensemble["trained_models"], weights, strict=True):
        nodes = {node["node_index"]: node for node in one["tree"]["tree_structure"]}
        node = nodes[0]
        while "leaf_value" not in node:
            value = features[one["tree"]["feature_names"][node["split_feature"]]]
            if math.isnan(value):
                left = node["default_left"]
            else:
                left = value < node["threshold"] if node["decision_type"] == "lt" else value <= node["threshold"]
            node = nodes[node["left_child"] if left else node["right_child"]]
        total += weight * node["leaf_value"]
    return total


def vespa(text, features):
    """Vespa: ranking expressions in doubles, feature < cut, or !(feature >= cut) where missing values go left."""
    total = 0.0
    for node in parsed(text):
        while "leaf" not in node:
            value, cut = features[node["split"]], node["split_condition"]
            left = not value >= cut if node["missing"] == node["yes"] else value < cut
            side = node["yes"] if left else node["no"]
            (node,) = [child for child in node["children"] if child["nodeid"] == side]
        total += node["leaf"]
    return total
