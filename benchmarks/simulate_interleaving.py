"""How many impressions interleaving needs to find the better of two rankings that differ by .02 NDCG@10.

    python benchmarks/simulate_interleaving.py --data MQ2008/Fold1/train.txt --out interleaving.json

Ranking A is the best single feature; B moves towards the true grades and noise until its NDCG@10 is .02 above A's.
Lists of ten are mixed by team draft; users click by the position-based or the cascade model. Said of every number of
impressions (lists): in which share of repetitions B has won more of them, and in which the interval says that it is
better. Where both rankings are the same one, the interval should name a winner in 5 % at the most. Without --data the
documents are those of a synthetic world.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import rulerank as rr
from rulerank.clicks.contest import Contest
from rulerank.clicks.interleaving import draft
from rulerank.clicks.simulate import click
from rulerank.dataset import Array, Dataset, query_index

TOP, LISTS, REPEATS, NOISE = 10, 32, 100, 0.1
DIFFERENCE = 0.02
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000)


def quality(data: Dataset, scores: Array) -> float:
    return rr.evaluate(data, scores, measures=["NDCG@10"]).means["NDCG@10"]


def two_rankings(data: Dataset, seed: int = 0) -> tuple[Array, Array]:
    """Return the scores of A, and of B, which is better by the difference."""
    best = max(range(data.X.shape[1]), key=lambda place: quality(data, np.nan_to_num(data.X[:, place])))
    a = np.nan_to_num(data.X[:, best]).astype(float)
    numbers = query_index(data.qid)[0]
    n = np.bincount(numbers)
    a = a - (np.bincount(numbers, a) / n)[numbers]
    a = a / np.sqrt(np.maximum(np.bincount(numbers, a**2) / n, 1e-12))[numbers]
    towards = data.y + 0.5 * np.random.default_rng(seed).standard_normal(len(data))
    low, high = 0.0, 4.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if quality(data, a + middle * towards) < quality(data, a) + DIFFERENCE else (low, middle)
        )
    return a, a + high * towards


def mixed_lists(data: Dataset, a: Array, b: Array, seed: int) -> tuple[Array, Array]:
    """Return what of each query's lists attracts (n_queries, LISTS, TOP), and for whom a click counts: -1, 0 or 1."""
    rng = np.random.default_rng(seed)
    numbers, ids = query_index(data.qid)
    attracts = np.zeros((ids.size, LISTS, TOP))
    counts = np.zeros((ids.size, LISTS, TOP), dtype=np.int8)
    wanted = NOISE + (1 - NOISE) * (2.0**data.y - 1) / (2.0 ** data.y.max() - 1)
    for query in range(ids.size):
        rows = np.flatnonzero(numbers == query)
        orders = [[str(row) for row in rows[np.argsort(-scores[rows], kind="stable")]] for scores in (a, b)]
        tossed = rng.random((LISTS // 2, TOP)) < 0.5
        for number, own in enumerate(np.concatenate([tossed, ~tossed])):  # few lists, so each with its mirror image
            coins = iter(own.tolist())
            mixed = draft(*orders, lambda coins=coins: next(coins), TOP)  # type: ignore[misc]
            docs = np.array(mixed.docs, dtype=np.int64)
            attracts[query, number, : docs.size] = wanted[docs]
            counts[query, number, : docs.size] = [{"a": -1, "b": 1, None: 0}[team] for team in mixed.teams]
    return attracts, counts


def shares(attracts: Array, counts: Array, model: str, n: int, rng: np.random.Generator) -> dict[str, float]:
    """Return in which share of repetitions B won more, and was said to be better, or A was."""
    n_queries = attracts.shape[0]
    more = said = wrong = decided = 0.0
    for _ in range(REPEATS):
        query, number = rng.integers(0, n_queries, n), rng.integers(0, LISTS, n)
        clicked = click(attracts[query, number], model, 1.0, rng)
        won = np.sign((clicked * counts[query, number]).sum(axis=1))
        by = [np.bincount(query[won == one], minlength=n_queries) for one in (-1, 1, 0)]
        contest = Contest([str(one) for one in range(n_queries)], *by)
        more += float(by[1].sum() > by[0].sum()) + 0.5 * float(by[1].sum() == by[0].sum())
        said += contest.verdict == "b"
        wrong += contest.verdict == "a"
        decided += contest.decided / n
    return {
        name: value / REPEATS
        for name, value in zip(("more", "said", "wrong", "decided"), (more, said, wrong, decided), strict=True)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", type=Path, default=[])
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--models", nargs="*", default=["position", "cascade"])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = []
    worlds = {path.as_posix(): rr.read_letor(path) for path in given.data} or {
        "world": rr.make_world(n_queries=300, seed=0)
    }
    for name, data in worlds.items():
        a, b = two_rankings(data)
        print(f"{name}: NDCG@10 {quality(data, a):.4f} and {quality(data, b):.4f}", flush=True)
        for model in given.models:
            for same in (False, True):
                lists = mixed_lists(data, a, a if same else b, seed=0)
                for n in given.sizes:
                    one = shares(*lists, model, n, np.random.default_rng(n))
                    found.append({"data": name, "model": model, "same": same, "impressions": n, **one})
                    print(
                        f"  {model:9} {'the same' if same else 'B better'} {n:>8,} impressions: B won more in "
                        f"{one['more']:6.1%}, said to be better {one['said']:6.1%}, A said to be {one['wrong']:6.1%}, "
                        f"decided {one['decided']:.0%}",
                        flush=True,
                    )
                    if given.out:
                        given.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
