"""A model as ONNX: the operator TreeEnsemble in doubles, or standard operators for a weighted sum.

The graph takes `X`, double (rows, features) with NaN where a value is missing, and gives `score`, double (rows,).
"""

from __future__ import annotations

import json
from typing import Any

from rulerank.dataset import Array
from rulerank.errors import MissingExtraError
from rulerank.export import Export, Names
from rulerank.export.form import Form
from rulerank.export.trees import Leaf, NodeLists, Split

LESS = 1  # nodes_modes: BRANCH_LT
SUM = 1  # aggregate_function
WHOLE = ("columns", "last", "end")  # constants of whole numbers
DOMAIN, DOMAIN_VERSION, VERSION, IR_VERSION = "ai.onnx.ml", 5, 18, 9


def export(form: Form, names: Names) -> Export:
    """Return the model as bytes that any ONNX runtime loads."""
    try:
        import onnx
    except ImportError:
        raise MissingExtraError("onnx", "onnx") from None
    weights = form.linear("ONNX", fills=True)
    if weights is not None:
        nodes, constants = _weighted_sum(onnx, weights, form.tables.fill)
    else:
        form = form.on_grid()
        nodes, constants = _tree_nodes(onnx, form), [("base", [form.tables.base]), ("columns", [1])]
    double, helper = onnx.TensorProto.DOUBLE, onnx.helper
    tensors = [
        helper.make_tensor(name, onnx.TensorProto.INT64 if name in WHOLE else double, [len(values)], values)
        for name, values in constants
    ]
    graph = helper.make_graph(
        nodes,
        names.model,
        [helper.make_tensor_value_info("X", double, ["rows", len(form.feature_names)])],
        [helper.make_tensor_value_info("score", double, ["rows"])],
        tensors,
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", VERSION), helper.make_opsetid(DOMAIN, DOMAIN_VERSION)],
        ir_version=IR_VERSION,
        producer_name="rulerank",
    )
    properties = {"features": "\n".join(form.feature_names)}
    if form.categories:
        properties["categories"] = json.dumps(form.codes())
    helper.set_model_props(model, properties)
    onnx.checker.check_model(model)
    notes = ("the columns of X are the features in the order of the model's property 'features'",)
    return Export("onnxruntime.InferenceSession(FILE).run(None, {'X': rows})", model.SerializeToString(), notes=notes)


def _weighted_sum(onnx: Any, weights: Array, fill: Array | None) -> tuple[list[Any], list[tuple[str, list[Any]]]]:
    node = onnx.helper.make_node
    constants: list[tuple[str, list[Any]]] = [
        ("weights", weights.tolist()),
        ("columns", [1]),
        ("last", [-1]),
        ("end", [2**31]),
    ]
    nodes = []
    values = "X"
    if fill is not None:
        constants.append(("fill", fill.tolist()))
        nodes += [node("IsNaN", ["X"], ["missing"]), node("Where", ["missing", "fill", "X"], ["values"])]
        values = "values"
    nodes += [
        node("Mul", [values, "weights"], ["products"]),
        # one after the other, as predict adds: ReduceSum adds equal rows in different orders, and breaks their ties
        node("CumSum", ["products", "columns"], ["sums"]),
        node("Slice", ["sums", "last", "end", "columns"], ["sum"]),
        node("Squeeze", ["sum", "columns"], ["score"]),
    ]
    return nodes, constants


def _tree_nodes(onnx: Any, form: Form) -> list[Any]:
    """Return the operator over all trees, and the addition of the base."""
    nodes, roots = NodeLists(), []
    for tree in form.trees or (Leaf(0.0),):
        roots.append(len(nodes.splits))
        if isinstance(tree, Leaf):  # the operator knows no tree without a node: a node whose sides are the same leaf
            nodes.splits.append(Split(0, 0.0, tree, tree))
            side = nodes.add(tree)
            nodes.sides.append((side, side))
        else:
            nodes.add(tree)
    splits, sides, values = nodes.splits, nodes.sides, nodes.values
    tensor, double = onnx.helper.make_tensor, onnx.TensorProto.DOUBLE
    n = len(splits)
    return [
        onnx.helper.make_node(
            "TreeEnsemble",
            ["X"],
            ["sums"],
            domain=DOMAIN,
            n_targets=1,
            aggregate_function=SUM,
            post_transform=0,
            tree_roots=roots,
            nodes_featureids=[one.feature for one in splits],
            nodes_splits=tensor("splits", double, [n], [one.cut for one in splits]),
            nodes_modes=tensor("modes", onnx.TensorProto.UINT8, [n], bytes([LESS] * n), raw=True),
            nodes_missing_value_tracks_true=[0] * n,
            nodes_truenodeids=[left for (left, _), _ in sides],
            nodes_falsenodeids=[right for _, (right, _) in sides],
            nodes_trueleafs=[is_leaf for (_, is_leaf), _ in sides],
            nodes_falseleafs=[is_leaf for _, (_, is_leaf) in sides],
            leaf_targetids=[0] * len(values),
            leaf_weights=tensor("leaves", double, [len(values)], values),
        ),
        onnx.helper.make_node("Squeeze", ["sums", "columns"], ["sum"]),
        onnx.helper.make_node("Add", ["sum", "base"], ["score"]),
    ]
