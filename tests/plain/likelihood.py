"""The likelihood of query intercepts, obvious and slow: one comparison after the other."""

import numpy as np


def comparisons(y, groups):
    """Return (row, (group, level), outcome) of every comparison whose group and level see both outcomes."""
    found = []
    for level in range(1, max(y) + 1):
        for group in dict.fromkeys(groups):
            rows = [row for row in range(len(y)) if groups[row] == group]
            rows = [row for row in rows if y[row] <= level]  # from the highest level down
            outcomes = [y[row] >= level for row in rows]
            if any(outcomes) and not all(outcomes):
                found += [(row, (group, level), passed) for row, passed in zip(rows, outcomes, strict=True)]
    return found


def one_hot(X, y, groups):
    """Return a matrix of comparisons (features, then -1 for the intercept), the outcomes, and whose each column is."""
    found = comparisons(y, groups)
    columns = list(dict.fromkeys(place for _, place, _ in found))
    matrix = np.zeros((len(found), X.shape[1] + len(columns)))
    for i, (row, place, _) in enumerate(found):
        matrix[i, : X.shape[1]] = X[row]
        matrix[i, X.shape[1] + columns.index(place)] = -1
    return matrix, np.array([passed for *_, passed in found], dtype=bool), columns


def loss(matrix, outcomes, parameters):
    margin = matrix @ parameters
    return np.logaddexp(0, np.where(outcomes, -margin, margin)).sum()


def information(matrix, parameters):
    """Return the Hessian of the loss in all parameters, intercepts included."""
    chance = 1 / (1 + np.exp(-(matrix @ parameters)))
    return (matrix.T * chance * (1 - chance)) @ matrix
