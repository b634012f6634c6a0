"""A model as LightGBM's text: `lightgbm.Booster(model_file=...)` loads it.

A value goes left when it is at most a threshold, in doubles: the threshold is the number just below a cut. Missing
values go right (decision_type 8). LightGBM takes values of at most 1e-35 for 0.
"""

from __future__ import annotations

import json
import math
from typing import Any

from rulerank.dataset import Array
from rulerank.export import Export, Names
from rulerank.export.form import Form
from rulerank.export.trees import Leaf, NodeLists, Tree

MISSING_RIGHT = 8


def export(form: Form, names: Names) -> Export:
    """Return the model as a text that LightGBM loads."""
    weights = form.linear("LightGBM")
    if weights is not None:
        trees = [_linear_tree(weights)]
    else:
        form = form.on_grid()
        trees = [_tree(tree) for tree in form.with_base]
    trees = [f"Tree={number}\n{text}\n\n" for number, text in enumerate(trees)]
    columns = [_column(name, number) for number, name in enumerate(form.feature_names)]
    head = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={len(form.feature_names) - 1}",
        "objective=lambdarank",
        f"feature_names={' '.join(columns)}",
        f"feature_infos={' '.join(['[-1e308:1e308]'] * len(columns))}",
        f"tree_sizes={' '.join(str(len(tree.encode())) for tree in trees)}",
        "",
        "",
    ]
    text = "\n".join(head) + "".join(trees) + "end of trees\n\nparameters:\n[boosting: gbdt]\nend of parameters\n"
    notes = ["LightGBM takes values of at most 1e-35 for 0"]
    if form.categories:  # its Python package then maps names by itself
        kinds = [list(form.categories[name]) for name in form.feature_names if name in form.categories]
        text += f"\npandas_categorical:{json.dumps(kinds)}\n"
        notes.append(
            "a pandas frame may have categories as columns of type category, which LightGBM maps by name; "
            "it takes a name that the model does not know for a missing value"
        )
    if columns != list(form.feature_names):
        notes.append("LightGBM's feature names hold no spaces and no punctuation: they are written with _ instead")
    return Export("lightgbm.Booster(model_file=FILE)", text, notes=tuple(notes))


def _column(name: str, number: int) -> str:
    """Return a name that LightGBM takes."""
    clean = "".join(letter if letter.isalnum() or letter in "_-.()" else "_" for letter in name)
    return clean or f"Column_{number}"


def _tree(tree: Tree) -> str:
    """Write one tree: splits numbered from 0, leaves from -1."""
    if isinstance(tree, Leaf):
        return f"num_leaves=1\nnum_cat=0\nleaf_value={tree.value!r}\nis_linear=0\nshrinkage=1"
    nodes = NodeLists()
    nodes.add(tree)
    splits, leaf_values = nodes.splits, nodes.values
    children = [tuple(-1 - number if is_leaf else number for number, is_leaf in pair) for pair in nodes.sides]
    return _written(
        num_leaves=len(leaf_values),
        num_cat=0,
        split_feature=[one.feature for one in splits],
        split_gain=[0] * len(splits),
        threshold=[math.nextafter(one.cut, -math.inf) for one in splits],  # of infinity: the largest number
        decision_type=[MISSING_RIGHT] * len(splits),
        left_child=[left for left, _ in children],
        right_child=[right for _, right in children],
        leaf_value=leaf_values,
        leaf_weight=[1] * len(leaf_values),
        leaf_count=[1] * len(leaf_values),
        internal_value=[0] * len(splits),
        internal_weight=[one.n_leaves for one in splits],
        internal_count=[one.n_leaves for one in splits],
        is_linear=0,
        shrinkage=1,
    )


def _linear_tree(weights: Array) -> str:
    """Write a weighted sum as a tree of two equal leaves with linear models in them: one leaf alone may have none."""
    used = [number for number, weight in enumerate(weights.tolist()) if weight]
    numbers, values = " ".join(map(str, used)), " ".join(repr(float(weights[number])) for number in used)
    return _written(
        num_leaves=2,
        num_cat=0,
        split_feature=0,
        split_gain=0,
        threshold=0.0,
        decision_type=MISSING_RIGHT,
        left_child=-1,
        right_child=-2,
        leaf_value="nan nan",
        leaf_weight="1 1",
        leaf_count="1 1",
        internal_value=0,
        internal_weight=2,
        internal_count=2,
        is_linear=1,
        leaf_const="0 0",
        num_features=f"{len(used)} {len(used)}",
        leaf_features=f"{numbers}  {numbers}  ",
        leaf_coeff=f"{values}  {values}  ",
        shrinkage=1,
    )


def _written(**lines: Any) -> str:
    return "\n".join(
        f"{name}={' '.join(map(repr, value)) if isinstance(value, list) else value}" for name, value in lines.items()
    )
