"""A sum of decision trees as plain arrays: saved, checked and scored without the library that grew it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from rulerank.core.compiled import compiled
from rulerank.core.threads import in_blocks
from rulerank.dataset import Array
from rulerank.errors import DataError

ROWS_PER_THREAD = 1_000
DEFAULT_LEFT, MISSING_TYPE = 2, 12  # bits of LightGBM's decision_type
MISSING_IS_NAN = 8


@dataclass(frozen=True, eq=False)
class Trees:
    """Nodes of all trees one after the other. A child or root below 0 is a leaf: -1 the first, -2 the second, ..."""

    roots: Array  # int32 (n_trees,)
    features: Array  # int32 (n_nodes,)
    thresholds: Array  # float64 (n_nodes,): up to here to the left
    lefts: Array  # int32 (n_nodes,)
    rights: Array  # int32 (n_nodes,)
    nan_lefts: Array  # uint8 (n_nodes,): 1 when a missing value goes to the left
    leaves: Array  # float64 (n_leaves,)

    @classmethod
    def from_lightgbm(cls, text: str) -> Self:
        """Take the trees out of a LightGBM model in its text form, `booster.model_to_string()`."""
        parts: list[dict[str, str]] = [
            dict(line.split("=", 1) for line in tree.splitlines() if "=" in line)
            for tree in text.split("\nend of trees")[0].split("\nTree=")[1:]
        ]

        def numbers(name: str, kind: type) -> list[Array]:
            return [np.array(part.get(name, "").split(), dtype=kind) for part in parts]

        features, leaves = numbers("split_feature", np.int32), numbers("leaf_value", np.float64)
        first_node = np.cumsum([0] + [one.size for one in features])
        first_leaf = np.cumsum([0] + [one.size for one in leaves])

        def children(name: str) -> Array:
            moved = [
                np.where(one >= 0, one + node, one - leaf)
                for one, node, leaf in zip(numbers(name, np.int32), first_node, first_leaf, strict=False)
            ]
            return np.concatenate(moved).astype(np.int32)

        thresholds = np.concatenate(numbers("threshold", np.float64))
        decisions = np.concatenate(numbers("decision_type", np.int32))
        nan_lefts = np.where(decisions & MISSING_TYPE == MISSING_IS_NAN, decisions & DEFAULT_LEFT, thresholds >= 0) != 0
        roots = np.where([one.size > 0 for one in features], first_node[:-1], -1 - first_leaf[:-1])
        return cls(
            roots.astype(np.int32),
            np.concatenate(features),
            thresholds,
            children("left_child"),
            children("right_child"),
            nan_lefts.astype(np.uint8),
            np.concatenate(leaves),
        )

    @classmethod
    def from_state(cls, state: dict[str, Any], n_features: int) -> Self:
        """Take over what `to_state` gave, after making sure that every path ends in a leaf."""
        made = cls(**state)
        n_nodes, n_leaves = made.features.size, made.leaves.size
        for name, kind in (
            ("roots", "<i4"), ("features", "<i4"), ("thresholds", "<f8"), ("lefts", "<i4"), ("rights", "<i4"),
            ("nan_lefts", "|u1"), ("leaves", "<f8"),
        ):  # fmt: skip
            array = getattr(made, name)
            n = {"roots": array.size, "leaves": n_leaves}.get(name, n_nodes)
            if (array.dtype.str, array.shape) != (kind, (n,)):
                found = f"{array.shape} of {array.dtype.str}"
                raise DataError(f"expected {n} numbers of type {kind} as {name} of the trees: got {found}")
        after = np.arange(n_nodes)
        if not (
            ((made.features >= 0) & (made.features < n_features)).all()
            and all(
                (((child > after) & (child < n_nodes)) | ((child < 0) & (child >= -n_leaves))).all()
                for child in (made.lefts, made.rights)
            )
            and ((made.roots < n_nodes) & (made.roots >= -n_leaves)).all()
        ):
            raise DataError("the trees name features, nodes or leaves that there are not")
        return made

    def to_state(self) -> dict[str, Any]:
        """Return the arrays by name."""
        return asdict(self)

    def score(self, X: Array, n_jobs: int | None = None) -> Array:
        """Return the sum over the trees of the leaf that each row falls into."""
        out = np.empty(len(X))

        def work(start: int, stop: int) -> None:
            sum_trees(
                X[start:stop],
                self.roots,
                self.features,
                self.thresholds,
                self.lefts,
                self.rights,
                self.nan_lefts,
                self.leaves,
                out[start:stop],
            )

        in_blocks(work, len(X), n_jobs, min_block=ROWS_PER_THREAD)
        return out

    def shares(self, X: Array) -> Array:
        """Return what each feature adds to the score of each row, (n_rows, n_features).

        On its way down a tree a row moves from the mean leaf of all rows in a node to that of its child; the step
        belongs to the feature that the node asks for. With the mean score of all rows, the shares add up to the score.
        """
        out = np.zeros(X.shape)
        add_tree_shares(
            X, self.roots, self.features, self.thresholds, self.lefts, self.rights, self.nan_lefts, self.leaves,
            np.zeros(self.features.size), np.zeros(self.features.size), out,
        )  # fmt: skip
        return out


@compiled
def add_tree_shares(
    X: Array,
    roots: Array,
    features: Array,
    thresholds: Array,
    lefts: Array,
    rights: Array,
    nan_lefts: Array,
    leaves: Array,
    sums: Array,
    counts: Array,
    out: Array,
) -> None:
    """Walk each row down every tree twice: to find the mean leaf below each node, then to add the steps between them.

    sums, counts: float64[n_nodes], zeros; out: float64[n_rows, n_features], added to
    """
    for second in range(2):
        for i in range(X.shape[0]):
            for tree in range(roots.size):
                node = roots[tree]
                while node >= 0:
                    value = X[i, features[node]]
                    left = nan_lefts[node] == 1 if math.isnan(value) else value <= thresholds[node]
                    child = lefts[node] if left else rights[node]
                    if second == 1:
                        below = leaves[-1 - child] if child < 0 else sums[child] / counts[child]
                        out[i, features[node]] += below - sums[node] / counts[node]
                    node = child
                if second == 0:
                    leaf = leaves[-1 - node]
                    node = roots[tree]
                    while node >= 0:
                        value = X[i, features[node]]
                        left = nan_lefts[node] == 1 if math.isnan(value) else value <= thresholds[node]
                        sums[node] += leaf
                        counts[node] += 1
                        node = lefts[node] if left else rights[node]


@compiled
def sum_trees(
    X: Array,
    roots: Array,
    features: Array,
    thresholds: Array,
    lefts: Array,
    rights: Array,
    nan_lefts: Array,
    leaves: Array,
    out: Array,
) -> None:
    """Walk each row down every tree."""
    for i in range(out.size):
        total = 0.0
        for tree in range(roots.size):
            node = roots[tree]
            while node >= 0:
                value = X[i, features[node]]
                left = nan_lefts[node] == 1 if math.isnan(value) else value <= thresholds[node]
                node = lefts[node] if left else rights[node]
            total += leaves[-1 - node]
        out[i] = total
