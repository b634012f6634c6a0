"""Importances of features, slow and obviously right."""

import numpy as np


def importances_plainly(shares, qid):
    """Return the mean size of what features add, less the mean of the query, as parts of the sum."""
    sizes = np.zeros(shares.shape[1])
    for row, query in enumerate(qid):
        own = [other for other, q in enumerate(qid) if q == query]
        for feature in range(shares.shape[1]):
            sizes[feature] += abs(shares[row, feature] - sum(shares[other, feature] for other in own) / len(own))
    return sizes / sizes.sum()


def tree_shares_plainly(trees, X):
    """Return, tree by tree and node by node, how far the mean leaf of the rows in a node moves to that of its child."""
    out = np.zeros(X.shape)

    def goes_left(node, row):
        value = X[row, trees.features[node]]
        return trees.nan_lefts[node] == 1 if np.isnan(value) else value <= trees.thresholds[node]

    def walk(node, rows):
        """Return the leaf of each row."""
        if node < 0:
            return dict.fromkeys(rows, float(trees.leaves[-1 - node]))
        sides = [[row for row in rows if goes_left(node, row) == left] for left in (True, False)]
        found = [walk(child, own) for child, own in zip((trees.lefts[node], trees.rights[node]), sides, strict=True)]
        mean = np.mean([*found[0].values(), *found[1].values()])
        for leaves in found:
            for row in leaves:
                out[row, trees.features[node]] += np.mean(list(leaves.values())) - mean
        return found[0] | found[1]

    for root in trees.roots:
        walk(root, list(range(len(X))))
    return out
