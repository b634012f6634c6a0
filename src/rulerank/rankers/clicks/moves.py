"""What documents tell of positions that were shown at several of them: which positions they join, and by how much.

Whatever makes a document worth a click, it is the same document at both positions. So only what its clicks do when it
moves tells positions apart without any model of relevance; where nothing moves, nothing can.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from rulerank.dataset import Array, query_index
from rulerank.rankers.clicks.bounded_newton import BoundedMinimum, minimise_above
from rulerank.rankers.clicks.click_rows import ClickRows
from rulerank.rankers.clicks.position_steps import PositionSteps
from rulerank.rankers.linear.newton import Point


def document_numbers(keys: Array, queries: Array) -> Array:
    """Number documents: rows of the same query with the same key, an id or the content, are the same document.

    >>> document_numbers(np.array([0.5, 0.7, 0.5]), np.array([0, 0, 0])).tolist()
    [0, 1, 0]
    """
    _, contents = np.unique(keys, return_inverse=True)
    return query_index(queries * (int(contents.max(initial=0)) + 1) + contents.reshape(-1))[0]


def id_numbers(docid: Array) -> Array:
    """Return a number for each document id, the keys that `document_numbers` takes.

    >>> id_numbers(np.array(["b", "a", "b"], dtype=object)).tolist()
    [1, 0, 1]
    """
    return np.unique(docid.astype(str), return_inverse=True)[1].reshape(-1)


def joined_positions(rows: ClickRows, documents: Array) -> Array:
    """Return the group of each position: two are in one if documents that moved lead from one to the other.

    >>> rows = ClickRows(np.array([0, 1, 2]), np.ones(3), np.zeros(3), np.array([1, 2, 3]))
    >>> joined_positions(rows, np.array([7, 7, 8])).tolist()
    [0, 0, 1]
    """
    n_positions = rows.positions.size
    n_nodes = n_positions + int(documents.max(initial=-1)) + 1
    edges = coo_array((np.ones(len(rows)), (rows.places, n_positions + documents)), shape=(n_nodes, n_nodes))
    return np.asarray(connected_components(edges, directed=False)[1][:n_positions])


def effects_from_moves(rows: ClickRows, documents: Array, steps: PositionSteps) -> BoundedMinimum:
    """Find the steps under which a document's clicks divide over its positions as they did.

    Given how often it was clicked in all, a click falls on a position with a chance in proportion to the impressions
    there times exp(-effect): how relevant the document is falls out, and so do all documents that never moved.
    """
    n_documents, n_positions = int(documents.max(initial=-1)) + 1, rows.positions.size
    shown, clicks = (
        coo_array((values, (documents, rows.places)), shape=(n_documents, n_positions)).tocsr()
        for values in (rows.shown, rows.clicks)
    )
    totals = clicks.sum(axis=1)
    told = totals > 0
    shown, totals, clicked = shown[told], totals[told], np.asarray(clicks.sum(axis=0)).ravel()

    def loss(found: Array) -> Point:
        effects = steps.effects(found)
        weights = shown.multiply(np.exp(-effects)[None, :]).tocsr()
        sums = weights.sum(axis=1)
        shares = weights.multiply((1 / sums)[:, None]).tocsr()  # (n_documents, n_positions)
        expected = shares.T @ totals
        by_effect = clicked - expected
        second = np.diag(expected) - (shares.multiply(totals[:, None]).T @ shares).toarray()
        value = float(clicked @ effects + totals @ np.log(sums) + 0.5 * found @ steps.penalty @ found)
        return Point(
            value,
            steps.design.T @ by_effect + steps.penalty @ found,
            steps.design.T @ second @ steps.design + steps.penalty,
        )

    return minimise_above(loss, steps.start, steps.lower)
