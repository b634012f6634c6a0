"""Models as sums of small decision trees: what boosted-tree libraries and search engines run.

A table over bins is a tree that finds the bin of one feature, then of the next. A value goes to the left when it lies
below a cut; a missing one goes to the right everywhere, to where the last bin and the missing values part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from rulerank.dataset import Array
from rulerank.rules.additive import Table

LARGEST32 = float(np.finfo(np.float32).max)
LARGEST64 = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Where a document ends."""

    value: float

    @property
    def n_leaves(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Split:
    """Below the cut to the left, else, and where the value is missing, to the right.

    A cut at infinity parts the missing values, on the right, from all others.
    """

    feature: int
    cut: float
    left: Tree
    right: Tree

    @property
    def n_leaves(self) -> int:
        return self.left.n_leaves + self.right.n_leaves


Tree = Leaf | Split
Number = Callable[[float], float]  # a number as an engine takes it


def tree_of(table: Table) -> Tree:
    """Return a table as a tree, its features asked for in the order that makes the smallest tree.

    >>> tree = tree_of(Table((3,), (np.array([1.0, 2.0]),), np.array([0.5, 0.5, 0.25, 0.0])))
    >>> tree.cut, tree.left, tree.right.right
    (2.0, Leaf(value=0.5), Leaf(value=0.0))
    """
    grown = [
        _grow(
            [table.features[axis] for axis in order], [table.cuts[axis] for axis in order], table.votes.transpose(order)
        )
        for order in permutations(range(len(table.features)))
    ]
    return min(grown, key=lambda tree: tree.n_leaves)


def with_missing_code(table: Table, n_names: Mapping[int, int]) -> Table:
    """Return a table in which a category of n names has the code n + 1 where it is missing, beside NaN.

    Engines that put 0 in the place of a missing value would else give it the first name.

    >>> table = Table((0,), (np.array([0.5, 1.5]),), np.array([0.1, 0.2, 0.3, 0.4]))
    >>> wider = with_missing_code(table, {0: 2})
    >>> [wider.vote([code]) for code in (0.0, 1.0, 2.0, 3.0, float("nan"))]
    [0.1, 0.2, 0.3, 0.4, 0.4]
    """
    cuts, votes = list(table.cuts), table.votes
    for axis, feature in enumerate(table.features):
        if feature in n_names:
            own = cuts[axis][cuts[axis] <= n_names[feature]]  # above the code of names that are not listed
            cuts[axis] = np.append(own, n_names[feature] + 0.5)
            votes = np.take(votes, [*range(len(own) + 1), -1, -1], axis=axis)
    return Table(table.features, tuple(cuts), votes)


def _grow(features: Sequence[int], cuts: Sequence[Array], votes: Array) -> Tree:
    """Find the bin of the first feature, then go on with the others; bins with equal votes are one."""
    if not features:
        return Leaf(float(votes))
    flat = votes.reshape(len(votes), -1)
    starts = [0, *(np.flatnonzero((flat[1:-1] != flat[:-2]).any(axis=1)) + 1).tolist()]
    below = [_grow(features[1:], cuts[1:], votes[start]) for start in starts]
    if (flat[-1] != flat[-2]).any():
        below[-1] = Split(features[0], math.inf, below[-1], _grow(features[1:], cuts[1:], votes[-1]))

    def search(first: int, last: int) -> Tree:
        if last - first == 1:
            return below[first]
        middle = (first + last) // 2
        return Split(features[0], float(cuts[0][starts[middle] - 1]), search(first, middle), search(middle, last))

    return search(0, len(starts))


class Node(NamedTuple):
    """A node of a tree whose nodes are numbered breadth-first: the right child comes after the left one."""

    node: Tree
    number: int
    parent: int  # -1: none
    depth: int
    left: int  # -1: a leaf
    right: int


def numbered(tree: Tree, *, missing_left: bool = False) -> list[Node]:
    """Number the nodes of a tree breadth-first; missing_left: where a split is about missing values, these go left.

    >>> tree = Split(0, 1.0, Split(1, 2.0, Leaf(0.0), Leaf(1.0)), Leaf(2.0))
    >>> [(one.number, one.left, one.right) for one in numbered(tree)]
    [(0, 1, 2), (1, 3, 4), (2, -1, -1), (3, -1, -1), (4, -1, -1)]
    """
    queue: list[tuple[Tree, int, int]] = [(tree, -1, 0)]
    found: list[Node] = []
    while len(found) < len(queue):
        n = len(found)
        node, parent, depth = queue[n]
        left = right = -1
        if isinstance(node, Split):
            left, right = len(queue), len(queue) + 1
            sides = (node.right, node.left) if missing_left and node.cut == math.inf else (node.left, node.right)
            queue += [(side, n, depth + 1) for side in sides]
        found.append(Node(node, n, parent, depth, left, right))
    return found


class NodeLists:
    """The nodes of trees in lists, depth-first: splits, the number of each side and whether it is a leaf, leaf values.

    >>> nodes = NodeLists()
    >>> nodes.add(Split(0, 1.0, Leaf(0.5), Split(1, 2.0, Leaf(1.0), Leaf(1.5))))
    (0, 0)
    >>> nodes.sides, nodes.values
    ([((0, 1), (1, 0)), ((1, 1), (2, 1))], [0.5, 1.0, 1.5])
    """

    def __init__(self) -> None:
        self.splits: list[Split] = []
        self.sides: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self.values: list[float] = []

    def add(self, node: Tree) -> tuple[int, int]:
        """Add a tree, and return its number among splits or leaves, and whether it is a leaf."""
        if isinstance(node, Leaf):
            self.values.append(node.value)
            return len(self.values) - 1, 1
        own = len(self.splits)
        self.splits.append(node)
        self.sides.append(((0, 0), (0, 0)))
        self.sides[own] = self.add(node.left), self.add(node.right)
        return own, 0


def nested(
    tree: Tree, names: Sequence[str], cut: Number, leaf: Number, *, missing_left: bool = False
) -> dict[str, Any]:
    """Return a tree as nested nodes, as XGBoost dumps them; cut and leaf write numbers.

    missing_left: a split about missing values lies at the lowest number, below which there is nothing, and sends them
    to the left; else at the highest one, and sends them to the right.

    >>> made = nested(Split(0, 1.5, Leaf(0.0), Leaf(1.0)), ["bm25"], float, float)
    >>> made["split"], made["split_condition"], made["children"][1]
    ('bm25', 1.5, {'nodeid': 2, 'leaf': 1.0})
    """
    nodes = numbered(tree, missing_left=missing_left)

    def node_of(one: Node) -> dict[str, Any]:
        node = one.node
        if isinstance(node, Leaf):
            return {"nodeid": one.number, "leaf": leaf(node.value)}
        to_left = missing_left and node.cut == math.inf
        return {
            "nodeid": one.number,
            "depth": one.depth,
            "split": names[node.feature],
            "split_condition": cut(-LARGEST32 if to_left else node.cut),
            "yes": one.left,
            "no": one.right,
            "missing": one.left if to_left else one.right,
            "children": [node_of(nodes[one.left]), node_of(nodes[one.right])],
        }

    return node_of(nodes[0])


def float32_at_least(cut: float) -> float:
    """Return the smallest float32 that is not below a cut: the float32 values below it are those below the cut.

    >>> float32_at_least(0.1) >= 0.1, float32_at_least(0.5)
    (True, 0.5)
    """
    with np.errstate(over="ignore"):
        found = np.float32(cut)
    if float(found) < cut:
        found = np.nextafter(found, np.float32(np.inf))
    return short32(min(float(found), LARGEST32))


def short32(value: float) -> float:
    """Return a number that has few digits and is the same float32.

    >>> short32(0.10000000149011612)
    0.1
    """
    return float(str(np.float32(value)))
