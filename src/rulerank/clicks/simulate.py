"""Clicks of simulated users, generated from true grades: for testing what learns from clicks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rulerank.dataset import UNLABELLED, Array, Dataset, Impressions, check_column, query_index, starts_of
from rulerank.errors import DataError

MODELS = ("position", "cascade")


def simulate_clicks(
    data: Dataset,
    scores: Any,
    *,
    n_impressions: int = 10_000,
    model: str = "position",
    eta: float = 1.0,
    noise: float = 0.1,
    explore: float = 0.5,
    n_shown: int = 10,
    seed: int = 0,
) -> Dataset:
    """Return documents with the clicks of simulated users, one row per document and position, without their grades.

    Queries are drawn at random. Each time, the n_shown documents of the highest score are shown, best first: a user
    who looks at a document clicks on it with the chance noise + (1 - noise) * (2^grade - 1) / (2^highest grade - 1).

    scores: how the documents are ranked in production, one per row: what a model predicts, or a feature.
    n_impressions: number of documents shown, rounded to whole lists.
    model: "position": position k is examined with probability k^-eta, independently of clicks. "cascade": a user goes
        from k to k + 1 with probability (k / (k + 1))^eta, and stops after a click.
    explore: deviation of the noise that every list adds to the scores, which themselves have deviation 1 by query; 0
        always shows the same list for a query, so position effects cannot be identified.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=20, seed=0)
    >>> simulate_clicks(data, data.X[:, 0], n_impressions=1000, seed=0)
    Dataset(... rows, 20 queries, ... features, grades not labelled: ..., 1,000 impressions, ... clicks)
    """
    if not isinstance(data, Dataset):
        raise DataError(f"expected a Dataset with grades: got {type(data).__name__}")
    if (data.y == UNLABELLED).any():
        raise DataError("simulated users click by grade, so every row needs one: use data.labelled()")
    if model not in MODELS:
        raise DataError(f"unknown model {model!r}; choose from {', '.join(MODELS)}")
    for name, value, low, high in (
        ("n_impressions", n_impressions, 1, 10**9),
        ("n_shown", n_shown, 1, 10_000),
        ("eta", eta, 0, 100),
        ("noise", noise, 0, 1),
        ("explore", explore, 0, 1e6),
    ):
        if not low <= value <= high:
            raise DataError(f"{name} must be between {low} and {high:g}: got {value!r}")
    column = check_column("scores", scores, len(data)).astype(np.float64)
    if not np.isfinite(column).all():
        raise DataError(f"scores must be finite: got {column[~np.isfinite(column)][0]}")
    numbers, _ = query_index(data.qid)
    order = np.argsort(numbers, kind="stable")
    lists = simulate_lists(
        data.y[order].astype(np.int64), numbers[order], column[order],
        n_impressions=n_impressions, model=model, eta=eta, noise=noise, explore=explore, n_shown=n_shown, seed=seed,
    )  # fmt: skip
    rows, position, impressions, clicks = lists._replace(rows=order[lists.rows]).counted()
    return replace(data[rows], y=np.full(rows.size, UNLABELLED), impressions=Impressions(position, impressions, clicks))


class Lists(NamedTuple):
    """Lists as they were shown: one entry per impression, list by list, from the top."""

    lists: Array  # int64: number of the list
    rows: Array  # int64: of the data
    position: Array  # int64, from 1
    clicked: Array  # bool

    def counted(self) -> tuple[Array, Array, Array, Array]:
        """Return rows, positions, impressions and clicks, one entry per document and position."""
        most = int(self.position.max(initial=1))
        keys, number = np.unique(self.rows * most + self.position - 1, return_inverse=True)
        number = number.reshape(-1)
        clicks = np.bincount(number, self.clicked, keys.size).astype(np.int64)
        return keys // most, keys % most + 1, np.bincount(number, minlength=keys.size), clicks


def simulate_lists(
    grades: Array,
    queries: Array,
    scores: Array,
    *,
    n_impressions: int,
    model: str,
    eta: float,
    noise: float,
    explore: float,
    n_shown: int,
    seed: int,
) -> Lists:
    """Show lists of queries drawn at random, and click; `simulate_clicks` says what the numbers mean.

    queries: numbers from 0, the rows of a query one after the other.
    """
    rng = np.random.default_rng(seed)
    bounds = starts_of(queries)
    n_queries = bounds.size - 1
    top = float(2.0 ** max(int(grades.max()), 1) - 1)
    attractive = noise + (1 - noise) * (2.0**grades - 1) / top
    sizes = np.minimum(np.diff(bounds), n_shown)
    n_lists = max(1, round(n_impressions / float(sizes.mean())))
    drawn = np.bincount(rng.integers(0, n_queries, n_lists), minlength=n_queries)
    kept: list[tuple[Array, ...]] = []
    first_list = 0
    for query in np.flatnonzero(drawn).tolist():
        first, last = bounds[query], bounds[query + 1]
        own = scores[first:last].astype(np.float64)
        own = (own - own.mean()) / (float(own.std()) or 1.0) + 1e-9 * rng.random(own.size)  # a tie falls one way
        noisy = own + explore * rng.standard_normal((drawn[query], own.size))
        shown = np.argsort(-noisy, axis=1, kind="stable")[:, : sizes[query]] + first
        clicked = click(attractive[shown], model, eta, rng)
        numbers = first_list + np.repeat(np.arange(drawn[query]), shown.shape[1])
        positions = np.tile(np.arange(1, shown.shape[1] + 1), drawn[query])
        kept.append((numbers, shown.ravel(), positions, clicked.ravel()))
        first_list += int(drawn[query])
    return Lists(*(np.concatenate(column) for column in zip(*kept, strict=True)))


def click(attractive: Array, model: str, eta: float, rng: np.random.Generator) -> Array:
    """Return which documents of lists, (n_lists, n_shown), are clicked.

    >>> click(np.ones((1, 3)), "cascade", 0.0, np.random.default_rng(0)).tolist()
    [[True, False, False]]
    """
    n_lists, n_shown = attractive.shape
    places = np.arange(1.0, n_shown + 1)
    wanted = rng.random(attractive.shape) < attractive
    if model == "position":
        return wanted & (rng.random(attractive.shape) < places**-eta)
    clicked = np.zeros(attractive.shape, dtype=bool)
    looks = np.ones(n_lists, dtype=bool)
    for place in range(n_shown):
        if place:
            looks &= rng.random(n_lists) < ((place / (place + 1)) ** eta)
        clicked[:, place] = looks & wanted[:, place]
        looks &= ~wanted[:, place]
    return clicked
