"""What more labels could still add, by the posterior's own estimate: how much better a ranking it could be sure of."""

from __future__ import annotations

import numpy as np

from rulerank.core.blas import one_blas_thread
from rulerank.core.words import percent
from rulerank.dataset import Array, Dataset, query_index
from rulerank.rankers.anchored.anchored import Anchored

N_DRAWS = 60
N_QUERIES = 60
DEPTH = 10
ENOUGH = 0.03  # below this share more labels are hardly worth their cost


def still_to_gain(ranker: Anchored, pool: Dataset, *, seed: int = 0) -> float:
    """Return the share of DCG@10 that all labels could add to a fitted ranker, "at least about".

    Weights are drawn from the posterior. If a draw were the truth, its own ranking would be the best one, and its
    chances of relevance say how much it is better than the ranker's. That is low where today's ranking is poor, for
    the posterior does not look far from it.

    >>> import rulerank as rr
    >>> data = rr.make_world(n_queries=20, seed=0)
    >>> few, many = (rr.Anchored(today="bm25_body").fit(data[:n]) for n in (40, len(data)))
    >>> still_to_gain(few, data) > still_to_gain(many, data) > 0
    True
    """
    rng = np.random.default_rng(seed)
    query, ids = query_index(pool.qid)
    chosen = rng.permutation(len(ids))[:N_QUERIES]
    gained = had = 0.0
    with one_blas_thread():
        roots = np.linalg.cholesky(ranker.covariance_ + 1e-12 * np.eye(ranker.coef_.size))
        draws = ranker.coef_ + rng.standard_normal((N_DRAWS, ranker.coef_.size)) @ roots.T
        for number in chosen.tolist():
            rows = pool[np.flatnonzero(query == number)]
            Z = ranker.weighed_rows(rows)
            margins = Z @ draws.T  # (n_docs, n_draws)
            chances = 1 - _none(margins, ranker.thresholds_)
            own = np.sort(chances, axis=0)[::-1]  # thresholds are shared: a draw ranks by its chances
            by_ranker = chances[np.argsort(-(Z @ ranker.coef_), kind="stable")]
            discounts = 1 / np.log2(np.arange(2, min(DEPTH, len(Z)) + 2))
            had += float((discounts @ by_ranker[: discounts.size]).mean())
            gained += float((discounts @ (own - by_ranker)[: discounts.size]).mean())
    return gained / had if had else 0.0


def _none(margins: Array, thresholds: Array) -> Array:
    """Return the chance that a document passes no level."""
    levels = thresholds if thresholds.size else np.zeros(1)
    fails = np.ones_like(margins)
    for threshold in levels:
        fails /= 1 + np.exp(np.clip(margins - threshold, -500, 500))
    return fails


def gain_in_words(share: float) -> str:
    """Say it as carefully as it must be said.

    >>> gain_in_words(0.043), gain_in_words(0.004)
    ('at least about 4 %', 'about nothing')
    """
    return f"at least about {percent(share)}" if share >= 0.005 else "about nothing"
