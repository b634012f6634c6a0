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
