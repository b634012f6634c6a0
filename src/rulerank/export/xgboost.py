"""A model as XGBoost's JSON: `xgboost.Booster(model_file=...)` loads it, versions 1.7 to 3.

A value goes left when it is less than a float32 threshold; values become float32 first. Two traps, found by loading the
files: the children of a node must lie next to each other, else scores are wrong without a word; and `base_score` must
be a plain number in quotes. The base is a last tree, so that float32 sums stay small until the end.
"""

from __future__ import annotations

import json
import math
from typing import Any

from rulerank.dataset import Array
from rulerank.export import Export, Names
from rulerank.export.form import Form
from rulerank.export.trees import LARGEST32, Leaf, Tree, float32_at_least, numbered, short32

NO_PARENT = 2**31 - 1
REQUEST = "xgboost.Booster(model_file=FILE)"


def export(form: Form, names: Names) -> Export:
    """Return the model as a document that XGBoost loads."""
    weights = form.linear("XGBoost")
    notes = (
        "XGBoost reads values as float32: scores equal predict on float32 values",
        "contributions (pred_contribs) rest on cells that weigh alike, since the document holds no training rows",
    )
    if weights is not None:
        booster = _linear(weights)
        notes = (notes[0], "XGBoost's linear model takes a missing value for 0")
    else:
        booster = _trees(form.with_base, len(form.feature_names))
    document = {
        "learner": {
            "attributes": {"categories": json.dumps(form.codes())} if form.categories else {},
            "feature_names": list(form.feature_names),
            "feature_types": ["float"] * len(form.feature_names),
            "gradient_booster": booster,
            "learner_model_param": {
                "base_score": "0",
                "boost_from_average": "0",
                "num_class": "0",
                "num_feature": str(len(form.feature_names)),
                "num_target": "1",
            },
            "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
        },
        "version": [1, 7, 6],
    }
    return Export(REQUEST, document, notes=notes)


def _linear(weights: Array) -> dict[str, Any]:
    return {"model": {"boosted_rounds": 1, "weights": [*map(short32, weights.tolist()), 0.0]}, "name": "gblinear"}


def _trees(trees: tuple[Tree, ...], n_features: int) -> dict[str, Any]:
    return {
        "model": {
            "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees)), "size_leaf_vector": "0"},
            "iteration_indptr": list(range(len(trees) + 1)),
            "tree_info": [0] * len(trees),
            "trees": [_tree(tree, number, n_features) for number, tree in enumerate(trees)],
        },
        "name": "gbtree",
    }


def _tree(tree: Tree, number: int, n_features: int) -> dict[str, Any]:
    nodes = numbered(tree, missing_left=True)
    splits = [None if isinstance(one.node, Leaf) else one.node for one in nodes]
    values = [short32(one.node.value) if isinstance(one.node, Leaf) else 0.0 for one in nodes]
    about_missing = [own is not None and own.cut == math.inf for own in splits]
    cuts = [
        value if own is None else float32_at_least(-LARGEST32 if missing else own.cut)
        for value, own, missing in zip(values, splits, about_missing, strict=True)
    ]
    n_nodes = len(nodes)
    return {
        "base_weights": values,
        "categories": [],
        "categories_nodes": [],
        "categories_segments": [],
        "categories_sizes": [],
        "default_left": [int(missing) for missing in about_missing],
        "id": number,
        "left_children": [one.left for one in nodes],
        "loss_changes": [0.0] * n_nodes,
        "parents": [NO_PARENT if one.parent < 0 else one.parent for one in nodes],
        "right_children": [one.right for one in nodes],
        "split_conditions": cuts,
        "split_indices": [0 if own is None else own.feature for own in splits],
        "split_type": [0] * n_nodes,
        "sum_hessian": [float(one.node.n_leaves) for one in nodes],
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(n_features),
            "num_nodes": str(n_nodes),
            "size_leaf_vector": "1",
        },
    }
