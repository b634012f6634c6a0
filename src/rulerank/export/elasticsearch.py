"""A model for Elasticsearch's own learning to rank: the document that eland's `import_ltr_model` would send.

Elasticsearch compares and adds in doubles; a missing value goes where `default_left` says.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from rulerank.errors import DataError
from rulerank.export import Export, Names
from rulerank.export.form import Form
from rulerank.export.trees import LARGEST64, Leaf, Missing, Tree, numbered


def export(form: Form, names: Names) -> Export:
    """Return the request that makes a trained model of it."""
    from rulerank.export.feature_sets import extractors

    if form.tables.weights is not None:
        raise DataError(
            f"Elasticsearch's own learning to rank knows no linear model, which {form.kind} is: "
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
        "inference_config": {"learning_to_rank": {"feature_extractors": extractors(form.feature_names, form.codes())}},
        "definition": {"preprocessors": [], "trained_model": {"ensemble": ensemble}},
    } | ({"metadata": {"categories": form.codes()}} if form.categories else {})
    notes = (
        "the feature extractors are a draft: see which fields they ask for before you send it",
        "a query that does not match leaves its feature missing; the model votes for that as it does in predict",
    )
    return Export(f"PUT /_ml/trained_models/{quote(names.model, safe='')}", document, notes=notes)


def _tree(tree: Tree, columns: list[str]) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    for one in numbered(tree):
        node = one.node
        if isinstance(node, Leaf):
            nodes.append({"node_index": one.number, "leaf_value": node.value, "number_samples": node.n_leaves})
            continue
        missing = isinstance(node, Missing)
        nodes.append(
            {
                "node_index": one.number,
                "split_feature": node.feature,
                "threshold": LARGEST64 if isinstance(node, Missing) else node.cut,
                "decision_type": "lte" if missing else "lt",
                "default_left": not isinstance(node, Missing) and node.missing_left,
                "left_child": one.left,
                "right_child": one.right,
                "number_samples": node.n_leaves,
            }
        )
    return {"tree": {"target_type": "regression", "feature_names": columns, "tree_structure": nodes}}
