"""The likelihood of clicks as one would write it down, minimised by SciPy: slow, obviously right."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def click_chances(scores, effects):
    """P(click) of rows, given what is left of their score after the query's intercept."""
    return np.exp(-effects) * expit(scores)


def click_loss(coef, intercepts, effects, X, clicks, shown, queries, places):
    """Negative log-likelihood of clicks of impressions."""
    chance = click_chances(X @ coef - intercepts[queries], effects[places])
    chance = np.clip(chance, 1e-300, 1 - 1e-16)
    return -float(clicks @ np.log(chance) + (shown - clicks) @ np.log1p(-chance))


def fit_clicks_plainly(X, clicks, shown, queries, places, l2, scale, effects):
    """Return coefficients (per deviation `scale`), intercepts and the minimum of the penalised loss, given effects."""
    n_features, n_queries = X.shape[1], queries.max() + 1
    Z = X / scale

    def parts(numbers):
        coef, mean, own = np.split(numbers, [n_features, n_features + 1])
        return coef, mean[0], own

    def loss(numbers):
        coef, mean, own = parts(numbers)
        value = click_loss(coef, mean + own, effects, Z, clicks, shown, queries, places)
        return value + l2 / 2 * coef @ coef + own @ own / 18

    start = np.zeros(n_features + 1 + n_queries)
    options = {"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(loss, start, method="L-BFGS-B", options=options)
    coef, mean, own = parts(found.x)
    return coef / scale, mean + own, found.fun


def joined_plainly(places, documents):
    """Return which positions documents join, as a set of frozensets: grown until nothing changes."""
    groups = [{place} for place in sorted(set(places))]
    for document in set(documents):
        seen = {place for place, own in zip(places, documents, strict=True) if own == document}
        touched = [group for group in groups if group & seen]
        groups = [group for group in groups if not group & seen] + [set().union(*touched)]
    return {frozenset(group) for group in groups}
