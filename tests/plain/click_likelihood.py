"""The likelihood of clicks as one would write it down, minimised by SciPy: slow, obviously right."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def click_chances(scores, effects, link):
    """P(click) of rows, given what is left of their score after the query's intercept."""
    return np.exp(-effects) * expit(scores) if link == "examination" else expit(scores - effects)


def click_loss(coef, intercepts, effects, X, clicks, shown, queries, places, link):
    """Negative log-likelihood of clicks of impressions."""
    chance = click_chances(X @ coef - intercepts[queries], effects[places], link)
    chance = np.clip(chance, 1e-300, 1 - 1e-16)
    return -float(clicks @ np.log(chance) + (shown - clicks) @ np.log1p(-chance))


def fit_clicks_plainly(X, clicks, shown, queries, places, link, l2, scale, penalty, known=None):
    """Return coefficients (per deviation `scale`), intercepts and effects at the minimum of the penalised loss.

    penalty: of the steps between neighbouring positions, which are not below 0; known: effects that are given.
    """
    n_features, n_queries, n_positions = X.shape[1], queries.max() + 1, places.max() + 1
    Z = X / scale
    n_steps = 0 if known is not None else n_positions - 1

    def parts(numbers):
        coef, mean, own, steps = np.split(numbers, np.cumsum([n_features, 1, n_queries]))
        effects = known if known is not None else np.concatenate([[0.0], np.cumsum(steps)])
        return coef, mean[0], own, steps, effects

    def loss(numbers):
        coef, mean, own, steps, effects = parts(numbers)
        value = click_loss(coef, mean + own, effects, Z, clicks, shown, queries, places, link)
        return value + l2 / 2 * coef @ coef + own @ own / 18 + (steps @ penalty @ steps / 2 if n_steps else 0.0)

    start = np.concatenate([np.zeros(n_features + 1 + n_queries), np.full(n_steps, 0.3)])
    bounds = [(None, None)] * (n_features + 1 + n_queries) + [(0, None)] * n_steps
    found = minimize(
        loss,
        start,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-9},
    )
    coef, mean, own, _, effects = parts(found.x)
    return coef / scale, mean + own, effects, found.fun


def joined_plainly(places, documents):
    """Return which positions documents join, as a set of frozensets: grown until nothing changes."""
    groups = [{place} for place in sorted(set(places))]
    for document in set(documents):
        seen = {place for place, own in zip(places, documents, strict=True) if own == document}
        touched = [group for group in groups if group & seen]
        groups = [group for group in groups if not group & seen] + [set().union(*touched)]
    return {frozenset(group) for group in groups}
