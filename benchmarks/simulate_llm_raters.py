"""The tables of docs/llm-labels.md: LLM raters of known faults beside people, whose grades are those of the data.

    python benchmarks/simulate_llm_raters.py coverage DATA --baseline FEATURE [--repetitions 2000]
    python benchmarks/simulate_llm_raters.py training DATA --baseline FEATURE [--splits 20] [--way library | cli]

coverage: how often the 95 % interval of new - baseline holds the truth, and its width beside human labels alone. The
new ranking is QueryIntercepts, fitted on one half of the queries for the other and the other way round. A repetition
draws 300 queries with replacement from the data, whose mean is the truth: all have LLM labels, the first n human ones.
training: QueryIntercepts of human labels (10 documents each of 10 random queries), of LLM labels (of all documents of
the pool) and of both (`fit_by_rater`); NDCG@10 on the other half of the queries.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rulerank as rr
from few_labels import read_graded
from rulerank.baseline import find_baseline
from rulerank.dataset import Array, query_index
from rulerank.evaluation.comparison import interval
from rulerank.evaluation.llm_labels import TOP, corrected_mean, sampled_mean, sdcg_weights

N_QUERIES = 300  # with LLM labels
N_RATINGS = 20  # times that a rater grades all documents; a repetition takes one of them per query
SIZES = (20, 40)  # human-judged queries
N_SAMPLED = (60, 120)  # documents, one per query


class Judged(NamedTuple):
    """What a rater sees: documents with true grades, and their ranks in the two rankings, from 0."""

    y: Array
    query: Array
    new: Array
    old: Array


def errs(grades: Array, share: float, rng: np.random.Generator, top: int) -> Array:
    """Replace a share of the grades by any other grade."""
    other = (grades + rng.integers(1, top + 1, grades.size)) % (top + 1)
    return np.where(rng.random(grades.size) < share, other, grades)


def moves(grades: Array, step: int, share: float, where: Array, rng: np.random.Generator, top: int) -> Array:
    moved = (rng.random(grades.size) < share) & where
    return np.clip(grades + step * moved, 0, top)


def blind(seen: Judged, rng: np.random.Generator, top: int) -> Array:
    """Grade the documents of half of the queries at random."""
    unseen = rng.random(seen.query.max() + 1) < 0.5
    return np.where(unseen[seen.query], rng.permutation(seen.y), errs(seen.y, 0.1, rng, top))


def by_position(seen: Judged, rng: np.random.Generator, top: int) -> Array:
    """Grade what the baseline has on top too high, and the rest too low."""
    first = seen.old < TOP
    return moves(moves(errs(seen.y, 0.1, rng, top), 1, 0.3, first, rng, top), -1, 0.3, ~first, rng, top)


Rater = Callable[[Judged, np.random.Generator, int], Array]
RATERS: dict[str, Rater] = {
    "accurate": lambda seen, rng, top: errs(seen.y, 0.05, rng, top),
    "20 % errors": lambda seen, rng, top: errs(seen.y, 0.2, rng, top),
    "lenient": lambda seen, rng, top: moves(errs(seen.y, 0.1, rng, top), 1, 0.3, seen.y >= 0, rng, top),
    "harsh": lambda seen, rng, top: moves(errs(seen.y, 0.05, rng, top), -1, 0.5, seen.y >= 0, rng, top),
    "blind on half": blind,
    "by position": by_position,
    "likes the new": lambda seen, rng, top: moves(
        errs(seen.y, 0.1, rng, top), 1, 0.5, (seen.new < TOP) & (seen.old >= TOP), rng, top
    ),
    "random": lambda seen, rng, top: rng.permutation(seen.y),
}


def ranks(scores: Array, query: Array) -> Array:
    order = np.lexsort((-scores, query))
    found = np.empty(query.size, dtype=np.int64)
    found[order] = np.arange(query.size) - np.searchsorted(query[order], query[order])
    return found


def new_ranking(data: rr.Dataset) -> Array:
    """Return scores of a model that did not see the query."""
    query = query_index(data.qid)[0]
    second = np.random.default_rng(0).permutation(query.max() + 1)[query] % 2 == 1
    scores = np.empty(len(data))
    for own in (second, ~second):
        scores[own] = (
            rr.QueryIntercepts(l2=100.0, missing="mean", normalize="zscore").fit(data[~own]).predict(data[own])
        )
    return scores


def print_coverage(data: rr.Dataset, baseline: str, n_repetitions: int) -> None:
    rankings = np.stack([new_ranking(data), find_baseline(data.feature_names, baseline).scores(data)])
    query = query_index(data.qid)[0]
    n_all, top = int(query.max()) + 1, int(data.y.max())
    seen = Judged(data.y.astype(int), query, *(ranks(scores, query) for scores in rankings))
    weight = sdcg_weights(rankings, query) / top
    size = np.bincount(query, np.abs(weight))
    chance = np.divide(np.abs(weight), size[query], out=np.zeros(query.size), where=size[query] > 0)
    starts, ends = np.searchsorted(query, np.arange(n_all)), np.cumsum(chance)

    def ndcg(grades: Array) -> Array:
        ours, theirs = (rr.evaluate(grades, scores, query, "NDCG@10", any_grades=True).values[0] for scores in rankings)
        return ours - theirs

    y, truth_sdcg = ndcg(data.y), float((np.bincount(query, weight * data.y)).mean())
    print(f"{len(data):,} documents, {n_all:,} queries; new - baseline {y.mean():+.4f}, SDCG@10 {truth_sdcg:+.4f}")
    print("| rater | LLM alone |" + "".join(f" n = {n} |" for n in (*SIZES, *N_SAMPLED)) + " human alone |")
    for name, rate in RATERS.items():
        rng = np.random.default_rng(1)
        grades = np.stack([rate(seen, rng, top) for _ in range(N_RATINGS)])
        f = np.stack([ndcg(one) for one in grades])
        sdcg = np.stack([np.bincount(query, weight * one) for one in grades])
        cells = {n: ([], []) for n in (*SIZES, *N_SAMPLED)}
        alone: dict[int, list[bool]] = {n: [] for n in SIZES}
        for _ in range(n_repetitions):
            drawn, rating = rng.integers(0, n_all, N_QUERIES), rng.integers(0, N_RATINGS, N_QUERIES)
            f_all = f[rating, drawn]
            for n in SIZES:
                human, found = interval(y[drawn[:n]]), corrected_mean(y[drawn[:n]], f_all[:n], f_all)
                cells[n][0].append(found.low <= y.mean() <= found.high)
                cells[n][1].append((found.high - found.low) / (human.high - human.low))
                alone[n].append(human.low <= y.mean() <= human.high)
            changed = size[drawn] > 0
            own, by = drawn[changed], rating[changed]
            share, of_query = changed.mean(), sdcg[by, own]
            for n in N_SAMPLED:
                u = ends[starts[own[:n]]] - chance[starts[own[:n]]] + rng.random(own[:n].size)
                rows = np.searchsorted(ends, np.minimum(u, ends[-1] - 1e-12))
                a, b = (weight[rows] * one / chance[rows] for one in (data.y[rows], grades[by[:n], rows]))
                found, human = sampled_mean(a, b, of_query[:n], of_query), interval(a)
                cells[n][0].append(share * found.low <= truth_sdcg <= share * found.high)
                cells[n][1].append((found.high - found.low) / (human.high - human.low))
        shown = [f"{np.mean(hits):.3f} {np.mean(widths):.2f}" for hits, widths in cells.values()]
        human_only = " ".join(f"{np.mean(hits):.3f}" for hits in alone.values())
        print(f"| {name} | {f.mean():+.3f} | {' | '.join(shown)} | {human_only} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["coverage"])
    parser.add_argument("data")
    parser.add_argument("--baseline", required=True)
    parser.add_argument("--repetitions", type=int, default=2000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    data = read_graded(Path(given.data))
    print_coverage(data, given.baseline, given.repetitions)


if __name__ == "__main__":
    main()
