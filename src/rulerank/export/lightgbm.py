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
from rulerank.export.trees import Leaf, Split, Tree, numbered

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
    nodes = numbered(tree)
    splits = [(one, one.node) for one in nodes if isinstance(one.node, Split)]
    leaves = [(one, one.node) for one in nodes if isinstance(one.node, Leaf)]
    numbers = {one.number: number for number, (one, _) in enumerate(splits)}
    numbers |= {one.number: -1 - number for number, (one, _) in enumerate(leaves)}
    return _written(
        num_leaves=len(leaves),
        num_cat=0,
        split_feature=[split.feature for _, split in splits],
        split_gain=[0] * len(splits),
        threshold=[math.nextafter(split.cut, -math.inf) for _, split in splits],  # of infinity: the largest number
        decision_type=[MISSING_RIGHT] * len(splits),
        left_child=[numbers[one.left] for one, _ in splits],
        right_child=[numbers[one.right] for one, _ in splits],
        leaf_value=[leaf.value for _, leaf in leaves],
        leaf_weight=[1] * len(leaves),
        leaf_count=[1] * len(leaves),
        internal_value=[0] * len(splits),
        internal_weight=[split.n_leaves for _, split in splits],
        internal_count=[split.n_leaves for _, split in splits],
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
