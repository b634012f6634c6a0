"""The scale and the posterior of Anchored once more, obvious and slow: loops, and a general method that minimises."""

from itertools import product

import numpy as np
from scipy.optimize import minimize


def loss_plainly(x, Z, grades, queries, centre, precision, offset):
    """Return the negative log posterior of weights, thresholds and effects, document by document."""
    p, n_levels = Z.shape[1], int(grades.max())
    w, thresholds, effects = x[:p], x[p : p + n_levels], x[p + n_levels :]
    total = 0.5 * precision * ((w - centre) ** 2).sum() + 0.5 * 0.05 * (thresholds**2).sum() + (effects**2).sum() / 18
    for z, grade, query, start in zip(Z, grades, queries, offset, strict=True):
        levels = range(max(int(grade), 1), n_levels + 1)
        for level in levels:
            margin = start + w @ z + effects[query] - thresholds[level - 1]
            total += np.logaddexp(0, -margin if level == grade else margin) / len(levels)
    return float(total)


def items_plainly(X, cuts):
    """Return the (feature, bin) pairs that can hold, and which of them hold of each row, one at a time."""
    items = []
    for feature, own in enumerate(cuts):
        bins = list(range(len(own) + 1)) + ([len(own) + 1] if any(np.isnan(row[feature]) for row in X) else [])
        if len(bins) > 1:
            items += [(feature, bin) for bin in bins]
    held = []
    for row in X:
        bins = [len(own) + 1 if np.isnan(v) else sum(c <= v for c in own) for own, v in zip(cuts, row, strict=True)]
        held.append([float(bins[feature] == bin) for feature, bin in items])
    return items, np.array(held)


def scaled_plainly(X, queries, signs):
    """Return values as deviations from their query's mean by those of all queries, the baseline's logged; and fills.

    signs: 1 or -1 for a column of the baseline, which is their sum; 0 for others. The last result is the sum, scaled.
    """
    rows, fill = X.copy(), []
    for column in range(X.shape[1]):
        known = [value for value in X[:, column] if not np.isnan(value)]
        mean, spread = (np.mean(known), np.std(known)) if known else (0.0, 0.0)
        sign = signs[column]
        worst = sign * (min(sign * value for value in known) - (spread or 1.0)) if known else -sign
        fill.append(worst if sign else mean)
        rows[np.isnan(rows[:, column]), column] = fill[-1]
        for step in ("log", "scale"):
            squares = []
            means = {query: np.mean(rows[queries == query, column]) for query in queries}
            for query in set(queries.tolist()):
                own = rows[queries == query, column]
                squares += [(value - means[query]) ** 2 for value in own] if np.ptp(own) else []
            deviation = np.sqrt(np.mean(squares)) if squares else 1.0
            if step == "scale":
                rows[:, column] -= [means[query] for query in queries]
                rows[:, column] /= deviation
            elif sign:
                rows[:, column] = [np.sign(value) * np.log(1 + abs(value) / deviation) for value in rows[:, column]]
    total = [sum(sign * value for sign, value in zip(signs, row, strict=True)) for row in rows]
    varies = [i for i, query in enumerate(queries) if np.ptp([total[j] for j in np.flatnonzero(queries == query)])]
    squares = [total[i] ** 2 for i in varies]  # the mean of each query is 0
    return rows, fill, np.array(total) / (np.sqrt(np.mean(squares)) if squares else 1.0)


def posterior_plainly(Z, grades, queries, centre, precision, offset=None):
    """Return the most likely weights and the log evidence by Laplace, from a Hessian by differences."""
    offset = np.zeros(len(Z)) if offset is None else offset
    n = Z.shape[1] + int(grades.max()) + int(queries.max()) + 1
    start = np.zeros(n)
    start[: Z.shape[1]] = centre
    given = (Z, grades, queries, centre, precision, offset)
    found = minimize(loss_plainly, start, args=given, method="BFGS", tol=1e-9)
    x, step = found.x, 1e-3
    hessian, basis = np.zeros((n, n)), step * np.eye(n)
    for i, j, one, other in product(range(n), range(n), (1, -1), (1, -1)):
        place = x + one * basis[i] + other * basis[j]
        hessian[i, j] += one * other * loss_plainly(place, *given) / (4 * step**2)
    prior = np.repeat([precision, 0.05, 1 / 9], [Z.shape[1], int(grades.max()), int(queries.max()) + 1])
    log_det = np.linalg.slogdet(hessian)[1]
    return x[: Z.shape[1]], -found.fun + 0.5 * (np.log(prior).sum() - log_det)
