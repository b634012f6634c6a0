"""A model for Elasticsearch's own learning to rank: the document that eland's `import_ltr_model` would send.

Elasticsearch compares and adds in doubles; a missing value goes to the right.
"""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import quote

from rulerank.errors import DataError
from rulerank.export import Export, Names
from rulerank.export.form import Form
from rulerank.export.trees import LARGEST64, Leaf, Tree, numbered


def export(form: Form, names: Names) -> Export:
    """Return the request that makes a trained model of it."""
    if form.tables.weights is not None:
        raise DataError(
            f"Elasticsearch's built-in learning to rank does not support linear models ({form.kind}): "
            "export it to elasticsearch-ltr (the plugin), or train FittedRules"
        )
    form = form.on_grid()
    columns = list(form.feature_names)
    ensemble = {
        "target_type": "regression",
        "feature_names": columns,
        "trained_models": [_tree(tree, columns) for tree in form.with_base],
        "aggregate_output": {"weighted_sum": {"weights": [1.0] * len(form.with_base)}},
    }
    document = {
        "model_type": "tree_ensemble",
        "description": f"{form.kind} by rulerank",
        "input": {"field_names": columns},
        "inference_config": {"learning_to_rank": {"feature_extractors": [_extractor(name) for name in columns]}},
        "definition": {"preprocessors": [], "trained_model": {"ensemble": ensemble}},
    } | ({"metadata": {"categories": form.codes()}} if form.categories else {})
    notes = (
        "each feature extractor reads a number field of the feature's name: write the query of every other feature",
        "a query that does not match leaves its feature missing; the model votes for that as it does in predict",
    )
    return Export(f"PUT /_ml/trained_models/{quote(names.model, safe='')}", document, notes=notes)


def _extractor(name: str) -> dict[str, Any]:
    """Return a query whose score is the number field of a feature's name; a document without it does not match."""
    value = {"query": {"exists": {"field": name}}, "field_value_factor": {"field": name}, "boost_mode": "replace"}
    return {"query_extractor": {"feature_name": name, "query": {"function_score": value}}}


def _tree(tree: Tree, columns: list[str]) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    for one in numbered(tree):
        node = one.node
        if isinstance(node, Leaf):
            nodes.append({"node_index": one.number, "leaf_value": node.value, "number_samples": 1})
            continue
        about_missing = node.cut == math.inf
        nodes.append(
            {
                "node_index": one.number,
                "split_feature": node.feature,
                "threshold": LARGEST64 if about_missing else node.cut,
                "decision_type": "lte" if about_missing else "lt",
                "default_left": False,
                "left_child": one.left,
                "right_child": one.right,
                "number_samples": node.n_leaves,
            }
        )
    return {"tree": {"target_type": "regression", "feature_names": columns, "tree_structure": nodes}}
