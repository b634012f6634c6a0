"""How many impressions interleaving needs to find the better of two rankings that differ by .02 NDCG@10.

    python benchmarks/simulate_interleaving.py --data MQ2008/Fold1/train.txt --out interleaving.json
    python benchmarks/simulate_interleaving.py --data MQ2008/Fold1/train.txt --uneven --out uneven.json

Ranking A is the best single feature; B moves towards the true grades and noise until its NDCG@10 is .02 above A's.
Lists of ten are mixed by team draft; users click by the position-based or the cascade model. Said of every number of
impressions (lists): in which share of repetitions B has won more of them, and in which the interval says that it is
better. Where neither is better, the interval should name a winner in 5 % at the most: where both rankings are the same
one, and where in each repetition a coin swaps A and B for each query, so that every query has its favourite and all
together have none. With --uneven the second query is asked half as often as the first, the third a third as often, and
so on. Without --data the documents are those of a synthetic synthetic.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path

import numpy as np

import rulerank as rr
from rulerank.clicks.interleaving import LEAST, draft
from rulerank.clicks.simulate import click
from rulerank.dataset import Array, Dataset, query_index
from rulerank.evaluation.comparison import compare_trials

TOP, LISTS, NOISE = 10, 32, 0.1
REPEATS = 1000
DIFFERENCE = 0.02
SIZES = (100, 300, 1_000, 3_000, 10_000)
CASES = ("B better", "the same", "swapped")


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


def shares(
    attracts: Array, counts: Array, model: str, n: int, seed: list[int], *, swapped: bool, uneven: bool, repeats: int
) -> dict[str, float]:
    """Return in which share of repetitions B won more, and was said to be better, or A was."""
    rng = np.random.default_rng(seed)
    n_queries = attracts.shape[0]
    often = 1 / np.arange(1, n_queries + 1) if uneven else np.ones(n_queries)
    found = np.zeros(4)
    for _ in range(repeats):
        query = rng.permutation(n_queries)[rng.choice(n_queries, n, p=often / often.sum())]
        number = rng.integers(0, LISTS, n)
        clicked = click(attracts[query, number], model, 1.0, rng)
        won = np.sign((clicked * counts[query, number]).sum(axis=1))
        won = won * rng.choice([-1, 1], n_queries)[query] if swapped else won
        by = [np.bincount(query[won == one], minlength=n_queries) for one in (-1, 1, 0)]
        result = compare_trials("impressions", ("B", "A"), by[1], by[0], int(by[2].sum()), least=LEAST)
        more = float(by[1].sum() > by[0].sum()) + 0.5 * float(by[1].sum() == by[0].sum())
        found += [more, result.verdict == "better", result.verdict == "worse", (result.wins + result.losses) / n]
    return dict(zip(("more", "said", "wrong", "decided"), (found / repeats).tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", type=Path, default=[])
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--models", nargs="*", default=["position", "cascade"])
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--uneven", action="store_true", help="Some queries are asked far more often than others.")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = []
    synthetic_sets = {path.as_posix(): rr.read_letor(path) for path in given.data} or {
        "synthetic": rr.datasets.make_ranking(n_queries=300, seed=0)
    }
    for name, data in synthetic_sets.items():
        a, b = two_rankings(data)
        print(f"{name}: NDCG@10 {quality(data, a):.4f} and {quality(data, b):.4f}", flush=True)
        for model, case in itertools.product(given.models, CASES):
            lists = mixed_lists(data, a, a if case == "the same" else b, seed=0)
            for n in given.sizes:
                seed = [n, len(found)]  # so that no two figures share their luck
                how = {"swapped": case == "swapped", "uneven": given.uneven, "repeats": given.repeats}
                one = shares(*lists, model, n, seed, **how)
                found.append({"data": name, "model": model, "case": case, "impressions": n, **one})
                print(
                    f"  {model:9} {case:8} {n:>8,} impressions: B won more in {one['more']:6.1%}, said to be better "
                    f"{one['said']:6.1%}, A said to be {one['wrong']:6.1%}, decided {one['decided']:.0%}",
                    flush=True,
                )
                if given.out:
                    given.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
