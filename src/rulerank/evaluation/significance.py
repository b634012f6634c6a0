"""How surprising differences between rankings would be by chance: paired tests and resampling over queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from rulerank.dataset import Array

ROUND_CELLS = 1_000_000  # rounds x queries drawn at a time: some 20 MB
MAX_FLIPS = 2**16  # all ways to flip the signs are tried at once up to here
SAME = 1e-12  # values that differ by less are equal: sums of the same numbers in another order


def holm(p: Array) -> Array:
    """Correct p-values of several tests by Holm's step-down rule.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)))
    return corrected


def t_test(differences: Array) -> Array:
    """Return the two-sided p of the paired t-test, one per row of differences (n_pairs, n_queries).

    >>> t_test(np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]])).round(4).tolist()
    [0.0742, 1.0]
    """
    from scipy.special import stdtr  # slow to load

    n_queries = differences.shape[1]
    error = differences.std(axis=1, ddof=1) / np.sqrt(n_queries)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(differences.mean(axis=1)) / error
    return np.where((np.abs(differences) < SAME).all(axis=1), 1.0, 2 * stdtr(n_queries - 1, -t))


def randomisation_test(differences: Array, n_rounds: int, seed: int) -> Array:
    """Return the two-sided p of the sign-flip test, one per row of differences (n_pairs, n_queries).

    >>> randomisation_test(np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]]), n_rounds=100, seed=0).tolist()
    [0.25, 1.0]
    """
    n_pairs, n_queries = differences.shape
    rng = np.random.default_rng(seed)
    n_extreme = np.zeros(n_pairs)
    for n_drawn in _chunks(n_rounds, n_queries):
        signs = 1.0 - 2.0 * rng.integers(2, size=(n_drawn, n_queries), dtype=np.int8)
        n_extreme += _is_extreme(signs, differences).sum(axis=0)
    p = (1 + n_extreme) / (1 + n_rounds)  # the ranking as it is counts as one of the rounds: p is never 0
    for pair, moved in enumerate(row[np.abs(row) >= SAME] for row in differences):
        if 2**moved.size <= min(n_rounds, MAX_FLIPS):
            flips = np.arange(2**moved.size)[:, None] >> np.arange(moved.size) & 1
            p[pair] = _is_extreme(1.0 - 2.0 * flips, moved[None]).mean()
    return p


TESTS: dict[str, Callable[[Array, int, int], Array]] = {
    "t": lambda differences, n_rounds, seed: t_test(differences),
    "randomisation": randomisation_test,
}


def bootstrap_means(values: Array, n_rounds: int, seed: int) -> Array:
    """Return, round by round, the means of values (n_rankings, n_queries) over queries drawn with replacement.

    >>> bootstrap_means(np.array([[0.5, 0.5], [0.0, 1.0]]), n_rounds=3, seed=0).shape
    (3, 2)
    """
    n_queries = values.shape[1]
    rng = np.random.default_rng([seed, 1])  # not the draws of the randomisation test
    means = []
    for n_drawn in _chunks(n_rounds, n_queries):
        cells = rng.integers(n_queries, size=(n_drawn, n_queries)) + np.arange(n_drawn)[:, None] * n_queries
        times_drawn = np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape)
        means.append(times_drawn @ values.T / n_queries)
    return np.concatenate(means)


def _is_extreme(signs: Array, differences: Array) -> Array:
    """Tell for each row of signs and each of differences whether the flipped sum is as far from 0 as the real one."""
    n_queries = differences.shape[1]
    flipped = np.abs(signs @ differences.T)
    return flipped >= np.abs(differences.sum(axis=1)) - SAME * max(1, n_queries)


def _chunks(n_rounds: int, n_queries: int) -> Iterator[int]:
    """Split rounds into parts that fit in memory."""
    at_a_time = max(1, ROUND_CELLS // n_queries)
    for done in range(0, n_rounds, at_a_time):
        yield min(at_a_time, n_rounds - done)


def clearly_less(losses: Array, others: Array) -> bool:
    """Tell whether losses of queries are less than others by more than a standard error of the mean difference.

    >>> clearly_less(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 3.5])), clearly_less(np.ones(3), np.ones(3))
    (True, False)
    """
    gains = others - losses
    if gains.size < 2:
        return False
    return bool(gains.mean() > gains.std(ddof=1) / np.sqrt(gains.size))
